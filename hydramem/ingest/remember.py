"""Remember: memories are screened, classified, set against those they touch, and stored in one transaction.

After CrewAI's encoding flow and A-MEM (Xu et al., 2025). A model, where one is configured, is asked before
the writer lock is taken; under it, what it decided on is read again, and rules decide where that changed.
What fails costs the enrichment, never the memory.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from hydramem.core.config import MemoryConfig
from hydramem.core.results.write_results import Remembered
from hydramem.core.time import now
from hydramem.ingest.draft import Draft, Taken, chunk_of, take
from hydramem.ingest.encoding import Encoding
from hydramem.ingest.settling import Settled, Settling
from hydramem.ingest.target import Target
from hydramem.ingest.think import NO_MODELS, Models, think
from hydramem.storage.changes import current_run, in_one_run
from hydramem.storage.vector_rows import indexed_text


def remember(
    draft: Draft, *, target: Target, settings: MemoryConfig, models: Models = NO_MODELS
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
    taken = take([draft], settings)
    return remember_all(taken, target=target, settings=settings, models=models)[0]


@in_one_run()
def remember_all(
    taken: Sequence[Taken], *, target: Target, settings: MemoryConfig, models: Models = NO_MODELS
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
            think(one, vector, target=target, near=near, settings=settings, models=models)
            for one, vector in zip(taken, vectors, strict=True)
        ]
        with target.one_writer:
            encoding = Encoding(operation="remember", target=target, at=now())
            settling = Settling(encoding, near, settings)
            done = [settling.settle(*each) for each in zip(taken, vectors, thoughts, strict=True)]
            encoding.commit()
    return tuple(_told(each, encoding, target) for each in done)


@contextmanager
def _prepared(taken: Sequence[Taken], target: Target) -> Iterator[None]:
    """Read beside other work what memories are judged by that state something."""
    if not any(one.states for one in taken):
        yield
        return
    with ThreadPoolExecutor(1, thread_name_prefix="hydramem-judging") as beside:
        ready = beside.submit(target.prepare)
        yield
        ready.result()


def _told(settled: Settled, encoding: Encoding, target: Target) -> Remembered:
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
