"""Operations that store documents: files that HydraMem reads, or text that the agent has extracted."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from hydramem.core.inputs import ExtractedChunk, ExtractedEntity, ExtractedRelation, Progress
from hydramem.core.results.write_results import Ingested
from hydramem.memory_api.handle import Handle
from hydramem.memory_api.write_operation import write_operation


class DocumentMethods(Handle):
    """Stores documents."""

    @write_operation
    def ingest(
        self,
        sources: Sequence[str],
        *,
        wait: bool = True,
        project: str | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Ingested:
        """Read documents, transcripts and code into the memory; unchanged files cost nothing.

        An edited document replaces its chunks and retires what only they support. A file that cannot be read
        is skipped and reported.

        Args:
            sources: Files and folders: Markdown, text, HTML, source code, Word, PowerPoint and Excel files,
                EPUB, mails, PDF (with the extra `pdf`), and chat transcripts as JSON, JSONL or text with
                lines such as `Ada: ...`.
            wait: Whether to embed, and to extract with a configured model, before returning; if not,
                `pending` lists the open steps.
            project: Project to write to; this handle's own by default.
            progress: Called with the sources done and the total.

        Raises:
            InvalidInputError: A source does not exist; nothing is written.
        """
        from hydramem.core.runtime.interpreter_tuning import rare_full_collections
        from hydramem.ingest.documents.ingest import ingest
        from hydramem.verification.verify_stored import WriteVerifier

        store = self._use()
        verifier = WriteVerifier(self._judge(project))
        with store.one_ingest, rare_full_collections():
            done = ingest(
                [sources] if isinstance(sources, str | Path) else sources,
                target=self._target(project, verifier),
                settings=store.config.ingest,
                generator=self._generator("extract"),
                wait=wait,
                progress=progress,
            )
            store.mirror.maintain_after_bulk()
        if not wait:
            return done  # deferred relations are left to `verify`
        decisions = verifier.read_open("ingest", graph=store.graph, mirror=store.mirror)
        return replace(done, verification=decisions)

    @write_operation
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
            source: Where the text came from; a second call with the same source replaces the document.
            chunks: Its text in order.
            entities: Named things in the text; those that only a relation names are added.
            relations: Typed relations between entities, by name, with the words that state them.
            title: Title of the document.
            project: Project to write to; this handle's own by default.

        Raises:
            InvalidInputError: A field is wrong; nothing is written.
        """
        from hydramem.ingest.documents.ingest_extracted import ingest_extracted
        from hydramem.verification.verify_stored import WriteVerifier

        store = self._use()
        verifier = WriteVerifier(self._judge(project))
        with store.one_ingest:
            done = ingest_extracted(
                source,
                chunks,
                entities=entities,
                relations=relations,
                title=title,
                target=self._target(project, verifier),
                settings=store.config.ingest,
                screening=store.config.memory,
            )
        decisions = verifier.read_open("ingest_extracted", graph=store.graph, mirror=store.mirror)
        return replace(done, verification=decisions)
