"""Evidence that several sessions saw: recalled in them, or said in them of the same things."""

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

_MOST_SAID = 2000

_MOST_NAMED = 8

_IN_ONE = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceGroup:
    """Evidence that one session saw, and others too.

    Attributes:
        passages: The chunks, those that most sessions saw first.
        sessions: For each of them the sessions that saw it, by name.
    """

    passages: tuple[Chunk, ...]
    sessions: tuple[tuple[str, ...], ...]


def repeated(ground: PhaseContext) -> tuple[EvidenceGroup, ...]:
    """Return evidence that was seen in as many sessions as the configuration asks for, newest sessions first.

    Args:
        ground: Where sessions, recalls and mentions are.
    """
    sessions = ground.graph.list_sessions(ground.project, Listing(limit=_MOST_SESSIONS))
    seen = _recalled(sessions, ground)
    for chunk, names in _said(sessions, ground).items():
        seen[chunk] |= names
    least = max(1, ground.settings.garden.min_repeat_count)
    often = {chunk: names for chunk, names in seen.items() if len(names) >= least}
    rows = {row.id: row for row in ground.graph.chunks(sorted(often)) if _may_be_shown(row)}
    return tuple(_grouped(sessions, {id: often[id] for id in rows}, rows))


def _may_be_shown(row: Chunk) -> bool:
    """Say whether a model may read a chunk; what gives orders to its reader, it may not."""
    return row.state == "active" and not row.private and not threats_in(row.text)


def _recalled(sessions: Iterable[Session], ground: PhaseContext) -> defaultdict[str, set[str]]:
    """Return the sessions in which each chunk was recalled."""
    seen: defaultdict[str, set[str]] = defaultdict(set)
    ids = [session.id for session in sessions]
    for recall in ground.graph.recalled(sessions=ids) if ids else ():
        seen[recall.chunk].add(recall.session)
    return seen


def _said(sessions: Iterable[Session], ground: PhaseContext) -> Mapping[str, set[str]]:
    """Return the sessions that speak of the same two things as each chunk that was said in one."""
    ids = tuple(session.id for session in sessions)
    if not ids:
        return {}
    where = ChunkFilter(projects=(ground.project,), sessions=ids)
    said = {row.id: row.session or "" for row in ground.graph.list_chunks(where, Listing(limit=_MOST_SAID))}
    couples = _couples(ground.graph.mentions(sorted(said)))
    speaking: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for chunk, couple in couples:
        speaking[couple].add(said[chunk])
    seen: defaultdict[str, set[str]] = defaultdict(set)
    for chunk, couple in couples:
        seen[chunk] |= speaking[couple]
    return seen


def _couples(mentions: Iterable[Mention]) -> list[tuple[str, tuple[str, str]]]:
    """Return each two things that a chunk names; one that names many is about none of them."""
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
    """Put each chunk with the others of the session that saw most of what is left."""
    names = {session.id: session.name for session in sessions}
    left = dict(seen)
    while left:
        counts = Counter(session for each in left.values() for session in each)
        most = max(counts, key=lambda session: (counts[session], session))
        own = sorted((id for id in left if most in left[id]), key=lambda id: (-len(left[id]), id))[:_IN_ONE]
        yield EvidenceGroup(
            passages=tuple(rows[id] for id in own),
            sessions=tuple(tuple(sorted(names.get(each, each) for each in left[id])) for id in own),
        )
        for id in own:
            del left[id]
