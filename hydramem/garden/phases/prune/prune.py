"""Prune: what goes to the archive, and what leaves it for good.

Relations go that look wrong twice: to a scorer of edges fitted to this graph, and to verification, which also
reads their passages. The other modules of this folder find what is expired, over a limit or past retention.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from hydramem.core.row_types import Relation, RelationCandidate, Verdict
from hydramem.garden.edges.edge_scoring import scores_of
from hydramem.garden.edges.labelled_relations import EdgeScores
from hydramem.garden.edges.logistic import LEAST_RELATIONS
from hydramem.garden.phases.prune.expired import expired, isolated, weak_links
from hydramem.garden.phases.prune.over_limits import over_room
from hydramem.garden.phases.prune.past_retention import old_changes, past_retention
from hydramem.garden.proposals.exclusions import is_protected, reused
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseOutcome, PhaseWork
from hydramem.garden.proposals.proposal import Proposal, precondition_hash
from hydramem.graph.snapshot.snapshot import LINK, RELATION, STATES
from hydramem.ingest.knowledge.end_validity import withdrawn
from hydramem.ingest.knowledge.graph_rows import candidates_of
from hydramem.storage.write import Write

_AT_ONCE = 250
_LOOKED_AT = 10
"""Relations that are looked at for each that may go: many of the worst are protected."""


def prune(context: PhaseContext) -> PhaseOutcome:
    """Propose what goes to the archive, and what has been there long enough."""
    work, most = PhaseWork(context), _most(context)
    gone = expired(work)
    wrong = _spurious(work, most=most) if most else []
    gone += wrong
    gone += weak_links(work, most=most - len(wrong))
    gone += isolated(work)
    gone += past_retention(work)
    gone += over_room(work, {id for each in gone for id in each.write.removed.chunks})
    gone += old_changes(work)
    if context.budget.over:
        work.notes.append(f"Not everything was looked at: {context.budget.over}.")
    return work.outcome(gone)


def _most(context: PhaseContext) -> int:
    """Return how many relations and links may go in this run."""
    edges = context.snapshot.edges
    active = np.isin(edges.kind, (RELATION, LINK)) & (edges.state == STATES.index("active"))
    return int(context.settings.garden.prune_share * np.count_nonzero(active))


def _spurious(work: PhaseWork, *, most: int) -> list[Proposal]:
    """Return what archives spurious relations; note how good the scorer is, or why nothing is pruned."""
    notes, least = work.notes, work.context.settings.garden.least_auc
    scores = scores_of(work.context)
    if scores is None:
        notes.append(f"Relations are not scored: there are fewer than {LEAST_RELATIONS}.")
        return []
    work.auc = scores.auc
    notes.append(
        f"Edge scorer {scores.scorer}: on held-out relations AUC {scores.auc:.3f}, "
        f"Brier score {scores.calibration:.3f}."
    )
    if scores.labels:
        notes.append(f"It learned from {scores.labels:,} relations that people judged.")
    notes += scores.notes
    work.counts["relations_scored"] = len(scores.rows)
    if scores.auc < least:
        notes.append(f"No relation is pruned: the scorer's AUC is below garden.least_auc, {least}.")
        return []
    return _disbelieved(_suspects(scores, work, most=most), work, scores.scorer)[:most]


def _suspects(scores: EdgeScores, work: PhaseWork, *, most: int) -> list[tuple[Relation, float]]:
    """Return the worst relations that may go at all, each with the probability that it is spurious."""
    worst = np.lexsort((scores.rows, -scores.spurious))
    worst = worst[scores.spurious[worst] >= work.context.settings.garden.spurious_at]
    work.counts["relations_spurious"] = len(worst)
    found: list[tuple[Relation, float]] = []
    for part in work.batches(worst[: _LOOKED_AT * most], _AT_ONCE):
        found += _unprotected(scores.rows[part], scores.spurious[part], work)
        if len(found) >= _LOOKED_AT * most:
            break
    return found


def _unprotected(rows: np.ndarray, spurious: np.ndarray, work: PhaseWork) -> Iterator[tuple[Relation, float]]:
    graph, snapshot = work.context.graph, work.context.snapshot
    score = {
        snapshot.edges.ids[row].decode(): float(value) for row, value in zip(rows, spurious, strict=True)
    }
    subjects = sorted({snapshot.nodes.ids[snapshot.edges.source[row]] for row in rows})
    stored = {row.id: row for row in graph.relations(subjects) if row.id in score}
    often = reused(sorted({id for row in stored.values() for id in row.evidence}), graph)
    for id, value in score.items():
        row = stored.get(id)
        if row is None or row.state != "active":
            continue
        if is_protected(row) or not often.isdisjoint(row.evidence):
            work.counts["spurious_protected"] += 1
        else:
            yield row, value


def _disbelieved(suspects: Sequence[tuple[Relation, float]], work: PhaseWork, scorer: str) -> list[Proposal]:
    """Return what archives those suspects that verification does not believe either."""
    context, proposals = work.context, list[Proposal]()
    settings = context.settings.verification
    bound = disbelieved_below(settings.accept_at, settings.reject_below)
    candidates = candidates_of([row for row, _ in suspects], context.graph)
    verdicts = context.judge.without_model(candidates).verdicts if candidates else ()
    for (row, spurious), candidate, verdict in zip(suspects, candidates, verdicts, strict=True):
        if verdict.score >= bound:
            work.counts["spurious_believed"] += 1
        elif row.id in work.undone:
            work.counts["spurious_taken_back"] += 1
        else:
            after = withdrawn(row, context.now)
            proposals.append(_proposal(candidate, after, spurious, verdict, scorer))
    return proposals


def disbelieved_below(accept_at: float, reject_below: float) -> float:
    """Return the probability under which verification counts as agreeing: half-way between its thresholds."""
    return (accept_at + reject_below) / 2


def _proposal(
    candidate: RelationCandidate, after: Relation, spurious: float, verdict: Verdict, scorer: str
) -> Proposal:
    row = candidate.relation
    return Proposal(
        project=row.project,
        phase="prune",
        action="archive",
        target=row.id,
        text=f"{candidate.subject.name} {row.type} {candidate.object.name}",
        reason=f"It does not fit the graph ({scorer}: spurious with probability {spurious:.2f}), and "
        f"verification gives it {verdict.score:.2f}.",
        score=round(spurious, 4),
        write=Write(changes=(), relations=(after,)),
        expects=precondition_hash(row),
    )
