"""Memories as callers give them, and their fields checked one by one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, get_args

from hydramem.core.argument_checks import check_choice, check_name, check_scope, check_share
from hydramem.core.errors import InvalidInputError
from hydramem.core.row_types import ChunkKind
from hydramem.core.time import When
from hydramem.ingest.memories.validate import MemoryDraft, check
from hydramem.text.dates.caller_dates import moment

# Read by pydantic where JSON becomes these: a mistyped field is an error, not a field lost in silence.
_STRICT: Any = {"extra": "forbid"}

MOST_AT_ONCE = 1000
"""Most memories of one call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryInput:
    """A memory to remember; fields as in `remember`.

    Attributes:
        text: What to remember.
        kind: note, fact, event (give `happened_at`) or turn (give `session`).
        source: Where it came from, as a person reads it.
        author: Who said it.
        session: Name of the conversation it belongs to.
        scope: Path such as /infra/database; found where not given.
        within: The path that a found scope lies at or under.
        categories, keywords: Labels to filter by, and words to look for; found where not given.
        importance: 0 to 1; found where not given.
        summary: One sentence; found where not given.
        entities: Names of things that it is about, besides those that it names.
        confidence: 0 to 1.
        event_type: What kind of event, such as deployment.
        happened_at: When the event took place.
        valid_from, valid_to: From when and until when it is true in the world.
        expires_at: When it stops being recalled.
        private: Keep it out of recall that leaves private memories out.
        metadata: Values of your own that come back with it.
    """

    __pydantic_config__ = _STRICT

    text: str
    kind: ChunkKind = "note"
    source: str = ""
    author: str | None = None
    session: str | None = None
    scope: str | None = None
    within: str = "/"
    categories: Sequence[str] | None = None
    importance: float | None = None
    keywords: Sequence[str] | None = None
    summary: str | None = None
    entities: Sequence[str] = ()
    confidence: float = 1.0
    event_type: str | None = None
    happened_at: When | None = None
    valid_from: When | None = None
    valid_to: When | None = None
    expires_at: When | None = None
    private: bool = False
    metadata: Mapping[str, object] | None = None


def drafts_of(given: Sequence[MemoryInput]) -> list[MemoryDraft]:
    """Check memories of one call.

    Raises:
        InvalidInputError: One is wrong; the message begins with its place, such as `memories[3]`.
    """
    if isinstance(given, str | MemoryInput) or not isinstance(given, Sequence):
        raise InvalidInputError("memories: expected a list of memories")
    if not 1 <= len(given) <= MOST_AT_ONCE:
        raise InvalidInputError(f"memories: {len(given)} are given; give 1 to {MOST_AT_ONCE:,}")
    drafts = []
    for place, one in enumerate(given):
        try:
            if not isinstance(one, MemoryInput):
                raise InvalidInputError(f"expected a MemoryInput, got {type(one).__name__}")
            drafts.append(draft_of(one))
        except InvalidInputError as error:
            raise InvalidInputError(f"memories[{place}]: {error}") from error
    return drafts


def draft_of(given: MemoryInput) -> MemoryDraft:
    """Check a memory's fields.

    Raises:
        InvalidInputError: One is wrong; the message names it.
    """
    draft = MemoryDraft(
        text=given.text,
        kind=check_choice(given.kind, get_args(ChunkKind), name="kind"),
        source=given.source,
        author=given.author,
        session=given.session,
        within=check_scope(given.within),
        scope=None if given.scope is None else check_scope(given.scope),
        categories=labels(given.categories, "categories"),
        importance=None if given.importance is None else check_share(given.importance, name="importance"),
        keywords=labels(given.keywords, "keywords"),
        summary=given.summary,
        entities=labels(given.entities, "entities") or (),
        confidence=check_share(given.confidence, name="confidence"),
        event_type=given.event_type,
        private=given.private,
        metadata=dict(given.metadata or {}),
    )
    draft = replace(
        draft,
        happened_at=_when(given.happened_at, "happened_at"),
        valid_from=_when(given.valid_from, "valid_from"),
        valid_to=_when(given.valid_to, "valid_to"),
        expires_at=_when(given.expires_at, "expires_at"),
    )
    check(draft)
    return draft


def labels(values: Sequence[str] | None, name: str) -> tuple[str, ...] | None:
    """Check labels, each once; None where none are given.

    Raises:
        InvalidInputError: One is no name; the message names the argument.
    """
    if values is None:
        return None
    given = (values,) if isinstance(values, str) else values
    return tuple(dict.fromkeys(check_name(value, name=name) for value in given))


def _when(value: When | None, name: str) -> datetime | None:
    return None if value is None else moment(value, name=name)
