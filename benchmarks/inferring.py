"""How often what the gardener infers is so: a tenth of a graph's relations are hidden, and guessed again.

Passages name the two ends of each hidden relation, and of nine times as many pairs that nothing relates but
that have a neighbour in common: one pair in ten is right by chance. The graph alone decides, for the
passages say nothing.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.claims import GRAPHS, Triple, most_of, triples
from benchmarks.results import table, with_section
from hydramem.garden.phases.infer.candidate_pairs import guesses, pairs
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.graph.snapshot.snapshot_writer import load
from hydramem.storage.schema import edge_columns, node_columns
from hydramem.verification.first_stage.similar_entities import learned
from hydramem.verification.first_stage.weights import DEFAULT

PARTS = ("train", "valid", "test")
_TOPS = (50, 100, 300)
_NEAREST = 8000
_DECOYS = 9
_TITLE = "## Inferred relations"
_INTRODUCTION = (
    "A tenth of a graph's relations are hidden (`python -m benchmarks inferring`). Passages without content",
    "name the ends of each hidden relation together, and nine times as many unrelated pairs that have a",
    "neighbour in common. Of the most probable guesses, related is the share whose ends are related, exact",
    "the share that also has the right type and direction.",
)

Ends = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Guessed:
    """How one graph came out; shares by how many of the surest guesses are counted.

    Attributes:
        chance: Share of the pairs that are right.
        related, exact: Share of guesses whose ends are related, and of those that are the relation itself.
    """

    graph: str
    pairs: int
    chance: float
    related: dict[int, float]
    exact: dict[int, float]


def measure(data: Path) -> list[Guessed]:
    """Hide and guess relations of every graph."""
    return [_guessed(name, data / "kg" / name) for name in GRAPHS]


def _guessed(name: str, folder: Path) -> Guessed:
    draw = np.random.default_rng(1)
    every = sorted(set(triples(folder / "train.txt")))
    true = {triple for part in PARTS for triple in triples(folder / f"{part}.txt")}
    hide = draw.random(len(every)) < 0.1
    known = [triple for triple, out in zip(every, hide, strict=True) if not out]
    hidden = [triple for triple, out in zip(every, hide, strict=True) if out]
    names = {end for triple in known for end in ends_of(triple)}
    shown = {ends_of(triple) for triple in known}
    right = sorted({ends for ends in map(ends_of, hidden) if ends not in shown and names.issuperset(ends)})
    wrong = decoys(known, {ends_of(triple) for triple in true}, _DECOYS * len(right), draw)
    snapshot = _laid_out(known, [*right, *wrong])
    found = _guesses(snapshot)
    related = [ends_of(triple) in right for triple in found]
    exact = [triple in true for triple in found]
    return Guessed(
        graph=name,
        pairs=len(right) + len(wrong),
        chance=len(right) / (len(right) + len(wrong)),
        related={top: float(np.mean(related[:top])) for top in _TOPS},
        exact={top: float(np.mean(exact[:top])) for top in _TOPS},
    )


def ends_of(triple: Triple) -> Ends:
    """Return the ends of a triple, in order of their names."""
    one, other = sorted((triple[0], triple[2]))
    return one, other


def decoys(known: Sequence[Triple], related: set[Ends], count: int, draw: np.random.Generator) -> list[Ends]:
    """Return pairs that have a neighbour in common, and no relation."""
    near: dict[str, list[str]] = defaultdict(list)
    for one, _, other in known:
        near[one].append(other)
        near[other].append(one)
    names, found = sorted(near), set[Ends]()
    for _ in range(100 * count):
        one = names[int(draw.integers(len(names)))]
        between = near[one][int(draw.integers(len(near[one])))]
        ends = ends_of((one, "", near[between][int(draw.integers(len(near[between])))]))
        if ends[0] != ends[1] and ends not in related:
            found.add(ends)
        if len(found) == count:
            break
    return sorted(found)


def _guesses(snapshot: Snapshot) -> list[Triple]:
    """Return the likeliest triple of each pair, as the phase ranks them, the surest first."""
    known = learned(snapshot)
    near = pairs(snapshot, known.facts, most=_NEAREST)
    found = guesses(known, near, weights=DEFAULT, full=np.zeros(0, dtype=np.int64))
    ids, types = snapshot.nodes.ids, snapshot.edges.types
    _, first = np.unique(found.pair, return_index=True)
    return [
        (ids[int(found.subject[row])], types[int(found.type[row])], ids[int(found.object[row])])
        for row in np.sort(first).tolist()
    ]


def _laid_out(known: Sequence[Triple], passages: Iterable[Ends]) -> Snapshot:
    """Lay out triples, their ends typed by what they are most, and passages that name two things each."""
    import pyarrow as pa

    kinds = most_of(known)
    nodes: list[dict[str, Any]] = [
        {"id": name, "is_chunk": False, "type": kinds[name], "name": name, "key": name}
        for name in sorted(kinds)
    ]
    edges: list[dict[str, Any]] = [
        {"source": subject, "target": object, "kind": "relation", "id": str(place), "type": type}
        | {"weight": 1.0, "bidirectional": False, "layer": "working", "state": "active"}
        for place, (subject, type, object) in enumerate(known)
    ]
    for place, ends in enumerate(passages):
        nodes.append({"id": f"passage {place}", "is_chunk": True, "type": "note", "state": "active"})
        edges += [
            {"source": f"passage {place}", "target": end, "kind": "mention", "weight": 1.0}
            | {"bidirectional": False}
            for end in ends
        ]
    return load(
        "default", pa.Table.from_pylist(nodes, node_columns()), pa.Table.from_pylist(edges, edge_columns())
    )


def shown(scores: Sequence[Guessed]) -> str:
    """Return scores as text."""
    return "\n".join(_lines(scores))


def placed(page: str, scores: Sequence[Guessed], where: Mapping[str, Any]) -> str:
    """Return a results page with the figures in their section."""
    made = f"Measured {where['date']} on {where['machine']}."
    return with_section(page, _TITLE, ["", *_INTRODUCTION, "", *_lines(scores), "", made])


def _lines(scores: Sequence[Guessed]) -> list[str]:
    at = [f"{told} at {top}" for told in ("related", "exact") for top in _TOPS]
    rows = [
        (
            one.graph,
            one.pairs,
            f"{one.chance:.1%}",
            *(f"{one.related[top]:.0%}" for top in _TOPS),
            *(f"{one.exact[top]:.0%}" for top in _TOPS),
        )
        for one in scores
    ]
    return table(("graph", "pairs", "by chance", *at), rows)
