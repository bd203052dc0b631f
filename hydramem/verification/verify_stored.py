"""Verify what a store holds: load relations with their evidence, judge them, write what was decided.

Judging takes as long as a model takes, so the writer lock is only held to write; a row that changed
meanwhile is left alone. What a person or a model decided is not undone by the first stage.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.core.ids import relation_id
from hydramem.core.results.write_results import Decisions
from hydramem.core.row_types import Change, Entity, Relation, RelationCandidate, Stage, Times, Usage, Verdict
from hydramem.core.time import now
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.ingest.knowledge.end_validity import is_version, withdrawn
from hydramem.ingest.knowledge.graph_rows import candidates_of, decided
from hydramem.ingest.knowledge.relation_input import relation_type
from hydramem.storage.changes import record
from hydramem.storage.outbox import Mirror
from hydramem.storage.store import GraphStore, Listing
from hydramem.storage.write import Write
from hydramem.text.normalize import entity_key
from hydramem.verification.verify import Judge

_MOST_PASSAGES = 16
_IN_ONE_COMMIT = 100
_CHANGED = "It changed while it was being verified; verify it again."


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRelation:
    """A relation and what verification says of it.

    Attributes:
        relation: As it is now; where nothing is stored, as it was asked for.
        is_stored: Whether the store holds it.
    """

    relation: Relation
    ends: tuple[Entity, Entity]
    verdict: Verdict
    is_stored: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a run of verification did; `reasons` as in `Judged`."""

    checked: tuple[CheckedRelation, ...] = ()
    usage: Usage = field(default_factory=Usage)
    reasons: tuple[str, ...] = ()


def deferred(project: str, limit: int, graph: GraphStore) -> tuple[Relation, ...]:
    """Return the relations that wait for a decision, those that were looked at longest ago first."""
    return graph.list_relations(project, Listing(limit=limit), verdicts=("deferred",))


def matching(
    snapshot: Snapshot, graph: GraphStore, *, subject: str, type: str | None, object: str | None, limit: int
) -> tuple[Relation, ...]:
    """Return the active relations of a subject, newest first, with a type and an object where given.

    Raises:
        NotFoundError: No entity has one of the names.
    """
    start = _entity(snapshot, subject)
    end = None if object is None else _entity(snapshot, object)
    wanted = None if type is None else relation_type(type)
    rows = [
        row
        for row in graph.relations([start])
        if row.state == "active"
        and not is_version(row)
        and wanted in (None, row.type)
        and _joins(row, start, end)
    ]
    return tuple(sorted(rows, key=lambda row: (row.times.recorded_at, row.id), reverse=True)[:limit])


def claimed(
    snapshot: Snapshot, graph: GraphStore, *, subject: str, type: str, object: str
) -> RelationCandidate:
    """Return a claim that is not stored, with the passages that mention both of its ends.

    Raises:
        NotFoundError: No entity has one of the names.
        InvalidInputError: Both are one entity.
    """
    ids = _entity(snapshot, subject), _entity(snapshot, object)
    if ids[0] == ids[1]:
        raise InvalidInputError(f"object: {object[:80]!r} is the subject")
    kind = relation_type(type)
    mentioned = [{mention.chunk for mention in graph.mentioned([id])} for id in ids]
    chunks = [chunk for chunk in graph.chunks(sorted(mentioned[0] & mentioned[1])) if chunk.state == "active"]
    newest = sorted(chunks, key=lambda chunk: (chunk.times.recorded_at, chunk.id), reverse=True)
    passages = tuple(newest[:_MOST_PASSAGES])
    start, end = graph.entities(ids)
    relation = Relation(
        id=relation_id(snapshot.project, *(ids[0], kind, ids[1]), None),
        project=snapshot.project,
        subject=ids[0],
        type=kind,
        object=ids[1],
        origin="inferred",
        evidence=tuple(chunk.id for chunk in passages),
        times=Times(recorded_at=now()),
    )
    return RelationCandidate(relation=relation, subject=start, object=end, passages=passages)


def check_claim(candidate: RelationCandidate, *, judge: Judge) -> Run:
    """Judge a claim that is not stored; nothing is written."""
    done = judge([candidate])
    checked = CheckedRelation(
        relation=candidate.relation,
        ends=(candidate.subject, candidate.object),
        verdict=done.verdicts[0],
        is_stored=False,
    )
    return Run(checked=(checked,), usage=done.usage, reasons=done.reasons)


def verify_stored(
    rows: Sequence[Relation],
    *,
    operation: str,
    judge: Judge,
    graph: GraphStore,
    mirror: Mirror,
    progress: Callable[[int, int], None] | None = None,
) -> Run:
    """Judge stored relations and write what was decided; one that is rejected goes to the archive.

    Args:
        rows: The relations as they are stored.
        operation: On whose behalf, for the audit.
        judge: What they are judged with.
        graph, mirror: Where they are read and written.
        progress: Called with claims that a model has read and those that it is to read.
    """
    candidates = candidates_of(rows, graph)
    open_ = [each for each in candidates if stage_of(each.relation) != "person"]
    done = judge(open_, progress=progress)
    checked = {each.relation.id: _standing(each) for each in candidates}
    pairs = list(zip(open_, done.verdicts, strict=True))
    for start in range(0, len(pairs), _IN_ONE_COMMIT):
        checked |= _write(pairs[start : start + _IN_ONE_COMMIT], operation, graph, mirror)
    return Run(checked=tuple(checked.values()), usage=done.usage, reasons=done.reasons)


