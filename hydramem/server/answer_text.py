"""Results as compact text for a model: what is there, and neither what is empty nor what is as always."""

import dataclasses
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from hydramem.core.results.hits import Hit, Prompt, Recall
from hydramem.core.row_types import Chunk
from hydramem.text.surrogates import well_formed

_ARMS = {"vector": "meaning", "text": "words", "graph": "graph"}

_UNSAID = frozenset(
    {"milliseconds", "seconds", "usage", "steps", "tokens", "vector_state", "scores", "score", "source_type"}
)
"""Fields that say how, and not what; the structured value has them."""


def answer_text(result: object) -> str:
    """Return a result as text.

    Empty fields, fields that have their default, and timings are left out. A recalled memory is a line with
    its id, relevance, source, author, date and what found it, and its text below.
    """
    return well_formed(_text(result))


def _text(result: object) -> str:
    match result:
        case Recall():
            return _recalled(result)
        case Prompt():
            return result.text or "Nothing in the memory bears on this."
        case Chunk():
            return _chunk(result)
        case tuple() | list() if not result:
            return "Nothing found."
        case tuple() | list() if all(isinstance(each, Chunk) for each in result):
            return "\n\n".join(map(_chunk, result))
        case tuple() | list():
            return "\n".join(f"- {_inline(each)}" for each in result)
        case _ if dataclasses.is_dataclass(result):
            return "\n".join(f"{name}: {_value(value)}" for name, value in _fields(result)) or "Done."
    return _inline(result)


def _recalled(found: Recall) -> str:
    if not found.hits:
        parts = ["Nothing found."]
    elif found.answered:
        parts = []
    else:
        parts = ["Nothing here seems to bear on this; the nearest:"]
    sources: set[str] = set()
    for hit in found.hits:
        parts.append(_hit(hit, is_known=hit.source in sources))
        sources.add(hit.source)
    parts += [f"Relation: {_inline(each)}" for each in found.relations]
    parts += [f"Skipped: {reason}" for reason in found.skipped]
    if found.explanation is not None:
        parts.append(f"Explanation: {_inline(found.explanation)}")
    return "\n\n".join(parts)


def _hit(hit: Hit, *, is_known: bool) -> str:
    """Return a hit; a path that an earlier hit has in full is its last part."""
    source = _line(hit.source.rstrip("/").rpartition("/")[2] if is_known else hit.source)
    relevance = "" if hit.relevance is None else f"{hit.relevance:.2f}"
    when = _value(hit.happened_at) if hit.happened_at else ""
    origin = ", ".join(filter(None, (source, _line(hit.author or ""), when)))
    found_by = "+".join(word for arm, word in _ARMS.items() if hit.scores.get(arm))
    lines = [" ".join(filter(None, (hit.id, relevance, origin, found_by))), hit.context or hit.text]
    if hit.newer is not None:
        lines.append(f"Perhaps superseded by {_inline(hit.newer)}")
    return "\n".join(lines)


def _chunk(chunk: Chunk) -> str:
    said = [f"{name}: {_value(value)}" for name, value in _fields(chunk) if name not in ("id", "text")]
    return "\n".join([f"[{chunk.id}] {chunk.text}", *said])


def _fields(value: Any) -> list[tuple[str, object]]:
    """Return the fields of a dataclass that say something: set, not empty, and other than by default."""
    found = []
    for field in dataclasses.fields(value):
        content = getattr(value, field.name)
        is_empty = content is None or (isinstance(content, str | tuple | list | Mapping) and not content)
        if field.name in _UNSAID or is_empty or content == _default(field):
            continue
        found.append((field.name, content))
    return found


def _default(field: "dataclasses.Field[Any]") -> object:
    if field.default is not dataclasses.MISSING:
        return field.default
    made = field.default_factory
    return dataclasses.MISSING if made is dataclasses.MISSING else made()


def _value(value: object) -> str:
    """Return a value in a line of its own: rows each on one, everything else inline."""
    is_rows = isinstance(value, tuple | list) and any(dataclasses.is_dataclass(each) for each in value)
    if is_rows:
        return "".join(f"\n- {_inline(each)}" for each in value)  # type: ignore[attr-defined]  # a sequence
    return _inline(value)


def _inline(value: Any) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.3g}"
        case datetime():
            return _time(value)
        case Mapping():
            return ", ".join(f"{key}: {_inline(each)}" for key, each in value.items())
        case tuple() | list():
            return ", ".join(f"({_inline(each)})" if _is_row(each) else _inline(each) for each in value)
        case _ if _is_row(value):
            parts = (f"{name}: {_nested(each)}" for name, each in _fields(value))
            return "; ".join(parts)
    return str(value)


def _nested(value: object) -> str:
    return f"({_inline(value)})" if _is_row(value) else _inline(value)


def _is_row(value: object) -> bool:
    return dataclasses.is_dataclass(value)


def _time(value: datetime) -> str:
    """Return a time to the second, and the start of a day as its date."""
    text = value.isoformat(timespec="seconds").replace("+00:00", "Z")
    return text.removesuffix("T00:00:00Z")


def _line(text: str) -> str:
    return " ".join(text.split())
