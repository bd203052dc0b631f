"""The relations that a run of verify weighs beside the others of their passages.

Of a large graph not all are read: those beside what is new, what waits and a page of the others, by turns. A
claim's rivals share its type and its object, or have its subject as their object (`rival_claims`), so the
snapshot's arrays say which rows to read.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hydramem.core.row_types import Relation
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseWork
from hydramem.garden.proposals.proposal import Proposal, precondition_hash
from hydramem.graph.snapshot.snapshot import RELATION, STATES, Snapshot
from hydramem.storage.chunk_filter import LIVE
from hydramem.storage.store import Listing
from hydramem.storage.write import Write
from hydramem.verification.rival_claims import FIRST, Company, in_company

PAGE = 5000
"""Accepted relations that a run looks at; of more, each day another page."""

_NEWEST = 2000
"""Relations recorded last, which a run of a larger graph looks at too."""

_PAIRS_AT_ONCE = 2000

LEAST_CHANGE = 0.05
"""The least change of a probability that is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedRelations:
    """The accepted relations of a run.

    Attributes:
        page: Those that may be judged again.
        beside: Those that are weighed: the page, and what is beside it, new relations and what waits.
        pages: How many runs it takes to look at all of them.
    """

    page: tuple[Relation, ...]
    beside: tuple[Relation, ...]
    pages: int


def accepted_relations(context: PhaseContext, waiting: Sequence[Relation]) -> AcceptedRelations:
    """Read the accepted relations that a run looks at.

    Args:
        context: Of the phase.
        waiting: The deferred relations, which may be rivals of accepted ones.
    """
    snapshot = context.snapshot
    many = int(_live(snapshot).sum())
    pages = max(1, -(-many // PAGE))
    listing = Listing(limit=PAGE, offset=context.now.toordinal() % pages * PAGE)
    page = context.graph.list_relations(context.project, listing, verdicts=("accepted",))
    if pages == 1:
        return AcceptedRelations(page=page, beside=page, pages=pages)
    known = {row.id: row for row in page}
    known |= {row.id: row for row in _beside(context, (*waiting, *page)) if row.verdict == "accepted"}
    return AcceptedRelations(page=page, beside=tuple(known.values()), pages=pages)


def _beside(context: PhaseContext, rows: Sequence[Relation]) -> Iterator[Relation]:
    """Yield the live relations that rows or new relations may exclude, and those that exclude them."""
    snapshot, edges = context.snapshot, context.snapshot.edges
    live = np.flatnonzero(_live(snapshot))
    type, source, target = (part[live].astype(np.int64) for part in (edges.type, edges.source, edges.target))
    as_object, as_subject = type * snapshot.size + target, type * snapshot.size + source
    wanted = {row.id.encode() for row in rows}
    chosen = np.array([id in wanted for id in edges.ids[live].tolist()], dtype=np.bool_)
    chosen[np.argsort(edges.recorded_at[live], kind="stable")[-_NEWEST:]] = True
    for _ in range(2):  # what they exclude, then what excludes that
        keys = np.concatenate([as_object[chosen], as_subject[chosen]])
        chosen |= np.isin(as_object, keys) | np.isin(as_subject, as_object[chosen])
    ids = snapshot.nodes.ids
    pairs = sorted(
        {(ids[a], ids[b]) for a, b in zip(source[chosen].tolist(), target[chosen].tolist(), strict=True)}
    )
    for start in range(0, len(pairs), _PAIRS_AT_ONCE):
        found = context.graph.relations_between(pairs[start : start + _PAIRS_AT_ONCE])
        yield from (row for row in found if row.state in LIVE)


def _live(snapshot: Snapshot) -> NDArray[np.bool_]:
    edges = snapshot.edges
    found: NDArray[np.bool_] = (edges.kind == RELATION) & (edges.state == STATES.index("active"))
    return found


def company_after(
    rows: Sequence[Relation], judged: Mapping[str, Relation], context: PhaseContext
) -> dict[str, Company]:
    """Weigh relations as they are once the verdicts of a run are written.

    Args:
        rows: As they are stored.
        judged: What became of those that were judged, by id.
        context: Of the phase.
    """
    weights, dates = context.judge.weights, _dates(context.snapshot)
    left = [row for row in rows if row.id not in judged or judged[row.id].state in LIVE]
    before = in_company(left, weights, dates=dates)
    now = [judged.get(row.id, row) for row in left]
    # What is contested keeps what the first stage gave it when it was written; the others have a new value.
    kept = [before[row.id].weighed(row) if row.id in before and before[row.id].rival else row for row in now]
    return in_company(kept, weights, dates=dates)


def _dates(snapshot: Snapshot) -> frozenset[str]:
    """Return the ids of the entities that are dates."""
    nodes = snapshot.nodes
    kinds = [code for code, name in enumerate(nodes.types) if name == "date"]
    found = np.flatnonzero(np.isin(nodes.type[: snapshot.size], kinds) & ~nodes.is_chunk[: snapshot.size])
    return frozenset(nodes.ids[node] for node in found.tolist())


def weighed(rows: Sequence[Relation], company: Mapping[str, Company], work: PhaseWork) -> Iterator[Proposal]:
    """Yield what gives relations that no verdict changes the probability that they have in company."""
    for row in rows:
        beside = company.get(row.id)
        if beside is None or row.id in work.undone:
            continue
        if abs(beside.probability - (row.probability or 0.0)) >= LEAST_CHANGE:
            work.counts["weighed"] += 1
            yield _reweighed(row, beside.weighed(row), work)


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
