"""How long walks over the graph take, and how near the local PageRank comes to the exact one.

The graph is made up: one node in five is an entity, the rest are chunks; how often an entity is mentioned
and related falls off as its rank does (Zipf), as names in real text do. What is asked about is drawn
from what is mentioned, so that hubs come up as often as they would.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hydramem.graph.pagerank import Ranked, personalized_pagerank
from hydramem.graph.paths import best_paths
from hydramem.graph.snapshot import adjacency
from hydramem.graph.snapshot.adjacency import Adjacency, Ints
from hydramem.graph.walks import bfs

SMALL, LARGE = (10_000, 50_000), (100_000, 500_000)

_ENTITIES = 0.2
_RELATIONS = 0.2
_SKEW = 0.8
_TOP = 50
_DAMPING = 0.7
_EXACT_STEPS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Walked:
    """One kind of walk, repeated.

    Attributes:
        walk: What was walked, and on how many nodes and edges.
        p50, p95: Milliseconds.
        overlap: Share of the exact walk's best 50 that were among its best 50; None where nothing is ranked.
    """

    walk: str
    nodes: int
    edges: int
    p50: float
    p95: float
    overlap: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeUp:
    """A graph of entities and chunks.

    Attributes:
        entities: The first nodes are entities; how many.
        mentioned: The entity of each mention: drawing from it draws as text does.
    """

    graph: Adjacency
    sources: Ints
    targets: Ints
    weights: NDArray[np.float32]
    entities: int
    mentioned: Ints

    @property
    def everything(self) -> dict[str, Any]:
        """Masks that let all through: what a walk pays for having masks at all."""
        return {
            "edges": np.ones(len(self.sources), dtype=np.bool_),
            "nodes": np.ones(self.graph.size, dtype=np.bool_),
        }


def made_up(nodes: int, edges: int, *, seed: int = 0) -> MadeUp:
    """Make up a graph of so many nodes and edges."""
    draw = np.random.default_rng(seed)
    entities, relations = int(nodes * _ENTITIES), int(edges * _RELATIONS)
    popularity = np.arange(1, entities + 1) ** -_SKEW
    popularity /= popularity.sum()
    named = draw.choice(entities, size=edges, p=popularity).astype(np.int32)
    sources = np.concatenate(
        [
            draw.integers(0, entities, relations, dtype=np.int32),
            draw.integers(entities, nodes, edges - relations, dtype=np.int32),
        ]
    )
    return MadeUp(
        graph=adjacency.build(nodes, sources, named),
        sources=sources,
        targets=named,
        weights=draw.uniform(0.3, 1.0, edges).astype(np.float32),
        entities=entities,
        mentioned=named[relations:],
    )


def measure(*, repeats: int = 50, sizes: Sequence[tuple[int, int]] = (SMALL, LARGE)) -> tuple[Walked, ...]:
    """Time every kind of walk on each size of graph."""
    rows: list[Walked] = []
    for nodes, edges in sizes:
        made = made_up(nodes, edges)
        draw = np.random.default_rng(1)
        asked = [draw.choice(made.mentioned, 3).astype(np.int32) for _ in range(repeats)]
        seeded = [np.concatenate([one, _chunks_of(made, one[0])]) for one in asked]
        rows += [
            _timed("breadth-first, depth 3", made, asked, lambda seeds, made=made: _breadth(made, seeds)),
            _timed("3 best paths", made, asked, lambda seeds, made=made: _paths(made, seeds)),
            _ranked("PageRank from 3 entities", made, asked),
            _ranked("PageRank from 3 entities and 20 chunks", made, seeded),
        ]
    return tuple(rows)


def _breadth(made: MadeUp, seeds: Ints) -> object:
    return bfs(made.graph, seeds[:1], depth=3, **made.everything)


def _paths(made: MadeUp, seeds: Ints) -> object:
    return best_paths(made.graph, int(seeds[0]), int(seeds[1]), count=3, depth=6, **made.everything)


def _local(made: MadeUp, seeds: Ints) -> Ranked:
    mass = np.ones(len(seeds), dtype=np.float32)
    return personalized_pagerank(
        made.graph, seeds, mass, weights=made.weights, damping=_DAMPING, **made.everything
    )


def _timed(walk: str, made: MadeUp, asked: Sequence[Ints], run: Callable[[Ints], object]) -> Walked:
    run(asked[0])
    taken = []
    for seeds in asked:
        started = perf_counter()
        run(seeds)
        taken.append((perf_counter() - started) * 1000)
    p50, p95 = np.percentile(taken, [50, 95])
    return Walked(walk=walk, nodes=made.graph.size, edges=len(made.sources), p50=float(p50), p95=float(p95))


def _ranked(walk: str, made: MadeUp, asked: Sequence[Ints]) -> Walked:
    row = _timed(walk, made, asked, lambda seeds: _local(made, seeds))
    matrix = _matrix(made)
    shares = [len(_best(_local(made, seeds)) & _exactly(matrix, seeds)) / _TOP for seeds in asked]
    return Walked(
        walk=row.walk,
        nodes=row.nodes,
        edges=row.edges,
        p50=row.p50,
        p95=row.p95,
        overlap=float(np.mean(shares)),
    )


def _chunks_of(made: MadeUp, entity: int) -> Ints:
    """Return twenty chunks as a search would bring them: half on the subject, half from anywhere."""
    around = made.graph.expand(np.array([entity])).neighbors
    near = around[around >= made.entities][:10]
    far = np.random.default_rng(int(entity)).integers(made.entities, made.graph.size, 20 - len(near))
    return np.concatenate([near, far]).astype(np.int32)


def _matrix(made: MadeUp) -> Any:
    from scipy.sparse import csr_matrix

    size = made.graph.size
    one_way = csr_matrix((made.weights.astype(np.float64), (made.sources, made.targets)), shape=(size, size))
    both = one_way + one_way.T
    strength = np.asarray(both.sum(axis=1)).ravel()
    return both.multiply(1 / np.maximum(strength, 1e-12)).tocsr(), strength == 0


def _exactly(matrix: Any, seeds: Ints) -> set[int]:
    """Return the best nodes of the walk on the whole graph, run until nothing moves any more."""
    transitions, dangling = matrix
    restart = np.bincount(seeds, minlength=transitions.shape[0]) / len(seeds)
    share = restart
    for _ in range(_EXACT_STEPS):
        lost = _DAMPING * share[dangling].sum()
        share = _DAMPING * (transitions @ share) + (1 - _DAMPING + lost) * restart
    return set(np.argsort(-share, kind="stable")[:_TOP].tolist())


def _best(ranked: Ranked) -> set[int]:
    return set(ranked.nodes[np.argsort(-ranked.probability, kind="stable")[:_TOP]].tolist())


def shown(rows: Sequence[Walked]) -> str:
    """Return the rows as a table."""
    lines = [f"{'walk':<40} {'nodes':>8} {'edges':>8} {'p50 ms':>8} {'p95 ms':>8} {'top 50':>7}"]
    lines += [
        f"{row.walk:<40} {row.nodes:>8,} {row.edges:>8,} {row.p50:>8.2f} {row.p95:>8.2f} "
        f"{'' if row.overlap is None else format(row.overlap, '.3f'):>7}"
        for row in rows
    ]
    return "\n".join(lines)
