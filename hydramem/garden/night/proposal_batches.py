"""Batches: how many proposals are made at once, and in what order, so that nobody waits long for a batch."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import chain, islice
from math import ceil, sqrt

from hydramem.core.row_types import Phase
from hydramem.garden.proposals.proposal import Proposal, removed, table_of, written
from hydramem.storage.undo.undo_images import address_of

# Rows of a batch. What the store has not read yet comes slowly: nobody knows how long a first one takes. And
# under some rows most of the time is the transaction's own.
_FIRST = 2

_LEAST = 4

_MOST = 1024

_AIM = 0.025
"""Seconds that a batch is to take: how long one takes varies by a factor of two and more."""

_MANY = 2000


def side_by_side(
    proposals: Sequence[Proposal], places: Callable[[], Mapping[str, int]]
) -> tuple[Proposal, ...]:
    """Return proposals in the order of their phases, those of a phase as the store has their rows.

    An engine writes and folds what lies together at once: many relations in a third of the time.

    Args:
        proposals: In any order; a few are left as they are.
        places: Returns where nodes are, by id; not called for a few.
    """
    if len(proposals) < _MANY:
        return tuple(proposals)
    phases = {phase: number for number, phase in enumerate(dict.fromkeys(each.phase for each in proposals))}
    place = places()
    return tuple(sorted(proposals, key=lambda each: (phases[each.phase], place.get(_node(each), -1))))


def _node(proposal: Proposal) -> str:
    """Return the first node that a proposal changes, or at which an edge begins that it changes."""
    rows = (address_of(table_of(row), row) for row in written(proposal.write))
    _, key = next(chain(rows, removed(proposal.write)))
    return key[0]


@dataclass(slots=True)
class Pace:
    """How many rows make a batch: of each phase its own, since rows of some take many times as long."""

    _sizes: dict[Phase, int] = field(default_factory=dict)

    def batch(self, proposals: Sequence[Proposal], place: int) -> list[Proposal]:
        """Return the proposals of one phase from a place on that there is room for, one at least."""
        batch = [proposals[place]]
        phase, rows = batch[0].phase, _rows(batch[0])
        for proposal in islice(proposals, place + 1, None):
            rows += _rows(proposal)
            if proposal.phase != phase or rows > self._sizes.get(phase, _FIRST):
                break
            batch.append(proposal)
        return batch

    def took(self, phase: Phase, seconds: float) -> None:
        """Note how long a batch took; one that was slow by chance alone does not make the next ones small."""
        size = self._sizes.get(phase, _FIRST)
        share = min(2.0, max(0.5, sqrt(_AIM / max(seconds, 1e-6))))
        self._sizes[phase] = min(_MOST, max(_LEAST, (ceil if share > 1 else int)(size * share)))


def _rows(proposal: Proposal) -> int:
    gone = proposal.write.removed
    return sum(1 for _ in written(proposal.write)) + sum(
        len(getattr(gone, part.name)) for part in fields(gone)
    )
