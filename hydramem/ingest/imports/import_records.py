"""Import: what a reader yields is checked, screened and stored in batches; what is known stays as it is.

Memories are stored as they are given: no model reads them, and none ends an older one. A record that is
wrong is named in the result, and the others go in.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from time import perf_counter
from typing import TypeVar

from hydramem.core.config import IngestConfig, MemoryConfig
from hydramem.core.errors import InvalidInputError
from hydramem.core.ids import document_id, memory_id
from hydramem.core.inputs import MemoryInput, Progress
from hydramem.core.results.exchange_results import (
    ImportCounts,
    Imported,
    ImportFormat,
    SkippedRecord,
)
from hydramem.core.results.write_results import SkippedSource
from hydramem.ingest.documents.batches import DocumentBatches
from hydramem.ingest.documents.ingest import compared
from hydramem.ingest.documents.read import SourceText, Transcript
from hydramem.ingest.documents.source_rows import Work
from hydramem.ingest.extraction.findings import Name
from hydramem.ingest.imports.checked_records import checked_name, checked_relation, masked
from hydramem.ingest.imports.records import (
    DocumentRecord,
    EntityRecord,
    MemoryRecord,
    Meter,
    OmittedRecord,
    Record,
    RelationRecord,
    StoredRecord,
)
from hydramem.ingest.knowledge.add_entities import add_entities
from hydramem.ingest.knowledge.relate_many import relate_many
from hydramem.ingest.knowledge.relation_input import RelationInput
from hydramem.ingest.knowledge.relations import Functional
from hydramem.ingest.memories.memory_input import SCOPE_FOUND, ValidatedMemory, validate
from hydramem.ingest.memories.remember import remember_all
from hydramem.ingest.memories.revise import Revision, revise
from hydramem.ingest.write_target import Target
from hydramem.storage.changes import current_run, in_one_run

_Kind = TypeVar("_Kind", MemoryRecord, EntityRecord, RelationRecord, DocumentRecord)
_KINDS = (EntityRecord, MemoryRecord, DocumentRecord, RelationRecord)
_BATCH = 256
_MOST_LISTED = 1000
_MOST_REASON = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportTarget:
    """Where an import goes.

    Attributes:
        memory: What is accepted of memories.
        ingest: How documents and conversations are cut.
        functional: Relation types that have one object at a time.
        wait: Whether vectors are made before a batch is committed; else jobs make them later.
        dry_run: Write nothing.
    """

    target: Target
    memory: MemoryConfig
    ingest: IngestConfig
    functional: Functional
    wait: bool = True
    dry_run: bool = False


@in_one_run()
def import_records(
    records: Iterable[Record],
    into: ImportTarget,
    *,
    source: str,
    format: ImportFormat,
    meter: Meter,
    progress: Callable[[Progress], None] | None = None,
) -> Imported:
    """Store the records of a reader; one that the project has, in any state, is left as it is.

    Args:
        records: What the reader yields.
        into: Where it goes.
        source, format: For the result.
        meter: How far the reader is.
        progress: Called after each batch.
    """
    started = perf_counter()
    with DocumentBatches(target=into.target, settings=into.ingest, wait=into.wait) as documents:
        flow = _Import(into, documents)
        for number, record in enumerate(records, 1):
            flow.add(record)
            if progress is not None and not number % _BATCH:
                progress(Progress(done=meter.done, total=max(meter.total, meter.done), what=source))
        flow.flush()
        documents.flush()
    wrote = not into.dry_run and any(asdict(flow.counts(new=True)).values())
    return Imported(
        source=source,
        format=format,
        dry_run=into.dry_run,
        new=flow.counts(new=True),
        unchanged=flow.counts(new=False),
        quarantined=flow.quarantined,
        masked=flow.masked,
        skipped=tuple(flow.skipped[:_MOST_LISTED]),
        skipped_count=len(flow.skipped),
        omitted=dict(flow.omitted),
        notes=tuple(meter.notes),
        seconds=perf_counter() - started,
        run=current_run() if wrote else None,
        pending=("embed",) if wrote and not into.wait else (),
    )


class _Import:
    """One import: the records of each kind that wait, and what became of those before.

    Attributes:
        skipped: What was not stored, and why.
        omitted: What readers left out, by reason.
        quarantined, masked: As in the result.
    """

    def __init__(self, into: ImportTarget, documents: DocumentBatches) -> None:
        self._into = into
        # Memories that were made elsewhere are no news: none of them ends what is stored here.
        self._settings = replace(into.memory, cognitive=False)
        self._documents = documents
        self._waiting: dict[type, list[StoredRecord]] = {kind: [] for kind in _KINDS}
        self._counts = {True: Counter[str](), False: Counter[str]()}
        self._seen = set[str]()
        self.skipped: list[SkippedRecord] = []
        self.omitted = Counter[str]()
        self.quarantined = self.masked = 0

    def counts(self, *, new: bool) -> ImportCounts:
        """Return the number of new records, or of known ones, by kind."""
        return ImportCounts(**self._counts[new])

    def add(self, record: Record) -> None:
        """Take a record; a batch of one kind is stored together."""
        if isinstance(record, SkippedRecord):
            self.skipped.append(record)
        elif isinstance(record, OmittedRecord):
            self.omitted[record.reason] += record.count
        else:
            waiting = self._waiting[type(record)]
            waiting.append(record)
            if len(waiting) >= _BATCH:
                self.flush()

    def flush(self) -> None:
        """Store what waits: entities first, so that memories and relations find them."""
        self._add_entities(self._taken(EntityRecord))
        self._add_memories(self._taken(MemoryRecord))
        self._add_documents(self._taken(DocumentRecord))
        self._add_relations(self._taken(RelationRecord))

    def _taken(self, kind: type[_Kind]) -> list[_Kind]:
        taken, self._waiting[kind] = self._waiting[kind], []
        return taken  # type: ignore[return-value]  # `add` sorts records by their type

    def _count(self, kind: str, id: str, *, new: bool) -> bool:
        """Count a record once, however often the source states it; say whether it is new."""
        if id in self._seen:
            return False
        self._seen.add(id)
        self._counts[new][kind] += 1
        return new

    def _skip(self, record: StoredRecord, reason: str) -> None:
        self.skipped.append(SkippedRecord(place=record.place, reason=reason))

    def _add_entities(self, records: Sequence[EntityRecord]) -> None:
        names: list[Name] = []
        for record in records:
            try:
                names.append(checked_name(record))
            except InvalidInputError as error:
                self._skip(record, str(error))
        if names:
            done = add_entities(names, target=self._into.target, dry_run=self._into.dry_run)
            for new, ids in ((True, done.new), (False, done.unchanged)):
                for id in ids:
                    self._count("entities", id, new=new)

    def _add_memories(self, records: Sequence[MemoryRecord]) -> None:
        checked = self._validated(records)
        if not checked:
            return
        project, graph = self._into.target.project, self._into.target.graph
        # The first generation of a text is there in some state wherever a later one is.
        ids = [_first_id(memory, project) for _, memory in checked]
        own = {record.id for record, _ in checked if record.id is not None}
        stored = {row.id: row for row in graph.chunks(sorted({*ids, *own})) if row.project == project}
        new: list[ValidatedMemory] = []
        for (record, memory), id in zip(checked, ids, strict=True):
            here = stored.get(record.id or "")
            same = here is not None and here.text == memory.row.text
            if not self._count("memories", record.id or id, new=not (same or id in stored)):
                continue
            self.quarantined += not memory.active
            self.masked += memory.screened.masked
            if here is not None and (here.state, here.kind) == ("active", memory.row.kind):
                self._correct(record, here.id, memory.row.text)
            else:
                new.append(memory if record.id is None else _with_own_metadata(memory))
        if new and not self._into.dry_run:
            later = not self._into.wait
            remember_all(new, target=self._into.target, settings=self._settings, later=later)

    def _correct(self, record: MemoryRecord, id: str, text: str) -> None:
        """Correct a memory whose note a person has edited."""
        target = self._into.target
        if self._into.dry_run:
            return
        revision = Revision(text=text, reason=f"edited in {record.place}"[:_MOST_REASON])
        try:
            revise(id, revision, graph=target.graph, target=lambda _: target, settings=self._settings)
        except InvalidInputError as error:
            self._skip(record, str(error))

    def _validated(self, records: Sequence[MemoryRecord]) -> list[tuple[MemoryRecord, ValidatedMemory]]:
        """Check memories together; where one is wrong, one by one."""
        given = [record.memory for record in records]
        try:
            return list(zip(records, self._validate(given), strict=True))
        except InvalidInputError:
            pass
        checked = []
        for record in records:
            try:
                checked.append((record, self._validate([record.memory])[0]))
            except InvalidInputError as error:
                self._skip(record, str(error))
        return checked

    def _validate(self, given: Sequence[MemoryInput]) -> list[ValidatedMemory]:
        return validate(given, self._settings) if given else []

    def _add_documents(self, records: Sequence[DocumentRecord]) -> None:
        target = self._into.target
        ids = [document_id(target.project, record.parsed.source) for record in records]
        stored = {row.id: row for row in target.graph.documents(ids)} if ids else {}
        for record, id in zip(records, ids, strict=True):
            kind = "documents" if isinstance(record.parsed, SourceText) else "sessions"
            known = stored.get(id)
            if known is not None and known.content_hash == record.parsed.content_hash:
                if not self._count(kind, id, new=False):
                    self._counts[False]["turns"] += _turns(record.parsed)
                continue
            parsed, secrets = masked(record.parsed, self._settings)
            work = compared(parsed, known, self._documents)
            if isinstance(work, SkippedSource):
                self._skip(record, work.reason)
            elif self._count(kind, id, new=True):
                self._add_work(work, turns=_turns(parsed))
                self.masked += secrets

    def _add_work(self, work: Work, *, turns: int) -> None:
        written = work.difference.write
        new = len({row.position for row in written if row.kind == "turn"})
        self._counts[True]["turns"] += new
        self._counts[False]["turns"] += max(0, turns - new)
        self.quarantined += sum(row.state == "quarantined" for row in written)
        if not self._into.dry_run:
            self._documents.add(work)

    def _add_relations(self, records: Sequence[RelationRecord]) -> None:
        statements: list[tuple[RelationRecord, RelationInput]] = []
        for record in records:
            try:
                statements.append((record, checked_relation(record)))
            except InvalidInputError as error:
                self._skip(record, str(error))
        if not statements:
            return
        done = relate_many(
            [statement for _, statement in statements],
            target=self._into.target,
            functional=self._into.functional,
            dry_run=self._into.dry_run,
        )
        for (record, _), each in zip(statements, done, strict=True):
            if each.refused:
                self._skip(record, each.refused)
            else:
                self._count("relations", each.id, new=each.new)


def _with_own_metadata(memory: ValidatedMemory) -> ValidatedMemory:
    """Return a memory that HydraMem wrote, which says itself whether its scope was found."""
    row, given = memory.row, memory.given.metadata or {}
    kept = {key: value for key, value in row.metadata.items() if key != SCOPE_FOUND or key in given}
    return replace(memory, row=replace(row, metadata=kept))


def _turns(parsed: SourceText | Transcript) -> int:
    return 0 if isinstance(parsed, SourceText) else sum(len(each.turns) for each in parsed.conversations)


def _first_id(memory: ValidatedMemory, project: str) -> str:
    row = memory.row
    return memory_id(project, row.scope, row.kind, row.text, row.happened_at or row.times.valid_from, 0)
