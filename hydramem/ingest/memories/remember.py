"""Remember: memories are classified, compared with those they may change, and stored in one transaction.

With `later`, they are stored first, without vectors; a job encodes each when there is time. Until then they
are found by their words, beside the memories that they repeat or end; which of two memories takes the other's
place depends on the order in which they were remembered, not on the order in which they are encoded.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

from hydramem.core.config import MemoryConfig
from hydramem.core.inputs import MemoryInput
from hydramem.core.results.write_results import Remembered
from hydramem.core.row_types import Chunk, Usage
from hydramem.core.time import now
from hydramem.ingest.memories.compare.ask_models import (
    NO_MODELS,
    Models,
    ModelSuggestions,
    ask_models,
    same_text,
)
from hydramem.ingest.memories.compare.model_findings import add_model_findings
from hydramem.ingest.memories.compare.neighbours import find_neighbours
from hydramem.ingest.memories.compare.read_ahead import read_ahead
from hydramem.ingest.memories.memory_input import ValidatedMemory, validate, validate_stored
from hydramem.ingest.memories.memory_write import MemoryWrite
from hydramem.ingest.memories.remember_batch import RememberBatch
from hydramem.ingest.write_target import Target
from hydramem.storage.changes import in_one_run
from hydramem.storage.vector_rows import Vector, VectorStore, indexed_text


def remember(
    given: MemoryInput, *, target: Target, settings: MemoryConfig, models: Models = NO_MODELS
) -> Remembered:
    """Store a memory; one that is known is returned instead of stored twice, one that ends others ends them.

    Blocks of recalled memory in it are left out: memory does not feed on itself. What gives orders to the
    model that reads it, or hides something, is stored quarantined, and nothing is made of it in the graph.

    Args:
        given: What to remember.
        target: Where to store it.
        settings: What is accepted, and how it is encoded.
        models: What extracts, classifies and consolidates; rules where there is none.

    Raises:
        InvalidInputError: A field is wrong, or nothing but recalled memory; nothing is written.
    """
    return remember_all(validate([given], settings), target=target, settings=settings, models=models)[0]


@in_one_run()
def remember_all(
    memories: Sequence[ValidatedMemory],
    *,
    target: Target,
    settings: MemoryConfig,
    models: Models = NO_MODELS,
    later: bool = False,
) -> tuple[Remembered, ...]:
    """Store memories that were checked, in one transaction; results in their order.

    Each is compared with those before it as if they were stored.

    Args:
        target: Where to store them.
        settings: How they are encoded.
        models: What extracts, classifies and consolidates; rules where there is none.
        later: Store them without their vectors, and leave encoding to the queue of jobs.
    """
    embedded: list[Vector] = []
    suggestions = [ModelSuggestions()] * len(memories)
    # Models work, and the graph is loaded, before the writer lock is taken: others write meanwhile.
    with prepared_to_judge(memories, target):
        if not later:
            embedded = list(target.embed([indexed_text(memory.row) for memory in memories]))
    with nullcontext() if later else target.looking() as space:
        if not later:
            memories, suggestions = _asked(
                memories, embedded, target=target, space=space, settings=settings, models=models
            )
        with target.one_writer:
            if len(embedded) > 1:
                ahead = read_ahead(memories, embedded, target=target, space=space, settings=settings)
                target, space = ahead.target, ahead.space
            write = MemoryWrite(operation="remember", target=target, at=now(), deferred=later)
            batch = RememberBatch(write, space, settings)
            vectors = [None] * len(memories) if later else embedded
            done = [batch.add(*each) for each in zip(memories, vectors, suggestions, strict=True)]
            write.commit()
    return tuple(map(write.completed, done))


def _asked(
    memories: Sequence[ValidatedMemory],
    vectors: Sequence[Vector],
    *,
    target: Target,
    space: VectorStore | None,
    settings: MemoryConfig,
    models: Models,
) -> tuple[list[ValidatedMemory], list[ModelSuggestions]]:
    """Return memories with what a model finds in those that are new, and what models suggest for each.

    The first one's suggestions have the cost of extraction.
    """
    if not models.configured:
        return list(memories), [ModelSuggestions()] * len(memories)
    new = {
        place: memory.row.text
        for place, (memory, vector) in enumerate(zip(memories, vectors, strict=True))
        if memory.active and not _is_known(memory, vector, target, space)
    }
    by_rules = [each.found for each in memories]
    findings = add_model_findings(by_rules, new, settings=settings, models=models)
    read = [replace(each, found=found) for each, found in zip(memories, findings.found, strict=True)]
    if any(memory.states for memory in read):
        target.prepare()
    suggestions = [
        ask_models(memory, vector, target=target, vectors=space, settings=settings, models=models)
        for memory, vector in zip(read, vectors, strict=True)
    ]
    costs = [findings.usage, *[Usage()] * (len(read) - 1)]
    return read, [
        replace(each, notes=(*notes, *each.notes), usage=each.usage + cost)
        for each, notes, cost in zip(suggestions, findings.notes, costs, strict=True)
    ]


def _is_known(memory: ValidatedMemory, vector: Vector, target: Target, space: VectorStore | None) -> bool:
    if memory.row.kind == "turn":
        return False
    near = find_neighbours(vector, target=target, vectors=space, within=memory.searched_within)
    return same_text(memory, near) is not None


@contextmanager
def prepared_to_judge(memories: Sequence[ValidatedMemory], target: Target) -> Iterator[None]:
    """Load what relations are judged by in another thread, where a memory states a relation."""
    if not any(memory.states for memory in memories):
        yield
        return
    with ThreadPoolExecutor(1, thread_name_prefix="hydramem-judging") as executor:
        ready = executor.submit(target.prepare)
        yield
        ready.result()


def encode(
    payload: Mapping[str, Any],
    *,
    target: Target,
    settings: MemoryConfig,
    models: Models,
    vector: Vector | None = None,
) -> Usage:
    """Encode a stored memory; one that is gone, or no longer active, is left alone.

    What it names and states stays as the rules found it when it was stored. Doing it again changes nothing
    more: what it ended has ended, and what it repeats takes its place. Returns what models cost.

    Args:
        payload: The payload of its job.
        settings: How memories are encoded.
        models: What classifies and consolidates; rules where there is none.
        vector: Its vector, where it is at hand.
    """
    id = payload["chunk"]
    row = _active_row(id, target)
    if row is None:
        return Usage()
    memory = validate_stored(row, payload, settings)
    with target.looking() as space:
        if vector is None:
            stored = space.vectors([id]) if space is not None else {}
            vector = stored[id] if id in stored else target.embed([indexed_text(row)])[0]
        suggestions = ask_models(
            memory, vector, target=target, vectors=space, settings=settings, models=models
        )
        with target.one_writer:
            row = _active_row(id, target)
            if row is not None:
                write = MemoryWrite(operation="remember", target=target, at=now())
                RememberBatch(write, space, settings).encode_stored(memory, row, vector, suggestions)
                write.commit()
    return suggestions.usage


def _active_row(id: str, target: Target) -> Chunk | None:
    row = next(iter(target.graph.chunks([id])), None)
    return row if row is not None and row.state == "active" else None
