"""Verify: deferred relations are judged again, by the graph as it is now and by a model where there is one.

The queue comes first, longest waiting first, or most uncertain first where a model can be asked, which reads
as many as the budget of the phase has calls for; then some relations that were accepted when the graph was
smaller, and what sources verified, since they may be gone. Claims that a passage contests are weighed against
its other claims as the verdicts leave them (`weighed_relations`), so that the next run finds nothing more:
that changes how far a walk follows them, and ends none. What
a person asserted or decided and what a model read stays. What a model inferred waits for another model or a
person: it does not read its own, and the first stage alone does not reject it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hydramem.core.results.garden_results import PhaseState
from hydramem.core.row_types import Relation, RelationCandidate, Verdict
from hydramem.garden.phases.infer.inferred_proposals import INFERRED_BY, claims_in_budget, judge_claims
from hydramem.garden.phases.weighed_relations import (
    LEAST_CHANGE,
    PAGE,
    accepted_relations,
    company_after,
    weighed,
)
from hydramem.garden.proposals.exclusions import reused
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseOutcome, PhaseWork
from hydramem.garden.proposals.proposal import Proposal, precondition_hash
from hydramem.graph.snapshot.columns import microseconds
from hydramem.graph.snapshot.snapshot import RELATION
from hydramem.ingest.knowledge.end_validity import withdrawn
from hydramem.ingest.knowledge.graph_rows import candidates_of, decided, is_given
from hydramem.storage.store import Listing
from hydramem.storage.write import Write
from hydramem.verification.rival_claims import Company, with_rival
from hydramem.verification.verify import NO_MODEL

_WHOLE_QUEUE = 20_000
"""The longest queue that a run judges as a whole; then nothing is written for a row that does not change."""

_QUEUE_PAGE = 2000
"""Rows that a run judges of a longer queue."""

_GROWTH = 0.1
"""Share of all relations recorded since, from which an accepted one is judged again."""

_AT_ONCE = 250
_LEAST_AT_ONCE = 10


def verify(context: PhaseContext) -> PhaseOutcome:
    """Judge the relations that wait, and some that were accepted when the graph knew less."""
    work = PhaseWork(context)
    queue = context.graph.list_relations(
        context.project, Listing(limit=_WHOLE_QUEUE + 1), verdicts=("deferred",)
    )
    # Of a longer queue each run judges the front, and writes all verdicts, which moves those rows to the end.
    in_turns = len(queue) > _WHOLE_QUEUE
    waiting = [row for row in (queue[:_QUEUE_PAGE] if in_turns else queue) if not is_given(row)]
    accepted = accepted_relations(context, queue)
    outgrown = _outgrown(accepted.page, context)
    waiting, outgrown = ([row for row in some if row.id not in work.undone] for some in (waiting, outgrown))
    if context.judge.model()[0] is not None:
        waiting = _uncertain_first(waiting)
    whole = len(waiting) + len(outgrown)
    verdicts: list[_Judged] = []
    reasons: dict[str, None] = {}
    stopped, done = None, 0
    for batch in _batches(waiting, outgrown, context):
        stopped = context.budget.over
        if stopped is not None and stopped.startswith("its time"):
            break
        verdicts += _judged(batch, work, reasons)
        done += len(batch)
        context.progress(done, whole)
    all_rows = (*queue, *accepted.beside)
    judged = {one.row.id: one.new for one in verdicts}
    company = company_after(all_rows, judged, context)
    proposals = list(_changes(verdicts, company, work, in_turns=in_turns))
    untouched = [row for row in all_rows if row.id not in judged]
    proposals += weighed(untouched, company, work)
    if accepted.pages > 1:
        work.notes.append(f"Accepted relations are looked at by turns, {PAGE} in a run.")
    work.notes += [each for each in reasons if each != NO_MODEL and not _is_cap(each)]
    work.notes += (
        ["A model read what its budget of calls allows; the rest waits."] if _capped(reasons) else []
    )
    state = _state(reasons, anything=bool(proposals))
    if stopped is not None and done < whole:
        state = "partial"
        work.notes.append(f"Not everything was looked at: {stopped}.")
    if NO_MODEL in reasons:
        work.notes.append(f"What the graph leaves open waits: {NO_MODEL}.")
    proposals.sort(key=lambda each: (-abs((each.score or 0.5) - 0.5), each.target))
    outcome = work.outcome(proposals, state=state)
    return replace(outcome, counts={"relations_looked_at": done, **outcome.counts})


def _uncertain_first(rows: Sequence[Relation]) -> list[Relation]:
    """Return relations by how undecided they are; those of one evidence together, which one call reads."""
    undecided: dict[tuple[str, ...], float] = {}
    for row in rows:
        sure = abs((0.5 if row.probability is None else row.probability) - 0.5)
        undecided[row.evidence] = min(sure, undecided.get(row.evidence, 1.0))
    return sorted(rows, key=lambda row: (undecided[row.evidence], row.evidence))


def _batches(
    waiting: Sequence[Relation], outgrown: Sequence[Relation], context: PhaseContext
) -> Iterator[Sequence[Relation]]:
    """Yield relations to judge together: of those that wait as many as a model may be asked about."""
    place = 0
    while place < len(waiting):
        asked = claims_in_budget(context) if context.judge.model()[0] is not None else 0
        size = max(asked, _LEAST_AT_ONCE) if asked else _AT_ONCE
        yield waiting[place : place + size]
        place += size
    for start in range(0, len(outgrown), _AT_ONCE):
        yield outgrown[start : start + _AT_ONCE]


def _is_cap(reason: str) -> bool:
    return reason.startswith("the cap")


def _capped(reasons: Iterable[str]) -> bool:
    return any(map(_is_cap, reasons))


def _state(reasons: Iterable[str], *, anything: bool) -> PhaseState:
    """Return the state of the phase by why claims wait: a failed model is never reported as success."""
    if any(each.startswith("the model") for each in reasons):
        return "partial" if anything else "failed"
    return "partial" if _capped(reasons) else "completed"


def _outgrown(accepted: Sequence[Relation], context: PhaseContext) -> list[Relation]:
    """Return relations that the first stage verified, or accepted when the graph was a tenth smaller.

    What is only supposed, such as that two names may be of one thing, is no growth.
    """
    edges = context.snapshot.edges
    recorded = np.sort(edges.recorded_at[(edges.kind == RELATION) & ~edges.supposed])
    open_ = [row for row in accepted if not is_given(row) and row.origin != "asserted"]
    return [row for row in open_ if row.layer == "verified" or _grew_since(row, recorded)]


def _grew_since(row: Relation, recorded: NDArray[np.int64]) -> bool:
    since = len(recorded) - int(np.searchsorted(recorded, microseconds(row.verified_at, 0), side="right"))
    return since >= max(1.0, _GROWTH * len(recorded))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Judged:
    """A relation with its verdict, and what becomes of it where no rival contests it."""

    candidate: RelationCandidate
    verdict: Verdict
    new: Relation

    @property
    def row(self) -> Relation:
        return self.candidate.relation


def _judged(rows: Sequence[Relation], work: PhaseWork, reasons: dict[str, None]) -> Iterator[_Judged]:
    """Judge relations, and collect why some wait; what stays though it is doubtful is left out."""
    context = work.context
    often = reused(sorted({id for row in rows for id in row.evidence}), context.graph)
    candidates = candidates_of(rows, context.graph)
    models = [each.relation.metadata.get(INFERRED_BY) for each in candidates]
    inferred_by = [model if isinstance(model, str) else None for model in models]
    judged = judge_claims(candidates, inferred_by, context)
    reasons |= dict.fromkeys(judged.reasons)
    if any(judged.left):
        work.counts["left_to_another_model"] += sum(judged.left)
    for candidate, verdict, is_left in zip(candidates, judged.verdicts, judged.left, strict=True):
        row = candidate.relation
        if verdict.decision == "rejected":
            is_reused = not often.isdisjoint(row.evidence)
            if row.origin == "asserted" or (row.verdict == "accepted" and is_reused):
                work.counts["kept_though_doubtful"] += 1
                continue
            if is_left and candidate.passages:
                verdict = _left_open(verdict, judged.why)
            elif verdict.stage == "srmkg" and candidate.passages and (verdict.quote or row.quote):
                # No walk follows it below `DOUBTED`; the graph alone ends nothing that is quoted.
                verdict = _left_open(verdict, "words are quoted for it")
        new = decided(row, verdict, context.now)
        if verdict.decision == "rejected":
            new = withdrawn(new, context.now)
        yield _Judged(candidate=candidate, verdict=verdict, new=new)


def _changes(
    judged: Sequence[_Judged], company: Mapping[str, Company], work: PhaseWork, *, in_turns: bool
) -> Iterator[Proposal]:
    """Yield a proposal for each relation that its verdict, or what its passages state beside it, changes."""
    context = work.context
    for one in judged:
        row, verdict, new, beside = one.row, one.verdict, one.new, company.get(one.row.id)
        if beside is not None and _is_contested(row, verdict, beside, context):
            work.counts["contested"] += 1
            verdict = _left_open(verdict, "its passages state what excludes it")
            new = decided(row, verdict, context.now)
        if (
            verdict.decision != "rejected"
            and verdict.stage == "srmkg"
            and beside is not None
            and beside.rival
        ):
            new = beside.weighed(new)
        if new.state == row.state and not in_turns and _is_unchanged(row, new):
            work.counts["still_open" if verdict.decision == "deferred" else "still_accepted"] += 1
            continue
        work.counts[verdict.decision] += 1
        yield _proposal(one.candidate, new, verdict)


def _left_open(verdict: Verdict, why: str) -> Verdict:
    """Return a verdict of the first stage as an open one: what a model inferred, another rejects."""
    explanation = f"{verdict.explanation} It waits: {why}.".strip()
    return replace(verdict, decision="deferred", explanation=explanation)


def _is_contested(row: Relation, verdict: Verdict, beside: Company, context: PhaseContext) -> bool:
    """Say whether the graph alone would accept what a rival in the same passage makes unlikely."""
    by_graph = row.verdict == "deferred" and verdict.decision == "accepted" and verdict.stage == "srmkg"
    least = context.settings.verification.accept_at
    return by_graph and with_rival(verdict.score, beside.rival) < least


def _is_unchanged(row: Relation, new: Relation) -> bool:
    difference = abs((new.probability or 0.0) - (row.probability or 0.0))
    same = (row.verdict, row.layer, row.quote) == (new.verdict, new.layer, new.quote)
    return same and difference < LEAST_CHANGE


def _proposal(candidate: RelationCandidate, new: Relation, verdict: Verdict) -> Proposal:
    row = candidate.relation
    outcome = {"accepted": "is believed", "rejected": "is not believed", "deferred": "is still open"}
    claim = f"{candidate.subject.name} {row.type} {candidate.object.name}"
    return Proposal(
        project=row.project,
        phase="verify",
        action="archive" if verdict.decision == "rejected" else "judge",
        target=row.id,
        text=f"{claim} {outcome[verdict.decision]}",
        reason=verdict.explanation or f"By {verdict.verifier}.",
        score=verdict.score,
        write=Write(changes=(), relations=(new,)),
        expects=precondition_hash(row),
    )
