"""What people see of relations: the neighbours of things, their surroundings, and deep recall.

Things are asked about that a false relation was stored of. The same are asked at every stage.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import hydramem
from benchmarks.aging.build import Shelf
from benchmarks.aging.rest import Triple
from benchmarks.aging.year import present
from hydramem.core.results.graph_views import PathStep

SURFACES = ("neighbors", "expand", "deep recall")
_FIRST = 5
"""What is shown first is what a person reads, and what an agent acts on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRelations:
    """The first relations that one surface shows of one thing.

    Attributes:
        false: Share of false ones among them; None where it shows none.
        reciprocal: One over the rank of the first true one; 0 where none is shown.
    """

    false: float | None
    reciprocal: float


def asked_things(false: Sequence[Triple], *, most: int, seed: int = 0) -> tuple[str, ...]:
    """Return things that false relations join, at most so many.

    Args:
        false: The false relations.
        most: How many.
        seed: Of the draw.
    """
    names = sorted({end for subject, _, object in false for end in (subject, object)})
    return tuple(random.Random(f"things {seed}").sample(names, min(most, len(names))))


def show(
    shelf: Shelf, path: Path, things: Sequence[str], false: Sequence[Triple], at: datetime
) -> dict[str, list[ShownRelations]]:
    """Ask a store about things; return what each surface shows of each, in order.

    Args:
        shelf: Opens the store.
        path: The store.
        things: Names.
        false: The false relations of the aged store.
        at: When it is asked.
    """
    wrong = frozenset(false)
    with present(at), shelf.opened(path) as memory, memory.during(None):
        found = [_of_thing(memory, name, wrong) for name in things]
    return {surface: [one[surface] for one in found] for surface in SURFACES}


def _of_thing(memory: hydramem.Memory, name: str, wrong: frozenset[Triple]) -> Mapping[str, ShownRelations]:
    near = memory.neighbors(name, depth=1, limit=_FIRST)
    around = memory.expand([name], depth=1, limit=_FIRST)
    deep = memory.recall(name, mode="deep", limit=_FIRST)
    return {
        "neighbors": _judged([_triple(each.via[-1]) for each in near], wrong),
        "expand": _judged([_triple(each.via[-1]) for each in around.entities], wrong),
        "deep recall": _judged([(row.subject, row.type, row.object) for row in deep.relations], wrong),
    }


def _triple(step: PathStep) -> Triple:
    ends = (step.source, step.target) if step.forward else (step.target, step.source)
    return ends[0], step.label, ends[1]


def _judged(shown: Iterable[Triple], wrong: frozenset[Triple]) -> ShownRelations:
    first = [triple in wrong for triple in shown][:_FIRST]
    true = [rank for rank, is_wrong in enumerate(first, 1) if not is_wrong]
    return ShownRelations(
        false=sum(first) / len(first) if first else None, reciprocal=1 / true[0] if true else 0.0
    )
