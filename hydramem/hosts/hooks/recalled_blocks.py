"""What a hook injects: blocks of recalled memory, in the form that a host takes, within its characters."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import msgspec

from hydramem.hosts.hooks.host_events import HookEvent
from hydramem.sharing.connect import call

if TYPE_CHECKING:
    from hydramem import Memory

_FRAME = 150
"""Characters of an answer beside its blocks, and of the backslashes that JSON adds, about."""

_LEAST_CHARACTERS = 300
"""A block with less room holds nothing that is worth reading."""

_MOST_TOKENS = 1_000
_MOST_SNIPPETS = 8
_MOST_QUESTION = 2_000
"""Characters of a prompt that are asked for: its beginning and its end, since what is pasted is between."""

_SNIPPET = "<snippet "
_SNIPPET_END = "</snippet>\n"


class RecalledId(msgspec.Struct, frozen=True):
    """The id of a memory in a block."""

    id: str


class RecalledBlock(msgspec.Struct, frozen=True):
    """What a hook reads of what `prime` returns; the types of all that recall returns take long to load.

    Attributes:
        text: The block; empty where there is nothing.
        snippets: The memories in it, in order.
    """

    text: str = ""
    snippets: tuple[RecalledId, ...] = ()


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """What is written to standard output, and the memories in it.

    Attributes:
        text: JSON, or nothing.
        shown: Ids of the memories.
    """

    text: str
    shown: tuple[str, ...]


def opening_block(memory: "Memory", event: HookEvent, *, project: str, most: int) -> RecalledBlock:
    """Return the block that a session starts with.

    Args:
        most: Most characters of the answer.
    """
    return _primed(memory, {"session": event.session, "project": project}, most)


def prompt_block(
    memory: "Memory",
    event: HookEvent,
    *,
    project: str,
    shown: Sequence[str],
    min_relevance: float,
    most: int,
) -> RecalledBlock:
    """Return the block of the memories that bear on a prompt.

    Args:
        shown: Ids of memories that the session has.
        min_relevance: Relevance that each memory reaches.
        most: Most characters of the answer.
    """
    arguments = {
        "query": _question(event.prompt),
        "session": event.session,
        "project": project,
        "exclude": tuple(shown),
        "min_relevance": min_relevance,
    }
    return _primed(memory, arguments, most)


def _primed(memory: "Memory", arguments: dict[str, object], most: int) -> RecalledBlock:
    room = most - _FRAME
    if room < _LEAST_CHARACTERS:
        return RecalledBlock()
    bounds = {"max_chars": room, "max_tokens": _MOST_TOKENS, "limit": _MOST_SNIPPETS}
    session = str(arguments["session"])
    given = {**arguments, **bounds}
    found = cast(
        "RecalledBlock",
        call(memory, "prime", given, actor="hook", session=session, returns=RecalledBlock),
    )
    return RecalledBlock(found.text, tuple(RecalledId(one.id) for one in found.snippets))


def _question(prompt: str) -> str:
    half = _MOST_QUESTION // 2
    return prompt if len(prompt) <= _MOST_QUESTION else f"{prompt[:half]}\n{prompt[-half:]}"


def without(block: RecalledBlock, ids: Collection[str]) -> RecalledBlock:
    """Return a block without some snippets; an empty one where none is left."""
    # Texts within a block are escaped, so that this begins and ends snippets alone.
    head, begin, rest = block.text.partition(_SNIPPET)
    *texts, end = f"{begin}{rest}".split(_SNIPPET_END)
    kept = [(one, text) for one, text in zip(block.snippets, texts, strict=True) if one.id not in ids]
    if not kept:
        return RecalledBlock()
    body = "".join(f"{text}{_SNIPPET_END}" for _, text in kept)
    return RecalledBlock(f"{head}{body}{end}", tuple(one for one, _ in kept))


def answer_of(event: HookEvent, blocks: Sequence[RecalledBlock], *, most: int) -> HookAnswer:
    """Return blocks as the host takes them; snippets at the end that do not fit are left out.

    Args:
        most: Most characters of the answer.
    """
    kept = [block for block in blocks if block.text]
    while kept:
        text = _written(event, "\n".join(block.text for block in kept))
        if len(text) <= most:
            return HookAnswer(text, tuple(one.id for block in kept for one in block.snippets))
        *kept, last = kept
        shorter = without(last, {last.snippets[-1].id}) if last.snippets else RecalledBlock()
        kept += [shorter] if shorter.text else []
    return HookAnswer("", ())


def _written(event: HookEvent, text: str) -> str:
    if event.host == "opencode":
        answer: dict[str, object] = {"context": text}
    else:
        answer = {"hookSpecificOutput": {"hookEventName": event.name, "additionalContext": text}}
    return json.dumps(answer, ensure_ascii=False)
