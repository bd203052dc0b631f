"""Operations that put memories in and take them out: checked here, done by their flow."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import get_args

from hydramem.core.argument_checks import check_choices, check_reason, check_scope, check_share, check_text
from hydramem.core.errors import InvalidInputError
from hydramem.core.results.write_results import Curated, Forgotten, Remembered
from hydramem.core.row_types import Chunk, ChunkKind
from hydramem.core.time import When
from hydramem.ingest.memories.edit_curated_files import curate
from hydramem.ingest.memories.forget import Sweep, forget, forget_matching, re_extract, revive
from hydramem.ingest.memories.memory_input import (
    MEMORIES,
    MOST_SUMMARY,
    MemoryInput,
    ValidatedMemory,
    labels,
    validate,
)
from hydramem.ingest.memories.remember import remember_all
from hydramem.ingest.memories.revise import Revision, revise
from hydramem.memory_api import handle
from hydramem.memory_api.handle import Handle
from hydramem.storage.changes import in_one_run
from hydramem.storage.files.curated_files import CuratedChange, CuratedTarget
from hydramem.storage.quotas import noted
from hydramem.verification.verify_stored import WriteVerifier


class WriteMethods(Handle):
    """What puts memories in, and takes them out."""

    @in_one_run()
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
        wait: bool = True,
        project: str | None = None,
    ) -> Remembered:
        """Store one memory, set against those it touches: what is known is not stored twice.

        One that says what another says is that one, said again. One that tells how something is from now on
        ends the one before, which stays in history. Fields that are left open are found: by the model that
        `llm` names where there is one, else by rules. With `memory.cognitive: false` it is stored as given.

        A text that gives orders to the model that reads it, or hides something, is quarantined: kept and
        listed, not recalled until a person revives it.

        Args:
            text: What to remember.
            kind: note, fact, event (give `happened_at`) or turn (give `session`).
            source: Where it came from, as a person reads it.
            author: Who said it.
            session: Name of the conversation it belongs to.
            scope: Path such as /infra/database; found where not given.
            within: The path that a found scope lies at or under.
            categories: Labels to filter by; found where not given.
            importance: 0 to 1; found where not given.
            keywords: Words that one would look for; found where not given.
            summary: One sentence; found where not given.
            entities: Names of things that it is about, besides those that it names.
            confidence: 0 to 1.
            event_type: What kind of event, such as deployment.
            happened_at: When the event took place.
            valid_from: From when it is true in the world.
            valid_to: Until when it is true in the world.
            expires_at: When it stops being recalled.
            private: Keep it out of recall that leaves private memories out.
            metadata: Values of your own that come back with it.
            wait: Whether its vector is made, and it is set against others, before this returns; else that
                follows, and `pending` says what.
            project: Namespace to write to; the handle's own where not given.

        Raises:
            InvalidInputError: A field is wrong; nothing is written.
        """
        given = MemoryInput(
            text=text,
            kind=kind,
            source=source,
            author=author,
            session=session,
            scope=scope,
            within=within,
            categories=categories,
            importance=importance,
            keywords=keywords,
            summary=summary,
            entities=entities,
            confidence=confidence,
            event_type=event_type,
            happened_at=happened_at,
            valid_from=valid_from,
            valid_to=valid_to,
            expires_at=expires_at,
            private=private,
            metadata=metadata,
        )
        return self._remember([given], project, wait=wait)[0]

    @in_one_run()
    def remember_many(
        self, memories: Sequence[MemoryInput], *, wait: bool = True, project: str | None = None
    ) -> tuple[Remembered, ...]:
        """Store several memories at once, as `remember` stores one; results in their order.

        They are embedded in one go and stored together: all of them or none. Each is set against those
        before it too, so that what is said twice is stored once.

        Args:
            memories: What to remember, at most a thousand.
            wait: Whether vectors are made, and each is set against others, before this returns.
            project: Namespace to write to; the handle's own where not given.

        Raises:
            InvalidInputError: One is wrong; the message names its place, and nothing is written.
        """
        return self._remember(memories, project, wait=wait, listed=True)

    @in_one_run()
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
        """Put a memory right: what it says, or how it is filed; what was believed before stays in history.

        Another text is another memory with an id of its own, and the times of the one that it corrects.
        What has changed in the world is remembered, not revised: then the old one was true until then.

        Args:
            id: The memory; a passage is put right in its document.
            text: What it should have said.
            scope: Path that it belongs to.
            categories: Labels to filter by, in place of those it has.
            importance: 0 to 1.
            confidence: 0 to 1.
            keywords: Words that one would look for, in place of those it has.
            summary: One sentence.
            expires_at: When it stops being recalled.
            reason: Why, for `history`.

        Raises:
            NotFoundError: No memory has this id; nothing is written.
            InvalidInputError: A field is wrong, or it is believed no longer; nothing is written.
        """
        store = self._use()
        revision = Revision(
            text=text,
            scope=None if scope is None else check_scope(scope),
            categories=labels(categories, "categories"),
            importance=None if importance is None else check_share(importance, name="importance"),
            confidence=None if confidence is None else check_share(confidence, name="confidence"),
            keywords=labels(keywords, "keywords"),
            summary=None if summary is None else check_text(summary, name="summary", most=MOST_SUMMARY),
            expires_at=handle.when(expires_at, "expires_at"),
            reason=check_reason(reason),
        )
        return revise(id, revision, graph=store.graph, target=self._target, settings=store.config.memory)

    def _remember(
        self, given: Sequence[MemoryInput], project: str | None, *, wait: bool, listed: bool = False
    ) -> tuple[Remembered, ...]:
        memories = validate(given, self._use().config.memory, listed=listed)
        done = self._stored(memories, project, wait=wait)
        notes = noted(self.config.limits, self._name(project), self._use().graph)
        return tuple(replace(each, notes=(*each.notes, *notes)) for each in done) if notes else done

    def _stored(
        self, memories: Sequence[ValidatedMemory], project: str | None, *, wait: bool
    ) -> tuple[Remembered, ...]:
        store = self._use()
        verifier = WriteVerifier(self._judge(project))
        target = self._target(project, verifier)
        if not wait:  # relations that are deferred wait for `verify`
            return remember_all(memories, target=target, settings=store.config.memory, later=True)
        first, *others = remember_all(
            memories, target=target, settings=self._encoding(), models=self._models()
        )
        read = verifier.read_open("remember", graph=store.graph, mirror=store.mirror)
        return (replace(first, usage=first.usage + read.usage), *others)

    @in_one_run()
    def curate(
        self,
        target: CuratedTarget,
        changes: Sequence[CuratedChange] = (),
        *,
        to_notes: bool = False,
        from_notes: bool = False,
        project: str | None = None,
    ) -> Curated:
        """Change `MEMORY.md` or `USER.md` by a batch, all of it or nothing; see `curated`.

        An entry that gives orders to the model that reads it, or hides something, is refused.

        Args:
            target: memory for what the agent knows, user for whom it works with.
            changes: Made one after the other: add an entry, or replace or remove the one that holds certain
                words.
            to_notes: Keep each entry as a note too, with the file's name as its source; notes of entries that
                this batch takes out are forgotten.
            from_notes: Add notes whose source is the file's name, the most important first, as far as there
                is room.
            project: Namespace whose file it is; the handle's own where not given.

        Raises:
            InvalidInputError: A change is wrong, ambiguous or too long, or a person left the file in a form
                that would not be kept; nothing is written.
            NotFoundError: No entry holds the words of a change; nothing is written.
            StoreBusyError: Another program writes the file.
        """
        store = self._use()
        return curate(
            self._curated(target, self._name(project)),
            (changes,) if isinstance(changes, CuratedChange) else changes,
            to_notes=to_notes,
            from_notes=from_notes,
            target=self._target(project),
            forget=lambda ids: forget(ids, graph=store.graph, mirror=store.mirror),
        )

    @in_one_run()
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
        """Archive memories, chunks or whole documents: no longer recalled, still in history, see `revive`.

        Relations that only they supported are archived with them. Name them by id, or say which memories
        are meant: then look at them first with `dry_run`, and give their number as `expect`.

        Args:
            ids: Ids of chunks or documents.
            scope: Instead of ids: the memories at or under this path, and none above it.
            kinds: Instead of ids: those of these kinds.
            categories: Instead of ids: those with one of these labels.
            before: Instead of ids: those recorded before then.
            expect: How many they are; nothing is forgotten where it is another number.
            dry_run: Tell which memories would be forgotten, and forget none.
            project: Namespace of those that are meant, where they are not named by id; the handle's own where
                not given.

        Raises:
            InvalidInputError: Ids are given beside what else is meant, neither is, or not as many match as
                `expect` says; nothing is written.
            NotFoundError: An id is not in the store; nothing is written.
        """
        store, named = self._use(), handle.ids(ids)
        meant = scope is not None or kinds or categories or before is not None
        if bool(named) == bool(meant):
            raise InvalidInputError("ids: give them, or else a scope, kinds, categories or before")
        if named:
            return forget(named, graph=store.graph, mirror=store.mirror, dry_run=dry_run)
        sweep = Sweep(
            project=self._name(project),
            scope=None if scope is None else check_scope(scope),
            kinds=check_choices(kinds, get_args(ChunkKind), name="kinds") or MEMORIES,
            categories=labels(categories, "categories") or (),
            before=handle.when(before, "before"),
            expect=expect,
        )
        return forget_matching(sweep, graph=store.graph, mirror=store.mirror, dry_run=dry_run)

    @in_one_run()
    def revive(self, ids: Sequence[str]) -> Forgotten:
        """Bring back what was forgotten, with the relations that it supports, or what was unrelated.

        It undoes the forgetting: reads of what was known answer as if it had not happened. A quarantined
        memory is recalled from then on: read it first.

        Args:
            ids: Ids of chunks, documents or relations.

        Raises:
            NotFoundError: An id is not in the store; nothing is written.
        """
        store = self._use()
        return revive(handle.ids(ids), graph=store.graph, mirror=store.mirror, re_extract=self._re_extract)

    def _re_extract(self, released: Sequence[Chunk]) -> None:
        """Make the graph of memories that were held back until now, each in its own project."""
        for project in sorted({row.project for row in released}):
            rows = [row for row in released if row.project == project]
            re_extract(rows, target=self._target(project), operation="revive")
