"""Revise a memory: correct its text or its labels; the history keeps the version before."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from hydramem.core.config import MemoryConfig
from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.core.inputs import MemoryInput
from hydramem.core.results.knowledge_results import Relabeled
from hydramem.core.results.write_results import Remembered
from hydramem.core.row_types import Chunk
from hydramem.core.time import now
from hydramem.ingest.knowledge.end_validity import corrected, is_version
from hydramem.ingest.knowledge.trust_layers import VOICES
from hydramem.ingest.memories.apply_plan import merge_known
from hydramem.ingest.memories.memory_input import ValidatedMemory, validate
from hydramem.ingest.memories.memory_write import MemoryWrite, current_generation, remembered
from hydramem.ingest.pending_jobs import LINK
from hydramem.ingest.write_target import Target
from hydramem.storage.changes import current_run, in_one_run
from hydramem.storage.jobs import job
from hydramem.storage.store import GraphStore
from hydramem.storage.vector_rows import Vector, indexed_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """The corrections of a memory; None leaves a field as it is."""

    text: str | None = None
    scope: str | None = None
    categories: tuple[str, ...] | None = None
    importance: float | None = None
    confidence: float | None = None
    keywords: tuple[str, ...] | None = None
    summary: str | None = None
    expires_at: datetime | None = None
    reason: str | None = None

    @property
    def is_empty(self) -> bool:
        """Whether it changes nothing."""
        return self == Revision(reason=self.reason)


@in_one_run()
def revise(
    id: str, revision: Revision, *, graph: GraphStore, target: Callable[[str], Target], settings: MemoryConfig
) -> Remembered:
    """Put a memory right.

    Another text is another memory, with the times of the one that it corrects; that one is withdrawn, with
    the relations that only it stated.

    Args:
        id: The memory.
        revision: The corrections.
        graph: Where memories are.
        target: Returns where a project's memories are.
        settings: What is accepted, and how it is encoded.

    Raises:
        NotFoundError: There is no such memory; nothing is written.
        InvalidInputError: A field is wrong, or it is a passage or believed no longer; nothing is written.
    """
    if revision.is_empty:
        raise InvalidInputError("revise: nothing is given to change")
    old = _revisable_row(id, graph)
    place = target(old.project)
    memory, vector = None, None
    if revision.text is not None:
        memory = _validated(old, revision, settings)
        # The model works before the writer lock is taken: others write meanwhile.
        (vector,) = place.embed([indexed_text(memory.row)])
    with place.one_writer:
        old = _revisable_row(id, graph)
        write = MemoryWrite(operation="revise", target=place, at=now())
        if memory is None or vector is None or memory.row.text == old.text:
            row = _with_revised_fields(old, revision)
            write.change(old, row, reason=revision.reason or "")
            return _committed(row, write, created=False)
        return _correct(old, memory, vector, revision, write, settings)


@in_one_run()
def relabel(ids: Sequence[str], revision: Revision, *, graph: GraphStore, target: Target) -> Relabeled:
    """Correct the labels of memories in one transaction.

    Args:
        ids: The memories.
        revision: The corrections, which leave the text as it is.
        graph: Where memories are.
        target: Where those of their project are.

    Raises:
        NotFoundError: The project has no such memory; nothing is written.
        InvalidInputError: Nothing is given to change, or one is a passage or believed no longer; nothing is
            written.
    """
    if revision.is_empty:
        raise InvalidInputError("relabel: nothing is given to change")
    with target.one_writer:
        write = MemoryWrite(operation="relabel", target=target, at=now())
        old = [_revisable_row(id, graph) for id in dict.fromkeys(ids)]
        elsewhere = next((row for row in old if row.project != target.project), None)
        if elsewhere is not None:
            raise NotFoundError(f"{elsewhere.id}: is a memory of project {elsewhere.project!r}")
        for row in old:
            if (labeled := _with_revised_fields(row, revision)) != row:
                write.change(row, labeled, reason=revision.reason or "")
        changed = tuple(write.rows)
        if changed:
            write.commit()
    return Relabeled(
        chunks=changed,
        unchanged=tuple(row.id for row in old if row.id not in changed),
        run=current_run() if changed else None,
    )


def _revisable_row(id: str, graph: GraphStore) -> Chunk:
    rows = graph.chunks([id])
    if not rows or is_version(rows[0]):
        raise NotFoundError(f"{id[:80]}: no memory has this id")
    (row,) = rows
    if row.kind == "passage":
        raise InvalidInputError(f"{id}: is a passage of {row.source}; edit the document and ingest it again")
    if row.state not in ("active", "quarantined"):
        raise InvalidInputError(f"{id}: is {row.state}; revive it first, or revise what took its place")
    return row


def _with_revised_fields(row: Chunk, revision: Revision) -> Chunk:
    names = ("scope", "categories", "importance", "confidence", "keywords", "summary", "expires_at")
    given = {name: value for name in names if (value := getattr(revision, name)) is not None}
    return replace(row, **given)


def _validated(old: Chunk, revision: Revision, settings: MemoryConfig) -> ValidatedMemory:
    """Screen the new text, as something said by who said the old one."""
    given = MemoryInput(
        text=revision.text or "",
        # A corrected turn keeps its place in its session; what it says has an id as any other text has.
        kind="note" if old.kind in ("turn", "event") else old.kind,
        author=old.author,
        scope=_with_revised_fields(old, revision).scope,
        valid_from=old.times.valid_from,
    )
    return validate([given], settings)[0]


def _correct(
    old: Chunk,
    memory: ValidatedMemory,
    vector: Vector,
    revision: Revision,
    write: MemoryWrite,
    settings: MemoryConfig,
) -> Remembered:
    asserted = replace(memory.row, kind=old.kind, happened_at=old.happened_at)
    identity = current_generation(asserted, old.project, write.target.graph)
    id, known = identity.id, identity.known
    if known is not None:
        said_again = replace(memory, given=replace(memory.given, source=old.source))
        row = merge_known(known, said_again, write, settings).row
    else:
        row = _corrected_row(old, memory, revision, id, write.at)
        write.insert(row, memory.found, vector, reason=revision.reason or f"corrects {old.id}")
        if settings.cognitive and memory.active and old.kind != "turn" and settings.link_neighbors > 0:
            write.add_job(job(LINK, project=old.project, chunk=id))
    reason = revision.reason or f"corrected by {id}"
    write.withdraw(old, corrected(old, at=write.at, by=id), reason=reason)
    write.link(id, old.id, "supersedes", weight=1.0, reason=revision.reason or "corrected")
    done = _committed(row, write, created=known is None)
    screened = memory.screened
    return replace(done, superseded=(old.id,), reasons=screened.reasons, masked=screened.masked)


def _corrected_row(old: Chunk, memory: ValidatedMemory, revision: Revision, id: str, at: datetime) -> Chunk:
    # Who said the old words has not said these, and nobody has verified them.
    kept = {name: value for name, value in old.metadata.items() if name != VOICES}
    return replace(
        _with_revised_fields(old, revision),
        id=id,
        text=memory.row.text,
        tokens=memory.row.tokens,
        state=memory.row.state,
        layer="working",
        summary=revision.summary,
        times=replace(old.times, recorded_at=at),
        recall_count=0,
        last_recalled_at=None,
        vector_state="ready",
        metadata={**kept, **memory.row.metadata},
    )


def _committed(row: Chunk, write: MemoryWrite, *, created: bool) -> Remembered:
    write.commit()
    done = remembered(row, created=created, action="updated")
    return write.completed(replace(done, steps=("store",)))
