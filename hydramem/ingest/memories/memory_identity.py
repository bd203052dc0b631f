"""Where a memory goes: the id of its current life, its place in its session, and the session's row."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count

from hydramem.core.ids import memory_id, session_id, turn_id
from hydramem.core.row_types import Chunk, Session
from hydramem.core.time import now
from hydramem.ingest.memories.validate import MemoryDraft
from hydramem.storage.chunk_filter import covers
from hydramem.storage.store import GraphStore

# Generations of one text that are looked up at once; nearly always the first is the answer.
_LOOK_AHEAD = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryIdentity:
    """Where a memory goes.

    Attributes:
        position: In its session.
        known: The row that is there, where the same is current.
    """

    id: str
    position: int = 0
    known: Chunk | None = None


def memory_identity(
    draft: MemoryDraft, project: str, graph: GraphStore, *, taken: Collection[str] = ()
) -> MemoryIdentity:
    """Find where a memory goes; a turn is always new.

    Args:
        draft: The memory, its scope found.
        project: Where it goes.
        graph: Where earlier lives are.
        taken: Ids of the same write.
    """
    if draft.kind == "turn" and draft.session is not None:
        session = session_id(project, draft.session)
        position = graph.last_position(session) + 1
        while turn_id(session, position) in taken:
            position += 1
        return MemoryIdentity(id=turn_id(session, position), position=position)
    return life(draft, project, graph)


def life(draft: MemoryDraft, project: str, graph: GraphStore, *, anew: bool = False) -> MemoryIdentity:
    """Find a text's current life where it has one, else the next.

    What was forgotten, or has expired, stays in history beside what is asserted again.

    Args:
        draft: What is asserted.
        project: Where it goes.
        graph: Where earlier lives are.
        anew: Take the next life whatever there is.
    """
    lives, at = _lives(draft, project), now()
    while True:
        ids = [next(lives) for _ in range(_LOOK_AHEAD)]
        rows = {chunk.id: chunk for chunk in graph.chunks(ids)}
        for id in ids:
            if id not in rows or (not anew and _is_current(rows[id], at)):
                return MemoryIdentity(id=id, known=rows.get(id))


def _is_current(row: Chunk, at: datetime) -> bool:
    return row.state in ("active", "quarantined") and covers(None, row.expires_at, at)


def _lives(draft: MemoryDraft, project: str) -> Iterator[str]:
    when = draft.happened_at or draft.valid_from
    scope = draft.within if draft.scope is None else draft.scope
    for generation in count():
        yield memory_id(project, scope, draft.kind, draft.text, when, generation)


def session_row(name: str, project: str, at: datetime, graph: GraphStore) -> Session:
    """Return a session's row as it becomes by something said at a time."""
    id = session_id(project, name)
    held = next(iter(graph.sessions([id])), None)
    if held is not None:
        return replace(held, last_at=max(held.last_at, at))
    return Session(id=id, project=project, name=name, started_at=at, last_at=at)
