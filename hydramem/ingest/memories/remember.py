"""Encode later: a memory is stored as it is told, and set against those it touches once there is time.

Its text is found by words from the first. Until it is encoded it stands beside what it repeats or ends; the
order in which memories were told decides between them, not the order in which they are encoded.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from hydramem.core.config import MemoryConfig
from hydramem.core.results.write_results import Remembered
from hydramem.core.row_types import Chunk, Job, Usage
from hydramem.core.time import now
from hydramem.ingest.memories.apply_plan import AppliedPlan, merge_known
from hydramem.ingest.memories.ask_models import NO_MODELS, Models, ask_models, given_fields, vocabulary
from hydramem.ingest.memories.classify.classify import classify
from hydramem.ingest.memories.memory_identity import memory_identity, session_row
from hydramem.ingest.memories.memory_write import MemoryWrite
from hydramem.ingest.memories.remember_batch import AddedMemory, RememberBatch, filed
from hydramem.ingest.memories.validate import MemoryDraft, ValidatedMemory, chunk_of, validate
from hydramem.ingest.pending_jobs import ENCODE, embed_jobs
from hydramem.ingest.write_target import Target
from hydramem.storage.changes import current_run, in_one_run
from hydramem.storage.jobs import job
from hydramem.storage.vector_rows import Vector, indexed_text

STEPS_LATER = ("embed", "consolidate", "link")


@in_one_run()
def remember_soon(
    taken: Sequence[ValidatedMemory], *, target: Target, settings: MemoryConfig
) -> tuple[Remembered, ...]:
    """Store memories in one transaction without their vectors, and leave the rest to the queue.

    Args:
        taken: The memories.
        target: Where to store them.
        settings: Whether they are encoded, or stored as given.
    """
    if any(one.states for one in taken):
        target.prepare()
    with target.one_writer:
        encoding = MemoryWrite(operation="remember", target=target, at=now(), deferred=True)
        done = [_store(one, encoding, settings) for one in taken]
        encoding.commit()
    return tuple(
        _told(one, enacted, encoding, target, settings) for one, enacted in zip(taken, done, strict=True)
    )


def _store(taken: ValidatedMemory, encoding: MemoryWrite, settings: MemoryConfig) -> AppliedPlan:
    project, graph = encoding.target.project, encoding.target.graph
    there = memory_identity(taken.draft, project, graph, taken=encoding.rows)
    known = encoding.rows.get(there.id, there.known)
    if known is not None:
        return merge_known(known, taken.draft, encoding, settings)
    draft = taken.draft
    shown = _filed_by_its_words(taken, encoding.target) if _is_encoded(taken, settings) else taken
    at = encoding.at
    row = chunk_of(shown, id=there.id, project=project, position=there.position, at=at, embedded=False)
    if draft.session is not None:
        encoding.said_in(session_row(draft.session, project, encoding.at, graph))
    encoding.insert(row, taken.found, None)
    if _is_encoded(taken, settings):
        encoding.later(_encode_job(row, taken, project))
    else:
        for each in embed_jobs([row], project=project):
            encoding.later(each)
    return AppliedPlan(row=row, created=True, action="stored")


def _is_encoded(taken: ValidatedMemory, settings: MemoryConfig) -> bool:
    return settings.cognitive and taken.active and taken.draft.kind != "turn"


def _filed_by_its_words(taken: ValidatedMemory, target: Target) -> ValidatedMemory:
    """File a memory as far as its own words say how; its scope is found beside its neighbours."""
    told = given_fields(taken)
    if not told.open:
        return taken
    found = classify(told, (), vocabulary(told.names, target=target, offering=False), None)
    return replace(taken, draft=replace(filed(taken.draft, found), scope=taken.draft.scope))


def _encode_job(row: Chunk, taken: ValidatedMemory, project: str) -> Job:
    draft = taken.draft
    said = {"source": draft.source, "session": draft.session, "within": draft.within}
    return job(ENCODE, project=project, chunk=row.id, open=list(given_fields(taken).open), **said)


def _told(
    taken: ValidatedMemory,
    enacted: AppliedPlan,
    encoding: MemoryWrite,
    target: Target,
    settings: MemoryConfig,
) -> Remembered:
    row, new = enacted.row, taken.active and enacted.created
    looked_at = (*(("extract",) if new else ()), *(("verify",) if new and target.accept else ()))
    later = STEPS_LATER if _is_encoded(taken, settings) else STEPS_LATER[:1]
    return Remembered(
        id=row.id,
        created=enacted.created,
        action=enacted.action,
        entities=encoding.entities.get(row.id, ()),
        scope=row.scope,
        categories=row.categories,
        importance=row.importance,
        steps=("screen", *looked_at, *(("store",) if enacted.created else ())),
        pending=later if enacted.created else (),
        notes=(_MAY_GO,) if enacted.created and len(later) > 1 else (),
        state=row.state,
        reasons=taken.screened.reasons,
        masked=taken.screened.masked,
        run=current_run() if encoding.rows else None,
    )


_MAY_GO = "encoded later: another memory may come to stand for this id, or this one for others"


def encode(
    said: Mapping[str, Any],
    *,
    target: Target,
    settings: MemoryConfig,
    models: Models,
    vector: Vector | None = None,
) -> Usage:
    """Encode a stored memory; one that is gone, or believed no longer, is left alone.

    Doing it again changes nothing more: what it ended has ended, and what it repeats stands for it. Returns
    what models cost.

    Args:
        said: What its job says.
        target: Where it is.
        settings: How memories are encoded.
        models: What classifies and consolidates; rules where there is none.
        vector: Its vector, where it is at hand.
    """
    id = said["chunk"]
    row = _current(id, target)
    if row is None:
        return Usage()
    (taken,) = validate([_draft(row, said)], settings)
    taken = replace(taken, stored=row)
    with target.looking() as near:
        if vector is None:
            held = near.vectors([id]) if near is not None else {}
            vector = held[id] if id in held else target.embed([indexed_text(row)])[0]
        thought = ask_models(taken, vector, target=target, near=near, settings=settings, models=models)
        with target.one_writer:
            row = _current(id, target)
            if row is not None:
                encoding = MemoryWrite(operation="remember", target=target, at=now())
                RememberBatch(encoding, near, settings).settle_stored(taken, row, vector, thought)
                encoding.commit()
    return thought.usage


def _current(id: str, target: Target) -> Chunk | None:
    row = next(iter(target.graph.chunks([id])), None)
    return row if row is not None and row.state == "active" else None


def _draft(row: Chunk, said: Mapping[str, Any]) -> MemoryDraft:
    """Return a stored memory as its caller gave it."""
    left_open = set(said["open"])
    return MemoryDraft(
        text=row.text,
        kind=row.kind,
        source=said["source"],
        author=row.author,
        session=said["session"],
        scope=None if "scope" in left_open else row.scope,
        within=said["within"],
        categories=None if "categories" in left_open else row.categories,
        importance=None if "importance" in left_open else row.importance,
        keywords=None if "keywords" in left_open else row.keywords,
        summary=None if "summary" in left_open else row.summary,
        confidence=row.confidence,
        event_type=row.event_type,
        happened_at=row.happened_at,
        valid_from=row.times.valid_from,
        valid_to=row.times.valid_to,
        expires_at=row.expires_at,
        private=row.private,
        layer=row.layer,
        metadata=row.metadata,
    )


def remember(
    draft: MemoryDraft, *, target: Target, settings: MemoryConfig, models: Models = NO_MODELS
) -> Remembered:
    """Store a memory; one that is known is returned instead of stored twice, one that ends others ends them.

    Blocks of recalled memory in it are left out: memory does not feed on itself. What gives orders to the
    model that reads it, or hides something, is stored quarantined, and nothing is made of it in the graph.

    Args:
        draft: What to remember.
        target: Where to store it.
        settings: What is accepted, and how it is encoded.
        models: What classifies and consolidates; rules where there is none.

    Raises:
        InvalidInputError: A field is wrong, or nothing but recalled memory; nothing is written.
    """
    taken = validate([draft], settings)
    return remember_all(taken, target=target, settings=settings, models=models)[0]


@in_one_run()
def remember_all(
    taken: Sequence[ValidatedMemory], *, target: Target, settings: MemoryConfig, models: Models = NO_MODELS
) -> tuple[Remembered, ...]:
    """Store memories that were checked, in one transaction; results in their order.

    Each sees those before it as if they were stored.

    Args:
        taken: The memories.
        target: Where to store them.
        settings: How they are encoded.
        models: What classifies and consolidates; rules where there is none.
    """
    at = now()
    # Models work, and the graph is loaded, before the writer lock is taken: others write meanwhile.
    with _prepared(taken, target):
        vectors = target.embed([indexed_text(chunk_of(one, project=target.project, at=at)) for one in taken])
    with target.looking() as near:
        thoughts = [
            ask_models(one, vector, target=target, near=near, settings=settings, models=models)
            for one, vector in zip(taken, vectors, strict=True)
        ]
        with target.one_writer:
            encoding = MemoryWrite(operation="remember", target=target, at=now())
            settling = RememberBatch(encoding, near, settings)
            done = [settling.settle(*each) for each in zip(taken, vectors, thoughts, strict=True)]
            encoding.commit()
    return tuple(_remembered_now(each, encoding, target) for each in done)


@contextmanager
def _prepared(taken: Sequence[ValidatedMemory], target: Target) -> Iterator[None]:
    """Read beside other work what memories are judged by that state something."""
    if not any(one.states for one in taken):
        yield
        return
    with ThreadPoolExecutor(1, thread_name_prefix="hydramem-judging") as beside:
        ready = beside.submit(target.prepare)
        yield
        ready.result()


def _remembered_now(settled: AddedMemory, encoding: MemoryWrite, target: Target) -> Remembered:
    taken, enacted = settled.taken, settled.enacted
    row, extracted = enacted.row, taken.active and enacted.created
    steps = (
        "screen",
        *settled.steps,
        *(("extract",) if extracted else ()),
        "embed",
        *(("verify",) if extracted and target.accept else ()),
        *(("store",) if enacted.created else ()),
    )
    return Remembered(
        id=row.id,
        created=enacted.created,
        action=enacted.action,
        superseded=enacted.superseded,
        linked=encoding.linked(row.id),
        entities=encoding.entities.get(row.id, ()),
        scope=row.scope,
        categories=row.categories,
        importance=row.importance,
        steps=steps,
        pending=settled.pending,
        notes=settled.notes,
        usage=settled.usage,
        state=row.state,
        reasons=taken.screened.reasons,
        masked=taken.screened.masked,
        run=current_run() if encoding.rows else None,
    )
