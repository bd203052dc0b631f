"""Relations that look wrong twice: to a scorer of edges, which is fitted to this graph, and to verification.

The scorer tells what does not fit the graph; verification also reads the passages that a relation rests on.
Only what neither believes goes, the worst first.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hydramem.core.row_types import Relation, RelationCandidate, Verdict
from hydramem.garden.edges.edge_scoring import scores_of
from hydramem.garden.edges.labelled_relations import EdgeScores
from hydramem.garden.edges.logistic import LEAST_RELATIONS
from hydramem.garden.phases.prune.expired import expired, isolated, loose_links
from hydramem.garden.phases.prune.over_limits import over_room
from hydramem.garden.phases.prune.past_retention import old_changes, purged
from hydramem.garden.proposals.exclusions import UndoneRows, is_protected, reused
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseOutcome
from hydramem.garden.proposals.proposal import Proposal, precondition_hash
from hydramem.graph.snapshot.snapshot import LINK, RELATION, STATES
from hydramem.ingest.knowledge.end_validity import withdrawn
from hydramem.ingest.knowledge.graph_rows import candidates_of
from hydramem.storage.write import Write

_AT_ONCE = 250

_LOOKED_AT = 10
"""For each relation that may go, how many are looked at: many of the worst are protected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Suspect:
    """A relation that the scorer calls spurious, as it is stored."""

    row: Relation
    spurious: float


def spurious(
    ground: PhaseContext,
    undone: UndoneRows,
    counts: Counter[str],
    notes: list[str],
    *,
    most: int,
    score: Callable[[PhaseContext], EdgeScores | None],
) -> list[Proposal]:
    """Return the relations to archive.

    Args:
        ground: What is looked at.
        undone: What a person took back.
        counts: Gains what was looked at and found.
        notes: Gains how good the scorer is, or why nothing is pruned.
        most: How many may go.
        score: Scores the relations of what is looked at.
    """
    scores = score(ground)
    if scores is None:
        notes.append(f"Relations are not scored: there are fewer than {LEAST_RELATIONS}.")
        return []
    notes.append(
        f"Edge scorer {scores.scorer}: on held-out relations AUC {scores.auc:.3f}, "
        f"Brier score {scores.calibration:.3f}."
    )
    if scores.labels:
        notes.append(f"It learned from {scores.labels:,} relations that people judged.")
    notes += scores.notes
    least = ground.settings.garden.least_auc
    counts["relations_scored"] = len(scores.rows)
    if scores.auc < least:
        notes.append(f"No relation is pruned: the scorer's AUC is below garden.least_auc, {least}.")
        return []
    found = _suspects(scores, ground, counts, most=most)
    return _agreed(found, ground, undone, counts, scores.scorer)[:most]


def _suspects(scores: EdgeScores, ground: PhaseContext, counts: Counter[str], *, most: int) -> list[_Suspect]:
    """Return the worst relations that may go at all, as they are stored."""
    worst = np.lexsort((scores.rows, -scores.spurious))
    worst = worst[scores.spurious[worst] >= ground.settings.garden.spurious_at]
    counts["relations_spurious"] = len(worst)
    found: list[_Suspect] = []
    looked_at = worst[: _LOOKED_AT * most]
    for start in range(0, len(looked_at), _AT_ONCE):
        if ground.budget.over or len(found) >= _LOOKED_AT * most:
            break
        part = looked_at[start : start + _AT_ONCE]
        found += _stored(scores.rows[part], scores.spurious[part], ground, counts)
        ground.progress(start + len(part), len(looked_at))
    return found


def _stored(
    rows: np.ndarray, spurious: np.ndarray, ground: PhaseContext, counts: Counter[str]
) -> Iterator[_Suspect]:
    edges, ids = ground.snapshot.edges, ground.snapshot.nodes.ids
    score = {edges.ids[row].decode(): float(value) for row, value in zip(rows, spurious, strict=True)}
    subjects = sorted({ids[edges.source[row]] for row in rows})
    stored = {row.id: row for row in ground.graph.relations(subjects) if row.id in score}
    often = reused(sorted({id for row in stored.values() for id in row.evidence}), ground.graph)
    for id, value in score.items():
        row = stored.get(id)
        if row is None or row.state != "active":
            continue
        if is_protected(row) or not often.isdisjoint(row.evidence):
            counts["spurious_protected"] += 1
        else:
            yield _Suspect(row=row, spurious=value)


def _agreed(
    suspects: Sequence[_Suspect], ground: PhaseContext, undone: UndoneRows, counts: Counter[str], name: str
) -> list[Proposal]:
    """Keep those that verification does not believe either."""
    proposals: list[Proposal] = []
    bound = disbelieved_below(
        ground.settings.verification.accept_at, ground.settings.verification.reject_below
    )
    candidates = candidates_of([each.row for each in suspects], ground.graph)
    verdicts = ground.judge.without_model(candidates).verdicts if candidates else ()
    for suspect, candidate, verdict in zip(suspects, candidates, verdicts, strict=True):
        if verdict.score >= bound:
            counts["spurious_believed"] += 1
        elif suspect.row.id in undone:
            counts["spurious_taken_back"] += 1
        else:
            proposals.append(_proposal(suspect, candidate, verdict, ground, name))
    return proposals


def disbelieved_below(accept_at: float, reject_below: float) -> float:
    """Return the probability under which verification counts as agreeing: half-way between its thresholds."""
    return (accept_at + reject_below) / 2


def _proposal(
    suspect: _Suspect, candidate: RelationCandidate, verdict: Verdict, ground: PhaseContext, name: str
) -> Proposal:
    row = suspect.row
    return Proposal(
        project=row.project,
        phase="prune",
        action="archive",
        target=row.id,
        text=f"{candidate.subject.name} {row.type} {candidate.object.name}",
        reason=f"It does not fit the graph ({name}: spurious with probability {suspect.spurious:.2f}), and "
        f"verification gives it {verdict.score:.2f}.",
        score=round(suspect.spurious, 4),
        write=Write(changes=(), relations=(withdrawn(row, ground.now),)),
        expects=precondition_hash(row),
    )


def prune(ground: PhaseContext) -> PhaseOutcome:
    """Propose what goes to the archive, and what has been there long enough."""
    counts: Counter[str] = Counter()
    notes: list[str] = []
    most, undone = _most(ground), UndoneRows(ground.graph, ground.project)
    gone = expired(ground, undone, counts)
    wrong = spurious(ground, undone, counts, notes, most=most, score=scores_of) if most else []
    gone += wrong
    gone += loose_links(ground, undone, counts, most=most - len(wrong))
    gone += isolated(ground, undone, counts)
    gone += purged(ground, undone, counts)
    going = {id for each in gone for id in each.write.removed.chunks}
    gone += over_room(ground, undone, going, counts, notes)
    gone += old_changes(ground, counts)
    if ground.budget.over:
        notes.append(f"Not everything was looked at: {ground.budget.over}.")
    return PhaseOutcome(
        proposals=tuple(gone),
        counts=dict(sorted(counts.items())),
        state="partial" if ground.budget.over else "completed",
        notes=tuple(notes),
        usage=ground.budget.usage,
    )


def _most(ground: PhaseContext) -> int:
    """Return how many relations and links may go tonight."""
    edges = ground.snapshot.edges
    active = np.isin(edges.kind, (RELATION, LINK)) & (edges.state == STATES.index("active"))
    return int(ground.settings.garden.prune_share * np.count_nonzero(active))
