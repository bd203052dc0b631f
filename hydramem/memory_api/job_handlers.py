"""What follows from the durable queue, by kind of job: how an open store does its jobs."""

from collections.abc import Mapping, Sequence

import numpy as np

from hydramem.core import version
from hydramem.core.errors import StorageError
from hydramem.core.results.upkeep_results import BackedUp
from hydramem.core.row_types import Job, Usage
from hydramem.garden.phases.maintain import Upkeep
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.ingest.documents.ingest import extract_again
from hydramem.ingest.memories.link.link import link_memories
from hydramem.ingest.memories.remember import encode
from hydramem.ingest.pending_jobs import EMBED, ENCODE, LINK, REREAD, chunks_to_embed, embed
from hydramem.ingest.write_target import Target
from hydramem.memory_api.handle import Handle
from hydramem.memory_api.open.open_store import OpenStore
from hydramem.storage.jobs import Handler, in_the_name_of, job_payload
from hydramem.storage.repair.doctor import sample
from hydramem.verification.verify_stored import WriteVerifier

_EMBED_TOGETHER = 64

_LINK_TOGETHER = 32


class JobHandlers:
    """Does the jobs of a store through a handle of its own, which no caller closes."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def handlers(self) -> Mapping[str, Handler]:
        """Return what does the jobs of each kind."""
        return {
            ENCODE: Handler(run=self._encode, most=_EMBED_TOGETHER, audited=False),
            EMBED: Handler(run=self._embed, most=_EMBED_TOGETHER, audited=False),
            REREAD: Handler(run=self._reread),
            LINK: Handler(run=self._link, most=_LINK_TOGETHER),
        }

    def _embed(self, jobs: Sequence[Job]) -> None:
        embed(chunks_to_embed(jobs), target=self._target(jobs[0].project))

    def _encode(self, jobs: Sequence[Job]) -> Usage:
        """Embed memories in one go; each is then set against others in the run that it was told in."""
        target, settings = self._target(jobs[0].project), self._handle._encoding()
        made, usage = embed([job_payload(each)["chunk"] for each in jobs], target=target), Usage()
        for each in jobs:
            if self._handle._use().jobs.closing:
                raise StorageError(f"{self._handle.folder}: is being closed; what waits is done later")
            said = job_payload(each)
            with in_the_name_of(each):
                usage += encode(
                    said,
                    target=target,
                    settings=settings,
                    models=self._handle._models(),
                    vector=made.get(said["chunk"]),
                )
                usage += self._link([each])
        return usage

    def _reread(self, jobs: Sequence[Job]) -> Usage:
        store, generator = self._handle._use(), self._handle._generator("extract")
        usage = Usage()
        if generator is None:
            return usage
        for each in jobs:
            with store.one_ingest:
                target = self._target(each.project)
                usage += extract_again(
                    job_payload(each)["document"],
                    target=target,
                    settings=store.config.ingest,
                    generator=generator,
                )
        return usage

    def _link(self, jobs: Sequence[Job]) -> Usage:
        project, store = jobs[0].project, self._handle._use()
        if store.config.memory.link_neighbors <= 0:
            return Usage()
        with store.reading() as space:
            linked = link_memories(
                [job_payload(each)["chunk"] for each in jobs],
                target=self._target(project),
                vectors=space.vectors,
                snapshot=store.snapshots.of(project),
                settings=store.config.memory,
                generator=self._handle._generator("link"),
            )
        return sum((each.usage for each in linked), Usage())

    def _target(self, project: str) -> Target:
        # What is deferred here waits for `verify`: no model is asked while a queue waits.
        return self._handle._target(project, WriteVerifier(self._handle._judge(project)))


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
