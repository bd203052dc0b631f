"""Reads an agent file of Letta (`.af`): the blocks of its memory, and passages where the file has them."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hydramem.core.inputs import MemoryInput
from hydramem.core.results.exchange_results import SkippedRecord
from hydramem.ingest.imports.checked_records import scope_under
from hydramem.ingest.imports.json_values import plain_name, plain_text, read_whole
from hydramem.ingest.imports.records import MemoryRecord, Meter, OmittedRecord, Record
from hydramem.text.dates.transcript_times import parse_loose

_BLOCKS = ("blocks", "core_memory")
_PASSAGES = ("passages", "archival_memory")
_LEFT_OUT = ("tools", "sources", "files", "mcp_servers", "groups")
_MOST_SOURCE = 200


def read_letta(path: Path, *, scope: str, meter: Meter) -> Iterator[Record]:
    """Yield each block as a note whose category is its label, and each passage as a note.

    System prompts, model settings, tools and messages are left out.

    Raises:
        OSError: The path cannot be read.
    """
    try:
        value = read_whole(path, meter)
    except ValueError as error:
        yield SkippedRecord(place=path.name, reason=f"cannot be read: {error}")
        return
    if not isinstance(value, dict):
        yield SkippedRecord(place=path.name, reason="expected an object")
        return
    for key in _LEFT_OUT:
        if isinstance(each := value.get(key), list) and each:
            yield OmittedRecord(reason=key.replace("_", " "), count=len(each))
    yield from _of_agent(value, path.name, scope, path)
    for number, agent in enumerate(_listed(value, "agents"), 1):
        place = f"{path.name}, agent {number}"
        if isinstance(agent, dict):
            yield from _of_agent(agent, place, scope_under(scope, plain_name(agent.get("name"))), path)
        else:
            yield SkippedRecord(place=place, reason="expected an object")


def _of_agent(agent: Mapping[str, Any], place: str, scope: str, path: Path) -> Iterator[Record]:
    """Yield what an agent, or a file of one agent, remembers."""
    source = f"import:letta:{path.name}"[:_MOST_SOURCE]
    if isinstance(messages := agent.get("messages"), list) and messages:
        yield OmittedRecord(reason="message", count=len(messages))
    for key, word in (*((key, "value") for key in _BLOCKS), *((key, "text") for key in _PASSAGES)):
        for number, each in enumerate(_listed(agent, key), 1):
            yield _note(each, word, f"{place}, {key} {number}", source=source, scope=scope)


def _listed(value: Mapping[str, Any], key: str) -> list[Any]:
    return each if isinstance(each := value.get(key), list) else []


def _note(value: object, word: str, place: str, *, source: str, scope: str) -> Record:
    if not isinstance(value, dict):
        return SkippedRecord(place=place, reason="expected an object")
    if not (text := plain_text(value.get(word))):
        if value.get(word) == "":
            return OmittedRecord(reason="empty block")
        return SkippedRecord(place=place, reason=f"{word}: expected text")
    label = plain_name(value.get("label"))
    memory = MemoryInput(
        text=text,
        kind="note",
        source=source,
        scope=scope,
        categories=(label,) if label else (),
        happened_at=parse_loose(value.get("created_at")),
        metadata={"letta": {key: value[key] for key in ("id", "description") if value.get(key)}},
    )
    return MemoryRecord(place=place, memory=memory)
