"""Likely-same links: relations that recall crosses before anybody has merged two names of one thing.

Their confidence is the probability that both are one, and their weight. They state nothing: they are
inferred, without evidence, and no phase learns from them or judges them. Each run makes those that are new,
and removes those that no longer follow from the names.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from hydramem.core.ids import relation_id
from hydramem.core.row_types import MAY_BE, Relation, Times
from hydramem.garden.phases.merge.likely_same import LikelyPair
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseWork
from hydramem.garden.proposals.proposal import Proposal, precondition_hash
from hydramem.graph.snapshot.snapshot import RELATION
from hydramem.storage.write import Removal, Write
from hydramem.storage.write_validation import batches
from hydramem.text.names.name_variants import Variant

_MOST_LINKED = 1000
_LEAST_CHANGE = 0.1
"""The least change of a probability that is written."""

_AT_ONCE = 500
_REASONS: Mapping[Variant, str] = {
    "initials": "One name is short for the other.",
    "part": "One name is part of the other.",
    "misspelled": "Their names are spelled differently, and otherwise the same.",
    "described": "One describes what the other names.",
}


def likely_links(
    pairs: Sequence[LikelyPair], work: PhaseWork, *, changed: Collection[str], replaced: Collection[str]
) -> list[Proposal]:
    """Return what makes the likely-same links of a project those of some pairs.

    Args:
        pairs: Those that are likely, the likeliest first.
        work: The phase; what a person took back is not made again.
        changed: Ids of entities that merges of this run change.
        replaced: Ids of those that they remove; their links go with them.
    """
    context = work.context
    separated = {
        change.target for change in context.graph.changes(project=context.project, operation="split")
    }
    stored = {frozenset((row.subject, row.object)): row for row in _stored(context, replaced)}
    wanted: set[frozenset[str]] = set()
    made: list[Proposal] = []
    for pair in pairs:
        ends = frozenset((pair.short.id, pair.long.id))
        if any(id in separated or id in work.undone for id in ends) or ends in wanted:
            continue
        wanted.add(ends)
        known = stored.get(ends)
        if known is None or abs(known.confidence - pair.probability) >= _LEAST_CHANGE:
            made += _linked(pair, known, work, changed)
    # Where the budget is spent, pairs are missing.
    whole = not (work.stopped or context.budget.over)
    old = [row for ends, row in stored.items() if ends not in wanted and row.id not in work.undone]
    gone = _unlinked(old if whole else [], context)
    work.counts["names_linked"] = min(len(made), _MOST_LINKED)
    work.counts["names_unlinked"] = len(gone)
    return [*made[:_MOST_LINKED], *gone]


def _stored(context: PhaseContext, replaced: Collection[str]) -> Iterator[Relation]:
    """Yield the likely-same links that runs made and that are active."""
    snapshot = context.snapshot
    edges, ids = snapshot.edges, snapshot.nodes.ids
    rows = np.flatnonzero((edges.kind == RELATION) & snapshot.edge_mask())
    rows = rows[snapshot.is_likely_same(rows)]
    pairs = sorted({(ids[edges.source[row]], ids[edges.target[row]]) for row in rows.tolist()})
    for start in range(0, len(pairs), _AT_ONCE):
        for row in context.graph.relations_between(pairs[start : start + _AT_ONCE]):
            is_own = row.type == MAY_BE and row.supposed and row.state == "active"
            if is_own and row.subject not in replaced and row.object not in replaced:
                yield row


def _linked(
    pair: LikelyPair, known: Relation | None, work: PhaseWork, changed: Collection[str]
) -> Iterator[Proposal]:
    context = work.context
    row = _relation(pair, context) if known is None else known
    after = replace(row, confidence=round(pair.probability, 2))
    if row.id in work.undone:
        return
    # An entity that a merge of this run changes is another row by then; it is known to be there.
    ends = [end for end in (pair.short, pair.long) if end.id not in changed]
    yield Proposal(
        project=context.project,
        phase="merge",
        action="link",
        target=row.id,
        text=f"{pair.short.name} may be {pair.long.name}",
        reason=f"{_REASONS[pair.how]} What is known of one may answer a question about the other.",
        score=round(pair.probability, 4),
        write=Write(changes=(), relations=(after,)),
        expects=precondition_hash(*ends, absent=(row,)) if known is None else precondition_hash(known),
    )


def _relation(pair: LikelyPair, context: PhaseContext) -> Relation:
    one, other = pair.short, pair.long
    return Relation(
        id=relation_id(context.project, one.id, MAY_BE, other.id, None),
        project=context.project,
        subject=one.id,
        type=MAY_BE,
        object=other.id,
        bidirectional=True,
        origin="inferred",
        times=Times(recorded_at=context.now),
    )


def _unlinked(rows: Sequence[Relation], context: PhaseContext) -> list[Proposal]:
    ends = sorted({end for row in rows for end in (row.subject, row.object)})
    known = (each for batch in batches(ends, _AT_ONCE) for each in context.graph.entities(batch))
    names = {end: end for end in ends} | {each.id: each.name for each in known}
    return [
        Proposal(
            project=row.project,
            phase="merge",
            action="remove",
            target=row.id,
            text=f"{names[row.subject]} may no longer be {names[row.object]}",
            reason="It no longer follows from their names.",
            write=Write(changes=(), removed=Removal(relations=((row.subject, row.object, row.id),))),
            expects=precondition_hash(row),
        )
        for row in rows
    ]
