"""Operations that exchange memories with other programs."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

from hydramem.core.argument_checks import check_choice, check_scope
from hydramem.core.errors import InvalidInputError
from hydramem.core.inputs import Progress
from hydramem.core.results.exchange_results import Exported, ExportFormat, Imported, ImportFormat
from hydramem.memory_api.arguments import path_of
from hydramem.memory_api.methods.knowledge_methods import KnowledgeMethods
from hydramem.memory_api.write_operation import write_operation
from hydramem.storage.quotas import noted

if TYPE_CHECKING:
    from hydramem.ingest.imports.import_records import ImportTarget


class ExchangeMethods(KnowledgeMethods):
    """Reads the memories of other programs, and writes memories for them."""

    @write_operation
    def import_memories(
        self,
        source: str,
        *,
        format: ImportFormat | None = None,
        scope: str | None = None,
        dry_run: bool = False,
        wait: bool = True,
        project: str | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Imported:
        """Import what another program remembers; the same import twice changes nothing.

        Memories are stored as they are, without a model, and end no older ones. What was imported before and
        forgotten since stays forgotten. A broken record is named in the result, and the others go in. Texts
        are screened as in `remember`. See `dry_run` first; `undo` with the run of the result takes all of it
        back.

        Args:
            source: The file, zip archive or folder.
            format: mcp-memory (JSON lines of the MCP reference server), chatgpt or claude (exports of
                conversations), mem0, claude-mem (its SQLite file), basic-memory, markdown (a vault such as
                Obsidian's), or hydramem (a vault of `export_memories`); recognised by default.
            scope: Path that memories are filed at or under; by default the name of the format, as in /mem0.
            dry_run: Count what would be stored, and store nothing.
            wait: Whether to embed before returning; if not, `pending` lists the open steps.
            project: Project to write to; this handle's own by default.
            progress: Called with how much of the source is read, and its size.

        Raises:
            InvalidInputError: The source cannot be read, or has none of the formats; nothing is written.
        """
        from hydramem.core.runtime.interpreter_tuning import rare_full_collections
        from hydramem.ingest.imports.choose_reader import format_of, records_of
        from hydramem.ingest.imports.import_records import import_records
        from hydramem.ingest.imports.records import Meter

        store, path, meter = self._use(), path_of(source, "source"), Meter()
        found = format_of(path, format)
        filed = check_scope(f"/{found}" if scope is None else scope)
        into = self._import_target(project, wait=wait, dry_run=dry_run)
        with store.one_ingest, rare_full_collections():
            done = import_records(
                records_of(path, found, scope=filed, meter=meter),
                into,
                source=str(path),
                format=found,
                meter=meter,
                progress=progress,
            )
            store.mirror.maintain_after_bulk()
        notes = noted(self.config.limits, self._name(project), store.graph)
        return replace(done, notes=(*done.notes, *notes))

    def export_memories(
        self,
        path: str,
        *,
        format: ExportFormat = "markdown",
        project: str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Exported:
        """Write the memories, entities and relations of a project for other programs to read.

        A vault is a folder of Markdown notes with front matter and wiki links, which Obsidian opens and
        `import_memories` reads back. A folder that was written before is brought up to date; notes that a
        person edited stay and are listed. Documents, turns, history and what is no longer believed are left
        out: `dump` writes everything.

        Args:
            path: The folder of the vault: new, empty, or written before. For graphml a new file.
            format: markdown (a vault) or graphml.
            project: The project; this handle's own by default.
            progress: Called with the notes written and about how many there are.

        Raises:
            InvalidInputError: The folder holds something else, the file exists, or it is in the store.
            StorageError: It cannot be written.
        """
        from hydramem.storage.exchange.graphml import export_graphml
        from hydramem.storage.exchange.vault import export_vault

        store, place, name = self._use(), path_of(path, "path"), self._name(project)
        check_choice(format, get_args(ExportFormat), name="format")
        if place.is_relative_to(store.path):
            raise InvalidInputError(f"path: {place} is in the store; name a place outside it")
        with store.mirror.one_writer.of([name]):
            if format == "graphml":
                return export_graphml(store.graph, place, name)
            return export_vault(store.graph, place, name, progress=progress)

    def _import_target(self, project: str | None, *, wait: bool, dry_run: bool) -> "ImportTarget":
        from hydramem.ingest.imports.import_records import ImportTarget
        from hydramem.verification.verify_stored import WriteVerifier

        config = self._use().config
        return ImportTarget(
            # What the first stage leaves open is left to `verify`: an import asks no model.
            target=self._target(project, WriteVerifier(self._judge(project))),
            memory=config.memory,
            ingest=config.ingest,
            functional=self._functional(project),
            wait=wait,
            dry_run=dry_run,
        )
