"""Verify: what waits is judged again, by the graph as it is now and by a model where there is one.

The queue comes first, those that were looked at longest ago; then a share of what was accepted when the
graph was smaller. What a person asserted or decided, what a model read, and what is verified stays.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from hydramem.core.results.garden_results import PhaseState
from hydramem.core.row_types import Relation, RelationCandidate, Verdict
from hydramem.garden.phases.infer.inference import INFERRED_BY
from hydramem.garden.proposals.exclusions import UndoneRows
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseOutcome
from hydramem.garden.proposals.proposal import Proposal, precondition_hash
from hydramem.graph.snapshot.columns import microseconds
from hydramem.graph.snapshot.snapshot import RELATION, Snapshot
from hydramem.ingest.knowledge.end_validity import withdrawn
from hydramem.ingest.knowledge.graph_rows import candidates_of, decided, is_given
from hydramem.storage.store import GraphStore, Listing
from hydramem.storage.write import Write
from hydramem.verification.verify import NO_MODEL, Judge

_WHOLE = 20_000
"""What may wait and still be looked at in a single night, so that nothing is written where nothing moves."""

_IN_TURN = 2000

_AGAIN = 500

_AT_ONCE = 250

_GREW = 0.1

# A reply that is refused is asked for once more.
_CALLS_EACH = 2

_MOVED = 0.05

_SESSIONS = 2


@dataclass(slots=True, kw_only=True)
class _VerifyFindings:
    proposals: list[Proposal] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    reasons: dict[str, None] = field(default_factory=dict)


def verify(ground: PhaseContext) -> PhaseOutcome:
    """Judge the relations that wait, and some that were accepted when the graph knew less."""
    queue = ground.graph.list_relations(ground.project, Listing(limit=_WHOLE + 1), verdicts=("deferred",))
    # Of a longer queue each night takes the front, and notes on all of it that it was looked at.
    turns = len(queue) > _WHOLE
    queue = queue[:_IN_TURN] if turns else queue
    undone = UndoneRows(ground.graph, ground.project)
    waiting = [row for row in queue if not is_given(row)]
    rows = [row for row in (*waiting, *_outgrown(ground)) if row.id not in undone]
    found, stopped, done = _VerifyFindings(), None, 0
    for batch in _batches(rows):
        stopped = ground.budget.over
        if stopped is not None and stopped.startswith("its time"):
            break
        _judge(batch, ground, found, turns=turns)
        done += len(batch)
        ground.progress(done, len(rows))
    notes = [each for each in found.reasons if each != NO_MODEL]
    state = _state(notes, anything=bool(found.proposals))
    if stopped is not None and done < len(rows):
        state = "partial"
        notes.append(f"Not everything was looked at: {stopped}.")
    if NO_MODEL in found.reasons:
        notes.append(f"What the graph leaves open waits: {NO_MODEL}.")
    found.proposals.sort(key=lambda each: (-abs((each.score or 0.5) - 0.5), each.target))
    return PhaseOutcome(
        proposals=tuple(found.proposals),
        counts={"relations_looked_at": done, **dict(sorted(found.counts.items()))},
        state=state,
        notes=tuple(notes),
        usage=ground.budget.usage,
    )


def _state(reasons: Sequence[str], *, anything: bool) -> PhaseState:
    """Say how it went, by why claims wait: a model that failed is never told as success."""
    if any(each.startswith("the model") for each in reasons):
        return "partial" if anything else "failed"
    return "partial" if any(each.startswith("the cap") for each in reasons) else "completed"


def _batches(rows: Sequence[Relation]) -> Iterator[Sequence[Relation]]:
    for start in range(0, len(rows), _AT_ONCE):
        yield rows[start : start + _AT_ONCE]


def _outgrown(ground: PhaseContext) -> list[Relation]:
    """Return relations that the first stage accepted when the graph was a tenth smaller, or earlier.

    What is accepted still is not written, so each day looks at another page of them.
    """
    recorded = _recorded(ground.snapshot)
    pages = max(1, -(-len(recorded) // _AGAIN))
    turn = Listing(limit=_AGAIN, offset=ground.now.toordinal() % pages * _AGAIN)
    accepted = ground.graph.list_relations(ground.project, turn, verdicts=("accepted",))
    open_ = [row for row in accepted if not is_given(row) and row.layer != "verified"]
    return [row for row in open_ if row.origin != "asserted" and _grew_since(row, recorded)]


def _recorded(snapshot: Snapshot) -> NDArray[np.int64]:
    """Return when each relation was recorded, ascending."""
    return np.sort(snapshot.edges.recorded_at[snapshot.edges.kind == RELATION])


def _grew_since(row: Relation, recorded: NDArray[np.int64]) -> bool:
    since = len(recorded) - int(np.searchsorted(recorded, microseconds(row.verified_at, 0), side="right"))
    return since >= max(1.0, _GREW * len(recorded))


def _judge(rows: Sequence[Relation], ground: PhaseContext, found: _VerifyFindings, *, turns: bool) -> None:
    reused = _reused(rows, ground.graph)
    for candidate, verdict in _verdicts(rows, ground, found):
        row = candidate.relation
        new = decided(row, verdict, ground.now)
        if verdict.decision == "rejected":
            if row.origin == "asserted" or (row.verdict == "accepted" and row.id in reused):
                found.counts["kept_though_doubtful"] += 1
                continue
            new = withdrawn(new, ground.now)
        elif not turns and _is_as_it_was(row, new):
            found.counts["still_open" if verdict.decision == "deferred" else "still_accepted"] += 1
            continue
        found.counts[verdict.decision] += 1
        found.proposals.append(_proposal(candidate, new, verdict))


def _verdicts(
    rows: Sequence[Relation], ground: PhaseContext, found: _VerifyFindings
) -> Iterator[tuple[RelationCandidate, Verdict]]:
    """Judge relations; a model does not read what it inferred itself."""
    model, _ = ground.judge.model()
    name = None if model is None else model.name
    own: list[RelationCandidate] = []
    others: list[RelationCandidate] = []
    for candidate in candidates_of(rows, ground.graph):
        inferred_by = candidate.relation.metadata.get(INFERRED_BY)
        (own if name is not None and inferred_by == name else others).append(candidate)
    calls = max(0, ground.settings.garden.phase_calls - ground.budget.usage.calls) // _CALLS_EACH
    judged = _within(ground.judge, calls, ground)(others)
    ground.budget.spend(judged.usage)
    found.reasons |= dict.fromkeys(judged.reasons)
    if own:
        found.counts["left_to_another_model"] += len(own)
    yield from zip(others, judged.verdicts, strict=True)
    yield from zip(own, ground.judge.without_model(own).verdicts, strict=True)


def _within(judge: Judge, calls: int, ground: PhaseContext) -> Judge:
    """Return the judge with as many claims for its model as there are calls left."""
    most = 0 if ground.budget.over else min(calls, judge.settings.vog_max_candidates)
    return replace(judge, settings=replace(judge.settings, vog_max_candidates=most))


def _reused(rows: Sequence[Relation], graph: GraphStore) -> frozenset[str]:
    """Return the ids of relations that rest on what was recalled in several sessions."""
    evidence = sorted({id for row in rows for id in row.evidence})
    sessions: Mapping[str, set[str]] = defaultdict(set)
    for recall in graph.recalled(chunks=evidence) if evidence else ():
        sessions[recall.chunk].add(recall.session)
    often = {chunk for chunk, seen in sessions.items() if len(seen) >= _SESSIONS}
    return frozenset(row.id for row in rows if not often.isdisjoint(row.evidence))


def _is_as_it_was(row: Relation, new: Relation) -> bool:
    moved = abs((new.probability or 0.0) - (row.probability or 0.0)) >= _MOVED
    return (row.verdict, row.layer, row.quote) == (new.verdict, new.layer, new.quote) and not moved


def _proposal(candidate: RelationCandidate, new: Relation, verdict: Verdict) -> Proposal:
    row = candidate.relation
    told = {"accepted": "is believed", "rejected": "is not believed", "deferred": "is still open"}
    claim = f"{candidate.subject.name} {row.type} {candidate.object.name}"
    return Proposal(
        project=row.project,
        phase="verify",
        action="archive" if verdict.decision == "rejected" else "judge",
        target=row.id,
        text=f"{claim} {told[verdict.decision]}",
        reason=verdict.explanation or f"By {verdict.verifier}.",
        score=verdict.score,
        write=Write(changes=(), relations=(new,)),
        expects=precondition_hash(row),
    )
