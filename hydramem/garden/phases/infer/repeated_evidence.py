"""Evidence that several sessions saw: chunks they recalled, or chunks they wrote on the same entities."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from hydramem.core.row_types import Chunk, Mention, Session
from hydramem.garden.proposals.phase_context import PhaseContext
from hydramem.ingest.screening.quarantine import threats_in
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.store import Listing

_MOST_SESSIONS = 200
_MOST_WRITTEN = 2000
_MOST_NAMED = 8
"""Entities of a chunk: one that names more is about none of them."""

_GROUP_SIZE = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceGroup:
    """Evidence that one session saw, and others as well.

    Attributes:
        passages: The chunks, those that most sessions saw first.
        sessions: For each of them the sessions that saw it, by name.
    """

    passages: tuple[Chunk, ...]
    sessions: tuple[tuple[str, ...], ...]


def repeated(context: PhaseContext) -> tuple[EvidenceGroup, ...]:
    """Return the evidence that at least `garden.min_repeat_count` of the newest sessions saw."""
    sessions = context.graph.list_sessions(context.project, Listing(limit=_MOST_SESSIONS))
    seen = _recalled(sessions, context)
    for chunk, names in _written(sessions, context).items():
        seen[chunk] |= names
    least = max(1, context.settings.garden.min_repeat_count)
    often = {chunk: names for chunk, names in seen.items() if len(names) >= least}
    rows = {row.id: row for row in context.graph.chunks(sorted(often)) if _may_be_shown(row)}
    return tuple(_grouped(sessions, {id: often[id] for id in rows}, rows))


def _may_be_shown(row: Chunk) -> bool:
    """Say whether a model may read a chunk: it is active, not private, and contains no instructions."""
    return row.state == "active" and not row.private and not threats_in(row.text)


def _recalled(sessions: Iterable[Session], context: PhaseContext) -> defaultdict[str, set[str]]:
    """Return the sessions in which each chunk was recalled."""
    seen: defaultdict[str, set[str]] = defaultdict(set)
    ids = [session.id for session in sessions]
    for recall in context.graph.recalled(sessions=ids) if ids else ():
        seen[recall.chunk].add(recall.session)
    return seen


def _written(sessions: Iterable[Session], context: PhaseContext) -> Mapping[str, set[str]]:
    """Return, for each chunk that a session wrote, the sessions that name the same two entities."""
    ids = tuple(session.id for session in sessions)
    if not ids:
        return {}
    where = ChunkFilter(projects=(context.project,), sessions=ids)
    page = Listing(limit=_MOST_WRITTEN)
    session_of = {row.id: row.session or "" for row in context.graph.list_chunks(where, page)}
    couples = _couples(context.graph.mentions(sorted(session_of)))
    naming: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for chunk, couple in couples:
        naming[couple].add(session_of[chunk])
    seen: defaultdict[str, set[str]] = defaultdict(set)
    for chunk, couple in couples:
        seen[chunk] |= naming[couple]
    return seen


def _couples(mentions: Iterable[Mention]) -> list[tuple[str, tuple[str, str]]]:
    """Return the pairs of entities that each chunk names."""
    named: defaultdict[str, list[str]] = defaultdict(list)
    for mention in mentions:
        named[mention.chunk].append(mention.entity)
    return [
        (chunk, (one, other))
        for chunk, things in named.items()
        if len(things) <= _MOST_NAMED
        for one, other in combinations(sorted(things), 2)
    ]


def _grouped(
    sessions: Iterable[Session], seen: Mapping[str, set[str]], rows: Mapping[str, Chunk]
) -> Iterator[EvidenceGroup]:
    """Group each chunk with others of the session that saw most of the remaining ones."""
    names = {session.id: session.name for session in sessions}
    left = dict(seen)
    while left:
        counts = Counter(session for each in left.values() for session in each)
        most = max(counts, key=lambda session: (counts[session], session))
        own = sorted((id for id in left if most in left[id]), key=lambda id: (-len(left[id]), id))[
            :_GROUP_SIZE
        ]
        yield EvidenceGroup(
            passages=tuple(rows[id] for id in own),
            sessions=tuple(tuple(sorted(names.get(each, each) for each in left[id])) for id in own),
        )
        for id in own:
            del left[id]
