"""People's reviews of relations as JSON lines: read strictly, and written to be filled in."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from hydramem.core.argument_checks import check_name, check_text
from hydramem.core.errors import InvalidInputError
from hydramem.core.json_line_forms import form_lines, refuse, write_form
from hydramem.core.row_types import RelationCandidate
from hydramem.core.time import parse_when
from hydramem.ingest.knowledge.relation_input import relation_type

_MOST_LINE = 2**20

_MOST_REVIEWS = 20_000

_MOST_NOTE = 2000

_SHOWN_CHARS = 600

_SHOWN_PASSAGES = 3

_GIVEN = frozenset(["relation", "subject", "type", "object", "label", "reviewer", "at", "note"])

_TOLD = frozenset(["quote", "evidence", "probability"])
"""What an export tells besides; read back, it says nothing."""

_WORDS = {"true": True, "accept": True, "accepted": True, "false": False, "reject": False, "rejected": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What a person said of a relation, as a line of a file tells it.

    Attributes:
        line: From 1.
        relation: The relation's id; empty where its ends and type name it.
        at: When it was reviewed.
    """

    line: int
    relation: str = ""
    subject: str = ""
    type: str = ""
    object: str = ""
    true: bool
    reviewer: str = "somebody"
    at: datetime | None = None
    note: str | None = None

    @property
    def named(self) -> str:
        """The relation as the line names it."""
        return self.relation or f"{self.subject} -[{self.type}]-> {self.object}"


def read(path: Path) -> tuple[Review, ...]:
    """Read a file of reviews; lines without a label are relations that nobody has reviewed yet.

    Raises:
        InvalidInputError: The file cannot be read, or a line is wrong; the message names each such line.
    """
    reviews: list[Review] = []
    problems: list[str] = []
    for number, line in enumerate(form_lines(path, name="labels"), 1):
        if line.strip():
            try:
                review = _review(line, number)
            except InvalidInputError as error:
                problems.append(f"line {number}: {error}")
                continue
            if review is not None:
                reviews.append(review)
    if len(reviews) > _MOST_REVIEWS:
        problems.append(f"{len(reviews):,} reviews, more than {_MOST_REVIEWS:,} in one file")
    refuse(path, problems, name="labels")
    return tuple(reviews)


def _review(line: bytes, number: int) -> Review | None:
    given = _object(line)
    unknown = given.keys() - _GIVEN - _TOLD
    if unknown:
        raise InvalidInputError(f"unknown key {min(unknown)[:40]!r}")
    label = given.get("label")
    if label is None or label == "":
        return None
    true = _WORDS.get(label.strip().casefold()) if isinstance(label, str) else label
    if not isinstance(true, bool):
        raise InvalidInputError(f"label: {str(label)[:40]!r} is none of true, false, accept, reject")
    at, note = given.get("at"), given.get("note")
    return Review(
        line=number,
        **_named(given),
        true=true,
        reviewer=check_name(given.get("reviewer") or "somebody", name="reviewer"),
        at=None if at in (None, "") else parse_when(check_name(at, name="at"), name="at"),
        note=None if note in (None, "") else check_text(note, name="note", most=_MOST_NOTE),
    )


def _named(given: Mapping[str, object]) -> dict[str, str]:
    if given.get("relation"):
        return {"relation": check_name(given["relation"], name="relation")}
    return {
        "subject": check_name(given.get("subject"), name="subject"),
        "type": relation_type(given.get("type")),
        "object": check_name(given.get("object"), name="object"),
    }


def _object(line: bytes) -> dict[str, object]:
    if len(line) > _MOST_LINE:
        raise InvalidInputError(f"longer than {_MOST_LINE // 2**20} MiB")
    try:
        given = json.loads(line.decode("utf-8"), parse_constant=_no_number, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"is no JSON object: {str(error)[:100]}") from error
    if not isinstance(given, dict):
        raise InvalidInputError("is no JSON object")
    return given


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)


def write(path: Path, candidates: Iterable[tuple[RelationCandidate, float]]) -> None:
    """Write relations to a new file, one a line, with an empty label for a person to fill in.

    Raises:
        InvalidInputError: The file exists, or cannot be written.
    """
    write_form(path, (_row(candidate, score) for candidate, score in candidates), holds="reviews")


def _row(candidate: RelationCandidate, score: float) -> dict[str, object]:
    relation = candidate.relation
    return {
        "relation": relation.id,
        "subject": candidate.subject.name,
        "type": relation.type,
        "object": candidate.object.name,
        "label": None,
        "reviewer": "",
        "note": "",
        "probability": round(score, 3),
        "quote": relation.quote,
        "evidence": [chunk.text[:_SHOWN_CHARS] for chunk in candidate.passages[:_SHOWN_PASSAGES]],
    }
