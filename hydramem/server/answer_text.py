"""Results as compact text for a model: what is there, and neither what is empty nor what is as always."""

import dataclasses
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from hydramem.core.ids import short_id
from hydramem.core.results.garden_results import Gardened
from hydramem.core.results.hits import Hit, Prompt, Recall
from hydramem.core.row_types import Chunk
from hydramem.text.surrogates import well_formed

_ARMS = {"vector": "meaning", "text": "words", "graph": "graph"}

_UNSAID = frozenset(
    {"milliseconds", "seconds", "usage", "steps", "tokens", "vector_state", "scores", "score", "source_type"}
)
"""Fields that say how, and not what; the structured value has them."""

_MOST_IN_LINE = 240
"""Characters of a text that stands on the line of its id; a longer one stands below it."""

_NEW_LINE = "\n"


def answer_text(result: object) -> str:
    """Return a result as text.

    Empty fields, fields that have their default, and timings are left out. A recalled memory has
    its relevance, the beginning of its id, its source, author, date and what found it before its text; what
    all have in common stands once, above them.
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
        case tuple() | list() if all(isinstance(each, Gardened) for each in result):
            return "\n\n".join(_night(each) for each in result)
        case tuple() | list() if all(isinstance(each, Chunk) for each in result):
            return "\n\n".join(map(_chunk, result))
        case tuple() | list():
            return "\n".join(f"- {_inline(each)}" for each in result)
        case _ if dataclasses.is_dataclass(result):
            return "\n".join(f"{name}: {_value(value)}" for name, value in _fields(result)) or "Done."
    return _inline(result)


def _night(report: Gardened) -> str:
    """Return a run as its summary with its notes, and what waits after it; a plan with its changes."""
    if report.state == "planned":
        return f"- {_inline(report)}"
    parts = [str(report), *(f"  {note}" for note in report.notes)]
    parts += [
        f"  {phase.phase} {phase.state}: {note}"
        for phase in report.phases
        if phase.state in ("partial", "failed")
        for note in phase.notes[:1]
    ]
    parts += [f"  waiting after {_time(each.started_at)}: {_inline(each.health)}" for each in report.trend]
    return "\n".join(parts)


def _recalled(found: Recall) -> str:
    parts = []
    if not found.hits:
        parts.append("Nothing found.")
    elif not found.answered:
        parts.append("Nothing here seems to bear on this; the nearest:")
    if found.hits:
        parts.append(_hits(found.hits))
    parts += [f"Relation: {_inline(each)}" for each in found.relations]
    parts += [f"Skipped: {reason}" for reason in found.skipped]
    if found.explanation is not None:
        parts.append(f"Explanation: {_inline(found.explanation)}")
    return "\n\n".join(parts)


def _hits(hits: Sequence[Hit]) -> str:
    """Return hits as text: above all what they have in common, then each, a short one on one line."""
    origins = _origins(hits)
    same = {key: value for key, value in origins[0].items() if all(each[key] == value for each in origins)}
    common = same if len(hits) > 1 else {}
    if "date" not in common:
        common |= _common_year(origins)
    ids = [short_id(hit.id) for hit in hits]
    shown = [_header(common)] if any(common.values()) else []
    after_line = True
    for hit, origin, short in zip(hits, origins, ids, strict=True):
        own = {key: value for key, value in origin.items() if key not in common}
        if "year" in common:
            own["date"] = own["date"].removeprefix(f"{common['year']}-")
        text, is_line = _hit(hit, own, short if ids.count(short) == 1 else hit.id)
        # A passage has an empty line around it; short notes stand below each other.
        shown.append(text if not shown else f"{'' if is_line and after_line else _NEW_LINE}{text}")
        after_line = is_line
    return _NEW_LINE.join(shown)


def _origins(hits: Sequence[Hit]) -> list[dict[str, str]]:
    """Return where each hit is from; a path that an earlier hit has in full is its last part."""
    known: set[str] = set()
    is_one = len({hit.source for hit in hits}) == 1
    origins = []
    for hit in hits:
        is_known = hit.source in known and not is_one
        known.add(hit.source)
        origins.append(
            {
                "source": _line(hit.source.rstrip("/").rpartition("/")[2] if is_known else hit.source),
                "author": _line(hit.author or ""),
                "date": day(hit.happened_at) if hit.happened_at else "",
                "found by": "+".join(word for arm, word in _ARMS.items() if hit.scores.get(arm)),
            }
        )
    return origins


def _common_year(origins: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return the year of the dates where all that there are have the same one."""
    years = {each["date"][:4] for each in origins if each["date"]}
    return {"year": min(years)} if len(years) == 1 and len(origins) > 1 else {}


def _header(common: Mapping[str, str]) -> str:
    origin, found_by = _joined(common), common.get("found by")
    parts = (f"From {origin}" if origin else "", f"by {found_by}" if found_by else "")
    line = ", ".join(filter(None, parts))
    return f"{line[0].upper()}{line[1:]}:"


def _hit(hit: Hit, origin: Mapping[str, str], id: str) -> tuple[str, bool]:
    """Return a hit with what it alone has, and whether it is one line."""
    text = hit.context or hit.text
    is_line = "\n" not in text and len(text) <= _MOST_IN_LINE and hit.newer is None
    relevance = "" if hit.relevance is None else f"{hit.relevance:.0%}"
    parts = (relevance, id, _joined(origin), origin.get("found by", ""))
    head = " ".join(filter(None, parts))
    if is_line:
        has_words = any(value for key, value in origin.items() if key != "date")
        return f"{head}{':' if has_words else ''} {text}", True
    lines = [head, text]
    if hit.newer is not None:
        newer = f"{short_id(hit.newer.id)} ({hit.newer.probability:.0%}): {hit.newer.text}"
        lines.append(f"Perhaps superseded by {newer}")
    return "\n".join(lines), False


def _joined(origin: Mapping[str, str]) -> str:
    return ", ".join(filter(None, (origin.get(key) for key in ("source", "author", "year", "date"))))


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


def day(value: datetime) -> str:
    """Return the date of a time, in UTC; a model seldom needs more, and the structured value has it."""
    return value.date().isoformat()


def _line(text: str) -> str:
    return " ".join(text.split())
