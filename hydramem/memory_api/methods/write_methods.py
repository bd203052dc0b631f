"""Operations that store, revise and forget memories."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, get_args

from hydramem.core.argument_checks import check_choices, check_reason, check_scope, check_share, check_text
from hydramem.core.errors import InvalidInputError
from hydramem.core.inputs import CuratedChange, MemoryInput
from hydramem.core.results.write_results import Curated, Forgotten, Remembered
from hydramem.core.row_types import Chunk, ChunkKind
from hydramem.core.time import When
from hydramem.memory_api import arguments
from hydramem.memory_api.grouped_writes import remember_in_group
from hydramem.memory_api.handle import Handle
from hydramem.memory_api.write_operation import write_operation
from hydramem.storage.files.curated_files import CuratedTarget
from hydramem.storage.quotas import noted
from hydramem.storage.writing.answers import answered
from hydramem.text.dates.caller_dates import moment_or_none

if TYPE_CHECKING:
    from hydramem.ingest.memories.memory_input import ValidatedMemory


class WriteMethods(Handle):
    """Stores, revises and forgets memories."""

    @write_operation
    def remember(
        self,
        text: str,
        *,
        kind: ChunkKind = "note",
        source: str = "",
        author: str | None = None,
        session: str | None = None,
        scope: str | None = None,
        within: str = "/",
        categories: Sequence[str] | None = None,
        importance: float | None = None,
        keywords: Sequence[str] | None = None,
        summary: str | None = None,
        entities: Sequence[str] = (),
        confidence: float = 1.0,
        event_type: str | None = None,
        happened_at: When | None = None,
        valid_from: When | None = None,
        valid_to: When | None = None,
        expires_at: When | None = None,
        private: bool = False,
        metadata: Mapping[str, object] | None = None,
        replaces: Sequence[str] = (),
        wait: bool = True,
        project: str | None = None,
    ) -> Remembered:
        """Store one memory and compare it with similar ones, so that nothing is stored twice.

        A memory in the same words as another one is counted with it. Older memories end, and stay in the
        history, where `replaces` names them, the model of `llm` says so, or the text itself does ("moved from
        X to Y"). Otherwise all stay: one that may take another's place is linked to it, and `near` in the
        result names up to three memories to decide on. The model, or else rules, fills in fields that are not
        given; `memory.cognitive: false` stores the text as given. Rules find what the text names and states,
        and so does the model of `llm.roles.extract`, unless `wait` is false. A text that gives orders to its
        reader or hides something is quarantined: it is listed, and recalled once a person revives it.

        Args:
            text: What to remember.
            kind: note, fact, event (with `happened_at`) or turn (with `session`).
            source: Where it came from.
            author: Who said it.
            session: Name of the conversation that it belongs to.
            scope: Path such as /infra/database; found by default, at or under `within`.
            within: Path that a found scope is at or under.
            categories: Labels to filter by; found by default.
            keywords: Words to search for; found by default.
            importance: 0 to 1; found by default.
            summary: One sentence; found by default.
            entities: Names of things that it is about, in addition to those in the text.
            confidence: 0 to 1.
            event_type: Type of the event, such as deployment.
            happened_at: When the event took place.
            valid_from, valid_to: From when, and until when, it is true in the world.
            expires_at: When recall stops returning it.
            private: Keep it out of reads that exclude private memories.
            metadata: Values of your own that are returned with it.
            replaces: Ids of memories that hold no longer, now that this one does; they end, with history.
            wait: Whether to embed and compare it before returning; if not, `pending` lists the open steps.
            project: Project to write to; this handle's own by default.

        Raises:
            InvalidInputError: A field is wrong, or a memory that it replaces cannot end; nothing is written.
            NotFoundError: A memory that it replaces is not in the project; nothing is written.
            StoreBusyError: Too many calls wait to be stored, or this one waited too long; it is not stored.
        """
        given = arguments.gathered(MemoryInput, locals())

        def alone() -> Remembered:
            return self._remember([given], project, wait=wait)[0]

        if not wait or self._asks_models:
            return alone()
        return remember_in_group(self, given, project, alone)

    @write_operation
    def remember_many(
        self, memories: Sequence[MemoryInput], *, wait: bool = True, project: str | None = None
    ) -> tuple[Remembered, ...]:
        """Store several memories at once, each as `remember` does; results are in the same order.

        They are embedded together and stored together, all or none. Each is also compared with those before
        it, so that a repeated memory is stored once.

        Args:
            memories: What to remember, at most a thousand.
            wait: Whether to embed and compare them before returning.
            project: Project to write to; this handle's own by default.

        Raises:
            InvalidInputError: A memory is wrong; the message names its place, and nothing is written.
        """
        return self._remember(memories, project, wait=wait, listed=True)

    @write_operation
    def revise(
        self,
        id: str,
        *,
        text: str | None = None,
        scope: str | None = None,
        categories: Sequence[str] | None = None,
        importance: float | None = None,
        confidence: float | None = None,
        keywords: Sequence[str] | None = None,
        summary: str | None = None,
        expires_at: When | None = None,
        reason: str | None = None,
    ) -> Remembered:
        """Correct a memory: its text or its labels; the version before stays in the history.

        A new text is a new memory with its own id and the times of the old one. If the world has changed, use
        `remember` instead: the old memory was true until then.

        Args:
            id: Id of the memory; a passage is corrected in its document.
            text: The correct text.
            scope: Path that it belongs to.
            categories: Labels to filter by; they replace the old ones.
            keywords: Words to search for; they replace the old ones.
            importance, confidence: 0 to 1.
            summary: One sentence.
            expires_at: When recall stops returning it.
            reason: Why; kept in the history.

        Raises:
            NotFoundError: No memory has this id; nothing is written.
            InvalidInputError: A field is wrong, or the memory is no longer believed; nothing is written.
        """
        from hydramem.ingest.memories.memory_input import MOST_SUMMARY, labels
        from hydramem.ingest.memories.revise import Revision, revise

        store = self._use()
        revision = Revision(
            text=text,
            scope=None if scope is None else check_scope(scope),
            categories=labels(categories, "categories"),
            importance=None if importance is None else check_share(importance, name="importance"),
            confidence=None if confidence is None else check_share(confidence, name="confidence"),
            keywords=labels(keywords, "keywords"),
            summary=None if summary is None else check_text(summary, name="summary", most=MOST_SUMMARY),
            expires_at=moment_or_none(expires_at, "expires_at"),
            reason=check_reason(reason),
        )
        return revise(id, revision, graph=store.graph, target=self._target, settings=store.config.memory)

    def _remember(
        self, given: Sequence[MemoryInput], project: str | None, *, wait: bool, listed: bool = False
    ) -> tuple[Remembered, ...]:
        from hydramem.ingest.memories.memory_input import validate

        memories = validate(given, self._use().config.memory, listed=listed)
        done = self._stored(memories, project, wait=wait, listed=listed)
        notes = noted(self.config.limits, self._name(project), self._use().graph)
        return tuple(replace(each, notes=(*each.notes, *notes)) for each in done) if notes else done

    def _stored(
        self, memories: "Sequence[ValidatedMemory]", project: str | None, *, wait: bool, listed: bool
    ) -> tuple[Remembered, ...]:
        from hydramem.ingest.memories.remember import remember_all
        from hydramem.verification.verify_stored import WriteVerifier

        store = self._use()
        verifier = WriteVerifier(self._judge(project))
        target = self._target(project, verifier)
        if not wait:  # deferred relations are left to `verify`
            done = remember_all(memories, target=target, settings=store.config.memory, later=True)
            answered(done if listed else done[0])
            return done
        settings, models = self._encoding(), self._models()
        done = remember_all(memories, target=target, settings=settings, models=models)
        answered(done if listed else done[0])
        decisions = verifier.read_open("remember", graph=store.graph, mirror=store.mirror)
        first, *others = done
        return (replace(first, usage=first.usage + decisions.usage), *others)

    @write_operation
    def curate(
        self,
        target: CuratedTarget,
        changes: Sequence[CuratedChange] = (),
        *,
        entries: Sequence[str] | None = None,
        expect: str | None = None,
        to_notes: bool = False,
        from_notes: bool = False,
        project: str | None = None,
    ) -> Curated:
        """Change `MEMORY.md` or `USER.md` by several changes, all or none; see `curated`.

        An entry that gives orders to its reader or hides something is refused.

        Args:
            target: memory for what the agent knows, user for whom it works with.
            changes: Made in order: each adds an entry, or replaces or removes the one that holds some words.
            entries: Instead of changes: all entries that the file then holds, in their order; none empty it.
            expect: The `version` of the file as it was read; a file that changed since is not written.
            to_notes: Also store each entry as a note whose source is the file's name; notes of removed
                entries are forgotten.
            from_notes: Add notes whose source is the file's name, most important first, while there is room.
            project: Project of the file; this handle's own by default.

        Raises:
            InvalidInputError: A change or entry is wrong, ambiguous or too long, the file has another version
                than `expect`, or a person edited it in a way that would be lost; nothing is written.
            NotFoundError: No entry holds the words of a change; nothing is written.
            StoreBusyError: Another program is writing the file.
        """
        from hydramem.ingest.memories.edit_curated_files import curate
        from hydramem.ingest.memories.forget import forget

        store = self._use()
        return curate(
            self._curated(target, self._name(project)),
            (changes,) if isinstance(changes, CuratedChange) else changes,
            entries=entries,
            expect=expect,
            to_notes=to_notes,
            from_notes=from_notes,
            target=self._target(project),
            forget=lambda ids: forget(ids, graph=store.graph, mirror=store.mirror),
        )

    @write_operation
    def forget(
        self,
        ids: Sequence[str] = (),
        *,
        scope: str | None = None,
        kinds: Sequence[ChunkKind] = (),
        categories: Sequence[str] = (),
        before: When | None = None,
        expect: int | None = None,
        dry_run: bool = False,
        project: str | None = None,
    ) -> Forgotten:
        """Archive memories, chunks or documents: recall no longer returns them, `history` and `revive` do.

        Relations that only they support are archived too. Give ids, or filters instead; with filters, look at
        the matches first with `dry_run` and give their number as `expect`.

        Args:
            ids: Ids of chunks or documents.
            scope: Instead of ids: memories at or under this path.
            kinds: Instead of ids: memories of these kinds.
            categories: Instead of ids: memories with one of these labels.
            before: Instead of ids: memories recorded before this time.
            expect: The number of matches; with another number nothing is forgotten.
            dry_run: Return what would be forgotten, and forget nothing.
            project: Project that the filters apply to; this handle's own by default.

        Raises:
            InvalidInputError: Both ids and filters are given, or neither, or the number of matches is not
                `expect`; nothing is written.
            NotFoundError: An id is not in the store; nothing is written.
        """
        from hydramem.ingest.memories.forget import Sweep, forget, forget_matching
        from hydramem.ingest.memories.memory_input import MEMORIES, labels

        store, named = self._use(), arguments.ids(ids)
        filtered = scope is not None or kinds or categories or before is not None
        if bool(named) == bool(filtered):
            raise InvalidInputError("ids: give them, or else a scope, kinds, categories or before")
        if named:
            return forget(named, graph=store.graph, mirror=store.mirror, dry_run=dry_run)
        sweep = Sweep(
            project=self._name(project),
            scope=None if scope is None else check_scope(scope),
            kinds=check_choices(kinds, get_args(ChunkKind), name="kinds") or MEMORIES,
            categories=labels(categories, "categories") or (),
            before=moment_or_none(before, "before"),
            expect=expect,
        )
        return forget_matching(sweep, graph=store.graph, mirror=store.mirror, dry_run=dry_run)

    @write_operation
    def revive(self, ids: Sequence[str]) -> Forgotten:
        """Restore what was forgotten, with the relations that it supports, or what was unrelated.

        Reads of past knowledge answer as if it had never been forgotten. A quarantined memory is recalled
        from now on: read it first.

        Args:
            ids: Ids of chunks, documents or relations.

        Raises:
            NotFoundError: An id is not in the store; nothing is written.
        """
        from hydramem.ingest.memories.forget import revive

        store = self._use()
        return revive(arguments.ids(ids), graph=store.graph, mirror=store.mirror, re_extract=self._re_extract)

    def _re_extract(self, released: Sequence[Chunk]) -> None:
        """Extract the graph of memories that leave quarantine, each in its own project."""
        from hydramem.ingest.memories.forget import re_extract

        for project in sorted({row.project for row in released}):
            rows = [row for row in released if row.project == project]
            re_extract(rows, target=self._target(project), operation="revive")
