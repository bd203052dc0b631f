"""Looking around in the graph: what is next to an entity, and how two entities hang together."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime

import numpy as np

from hydramem.core.types import Neighbor, Path, PathStep
from hydramem.graph.snapshot import RELATION, Snapshot
from hydramem.graph.walks import bfs, shortest_path, trail
from hydramem.search.lists import find_entity
from hydramem.storage.store import GraphStore

_SNIPPET = 80


def neighbors(
    entity: str, *, depth: int, limit: int, snapshot: Snapshot, at: datetime
) -> tuple[Neighbor, ...]:
    """Return the entities that relations join to one, nearest first, with the steps that lead to each.

    Raises:
        NotFoundError: No entity has that name.
    """
    start = find_entity(snapshot, entity)
    reached = bfs(
        snapshot.adjacency,
        np.array([start], dtype=np.int32),
        depth=depth,
        edges=snapshot.edge_mask(at=at, kinds=(RELATION,)),
        limit=limit + 1,
    )
    return tuple(
        Neighbor(
            entity=snapshot.label(int(reached.nodes[place])),
            type=snapshot.nodes.types[int(snapshot.nodes.type[reached.nodes[place]])],
            distance=int(reached.distances[place]),
            via=tuple(snapshot.step(half) for half in trail(reached, place)),
        )
        for place in range(1, len(reached.nodes))
    )


def path(
    start: str, end: str, *, max_steps: int, graph: GraphStore, snapshot: Snapshot, at: datetime
) -> Path:
    """Return a shortest way between two entities, over relations, mentions and links.

    A chunk on the way is shown by the beginning of its text.

    Raises:
        NotFoundError: No entity has one of the names.
    """
    ends = find_entity(snapshot, start), find_entity(snapshot, end)
    names = snapshot.label(ends[0]), snapshot.label(ends[1])
    halves = shortest_path(
        snapshot.adjacency,
        *ends,
        depth=max_steps,
        edges=snapshot.edge_mask(at=at),
        nodes=snapshot.node_mask(),
    )
    if halves is None:
        return Path(start=names[0], end=names[1], found=False)
    steps = tuple(snapshot.step(half) for half in halves)
    return Path(start=names[0], end=names[1], found=True, steps=readable(steps, graph))


def readable(steps: tuple[PathStep, ...], graph: GraphStore) -> tuple[PathStep, ...]:
    """Put the beginning of a chunk's text where a step names the chunk by its id."""
    ends = {end for step in steps for end in (step.source, step.target) if end.startswith("c_")}
    snippets = dict(_snippets(tuple(sorted(ends)), graph))
    return tuple(_readable(step, snippets) for step in steps)


def _snippets(ids: tuple[str, ...], graph: GraphStore) -> Iterator[tuple[str, str]]:
    for chunk in graph.chunks(ids):
        text = " ".join(chunk.text.split())
        yield chunk.id, f"“{text[:_SNIPPET]}…”" if len(text) > _SNIPPET else f"“{text}”"


def _readable(step: PathStep, snippets: Mapping[str, str]) -> PathStep:
    return replace(
        step,
        source=snippets.get(step.source, step.source),
        target=snippets.get(step.target, step.target),
    )
