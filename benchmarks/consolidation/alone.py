"""Each pair in a project of its own, so that no other memory has a part in what becomes of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import hydramem
from benchmarks.consolidation.sets import Pair
from hydramem.core.results.write_results import Remembered
from hydramem.core.row_types import LinkType


@dataclass(frozen=True, slots=True, kw_only=True)
class PairOutcome:
    """What remembering the new text of a pair did to the old one.

    Attributes:
        ended: Whether the old memory is no longer current.
        merged: Whether the new text was not stored, because it counts as the old memory told again.
        links: Types of the links that lead from the new memory to the old one.
        near: Whether `Remembered.near` names the old memory.
    """

    pair: Pair
    ended: bool
    merged: bool
    links: frozenset[LinkType]
    near: bool

    @property
    def gone(self) -> bool:
        """Return whether one of the two texts is no longer there."""
        return self.ended or self.merged

    @property
    def in_question(self) -> bool:
        """Return whether the old memory stays but is marked as perhaps no longer true."""
        return not self.gone and not self.links.isdisjoint({"may_supersede", "contradicts"})


def outcomes(memory: hydramem.Memory, name: str, pairs: Sequence[Pair]) -> tuple[PairOutcome, ...]:
    """Remember both texts of each pair in a project of its own, run the pending jobs, and read the outcome.

    Args:
        memory: The store.
        name: Begins the names of the projects.
        pairs: What to remember.
    """
    done = []
    for number, pair in enumerate(pairs):
        project = f"{name}-{number}"
        old = memory.remember(pair.old, project=project, **_origin(pair, "first"))
        done.append((pair, old, memory.remember(pair.new, project=project, **_origin(pair, "second"))))
    memory.drain()
    return tuple(_outcome(memory, *each) for each in done)


def _origin(pair: Pair, place: str) -> dict[str, Any]:
    return {"source": f"{place} source", "session": f"{place} session"} if pair.apart else {}


def _outcome(memory: hydramem.Memory, pair: Pair, old: Remembered, new: Remembered) -> PairOutcome:
    merged = new.id == old.id
    links = () if merged else memory.get(new.id).links
    return PairOutcome(
        pair=pair,
        ended=memory.get(old.id).state != "active",
        merged=merged,
        links=frozenset(link.type for link in links if link.forward and link.other == old.id),
        near=any(one.id == old.id for one in new.near),
    )
