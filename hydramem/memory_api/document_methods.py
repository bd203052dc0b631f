"""Operations that bring documents in: read by us, or extracted by the agent itself."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path as FilePath

from hydramem.core.results.write_results import Ingested
from hydramem.ingest.documents.ingest import Progress, ingest
from hydramem.ingest.documents.ingest_extracted import (
    ExtractedChunk,
    ExtractedEntity,
    ExtractedRelation,
    ingest_extracted,
)
from hydramem.memory_api.handle import Handle
from hydramem.storage.changes import in_one_run
from hydramem.verification.verify_stored import WriteVerifier


class DocumentMethods(Handle):
    """What brings documents in."""

    @in_one_run()
    def ingest(
        self,
        sources: Sequence[str],
        *,
        wait: bool = True,
        project: str | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Ingested:
        """Read documents, transcripts and code into the memory; what is unchanged costs nothing.

        An edited document replaces its chunks and retires what only they supported. A file that cannot
        be read is skipped and reported.

        Args:
            sources: Files and folders: Markdown, text, HTML, source code, chat transcripts in JSON or JSONL,
                and as text with lines such as `Ada: ...`.
            wait: Whether vectors are made, and a model reads where there is one, before this returns; else
                that follows, and `pending` says what.
            project: Namespace to write to; the handle's own where not given.
            progress: Called as work is done.

        Raises:
            InvalidInputError: A source does not exist; nothing is written.
        """
        store = self._use()
        verifier = WriteVerifier(self._judge(project))
        target = self._target(project, verifier)
        with store.one_ingest:
            done = ingest(
                [sources] if isinstance(sources, str | FilePath) else sources,
                target=target,
                settings=store.config.ingest,
                generator=self._generator("extract"),
                wait=wait,
                progress=progress,
            )
            store.mirror.settle()
        if not wait:
            return done  # what is deferred waits for `verify`
        decisions = verifier.read_open("ingest", graph=store.graph, mirror=store.mirror)
        return replace(done, verification=decisions)

    @in_one_run()
    def ingest_extracted(
        self,
        source: str,
        chunks: Sequence[ExtractedChunk],
        *,
        entities: Sequence[ExtractedEntity] = (),
        relations: Sequence[ExtractedRelation] = (),
        title: str | None = None,
        project: str | None = None,
    ) -> Ingested:
        """Store a document whose chunks, entities and relations the agent has extracted itself.

        Args:
            source: Where the text came from; ingesting the same source again replaces it.
            chunks: Its text in order.
            entities: Named things in it; those that only a relation names are added.
            relations: Typed edges between entities, by name, with the words that state them.
            title: The document's title.
            project: Namespace to write to; the handle's own where not given.

        Raises:
            InvalidInputError: A field is wrong; nothing is written.
        """
        store = self._use()
        verifier = WriteVerifier(self._judge(project))
        target = self._target(project, verifier)
        with store.one_ingest:
            done = ingest_extracted(
                source,
                chunks,
                entities=entities,
                relations=relations,
                title=title,
                target=target,
                settings=store.config.ingest,
                screening=store.config.memory,
            )
        decisions = verifier.read_open("ingest_extracted", graph=store.graph, mirror=store.mirror)
        return replace(done, verification=decisions)