def _write(
    judged: Sequence[tuple[RelationCandidate, Verdict]], operation: str, graph: GraphStore, mirror: Mirror
) -> dict[str, CheckedRelation]:
    """Write verdicts, and return what became of those relations on which one counts, by id."""
    checked: dict[str, CheckedRelation] = {}
    changes: list[Change] = []
    rows: list[Relation] = []
    with mirror.one_writer:
        at = now()
        subjects = sorted({each.relation.subject for each, _ in judged})
        current = {row.id: row for row in graph.relations(subjects)}
        for each, verdict in judged:
            row, ends = each.relation, (each.subject, each.object)
            new = decided(row, verdict, at)
            if current.get(row.id) != row:
                late = replace(verdict, decision="deferred", explanation=_CHANGED)
                checked[row.id] = CheckedRelation(relation=current.get(row.id, row), ends=ends, verdict=late)
            elif new is not row:
                new = withdrawn(new, at) if new.verdict == "rejected" else new
                why = verdict.explanation or None
                changes.append(
                    record(operation, project=row.project, target=row.id, before=row, after=new, reason=why)
                )
                rows.append(new)
                checked[row.id] = CheckedRelation(relation=new, ends=ends, verdict=verdict)
        if changes:
            mirror.commit(Write(changes=tuple(changes), relations=tuple(rows)))
    return checked


def stage_of(relation: Relation) -> Stage | None:
    """Return which stage decided on a relation; None where none did."""
    stages: dict[str, Stage] = {"srmkg": "srmkg", "vog": "vog", "person": "person"}
    return stages.get((relation.verifier or "").partition(":")[0])


def _standing(candidate: RelationCandidate) -> CheckedRelation:
    ends = (candidate.subject, candidate.object)
    return CheckedRelation(relation=candidate.relation, ends=ends, verdict=standing(candidate.relation))


def standing(relation: Relation) -> Verdict:
    """Return the verdict that a relation is stored with."""
    return Verdict(
        decision=relation.verdict or "deferred",
        score=relation.confidence if relation.probability is None else relation.probability,
        stage=stage_of(relation) or "srmkg",
        verifier=relation.verifier or "",
        scores=relation.scores,
        quote=relation.quote,
        explanation=f"Decided before by {relation.verifier}." if relation.verifier else "Nobody looked yet.",
        layer=relation.layer,
    )


def _entity(snapshot: Snapshot, name: str) -> str:
    node = snapshot.find(entity_key(name))
    if node is None:
        raise NotFoundError(
            f"{name[:80]!r}: no entity of project {snapshot.project!r} has this name or alias"
        )
    return snapshot.nodes.ids[node]


def _joins(row: Relation, start: str, end: str | None) -> bool:
    forward = row.subject == start and end in (None, row.object)
    return forward or (row.bidirectional and row.object == start and end in (None, row.subject))


class Accepting:
    """Judges the relations of one call, and remembers which of them a model should read.

    Args:
        judge: What they are judged with.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._lock = threading.Lock()
        self._rejected: set[str] = set()
        self._deferred: dict[str, Relation] = {}
        self._sampled: dict[str, Relation] = {}

    def __call__(self, candidates: Sequence[RelationCandidate]) -> Sequence[Verdict]:
        """Return what the first stage says of relations."""
        verdicts = self._judge.without_model(candidates).verdicts
        with self._lock:
            for each, verdict in zip(candidates, verdicts, strict=True):
                if verdict.decision == "rejected":
                    self._rejected.add(each.relation.id)
                elif verdict.decision == "deferred":
                    self._deferred[each.relation.id] = each.relation
                elif self._judge.is_sampled(each):
                    self._sampled[each.relation.id] = each.relation
        return verdicts

    def afterwards(self, operation: str, *, graph: GraphStore, mirror: Mirror) -> Decisions:
        """Have a model read what is open, where there is one and as far as its cap reaches.

        Args:
            operation: On whose behalf, for the audit.
            graph, mirror: Where the relations are stored by now.
        """
        waiting, rejected = len(self._deferred), len(self._rejected)
        if not waiting and not self._sampled:
            return Decisions(rejected=rejected)
        generator, absent = self._judge.model()
        if generator is None:
            return Decisions(deferred=waiting, rejected=rejected, notes=(absent,) if waiting else ())
        most = self._judge.settings.vog_max_candidates
        chosen = dict([*self._deferred.items(), *self._sampled.items()][:most])
        stored = graph.relations(sorted({row.subject for row in chosen.values()}))
        rows = [row for row in stored if row.id in chosen and row.state == "active"]
        run = verify_stored(rows, operation=operation, judge=self._judge, graph=graph, mirror=mirror)
        decisions = {each.relation.id: each.verdict.decision for each in run.checked}
        cap = f"{waiting - most} are over the cap of a call (vog_max_candidates {most})"
        return Decisions(
            deferred=sum(decisions.get(id, "deferred") == "deferred" for id in self._deferred),
            rejected=rejected + sum(each == "rejected" for each in decisions.values()),
            notes=(*run.reasons, *((cap,) if waiting > most else ())),
            usage=run.usage,
        )
