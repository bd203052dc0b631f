"""Revise: what a memory says or how it is filed is put right, and what was believed before is kept."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from hydramem.core.config import MemoryConfig
from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.core.results.write_results import Remembered
from hydramem.core.row_types import Chunk
from hydramem.core.time import now
from hydramem.ingest.knowledge.end_validity import corrected, is_version
from hydramem.ingest.knowledge.trust_layers import VOICES
from hydramem.ingest.memories.apply_plan import merge_known
from hydramem.ingest.memories.memory_identity import life
from hydramem.ingest.memories.memory_write import MemoryWrite
from hydramem.ingest.memories.validate import MemoryDraft, ValidatedMemory, chunk_of, validate
from hydramem.ingest.pending_jobs import LINK
from hydramem.ingest.write_target import Target
from hydramem.storage.changes import current_run, in_one_run
from hydramem.storage.jobs import job
from hydramem.storage.store import GraphStore
from hydramem.storage.vector_rows import Vector, indexed_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """What is put right in a memory; None leaves a field as it is."""

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
    id: str,
    revision: Revision,
    *,
    graph: GraphStore,
    target: Callable[[str], Target],
    settings: MemoryConfig,
) -> Remembered:
    """Put a memory right.

    Another text is another memory, with the times of the one that it corrects; that one is believed no
    longer, nor what only it stated.

    Args:
        id: The memory.
        revision: What is put right.
        graph: Where memories are.
        target: Returns where a project's memories are.
        settings: What is accepted, and how it is encoded.

    Raises:
        NotFoundError: There is no such memory; nothing is written.
        InvalidInputError: A field is wrong, or it is a passage or believed no longer; nothing is written.
    """
    if revision.is_empty:
        raise InvalidInputError("revise: nothing is given to change")
    held = _found(id, graph)
    place = target(held.project)
    taken, vector = None, None
    if revision.text is not None:
        taken = _taken(held, revision, settings)
        # The model works before the writer lock is taken: others write meanwhile.
        row = chunk_of(taken, project=place.project, at=now())
        (vector,) = place.embed([indexed_text(row)])
    with place.one_writer:
        old = _found(id, graph)
        encoding = MemoryWrite(operation="revise", target=place, at=now())
        if taken is None or vector is None or taken.draft.text == old.text:
            row = _filed(old, revision)
            encoding.change(old, row, reason=revision.reason or "")
            return _done(row, encoding, created=False)
        return _correct(old, taken, vector, revision, encoding, settings)


def _found(id: str, graph: GraphStore) -> Chunk:
    rows = graph.chunks([id])
    if not rows or is_version(rows[0]):
        raise NotFoundError(f"{id[:80]}: no memory has this id")
    (row,) = rows
    if row.kind == "passage":
        raise InvalidInputError(f"{id}: is a passage of {row.source}; edit the document and ingest it again")
    if row.state not in ("active", "quarantined"):
        raise InvalidInputError(f"{id}: is {row.state}; revive it first, or revise what took its place")
    return row


def _filed(row: Chunk, revision: Revision) -> Chunk:
    names = ("scope", "categories", "importance", "confidence", "keywords", "summary", "expires_at")
    given = {name: value for name in names if (value := getattr(revision, name)) is not None}
    return replace(row, **given)


def _taken(old: Chunk, revision: Revision, settings: MemoryConfig) -> ValidatedMemory:
    """Screen the new text, as something said by who said the old one."""
    filed = _filed(old, revision)
    draft = MemoryDraft(
        text=revision.text or "",
        # A corrected turn keeps its place in its session; what it says has an id as any other text has.
        kind="note" if old.kind in ("turn", "event") else old.kind,
        author=old.author,
        scope=filed.scope,
        valid_from=old.times.valid_from,
    )
    return validate([draft], settings)[0]


def _correct(
    old: Chunk,
    taken: ValidatedMemory,
    vector: Vector,
    revision: Revision,
    encoding: MemoryWrite,
    settings: MemoryConfig,
) -> Remembered:
    draft, graph = replace(taken.draft, kind=old.kind, happened_at=old.happened_at), encoding.target.graph
    there = life(draft, old.project, graph)
    id, known = there.id, there.known
    if known is not None:
        said = replace(draft, source=old.source)
        row = merge_known(known, said, encoding, settings).row
    else:
        row = _corrected_row(old, taken, revision, id, encoding.at)
        encoding.insert(row, taken.found, vector, reason=revision.reason or f"corrects {old.id}")
        if settings.cognitive and taken.active and old.kind != "turn" and settings.link_neighbors > 0:
            encoding.later(job(LINK, project=old.project, chunk=id))
    reason = revision.reason or f"corrected by {id}"
    encoding.withdraw(old, corrected(old, at=encoding.at, by=id), reason=reason)
    encoding.link(id, old.id, "supersedes", weight=1.0, reason=revision.reason or "corrected")
    done = _done(row, encoding, created=known is None)
    return replace(done, superseded=(old.id,), reasons=taken.screened.reasons, masked=taken.screened.masked)


def _corrected_row(old: Chunk, taken: ValidatedMemory, revision: Revision, id: str, at: datetime) -> Chunk:
    made = chunk_of(taken, id=id, project=old.project, at=at)
    filed = _filed(old, revision)
    # Who said the old words has not said these, and nobody has verified them.
    kept = {name: value for name, value in old.metadata.items() if name != VOICES}
    return replace(
        filed,
        id=id,
        text=made.text,
        tokens=made.tokens,
        state=made.state,
        layer="working",
        summary=revision.summary,
        times=replace(old.times, recorded_at=at),
        recall_count=0,
        last_recalled_at=None,
        vector_state="ready",
        metadata={**kept, **made.metadata},
    )


def _done(row: Chunk, encoding: MemoryWrite, *, created: bool) -> Remembered:
    encoding.commit()
    return Remembered(
        id=row.id,
        created=created,
        action="updated",
        linked=encoding.linked(row.id),
        entities=encoding.entities.get(row.id, ()),
        scope=row.scope,
        categories=row.categories,
        importance=row.importance,
        steps=("store",),
        state=row.state,
        run=current_run(),
    )
