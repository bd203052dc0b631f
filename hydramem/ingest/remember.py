"""Remember: one memory, with the entities it mentions and the relations it states, in one transaction."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count

from hydramem.core.check import check_name
from hydramem.core.config import MemoryConfig
from hydramem.core.errors import InvalidInputError
from hydramem.core.ids import memory_id, session_id, turn_id
from hydramem.core.results.written import Remembered
from hydramem.core.time import check_interval, now
from hydramem.core.tokens import count_tokens
from hydramem.core.types import Chunk, ChunkKind, Session, Times
from hydramem.ingest.extract.found import Found
from hydramem.ingest.extract.rules import Passage, extract
from hydramem.ingest.screen.screen import QUARANTINED_FOR, Screened, screen
from hydramem.ingest.target import Target
from hydramem.ingest.weave import Woven, relate, weave
from hydramem.storage.changes import record
from hydramem.storage.outbox import worth_a_vector
from hydramem.storage.store import GraphStore, Write, indexed_text

# Generations of one text that are looked up at once; nearly always the first is the answer.
_LOOK_AHEAD = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A memory as a caller gives it; fields as in `Chunk`, `session` by name."""

    text: str
    kind: ChunkKind
    source: str = ""
    author: str | None = None
    session: str | None = None
    scope: str = "/"
    categories: tuple[str, ...] = ()
    importance: float = 0.5
    confidence: float = 1.0
    happened_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    private: bool = False


def remember(
    draft: Draft,
    *,
    target: Target,
    settings: MemoryConfig,
) -> Remembered:
    """Store a memory; an equal current one is returned instead of stored twice.

    Blocks of recalled memory in it are left out: memory does not feed on itself. What gives orders to the
    model that reads it, or hides something, is stored quarantined, and nothing is made of it in the graph.

    Args:
        draft: What to remember.
        target: Where to store it.
        settings: What is accepted.

    Raises:
        InvalidInputError: A field is wrong, or nothing but recalled memory; nothing is written.
    """
    _check(draft)
    screened = screen(draft.text, settings)
    draft = replace(draft, text=screened.text)
    found = _found(draft, screened)
    # The model works before the writer lock is taken: others write meanwhile.
    vector = target.embed([indexed_text(_chunk(draft, "", target.project, 0, now(), screened))])[0]
    with target.one_writer:
        at = now()
        id, position = _place(draft, target.project, target.graph)
        if known := target.graph.chunks([id]):
            return _remembered(known[0], screened, created=False)
        chunk = _chunk(draft, id, target.project, position, at, screened)
        woven = weave([(id, found)], target=target, at=at)
        named = target.embed_by_id({row.id: row.name for row in woven.crossing(worth_a_vector)})
        target.commit(_write(draft, chunk, woven, target), {id: vector} | named)
    active = chunk.state == "active"
    extracted = ("extract",) if active else ()
    verified = ("verify",) if active and target.accept else ()
    return replace(
        _remembered(chunk, screened, created=True),
        entities=tuple(entity.name for entity in woven.entities),
        steps=("screen", *extracted, "embed", *verified, "store"),
    )


def _remembered(chunk: Chunk, screened: Screened, *, created: bool) -> Remembered:
    return Remembered(
        id=chunk.id, created=created, state=chunk.state, reasons=screened.reasons, masked=screened.masked
    )


def _found(draft: Draft, screened: Screened) -> Found:
    if screened.state != "active":
        return Found()
    return extract([Passage(text=draft.text, author=draft.author)])[0]


def _check(draft: Draft) -> None:
    for name in ("source", "author", "session"):
        if value := getattr(draft, name):
            check_name(value, name=name)
    check_interval(draft.valid_from, draft.valid_to, name="valid_from, valid_to")
    if draft.kind == "passage":
        raise InvalidInputError("kind: a passage belongs to a document; ingest it, or remember a note")
    if draft.kind == "turn" and draft.session is None:
        raise InvalidInputError("session: a turn belongs to one; name it")
    if draft.kind == "event" and draft.happened_at is None:
        raise InvalidInputError("happened_at: an event has a time; give it, or remember a note")


def _place(draft: Draft, project: str, graph: GraphStore) -> tuple[str, int]:
    """Return the id of the memory and its place in its session.

    A turn is always new. Any other text has the id of its current life where it has one, else of the
    next: what was forgotten stays in history beside what is asserted again.
    """
    if draft.kind == "turn" and draft.session is not None:
        session = session_id(project, draft.session)
        position = graph.last_position(session) + 1
        return turn_id(session, position), position
    lives = _lives(draft, project)
    while True:
        ids = [next(lives) for _ in range(_LOOK_AHEAD)]
        states = {chunk.id: chunk.state for chunk in graph.chunks(ids)}
        for id in ids:
            if states.get(id, "active") in ("active", "quarantined"):
                return id, 0


def _lives(draft: Draft, project: str) -> Iterator[str]:
    when = draft.happened_at or draft.valid_from
    for generation in count():
        yield memory_id(project, draft.scope, draft.kind, draft.text, when, generation)


def _chunk(draft: Draft, id: str, project: str, position: int, at: datetime, screened: Screened) -> Chunk:
    return Chunk(
        id=id,
        project=project,
        text=draft.text,
        kind=draft.kind,
        session=None if draft.session is None else session_id(project, draft.session),
        position=position,
        tokens=count_tokens(draft.text),
        source=draft.source or draft.session or draft.kind,
        source_type="session" if draft.session else "remember",
        author=draft.author,
        private=draft.private,
        scope=draft.scope,
        categories=draft.categories,
        importance=draft.importance,
        confidence=draft.confidence,
        happened_at=draft.happened_at,
        expires_at=draft.expires_at,
        times=Times(recorded_at=at, valid_from=draft.valid_from, valid_to=draft.valid_to),
        state=screened.state,
        vector_state="ready",
        metadata={QUARANTINED_FOR: list(screened.reasons)} if screened.state == "quarantined" else {},
    )


def _write(draft: Draft, chunk: Chunk, woven: Woven, target: Target) -> Write:
    related = relate(
        woven.stated,
        target=target,
        before=woven.before,
        at=woven.at,
        chunks={chunk.id: chunk},
        entities=woven.entities,
    )
    project = target.project
    return Write(
        changes=(
            record("remember", project=project, target=chunk.id, after=chunk),
            *(each.change("remember") for each in related.refused),
        ),
        sessions=_sessions(draft, project, woven.at, target.graph),
        chunks=(chunk,),
        entities=woven.entities,
        mentions=woven.mentions,
        relations=related.kept,
    )


def _sessions(draft: Draft, project: str, at: datetime, graph: GraphStore) -> tuple[Session, ...]:
    if draft.session is None:
        return ()
    id = session_id(project, draft.session)
    held = next(iter(graph.sessions([id])), None)
    if held is not None:
        return (replace(held, last_at=max(held.last_at, at)),)
    return (Session(id=id, project=project, name=draft.session, started_at=at, last_at=at),)
