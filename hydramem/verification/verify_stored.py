"""Verify what a store holds: choose relations, load their evidence, judge them, write what was decided.

Judging takes as long as a model takes, so the writer lock is only held to write; a row that changed
meanwhile is left alone. The first stage does not overrule a person or a model.
"""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from hydramem.core.errors import InvalidInputError
from hydramem.core.ids import relation_id
from hydramem.core.results.verdicts import Verified, VerifiedRelation
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
from hydramem.verification.verify import Judge

_MOST_PASSAGES = 16
_IN_ONE_COMMIT = 100
_CHANGED = "It changed while it was being verified; verify it again."


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyRequest:
    """What to verify, by names; without a subject, the relations that wait for a decision."""

    subject: str | None = None
    type: str | None = None
    object: str | None = None
    limit: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRelation:
    """A relation and its verdict.

    Attributes:
        relation: As it is now; where nothing is stored, as the caller claims it.
        is_stored: Whether the store holds it.
    """

    relation: Relation
    ends: tuple[Entity, Entity]
    verdict: Verdict
    is_stored: bool = True

    def view(self) -> VerifiedRelation:
        """Return the relation and its verdict, its ends named."""
        relation, verdict = self.relation, self.verdict
        return VerifiedRelation(
            id=relation.id if self.is_stored else None,
            subject=self.ends[0].name,
            type=relation.type,
            object=self.ends[1].name,
            decision=verdict.decision,
            score=verdict.score,
            stage=verdict.stage,
            verifier=verdict.verifier,
            layer=relation.layer if self.is_stored else verdict.layer or "working",
            state=relation.state,
            explanation=verdict.explanation,
            quote=verdict.quote or relation.quote,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationRun:
    """What a run of verification did; `reasons` as in `RelationVerdicts`."""

    checked: tuple[CheckedRelation, ...] = ()
    usage: Usage = field(default_factory=Usage)
    reasons: tuple[str, ...] = ()


def verify_request(
    request: VerifyRequest,
    *,
    project: str,
    judge: Judge,
    graph: GraphStore,
    mirror: Mirror,
    progress: Callable[[int, int], None] | None = None,
) -> Verified:
    """Verify what is requested, and store what is decided.

    Args:
        request, project, judge: Which relations, where they are, and what judges them.
        graph, mirror: Where they are read and written.
        progress: Called with claims that a model has read and those that it is to read.

    Raises:
        InvalidInputError: A type or object without a subject, or a claim of one thing about itself.
        NotFoundError: No entity has one of the names.
    """
    if request.subject is not None:
        rows = requested_relations(request, request.subject, judge.snapshot(), graph)
    elif request.type is None and request.object is None:
        rows = deferred_relations(project, request.limit, graph)
    else:
        raise InvalidInputError("subject: name it too; without one, the relations that wait are verified")
    if not rows and request.subject is not None and request.type is not None and request.object is not None:
        claim = claim_of(judge.snapshot(), graph, request.subject, request.type, request.object)
        run = _verify_claim(claim, judge)
    else:
        run = verify_stored(
            rows, operation="verify", judge=judge, graph=graph, mirror=mirror, progress=progress
        )
    counts = Counter(each.verdict.decision for each in run.checked)
    return Verified(
        relations=tuple(each.view() for each in run.checked),
        accepted=counts["accepted"],
        rejected=counts["rejected"],
        deferred=counts["deferred"],
        calls=run.usage.calls,
        prompt_tokens=run.usage.prompt_tokens,
        reply_tokens=run.usage.reply_tokens,
        reasons=run.reasons,
    )


def deferred_relations(project: str, limit: int, graph: GraphStore) -> tuple[Relation, ...]:
    """Return the relations that wait for a decision, those verified longest ago first."""
    return graph.list_relations(project, Listing(limit=limit), verdicts=("deferred",))


def requested_relations(
    request: VerifyRequest, subject: str, snapshot: Snapshot, graph: GraphStore
) -> tuple[Relation, ...]:
    """Return the active relations of a subject, newest first, with a type and an object where given.

    Raises:
        NotFoundError: No entity has one of the names.
    """
    start = _entity_id(snapshot, subject)
    end = None if request.object is None else _entity_id(snapshot, request.object)
    type = None if request.type is None else relation_type(request.type)
    rows = [
        row
        for row in graph.relations([start])
        if row.state == "active"
        and not is_version(row)
        and type in (None, row.type)
        and _joins(row, start, end)
    ]
    rows.sort(key=lambda row: (row.times.recorded_at, row.id), reverse=True)
    return tuple(rows[: request.limit])


def _joins(row: Relation, start: str, end: str | None) -> bool:
    forward = row.subject == start and end in (None, row.object)
    return forward or (row.bidirectional and row.object == start and end in (None, row.subject))


def _entity_id(snapshot: Snapshot, name: str) -> str:
    return snapshot.nodes.ids[snapshot.entity_named(name)]


def claim_of(
    snapshot: Snapshot, graph: GraphStore, subject: str, type: str, object: str
) -> RelationCandidate:
    """Return a claim that is not stored, with the passages that mention both of its ends.

    Raises:
        NotFoundError: No entity has one of the names.
        InvalidInputError: Both are one entity.
    """
    ids = _entity_id(snapshot, subject), _entity_id(snapshot, object)
    if ids[0] == ids[1]:
        raise InvalidInputError(f"object: {object[:80]!r} is the subject")
    kind = relation_type(type)
    mentioned = [{mention.chunk for mention in graph.mentioned([id])} for id in ids]
    chunks = [chunk for chunk in graph.chunks(sorted(mentioned[0] & mentioned[1])) if chunk.state == "active"]
    chunks.sort(key=lambda chunk: (chunk.times.recorded_at, chunk.id), reverse=True)
    passages = tuple(chunks[:_MOST_PASSAGES])
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


def _verify_claim(candidate: RelationCandidate, judge: Judge) -> VerificationRun:
    """Judge a claim that is not stored; nothing is written."""
    done = judge([candidate])
    checked = replace(checked_relation(candidate, done.verdicts[0]), is_stored=False)
    return VerificationRun(checked=(checked,), usage=done.usage, reasons=done.reasons)


def verify_stored(
    rows: Sequence[Relation],
    *,
    operation: str,
    judge: Judge,
    graph: GraphStore,
    mirror: Mirror,
    progress: Callable[[int, int], None] | None = None,
) -> VerificationRun:
    """Judge stored relations and write what was decided; a rejected relation is archived.

    Args:
        rows: The relations as they are stored.
        operation: On whose behalf, for the audit.
        graph, mirror: Where they are read and written.
        progress: Called with claims that a model has read and those that it is to read.
    """
    candidates = candidates_of(rows, graph)
    open_ = [each for each in candidates if stage_of(each.relation) != "person"]
    done = judge(open_, progress=progress)
    checked = {each.relation.id: checked_relation(each) for each in candidates}
    pairs = list(zip(open_, done.verdicts, strict=True))
    for start in range(0, len(pairs), _IN_ONE_COMMIT):
        checked |= _write_verdicts(pairs[start : start + _IN_ONE_COMMIT], operation, graph, mirror)
    return VerificationRun(checked=tuple(checked.values()), usage=done.usage, reasons=done.reasons)


def _write_verdicts(
    judged: Sequence[tuple[RelationCandidate, Verdict]], operation: str, graph: GraphStore, mirror: Mirror
) -> dict[str, CheckedRelation]:
    """Write verdicts; return the relations that changed, now or meanwhile, by id."""
    checked: dict[str, CheckedRelation] = {}
    changes: list[Change] = []
    rows: list[Relation] = []
    with mirror.one_writer.of(sorted({each.relation.project for each, _ in judged})):
        at = now()
        subjects = sorted({each.relation.subject for each, _ in judged})
        current = {row.id: row for row in graph.relations(subjects)}
        for each, verdict in judged:
            row = each.relation
            new = decided(row, verdict, at)
            if current.get(row.id) != row:
                late = replace(verdict, decision="deferred", explanation=_CHANGED)
                changed = checked_relation(each, late)
                checked[row.id] = replace(changed, relation=current.get(row.id, row))
            elif new is not row:
                new = withdrawn(new, at) if new.verdict == "rejected" else new
                why = verdict.explanation or None
                changes.append(
                    record(operation, project=row.project, target=row.id, before=row, after=new, reason=why)
                )
                rows.append(new)
                checked[row.id] = replace(checked_relation(each, verdict), relation=new)
        if changes:
            mirror.commit(Write(changes=tuple(changes), relations=tuple(rows)))
    return checked


def checked_relation(candidate: RelationCandidate, verdict: Verdict | None = None) -> CheckedRelation:
    """Return a candidate with a verdict; with the stored one where None is given."""
    return CheckedRelation(
        relation=candidate.relation,
        ends=(candidate.subject, candidate.object),
        verdict=verdict or stored_verdict(candidate.relation),
    )


def stored_verdict(relation: Relation) -> Verdict:
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


def stage_of(relation: Relation) -> Stage | None:
    """Return which stage decided on a relation; None where none did."""
    stages: dict[str, Stage] = {"srmkg": "srmkg", "vog": "vog", "person": "person"}
    return stages.get((relation.verifier or "").partition(":")[0])


class WriteVerifier:
    """Verifies the relations that one call writes: by the first stage at once, by a model afterwards."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._lock = threading.Lock()
        self._rejected: set[str] = set()
        self._deferred: dict[str, Relation] = {}
        self._sampled: dict[str, Relation] = {}

    def __call__(self, candidates: Sequence[RelationCandidate]) -> Sequence[Verdict]:
        """Return the first stage's verdicts, and remember which relations a model should read."""
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

    def read_open(self, operation: str, *, graph: GraphStore, mirror: Mirror) -> Decisions:
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
