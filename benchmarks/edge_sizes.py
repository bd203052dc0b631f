"""What scoring every relation of a large graph takes: seconds and memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from hydramem.core.config import GardenConfig
from hydramem.garden.edges import logistic
from hydramem.garden.edges.labelled_relations import EdgeScores
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.graph.snapshot.snapshot_writer import load
from hydramem.storage.schema import edge_columns, node_columns
from hydramem.storage.vector_rows import Vector

_NIGHT = 0.5 * GardenConfig().phase_seconds
"""Seconds of training steps, for the scorer with torch: what a night gives it."""
_DIMENSION = 384


@dataclass(frozen=True, slots=True, kw_only=True)
class Sized:
    """What scoring every relation of a made-up graph takes; memory is the process's peak."""

    entities: int
    relations: int
    scorer: str
    auc: float
    seconds: float
    peak_mb: float


def made_up(entities: int, *, each: int = 5, types: int = 20, seed: int = 0) -> Snapshot:
    """Return a graph in which things of a kind are joined to things near them, some much more than others.

    Args:
        entities: How many.
        each: Relations for each of them.
        types: Relation types; each joins the things of two groups.
        seed: Of the draw.
    """
    draw = np.random.default_rng(seed)
    count = each * entities
    source = draw.integers(0, entities, count)
    step = np.minimum(draw.zipf(1.6, count), entities - 1)
    target = (source + step) % entities
    type = (source % types + step % 2) % types
    names = [f"e{place}" for place in range(entities)]
    nodes: dict[str, Sequence[object]] = {"id": names, "name": names, "key": names}
    nodes |= {"is_chunk": [False] * entities, "type": ["thing"] * entities}
    edges: dict[str, Sequence[object]] = {
        "source": [names[place] for place in source],
        "target": [names[place] for place in target],
        "id": [str(place) for place in range(count)],
        "type": [f"type {place}" for place in type],
    }
    same = {"kind": "relation", "weight": 1.0, "bidirectional": False, "layer": "working", "state": "active"}
    edges |= {name: [value] * count for name, value in same.items()}
    return load("default", _table(nodes, entities, node_columns()), _table(edges, count, edge_columns()))


def _table(columns: Mapping[str, Sequence[object]], rows: int, schema: Any) -> Any:
    import pyarrow as pa

    filled = {field.name: columns.get(field.name, [None] * rows) for field in schema}
    return pa.table(filled, schema=schema)


def size(entities: int, which: str = logistic.NAME) -> Sized:
    """Score a made-up graph of so many entities, half of them with a meaning.

    Args:
        entities: How many.
        which: The scorer, `logistic` or `gnn`.
    """
    snapshot = made_up(entities)
    started = perf_counter()
    scores = _scored(snapshot, which)
    if scores is None:
        raise ValueError(f"{entities} entities are too few to score")
    return Sized(
        entities=entities,
        relations=len(scores.rows),
        scorer=scores.scorer,
        auc=scores.auc,
        seconds=perf_counter() - started,
        peak_mb=_peak_mb(),
    )


def _scored(snapshot: Snapshot, which: str) -> EdgeScores | None:
    if which == logistic.NAME:
        return logistic.score(snapshot)
    from hydramem.garden.edges.gnn.score import score
    from hydramem.garden.edges.gnn.training import train

    model = train(snapshot, seconds=_NIGHT, vectors=_made_up_meanings)
    return None if model is None else score(model, snapshot, vectors=_made_up_meanings)


def _made_up_meanings(names: Sequence[str]) -> Mapping[str, Vector]:
    """Return vectors of every other name, by its number alone."""
    return {
        name: np.random.default_rng(int(name[1:])).normal(size=_DIMENSION).astype(np.float32)
        for name in names
        if int(name[1:]) % 2
    }


def _peak_mb() -> float:
    """Return the most memory that this program has held; `ru_maxrss` would count who started it too."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024
