"""People's reviews of relations: files of JSON lines, and the verdicts that reviews become."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from hydramem.core.argument_checks import check_name, check_text
from hydramem.core.errors import InvalidInputError
from hydramem.core.json_line_forms import form_lines, refuse, write_form
from hydramem.core.row_types import Relation, RelationCandidate
from hydramem.core.time import now, parse_when
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.ingest.knowledge.end_validity import WITHDRAWN, returned, withdrawn
from hydramem.ingest.knowledge.relation_input import relation_type
from hydramem.ingest.write_target import Target
from hydramem.storage.changes import record
from hydramem.storage.write import Write
from hydramem.text.normalize import entity_key
from hydramem.verification.calibration.labels import PERSON, JudgedRelations, is_scored

_MOST_LINE = 2**20
_MOST_REVIEWS = 20_000
_MOST_NOTE = 2000
_SHOWN_CHARS = 600
_SHOWN_PASSAGES = 3
_READ_KEYS = frozenset(["relation", "subject", "type", "object", "label", "reviewer", "at", "note"])
_EXPORTED_KEYS = frozenset(["quote", "evidence", "probability"])
"""Further keys of an export; ignored when it is read back."""
_WORDS = {"true": True, "accept": True, "accepted": True, "false": False, "reject": False, "rejected": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A person's verdict on a relation, as one line of a file gives it.

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


def read_reviews(path: Path) -> tuple[Review, ...]:
    """Read a file of reviews; lines without a label are not reviewed yet and are skipped.

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
    given = _json_object(line)
    unknown = given.keys() - _READ_KEYS - _EXPORTED_KEYS
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


def _json_object(line: bytes) -> dict[str, object]:
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


def write_reviews(path: Path, candidates: Iterable[tuple[RelationCandidate, float]]) -> None:
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


def relations_of_reviews(
    reviews: Sequence[Review], everything: JudgedRelations, snapshot: Snapshot, *, path: Path
) -> dict[str, tuple[Review, Relation]]:
    """Find the relations of reviews; of two equal reviews of a relation one is kept.

    Returns:
        Review and relation, by the relation's id.

    Raises:
        InvalidInputError: A relation is not in the project, a name fits several, or two lines
            contradict each other; the message names each line.
    """
    triples: dict[tuple[str, str, str], list[Relation]] = defaultdict(list)
    if any(not review.relation for review in reviews):
        for row in everything:
            triples[row.subject, row.type, row.object].append(row)
    result: dict[str, tuple[Review, Relation]] = {}
    problems: list[str] = []
    for review in reviews:
        found = _relation_of(review, everything, triples, snapshot)
        if isinstance(found, str):
            problems.append(f"line {review.line}: {found}")
            continue
        before = result.setdefault(found.id, (review, found))[0]
        if before.true != review.true:
            problems.append(f"line {review.line}: contradicts line {before.line} on {review.named[:120]!r}")
    refuse(path, problems, name="labels")
    return result


def _relation_of(
    review: Review,
    everything: JudgedRelations,
    triples: Mapping[tuple[str, str, str], Sequence[Relation]],
    snapshot: Snapshot,
) -> Relation | str:
    """Return the relation of a review, or what is wrong."""
    if review.relation:
        row = everything.stored.get(review.relation) or everything.refused.get(review.relation)
        return row or f"no relation of project {snapshot.project!r} has the id {review.relation[:80]!r}"
    ends: list[str] = []
    for name in (review.subject, review.object):
        node = snapshot.find(entity_key(name))
        if node is None:
            return f"no entity of project {snapshot.project!r} is named {name[:80]!r}"
        ends.append(snapshot.nodes.ids[node])
    rows = triples.get((ends[0], review.type, ends[1]), ())
    rows = [row for row in rows if row.state == "active"] or rows
    if not rows:
        return f"the project has no relation {review.named[:200]!r}"
    if len(rows) > 1:
        return f"{review.named[:200]!r} is true of several times: give its id as `relation`"
    return rows[0]


def apply_reviews(
    found: Mapping[str, tuple[Review, Relation]],
    scores: Mapping[str, Mapping[str, float]],
    target: Target,
    *,
    dry_run: bool = False,
    operation: str = "calibrate",
) -> tuple[Relation, ...]:
    """Make reviews the verdicts of their relations; return the rows that changed.

    A relation that a person called true becomes active and `verified`; one called false is withdrawn, and
    evidence alone does not restore it. A review older than a stored verdict of a person changes nothing.

    Args:
        found: Review and relation, by the relation's id.
        scores: Features by name of relations that carry none, by id.
        target, dry_run: Where they are stored, and whether nothing is written.
        operation: Its name in the history.
    """
    with target.one_writer:
        at = now()
        # Read again under the lock: the stored rows may have changed.
        subjects = sorted({row.subject for _, row in found.values()})
        stored = {row.id: row for row in target.graph.relations(subjects) if row.id in found}
        after = tuple(
            _reviewed(review, stored.get(id, row), scores.get(id, {}), at)
            for id, (review, row) in found.items()
            if not _is_decided_before(review, stored.get(id, row))
        )
        if after and not dry_run:
            changes = (
                record(
                    operation,
                    project=target.project,
                    target=row.id,
                    before=stored.get(row.id),
                    after=row,
                    reason=_reason(found[row.id][0]),
                )
                for row in after
            )
            target.commit(Write(changes=tuple(changes), relations=after), {})
    return after


def _is_decided_before(review: Review, relation: Relation) -> bool:
    """Say whether a person's stored verdict is the same as a review, or newer."""
    if not (relation.verifier or "").startswith(PERSON):
        return False
    same = (relation.verdict == "accepted") == review.true
    older = review.at is not None and relation.verified_at is not None and review.at < relation.verified_at
    return same or older


def _reviewed(review: Review, relation: Relation, scores: Mapping[str, float], at: datetime) -> Relation:
    """Return a relation with a person's verdict."""
    judged = replace(
        relation,
        verdict="accepted" if review.true else "rejected",
        probability=float(review.true),
        verifier=f"{PERSON}{review.reviewer}",
        verified_at=min(review.at or at, at),
        scores=relation.scores if is_scored(relation) else dict(scores),
        layer="verified" if review.true else "working",
    )
    if not review.true:
        return withdrawn(judged, judged.times.retired_at or at)
    refuted = relation.verdict == "rejected" or WITHDRAWN in relation.metadata
    return returned(judged) if relation.state == "archived" and refuted else judged


def _reason(review: Review) -> str:
    verdict = f"{review.reviewer} reviewed it: {'true' if review.true else 'false'}"
    return verdict if review.note is None else f"{verdict}. {review.note}"
