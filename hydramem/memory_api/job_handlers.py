"""How an open store runs its pending jobs, by kind of job."""

from collections.abc import Mapping, Sequence
from contextlib import suppress

from hydramem.core.errors import NotFoundError, StorageError
from hydramem.core.row_types import Job, Usage
from hydramem.ingest.pending_jobs import DISTILL, EMBED, ENCODE, LINK, REREAD, chunks_to_embed, embed
from hydramem.ingest.write_target import Target
from hydramem.memory_api.handle import Handle
from hydramem.storage.jobs import Handler, in_the_name_of, job_payload

_EMBED_BATCH = 64
_LINK_BATCH = 32


class JobHandlers(Handle):
    """Runs the jobs of a store; a handle of its own, which no caller closes."""

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handler of each kind of job."""
        return {
            ENCODE: Handler(run=self._encode, most=_EMBED_BATCH, audited=False),
            EMBED: Handler(run=self._embed, most=_EMBED_BATCH, audited=False),
            REREAD: Handler(run=self._extract_again),
            LINK: Handler(run=self._link, most=_LINK_BATCH, quick=not self._links_by_model),
            DISTILL: Handler(run=self._distill),
        }

    @property
    def _links_by_model(self) -> bool:
        llm = self.config.llm
        return self._given_generator is not None or (llm.roles.link.provider or llm.provider) != "none"

    def _embed(self, jobs: Sequence[Job]) -> None:
        embed(chunks_to_embed(jobs), target=self._deferring_target(jobs[0].project))

    def _encode(self, jobs: Sequence[Job]) -> Usage:
        """Embed memories in one batch, then compare each with others in the run that stored it."""
        from hydramem.ingest.memories.remember import encode

        target, settings = self._deferring_target(jobs[0].project), self._encoding()
        vectors, usage = embed([job_payload(each)["chunk"] for each in jobs], target=target), Usage()
        for each in jobs:
            if self._use().jobs.closing:
                raise StorageError(f"{self.folder}: is being closed; pending jobs run later")
            payload = job_payload(each)
            with in_the_name_of(each):
                usage += encode(
                    payload,
                    target=target,
                    settings=settings,
                    models=self._models(),
                    vector=vectors.get(payload["chunk"]),
                )
                usage += self._link([each])
        return usage

    def _extract_again(self, jobs: Sequence[Job]) -> Usage:
        from hydramem.ingest.documents.ingest import extract_again

        store, generator = self._use(), self._generator("extract")
        usage = Usage()
        if generator is None:
            return usage
        for each in jobs:
            with store.one_ingest:
                usage += extract_again(
                    job_payload(each)["document"],
                    target=self._deferring_target(each.project),
                    settings=store.config.ingest,
                    generator=generator,
                )
        return usage

    def _link(self, jobs: Sequence[Job]) -> Usage:
        from hydramem.ingest.memories.link.link import link_memories

        project, store = jobs[0].project, self._use()
        if store.config.memory.link_neighbors <= 0:
            return Usage()
        with store.reading() as space:
            linked = link_memories(
                [job_payload(each)["chunk"] for each in jobs],
                target=self._deferring_target(project),
                vectors=space.vectors,
                snapshot=store.snapshots.of(project),
                settings=store.config.memory,
                generator=self._generator("link"),
            )
        return sum((each.usage for each in linked), Usage())

    def _distill(self, jobs: Sequence[Job]) -> Usage:
        from hydramem.ingest.memories.distill.distill import distill

        usage = Usage()
        for each in jobs:
            work = self._distillation(self._deferring_target(each.project))
            if work is not None:
                with suppress(NotFoundError):  # its turns were undone meanwhile
                    usage += distill(job_payload(each)["session"], work).usage
        return usage

    def _deferring_target(self, project: str) -> Target:
        """Return where a job writes; it leaves undecided relations to `verify`, which may ask a model."""
        from hydramem.verification.verify_stored import WriteVerifier

        return self._target(project, WriteVerifier(self._judge(project)))
