"""What follows from the durable queue, by kind of job: how an open store does its jobs."""

from collections.abc import Mapping, Sequence

from hydramem.core.types import Job
from hydramem.ingest.later import EMBED, LINK, embed
from hydramem.ingest.link import link_memories
from hydramem.memory.handle import Handle
from hydramem.storage.jobs import Handler, told

_EMBED_TOGETHER = 64
_LINK_TOGETHER = 32


class Following:
    """Does the jobs of a store through a handle of its own, which no caller closes."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def handlers(self) -> Mapping[str, Handler]:
        """Return what does the jobs of each kind."""
        return {
            EMBED: Handler(run=self._embed, most=_EMBED_TOGETHER, audited=False),
            LINK: Handler(run=self._link, most=_LINK_TOGETHER),
        }

    def _embed(self, jobs: Sequence[Job]) -> None:
        embed(jobs, target=self._handle._target(jobs[0].project))

    def _link(self, jobs: Sequence[Job]) -> None:
        project, store = jobs[0].project, self._handle._use()
        with store.reading() as space:
            link_memories(
                [told(each)["chunk"] for each in jobs],
                target=self._handle._target(project),
                vectors=space.vectors,
                snapshot=store.snapshots.of(project),
                settings=store.config.memory,
                generator=self._handle._generator("link"),
            )
