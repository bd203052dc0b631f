"""What sessions recalled: each hit with the question that it answered, the newest first."""

from collections.abc import Mapping, Sequence

from hydramem.core.results.hits import RecalledMemory
from hydramem.core.row_types import Recalled, Session
from hydramem.search.visible.listings import session_key
from hydramem.storage.recall_log import query_at
from hydramem.storage.store import GraphStore, Listing
from hydramem.text.shown_text import one_line

_MOST_CHARACTERS = 200


def recalled_memories(
    graph: GraphStore, page: Listing, *, project: str, session: str | None, chunk: str | None
) -> tuple[RecalledMemory, ...]:
    """Return a page of what was recalled: the newest recall first, the hits of one in their order.

    Args:
        graph: Has the recalls, which the caller has written before.
        page: Which hits, and how many of them.
        project: Project of the sessions.
        session: Only what this session recalled, by its name or id.
        chunk: Only recalls of the chunk of this id. With both, recalls of the chunk in the session.
    """
    key = None if session is None else session_key(project, session)
    rows = graph.recalled(sessions=[key]) if key else graph.recalled(chunks=[chunk] if chunk else [])
    rows = tuple(row for row in rows if chunk is None or row.chunk == chunk)
    by_id = {row.id: row for row in graph.sessions(sorted({row.session for row in rows}))}
    mine = [row for row in rows if row.session in by_id and by_id[row.session].project == project]
    mine.sort(key=lambda row: row.rank)
    mine.sort(key=lambda row: row.at, reverse=True)
    return _with_texts(mine[page.offset : page.offset + page.limit], by_id, graph)


def _with_texts(
    rows: Sequence[Recalled], sessions: Mapping[str, Session], graph: GraphStore
) -> tuple[RecalledMemory, ...]:
    chunks = {chunk.id: chunk for chunk in graph.chunks(list(dict.fromkeys(row.chunk for row in rows)))}
    return tuple(
        RecalledMemory(
            id=chunk.id,
            text=one_line(chunk.text, _MOST_CHARACTERS),
            kind=chunk.kind,
            state=chunk.state,
            source=chunk.source,
            session=sessions[row.session].name,
            at=row.at,
            rank=row.rank,
            query=query_at(sessions[row.session], row.at),
        )
        for row in rows
        if (chunk := chunks.get(row.chunk)) is not None  # an erasure may have come between the two reads
    )
