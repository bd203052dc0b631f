"""What an open store does for its own order in a night, as the gardener is handed it."""

import numpy as np

from hydramem.core import version
from hydramem.core.results.upkeep_results import BackedUp
from hydramem.garden.phases.maintain import Upkeep
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.opened import OpenStore
from hydramem.storage.repair.doctor import sample

_MOST_COMPARED = 5000


def upkeep(store: OpenStore, project: str, *, backs_up: bool) -> Upkeep:
    """Return the upkeep of a store.

    Args:
        store: The store.
        project: The project that the night tends: its chunks are looked for in the vectors.
        backs_up: Whether a rolling backup is made, where the settings keep any.
    """

    def compact() -> None:
        with store.reading() as space:
            space.vectors.maintain(after_bulk=True)

    def backup() -> BackedUp:
        return store.back_up(None, created_by=f"hydramem {version.__version__}")

    kept = backs_up and store.config.garden.backups > 0 and not store.in_memory
    return Upkeep(
        drain=store.jobs.drain,
        compact=compact,
        compare=lambda: sample(
            store.graph,
            store.vectors,
            store.mirror,
            ids=_chunks(store.snapshots.of(project)),
            most=_MOST_COMPARED,
        ),
        checkpoint=store.graph.checkpoint,
        backup=backup if kept else None,
    )


def _chunks(snapshot: Snapshot) -> list[str]:
    ids = snapshot.nodes.ids
    return [ids[node] for node in np.flatnonzero(snapshot.nodes.is_chunk[: snapshot.size]).tolist()]
