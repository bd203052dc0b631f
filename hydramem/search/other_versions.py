"""Memories of one matter at recall: the later one goes before the earlier, and each names the other.

`remember` joins such memories by links and hides none of them: `may_supersede` and `supersedes` lead from
the later to the earlier, `duplicates` joins two that say the same in other words
(`hydramem.search.packed_duplicates`). The links are read from the snapshots.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hydramem.core.results.hits import OtherVersion
from hydramem.core.row_types import Chunk
from hydramem.graph.snapshot.snapshot import LINK, STATES, Snapshot
from hydramem.search.candidate_scores import FusedScore, RecallCandidate
from hydramem.search.passages import surroundings
from hydramem.storage.chunk_filter import ChunkFilter, covers
from hydramem.text.shown_text import one_line

VERSION_TYPES = ("may_supersede", "supersedes", "duplicates")

LATER = "later"
"""The part of a score that a memory has from an earlier one that it stands before."""

# From which probability a later memory comes before the earlier one however little it matches.
_SURELY_LATER = 0.5

# Links of links that are followed, and characters of another version that a hit shows.
_STEPS, _TEXT = 5, 200


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionLink:
    """A link between two memories of one matter, by their ids.

    Attributes:
        probability: How sure it is that only the later one holds; for duplicates, that they say the same.
    """

    newer: str
    older: str
    type: str
    probability: float


def version_links(
    ids: Collection[str], snapshots: Sequence[Snapshot], where: ChunkFilter
) -> tuple[VersionLink, ...]:
    """Return the active links between versions that lead from some chunks, and on from what they lead to."""
    found: dict[tuple[str, str, str], VersionLink] = {}
    for snapshot in snapshots:
        codes = [code for code, name in enumerate(snapshot.edges.types) if name in VERSION_TYPES]
        nodes = {node for id in ids if (node := snapshot.node(id)) is not None} if codes else set()
        reached = set(nodes)
        for _ in range(_STEPS):
            if not nodes:
                break
            links = _links_at(sorted(nodes), codes, snapshot, where)
            found |= {(one.type, one.newer, one.older): one for one in links}
            ends = {snapshot.nodes.index[id] for one in links for id in (one.newer, one.older)}
            nodes = ends - reached
            reached |= ends
    return tuple(found.values())


def _links_at(
    nodes: Sequence[int], codes: Sequence[int], snapshot: Snapshot, where: ChunkFilter
) -> list[VersionLink]:
    edges = snapshot.edges
    rows = np.unique(snapshot.adjacency.expand(np.array(nodes, dtype=np.int32)).halves >> 1)
    rows = rows[(edges.kind[rows] == LINK) & np.isin(edges.type[rows], codes)]
    if not len(rows):
        return []
    rows = rows[snapshot.edge_mask(at=where.at, known_at=where.known_at)[rows]]
    seen = [STATES.index(state) for state in {*where.states, "active", "superseded"}]
    both = [np.isin(snapshot.nodes.state[ends[rows]], seen) for ends in (edges.source, edges.target)]
    return [
        VersionLink(
            newer=snapshot.nodes.ids[int(edges.source[row])],
            older=snapshot.nodes.ids[int(edges.target[row])],
            type=edges.types[int(edges.type[row])],
            probability=round(min(1.0, max(0.0, float(edges.weight[row]))), 4),
        )
        for row in rows[both[0] & both[1]].tolist()
    ]


def joined_to(ids: Collection[str], links: Sequence[VersionLink]) -> set[str]:
    """Return the ids of every memory that links lead to from some memories, one after the other."""
    reached: set[str] = set()
    ahead = set(ids)
    while ahead:
        reached |= ahead
        ends = (one.newer if one.older in ahead else one.older for one in links if _touches(one, ahead))
        ahead = set(ends) - reached
    return reached.difference(ids)


def _touches(link: VersionLink, ids: Collection[str]) -> bool:
    return link.newer in ids or link.older in ids


def told(chunk: Chunk) -> tuple[object, ...]:
    """Return what orders memories by when they were told."""
    return chunk.happened_at or chunk.times.recorded_at, chunk.id


def _at_least(fused: FusedScore, score: float, part: str) -> FusedScore:
    """Return a score that is at least another, with the difference as a part of its own."""
    return fused.with_score(max(score, fused.score), part)


def newest_first(
    candidates: Sequence[RecallCandidate],
    links: Sequence[VersionLink],
    *,
    held: Mapping[str, Chunk],
    where: ChunkFilter,
) -> tuple[RecallCandidate, ...]:
    """Put what may supersede a candidate directly before it, with its score; the newest first.

    By a doubtful link it must match nearly as well by itself: a memory that only seems to be of the same
    matter does not take the place of one that answers. An ended version leads on to what is later than it.

    Args:
        candidates: Best first.
        links: As `version_links` returns them.
        held: Chunks by id; one that is no candidate is taken in where an earlier version is one.
        where: What such a chunk must pass.
    """
    chunks = {**held, **{one.chunk.id: one.chunk for one in candidates}}
    found = {one.chunk.id: one for one in candidates}
    later: dict[str, dict[str, float]] = {}
    for link in links:
        if link.type != "duplicates" and link.newer in chunks:
            sure = 1.0 if link.type == "supersedes" else link.probability
            later.setdefault(link.older, {})[link.newer] = sure
    arranged: dict[str, RecallCandidate] = {}
    entered: set[str] = set()

    def place(one: RecallCandidate) -> None:
        id = one.chunk.id
        if id in entered:
            return
        entered.add(id)
        for newer, sure in _later_than(id, later, chunks, where).items():
            known = found.get(newer)
            if known is None:
                known = RecallCandidate(chunk=chunks[newer], fused=FusedScore(id=newer, score=0.0))
            if sure >= _SURELY_LATER or known.fused.score >= (1 - sure) * one.fused.score:
                place(replace(known, fused=_at_least(known.fused, one.fused.score, LATER)))
        arranged[id] = one

    for one in candidates:
        place(one)
    return tuple(arranged.values())


def _later_than(
    id: str, later: Mapping[str, Mapping[str, float]], chunks: Mapping[str, Chunk], where: ChunkFilter
) -> dict[str, float]:
    """Return what is directly later than a memory and may be seen, the newest first, and how sure that is.

    What may not be seen, such as a version that ended, leads on to what is later than it.
    """
    found: dict[str, float] = {}
    ahead, passed = [(id, 1.0)], {id}
    while ahead:
        place, sure = ahead.pop()
        for newer, probability in later.get(place, {}).items():
            if newer in passed:
                continue
            passed.add(newer)
            if where.admits(chunks[newer]):
                found[newer] = sure * probability
            else:
                ahead.append((newer, sure * probability))
    return {each: found[each] for each in sorted(found, key=lambda one: told(chunks[one]), reverse=True)}


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherVersions:
    """The memories that are later and earlier than one, each None where there is none to show."""

    newer: OtherVersion | None = None
    older: OtherVersion | None = None


def other_versions(
    ids: Collection[str], links: Sequence[VersionLink], *, held: Mapping[str, Chunk], where: ChunkFilter
) -> Mapping[str, OtherVersions]:
    """Return the nearest later and earlier version of some memories, by id; of several the one told last.

    Args:
        held: The chunks at the ends of the links, by id.
        where: What they must pass, apart from what selects hits; an earlier one may have ended.
    """
    shown = surroundings(where)
    newer: dict[str, list[tuple[Chunk, float]]] = {}
    older: dict[str, list[tuple[Chunk, float]]] = {}
    for link in links:
        if link.type == "duplicates":
            continue
        sure = 1.0 if link.type == "supersedes" else link.probability
        later, earlier = held.get(link.newer), held.get(link.older)
        if later is not None and link.older in ids and shown.admits(later):
            newer.setdefault(link.older, []).append((later, sure))
        if earlier is not None and link.newer in ids and _may_be_named(earlier, shown):
            older.setdefault(link.newer, []).append((earlier, sure))
    return {
        id: OtherVersions(newer=_lasttold(newer.get(id, ())), older=_lasttold(older.get(id, ())))
        for id in newer.keys() | older.keys()
    }


def _may_be_named(earlier: Chunk, shown: ChunkFilter) -> bool:
    """Say whether an earlier version may be shown; one that ended since is no longer true, and was."""
    if earlier.state != "superseded":
        return shown.admits(earlier)
    lasting = shown.at is None or covers(None, earlier.expires_at, shown.at)
    return lasting and replace(shown, states=("superseded",), at=None).admits(earlier)


def _lasttold(versions: Sequence[tuple[Chunk, float]]) -> OtherVersion | None:
    if not versions:
        return None
    chunk, sure = max(versions, key=lambda each: told(each[0]))
    return OtherVersion(id=chunk.id, text=one_line(chunk.text, _TEXT), probability=sure)
