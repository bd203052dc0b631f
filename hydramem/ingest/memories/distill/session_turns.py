"""Which turns of a session are to be distilled: those after the last one that was, a stretch at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from hydramem.core.row_types import Chunk, Session
from hydramem.ingest.knowledge.end_validity import DISTILLED_FROM
from hydramem.ingest.screening.quarantine import threats_in
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.store import GraphStore, Listing, Stretch

DISTILLED = "distilled"
"""Key of a session's metadata: the last position that was distilled, and when all was, the time of it."""

_POSITIONS = 40
_EARLIER = 4
"""Turns before a stretch that are shown with it: what is said refers to them."""

_CHARS = 16_000
_NEWEST_FACTS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnWindow:
    """A stretch of a session that is distilled in one call of a model.

    Attributes:
        earlier: Turns that were distilled before, for context.
        turns: The new ones that a model may read.
        until: The last position of the stretch.
        last: The last position of the session.
    """

    session: Session
    earlier: tuple[Chunk, ...]
    turns: tuple[Chunk, ...]
    until: int
    last: int


def next_window(session: Session, graph: GraphStore) -> TurnWindow | None:
    """Return the next stretch of a session that is not distilled yet; None where there is none."""
    done, last = distilled_until(session, graph), graph.last_position(session.id)
    if last <= done:
        return None
    until = min(last, done + _POSITIONS)
    first = max(0, done + 1 - _EARLIER)
    rows = [
        row
        for row in graph.between([Stretch(session=session.id, first=first, last=until)])
        if _may_be_read(row)
    ]
    new = _bounded([row for row in rows if row.position > done])
    if new and new[-1].position < max(row.position for row in rows):
        until = new[-1].position
    return TurnWindow(
        session=session,
        earlier=tuple(row for row in rows if row.position <= done),
        turns=new,
        until=until,
        last=last,
    )


def distilled_until(session: Session, graph: GraphStore) -> int:
    """Return the last position that was distilled, -1 before the first.

    Distilled memories say it too: they are written before the session's own mark.
    """
    where = ChunkFilter(projects=(session.project,), kinds=("fact",), sessions=(session.id,), states=())
    facts = graph.list_chunks(where, Listing(limit=_NEWEST_FACTS))
    marks = [session.metadata.get(DISTILLED), *(row.metadata.get(DISTILLED_FROM) for row in facts)]
    return max((_position(mark) for mark in marks), default=-1)


def turns_waiting(session: Session, graph: GraphStore) -> int:
    """Return how many turns of a session are not distilled yet."""
    mark = session.metadata.get(DISTILLED)
    complete = mark.get("at") if isinstance(mark, Mapping) else None
    if isinstance(complete, str) and session.last_at <= datetime.fromisoformat(complete):
        return 0
    return max(0, graph.last_position(session.id) - distilled_until(session, graph))


def distilled_mark(window: TurnWindow, session: Session) -> Mapping[str, object]:
    """Return a session's metadata once a stretch of it is distilled."""
    complete = {"at": session.last_at.isoformat()} if window.until >= window.last else {}
    return {**session.metadata, DISTILLED: {"until": window.until, **complete}}


def _position(mark: object) -> int:
    until = mark.get("until") if isinstance(mark, Mapping) else None
    return until if isinstance(until, int) else -1


def _may_be_read(row: Chunk) -> bool:
    """Say whether a model may read a row: a captured turn that is active and contains no instructions."""
    captured = row.kind == "turn" and row.document is None
    return captured and row.state == "active" and not threats_in(row.text)


def _bounded(rows: Sequence[Chunk]) -> tuple[Chunk, ...]:
    """Return the first turns that a prompt has room for, at least one; parts of a turn stay together."""
    chars = 0
    for place, row in enumerate(rows):
        chars += len(row.text)
        if chars > _CHARS and row.position > rows[0].position:
            return tuple(each for each in rows[:place] if each.position < row.position)
    return tuple(rows)
