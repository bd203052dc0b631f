"""Verify: deferred relations are judged again, by the graph as it is now and by a model where there is one.

The queue comes first, longest waiting first; then some relations that were accepted when the graph was
smaller, and what sources verified, since they may be gone. Claims that a passage contests are weighed against
its other claims (`verification.rival_claims`): that changes how far a walk follows them, and ends none. What
a person asserted or decided and what a model read stays. What a model inferred waits for another model or a
person: it does not read its own, and the first stage alone does not reject it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hydramem.core.results.garden_results import PhaseState
from hydramem.core.row_types import Relation, RelationCandidate, Verdict
from hydramem.garden.phases.infer.inferred_proposals import INFERRED_BY, judge_claims
from hydramem.garden.proposals.exclusions import reused
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseOutcome, PhaseWork
from hydramem.garden.proposals.proposal import Proposal, precondition_hash
from hydramem.graph.snapshot.columns import microseconds
from hydramem.graph.snapshot.snapshot import RELATION, Snapshot
from hydramem.ingest.knowledge.end_validity import withdrawn
from hydramem.ingest.knowledge.graph_rows import candidates_of, decided, is_given
from hydramem.storage.store import Listing
from hydramem.storage.write import Write
from hydramem.verification.rival_claims import FIRST, Company, in_company, with_rival
from hydramem.verification.verify import NO_MODEL

_WHOLE_QUEUE = 20_000
"""The longest queue that a run judges as a whole; then nothing is written for a row that does not change."""

_QUEUE_PAGE = 2000
"""Rows that a run judges of a longer queue."""

_ACCEPTED_PAGE = 500
"""Accepted relations that a run looks at again."""

_MOST_WEIGHED = 50_000
"""Accepted relations that are weighed against each other; of more, those that wait longest."""

_GROWTH = 0.1
"""Share of all relations recorded since, from which an accepted one is judged again."""

_LEAST_CHANGE = 0.05
"""The least change of a probability that is written."""

_AT_ONCE = 250


def verify(context: PhaseContext) -> PhaseOutcome:
    """Judge the relations that wait, and some that were accepted when the graph knew less."""
    work = PhaseWork(context)
    queue = context.graph.list_relations(
        context.project, Listing(limit=_WHOLE_QUEUE + 1), verdicts=("deferred",)
    )
    # Of a longer queue each run judges the front, and writes all verdicts, which moves those rows to the end.
    in_turns = len(queue) > _WHOLE_QUEUE
    waiting = [row for row in (queue[:_QUEUE_PAGE] if in_turns else queue) if not is_given(row)]
    accepted = context.graph.list_relations(
        context.project, Listing(limit=_MOST_WEIGHED), verdicts=("accepted",)
    )
    company = in_company((*queue, *accepted), context.judge.weights, dates=_dates(context.snapshot))
    rows = [row for row in (*waiting, *_outgrown(context)) if row.id not in work.undone]
    proposals: list[Proposal] = []
    reasons: dict[str, None] = {}
    stopped, done = None, 0
    for start in range(0, len(rows), _AT_ONCE):
        stopped = context.budget.over
        if stopped is not None and stopped.startswith("its time"):
            break
        batch = rows[start : start + _AT_ONCE]
        proposals += _judged(batch, work, reasons, company, in_turns=in_turns)
        done += len(batch)
        context.progress(done, len(rows))
    judged = {row.id for row in rows}
    proposals += _weighed([row for row in (*queue, *accepted) if row.id not in judged], company, work)
    work.notes += [each for each in reasons if each != NO_MODEL]
    state = _state(work.notes, anything=bool(proposals))
    if stopped is not None and done < len(rows):
        state = "partial"
        work.notes.append(f"Not everything was looked at: {stopped}.")
    if NO_MODEL in reasons:
        work.notes.append(f"What the graph leaves open waits: {NO_MODEL}.")
    proposals.sort(key=lambda each: (-abs((each.score or 0.5) - 0.5), each.target))
    outcome = work.outcome(proposals, state=state)
    return replace(outcome, counts={"relations_looked_at": done, **outcome.counts})


def _dates(snapshot: Snapshot) -> frozenset[str]:
    """Return the ids of the entities that are dates."""
    nodes = snapshot.nodes
    kinds = [code for code, name in enumerate(nodes.types) if name == "date"]
    found = np.flatnonzero(np.isin(nodes.type[: snapshot.size], kinds) & ~nodes.is_chunk[: snapshot.size])
    return frozenset(nodes.ids[node] for node in found.tolist())


def _state(reasons: Sequence[str], *, anything: bool) -> PhaseState:
    """Return the state of the phase by why claims wait: a failed model is never reported as success."""
    if any(each.startswith("the model") for each in reasons):
        return "partial" if anything else "failed"
    return "partial" if any(each.startswith("the cap") for each in reasons) else "completed"


def _outgrown(context: PhaseContext) -> list[Relation]:
    """Return relations that the first stage verified, or accepted when the graph was a tenth smaller.

    A relation that stays accepted is not written, so each day looks at another page of them.
    """
    edges = context.snapshot.edges
    recorded = np.sort(edges.recorded_at[edges.kind == RELATION])
    pages = max(1, -(-len(recorded) // _ACCEPTED_PAGE))
    page = Listing(limit=_ACCEPTED_PAGE, offset=context.now.toordinal() % pages * _ACCEPTED_PAGE)
    accepted = context.graph.list_relations(context.project, page, verdicts=("accepted",))
    open_ = [row for row in accepted if not is_given(row) and row.origin != "asserted"]
    return [row for row in open_ if row.layer == "verified" or _grew_since(row, recorded)]


def _grew_since(row: Relation, recorded: NDArray[np.int64]) -> bool:
    since = len(recorded) - int(np.searchsorted(recorded, microseconds(row.verified_at, 0), side="right"))
    return since >= max(1.0, _GROWTH * len(recorded))


def _judged(
    rows: Sequence[Relation],
    work: PhaseWork,
    reasons: dict[str, None],
    company: Mapping[str, Company],
    *,
    in_turns: bool,
) -> Iterator[Proposal]:
    """Judge relations; yield a proposal for each whose verdict changes, and collect why some wait."""
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
        beside = company.get(row.id)
        if beside is not None and _is_contested(row, verdict, beside, context):
            work.counts["contested"] += 1
            verdict = _left_open(verdict, "its passages state what excludes it")
        new = decided(row, verdict, context.now)
        if verdict.decision == "rejected":
            new = withdrawn(new, context.now)
        else:
            new = beside.weighed(new) if beside is not None and verdict.stage == "srmkg" else new
        if new.state == row.state and not in_turns and _is_unchanged(row, new):
            work.counts["still_open" if verdict.decision == "deferred" else "still_accepted"] += 1
            continue
        work.counts[verdict.decision] += 1
        yield _proposal(candidate, new, verdict)


def _left_open(verdict: Verdict, why: str) -> Verdict:
    """Return a verdict of the first stage as an open one: what a model inferred, another rejects."""
    explanation = f"{verdict.explanation} It waits: {why}.".strip()
    return replace(verdict, decision="deferred", explanation=explanation)


def _is_contested(row: Relation, verdict: Verdict, beside: Company, context: PhaseContext) -> bool:
    """Say whether the graph alone would accept what a rival in the same passage makes unlikely."""
    by_graph = row.verdict == "deferred" and verdict.decision == "accepted" and verdict.stage == "srmkg"
    least = context.settings.verification.accept_at
    return by_graph and with_rival(verdict.score, beside.rival) < least


def _weighed(rows: Sequence[Relation], company: Mapping[str, Company], work: PhaseWork) -> Iterator[Proposal]:
    """Yield what gives relations that no verdict changes the probability that they have in company."""
    for row in rows:
        beside = company.get(row.id)
        if beside is None or row.id in work.undone:
            continue
        if abs(beside.probability - (row.probability or 0.0)) >= _LEAST_CHANGE:
            work.counts["weighed"] += 1
            yield _reweighed(row, beside.weighed(row), work)


def _is_unchanged(row: Relation, new: Relation) -> bool:
    difference = abs((new.probability or 0.0) - (row.probability or 0.0))
    same = (row.verdict, row.layer, row.quote) == (new.verdict, new.layer, new.quote)
    return same and difference < _LEAST_CHANGE


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


def _reweighed(row: Relation, new: Relation, work: PhaseWork) -> Proposal:
    label = work.context.snapshot.label
    ends = [work.context.snapshot.node(id) for id in (row.subject, row.object)]
    subject, object = ("?" if node is None else label(node) for node in ends)
    return Proposal(
        project=row.project,
        phase="verify",
        action="judge",
        target=row.id,
        text=f"{subject} {row.type} {object} counts {row.probability:.2f} -> {new.probability:.2f}",
        reason="Its passages state what excludes it."
        if new.probability != row.scores.get(FIRST)
        else "Its passages state nothing any more that excludes it.",
        score=new.probability,
        write=Write(changes=(), relations=(new,)),
        expects=precondition_hash(row),
    )
