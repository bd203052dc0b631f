"""The memories that a caller says a new one replaces, checked before anything is written."""

from datetime import datetime

from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.core.row_types import Chunk
from hydramem.core.time import not_ahead
from hydramem.ingest.knowledge.end_validity import SUPERSEDED_BY, is_version
from hydramem.ingest.memories.memory_input import MEMORIES, ValidatedMemory, labels
from hydramem.ingest.memories.memory_write import MemoryWrite


def replaced_memories(memory: ValidatedMemory, row: Chunk, write: MemoryWrite) -> tuple[Chunk, ...]:
    """Return the current memories that a new one takes the place of, as its caller says.

    Those that it has replaced already are left out, so that a call may be repeated. A quarantined memory
    replaces nothing: a text that gives orders must not end what is known.

    Args:
        memory: The new memory.
        row: Its row, new or known.
        write: The write that stores it; its rows count as stored.

    Raises:
        NotFoundError: An id is none of a memory of the project; nothing is written.
        InvalidInputError: One is no longer current, is the memory itself, or begins after it.
    """
    ids = labels(memory.given.replaces, "replaces") or ()
    if not ids or not memory.active:
        return ()
    stored = {one.id: one for one in write.target.graph.chunks(list(ids))}
    rows = [_checked(id, write.rows.get(id, stored.get(id)), row, memory, write) for id in ids]
    return tuple(one for one in rows if one.metadata.get(SUPERSEDED_BY) != row.id)


def _checked(id: str, old: Chunk | None, new: Chunk, memory: ValidatedMemory, write: MemoryWrite) -> Chunk:
    if old is None or old.project != write.target.project or is_version(old):
        raise NotFoundError(f"replaces: {id[:80]!r}: no memory of this project has this id")
    if old.kind not in MEMORIES or old.kind == "turn":
        raise InvalidInputError(f"replaces: {id} is a {old.kind}, which nothing replaces")
    if id == new.id:
        raise InvalidInputError(f"replaces: {id} is this memory itself; it is known already")
    if old.metadata.get(SUPERSEDED_BY) == new.id:
        return old
    if old.state != "active":
        raise InvalidInputError(f"replaces: {id} is {old.state}; only a current memory can be replaced")
    begins, start = old.times.valid_from, _beginning(memory, write.at)
    if begins is not None and begins >= start:
        raise InvalidInputError(
            f"replaces: {id} is true from {begins:%Y-%m-%d %H:%M} on, and this from {start:%Y-%m-%d %H:%M}; "
            "give a later valid_from"
        )
    if memory.row.times.valid_to is not None:
        raise InvalidInputError("replaces: a memory with a valid_to replaces nothing; leave valid_to out")
    return old


def _beginning(memory: ValidatedMemory, at: datetime) -> datetime:
    said_at = at if memory.stored is None else memory.stored.times.recorded_at
    return memory.row.times.valid_from or memory.row.happened_at or not_ahead(said_at)
