"""Reviews become verdicts: each is stored on its relation, where it is audited and outlives any file."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from hydramem.core.json_line_forms import refuse
from hydramem.core.row_types import Relation
from hydramem.core.time import now
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.ingest.knowledge.end_validity import WITHDRAWN, returned, withdrawn
from hydramem.ingest.write_target import Target
from hydramem.storage.changes import record
from hydramem.storage.write import Write
from hydramem.text.normalize import entity_key
from hydramem.verification.calibration.labels import PERSON, JudgedRelations, is_scored
from hydramem.verification.calibration.reviews import Review


def matched(
    reviews: Sequence[Review], everything: JudgedRelations, snapshot: Snapshot, *, path: Path
) -> dict[str, tuple[Review, Relation]]:
    """Find the relations that reviews are of; a relation that is named twice alike is taken once.

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
        found = _found(review, everything, triples, snapshot)
        if isinstance(found, str):
            problems.append(f"line {review.line}: {found}")
            continue
        before = result.setdefault(found.id, (review, found))[0]
        if before.true != review.true:
            problems.append(f"line {review.line}: contradicts line {before.line} on {review.named[:120]!r}")
    refuse(path, problems, name="labels")
    return result


def _found(
    review: Review,
    everything: JudgedRelations,
    triples: Mapping[tuple[str, str, str], Sequence[Relation]],
    snapshot: Snapshot,
) -> Relation | str:
    """Return the relation that a review is of, or what is wrong."""
    if review.relation:
        row = everything.stored.get(review.relation) or everything.refused.get(review.relation)
        return row or f"no relation of project {snapshot.project!r} has the id {review.relation[:80]!r}"
    ends = [_entity(name, snapshot) for name in (review.subject, review.object)]
    for name, id in zip((review.subject, review.object), ends, strict=True):
        if id is None:
            return f"no entity of project {snapshot.project!r} is named {name[:80]!r}"
    rows = triples.get((str(ends[0]), review.type, str(ends[1])), ())
    rows = [row for row in rows if row.state == "active"] or rows
    if not rows:
        return f"the project has no relation {review.named[:200]!r}"
    if len(rows) > 1:
        return f"{review.named[:200]!r} is true of several times: give its id as `relation`"
    return rows[0]


def _entity(name: str, snapshot: Snapshot) -> str | None:
    node = snapshot.find(entity_key(name))
    return None if node is None else snapshot.nodes.ids[node]


def take(
    found: Mapping[str, tuple[Review, Relation]],
    scores: Mapping[str, Mapping[str, float]],
    target: Target,
    *,
    dry_run: bool = False,
    operation: str = "calibrate",
) -> tuple[Relation, ...]:
    """Make reviews the verdicts of their relations; return the rows that this changed.

    What a person called true is believed and `verified`; what a person called false is withdrawn, and
    evidence alone does not bring it back. A review older than a person's verdict that is there already
    changes nothing.

    Args:
        found: Review and relation, by the relation's id.
        scores: Features by name of relations that carry none, by id.
        target: Where they go.
        dry_run: Store nothing.
        operation: What the history calls it.
    """
    with target.one_writer:
        at = now()
        # Looked up again under the lock: what is stored may have changed since it was found.
        subjects = sorted({row.subject for _, row in found.values()})
        stored = {row.id: row for row in target.graph.relations(subjects) if row.id in found}
        after = tuple(
            reviewed(review, stored.get(id, row), scores.get(id, {}), at)
            for id, (review, row) in found.items()
            if not _is_settled(review, stored.get(id, row))
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


def _is_settled(review: Review, relation: Relation) -> bool:
    if not (relation.verifier or "").startswith(PERSON):
        return False
    same = (relation.verdict == "accepted") == review.true
    older = review.at is not None and relation.verified_at is not None and review.at < relation.verified_at
    return same or older


def reviewed(review: Review, relation: Relation, scores: Mapping[str, float], at: datetime) -> Relation:
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
    said = f"{review.reviewer} reviewed it: {'true' if review.true else 'false'}"
    return said if review.note is None else f"{said}. {review.note}"
