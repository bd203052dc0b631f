"""Where a memory goes: the id of its current life, its place in its session, and the session's row."""

from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import datetime
from itertools import count

from hydramem.core.ids import memory_id, session_id, turn_id
from hydramem.core.types import Session
from hydramem.ingest.draft import Draft
from hydramem.storage.store import GraphStore

# Generations of one text that are looked up at once; nearly always the first is the answer.
_LOOK_AHEAD = 4


def place(
    draft: Draft, project: str, graph: GraphStore, *, taken: Collection[str] = (), apart: bool = False
) -> tuple[str, int]:
    """Return the id of a memory and its place in its session.

    A turn is always new. Any other text has the id of its current life where it has one, else of the
    next: what was forgotten stays in history beside what is asserted again.

    Args:
        draft: The memory, its scope found.
        project: Where it goes.
        graph: Where earlier lives are.
        taken: Ids of the same write.
        apart: A current life is none of its own: the next is wanted.
    """
    if draft.kind == "turn" and draft.session is not None:
        session = session_id(project, draft.session)
        position = graph.last_position(session) + 1
        while turn_id(session, position) in taken:
            position += 1
        return turn_id(session, position), position
    lives = _lives(draft, project)
    while True:
        ids = [next(lives) for _ in range(_LOOK_AHEAD)]
        states = {chunk.id: chunk.state for chunk in graph.chunks(ids)}
        for id in ids:
            if id not in states or (not apart and states[id] in ("active", "quarantined")):
                return id, 0


def _lives(draft: Draft, project: str) -> Iterator[str]:
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
