"""Memories of one matter at recall: the later one goes before the earlier, and what says the same is one hit.

`remember` joins such memories by links and hides none of them: `may_supersede` and `supersedes` lead from
the later to the earlier, `duplicates` joins two that say the same in other words. The links are read from
the snapshots.
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
from hydramem.text.decisive_marks import can_be_paraphrases
from hydramem.text.shown_text import one_line

VERSION_TYPES = ("may_supersede", "supersedes", "duplicates")

LATER = "later"
"""The part of a score that a memory has from an earlier one that it stands before."""

DUPLICATE = "duplicate"
"""The part of a score that a longer text has from a better match that says the same."""

# From which probability two memories that say the same are one hit: a wrong link would hide what is true.
_SURELY_SAME = 0.6

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


def without_duplicates(
    candidates: Sequence[RecallCandidate], links: Sequence[VersionLink]
) -> tuple[RecallCandidate, ...]:
    """Leave one of two candidates that say the same: the longer text, else the later, at the better place.

    A duplicate says the same or less, so the longer text holds what both say. Texts that differ in a
    number, a name, a negation, the order of words or a single word stay two, and so do those of a doubtful
    link.
    """
    pairs = {
        frozenset((one.newer, one.older))
        for one in links
        if one.type == "duplicates" and one.probability >= _SURELY_SAME
    }
    kept: list[RecallCandidate] = []
    for one in candidates:
        place = next((place for place, each in enumerate(kept) if _say_the_same(each, one, pairs)), None)
        if place is None:
            kept.append(one)
        elif _fullness(one.chunk) > _fullness(kept[place].chunk):
            kept[place] = replace(one, fused=_at_least(one.fused, kept[place].fused.score, DUPLICATE))
    return tuple(kept)


def _say_the_same(one: RecallCandidate, other: RecallCandidate, pairs: Collection[frozenset[str]]) -> bool:
    if not pairs or frozenset((one.chunk.id, other.chunk.id)) not in pairs:
        return False
    return can_be_paraphrases(one.chunk.text, other.chunk.text)


def _fullness(chunk: Chunk) -> tuple[object, ...]:
    return len(chunk.text), *_told(chunk)


def _told(chunk: Chunk) -> tuple[object, ...]:
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

    Args:
        candidates: Best first.
        links: As `version_links` returns them.
        held: Chunks by id; one that is no candidate is taken in where an earlier version is one.
        where: What such a chunk must pass.
    """
    chunks = {**held, **{one.chunk.id: one.chunk for one in candidates}}
    found = {one.chunk.id: one for one in candidates}
    later: dict[str, list[str]] = {}
    for link in links:
        if link.type != "duplicates" and link.newer in chunks:
            later.setdefault(link.older, []).append(link.newer)
    arranged: dict[str, RecallCandidate] = {}
    entered: set[str] = set()

    def place(one: RecallCandidate) -> None:
        id = one.chunk.id
        if id in entered:
            return
        entered.add(id)
        for newer in sorted(later.get(id, ()), key=lambda each: _told(chunks[each]), reverse=True):
            known = found.get(newer)
            if known is None and where.admits(chunks[newer]):
                known = RecallCandidate(chunk=chunks[newer], fused=FusedScore(id=newer, score=0.0))
            if known is not None:
                place(replace(known, fused=_at_least(known.fused, one.fused.score, LATER)))
        arranged[id] = one

    for one in candidates:
        place(one)
    return tuple(arranged.values())


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
        id: OtherVersions(newer=_last_told(newer.get(id, ())), older=_last_told(older.get(id, ())))
        for id in newer.keys() | older.keys()
    }


def _may_be_named(earlier: Chunk, shown: ChunkFilter) -> bool:
    """Say whether an earlier version may be shown; one that ended since is no longer true, and was."""
    if earlier.state != "superseded":
        return shown.admits(earlier)
    lasting = shown.at is None or covers(None, earlier.expires_at, shown.at)
    return lasting and replace(shown, states=("superseded",), at=None).admits(earlier)


def _last_told(versions: Sequence[tuple[Chunk, float]]) -> OtherVersion | None:
    if not versions:
        return None
    chunk, sure = max(versions, key=lambda each: _told(each[0]))
    return OtherVersion(id=chunk.id, text=one_line(chunk.text, _TEXT), probability=sure)
