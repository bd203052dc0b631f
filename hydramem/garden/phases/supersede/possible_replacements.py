"""Memories that may supersede older ones: the open pairs, and the rows by which one is settled.

Where a new memory leans to replace an older one and nobody said so, `remember` stores a link `may_supersede`
from the newer to the older. A person or a model settles it. Where the newer one replaces the older, that
ends with history; else the link is taken away, and stays in the history, so that nobody is asked again.
"""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from math import inf

import numpy as np

from hydramem.core.ids import link_id
from hydramem.core.row_types import Chunk, Link, LinkType, Times
from hydramem.core.time import not_ahead
from hydramem.graph.snapshot.snapshot import LINK, STATES, Snapshot
from hydramem.ingest.knowledge.end_validity import corrected, said_at
from hydramem.ingest.knowledge.support import in_state
from hydramem.ingest.memories.memory_write import MemoryWrite
from hydramem.ingest.write_target import Target
from hydramem.storage.chunk_filter import covers
from hydramem.storage.store import GraphStore
from hydramem.storage.write import Write
from hydramem.text.restated_text import SURELY_SAME

MAY_SUPERSEDE: LinkType = "may_supersede"


@dataclass(frozen=True, slots=True, kw_only=True)
class PossibleReplacement:
    """A memory that may supersede an older one, by an open link.

    Attributes:
        is_stored: Whether the link stands in the graph; else it is written when the pair is settled.
        repeats: The stored link by which the newer seems to say the same as the older, where there is one.
    """

    newer: Chunk
    older: Chunk
    link: Link
    is_stored: bool = True
    repeats: Link | None = None

    @property
    def rows(self) -> tuple[Chunk, Chunk]:
        """Both memories, the older one first."""
        return self.older, self.newer


def possible_replacements(
    graph: GraphStore, snapshot: Snapshot, *, at: datetime, most: int
) -> list[PossibleReplacement]:
    """Return the open pairs of a project, the most probable first.

    Args:
        graph: Where rows are read.
        snapshot: The project's graph, where the links are found.
        at: When both memories must not have expired.
        most: Most pairs.
    """
    links = _open_links(graph, snapshot, MAY_SUPERSEDE, most=most)
    ids = sorted({id for link in links for id in (link.source, link.target)})
    chunks = {row.id: row for row in (graph.chunks(ids) if ids else ())}
    return [pair for link in links if (pair := _open_pair(link, chunks, at)) is not None]


def possible_repetitions(
    graph: GraphStore, snapshot: Snapshot, *, at: datetime, most: int
) -> list[PossibleReplacement]:
    """Return the pairs that seem to say the same and were not settled, the most probable first.

    Args:
        graph: Where rows are read.
        snapshot: The project's graph, where the links are found.
        at: When both memories must not have expired.
        most: Most pairs.
    """
    links = _open_links(graph, snapshot, "duplicates", most=most, below=SURELY_SAME)
    by_ends = {(link.source, link.target): link for link in links}
    pairs = proposed_pairs([(*ends, link.weight) for ends, link in by_ends.items()], graph, at=at)
    return [replace(pair, repeats=by_ends[pair.newer.id, pair.older.id]) for pair in pairs]


def _open_links(
    graph: GraphStore, snapshot: Snapshot, type: LinkType, *, most: int, below: float = inf
) -> list[Link]:
    """Return the active links of a type between active chunks, the heaviest first."""
    edges, active = snapshot.edges, STATES.index("active")
    codes = [code for code, name in enumerate(edges.types) if name == type]
    rows = np.flatnonzero((edges.kind == LINK) & np.isin(edges.type, codes) & (edges.state == active))
    ends = snapshot.nodes.state
    rows = rows[(ends[edges.source[rows]] == active) & (ends[edges.target[rows]] == active)]
    rows = rows[edges.weight[rows] < below]
    rows = rows[np.lexsort((rows, -edges.weight[rows]))][:most]
    sources = sorted({snapshot.nodes.ids[node] for node in edges.source[rows].tolist()})
    place = {edges.ids[row].decode(): place for place, row in enumerate(rows.tolist())}
    stored = graph.links(sources) if sources else ()
    return sorted((link for link in stored if link.id in place), key=lambda link: place[link.id])


def possible_replacement(
    older: str, newer: str, graph: GraphStore, *, at: datetime
) -> PossibleReplacement | None:
    """Return a pair as it is stored now; None where it is no longer open."""
    chunks = {row.id: row for row in graph.chunks([older, newer])}
    pairs = (_open_pair(link, chunks, at) for link in graph.links([newer]) if link.type == MAY_SUPERSEDE)
    return next((pair for pair in pairs if pair is not None and pair.older.id == older), None)


def unlinked_replacement(
    older: str, newer: str, graph: GraphStore, *, at: datetime
) -> PossibleReplacement | None:
    """Return two memories that contradict each other as a pair, with the link by which it is settled.

    Args:
        older, newer: Their ids.
        graph: Where they are read.
        at: The time of the write.

    Returns:
        The pair; None where one of them no longer holds, or the pair is settled.
    """
    chunks = {row.id: row for row in graph.chunks([older, newer])}
    if len(chunks) < 2:
        return None
    pair = proposed_pair(chunks[newer], chunks[older], probability=1.0, at=at)
    if any(link.id == pair.link.id and link.state == "superseded" for link in graph.links([newer])):
        return None
    return _open_pair(pair.link, chunks, at)


def proposed_pair(newer: Chunk, older: Chunk, *, probability: float, at: datetime) -> PossibleReplacement:
    """Return two memories as a pair that no link of the graph holds.

    Args:
        newer, older: As they are stored.
        probability: That the newer takes the older one's place.
        at: The time of the write.
    """
    link = Link(
        id=link_id(newer.project, newer.id, MAY_SUPERSEDE, older.id),
        source=newer.id,
        target=older.id,
        type=MAY_SUPERSEDE,
        weight=probability,
        times=Times(recorded_at=at),
    )
    return PossibleReplacement(newer=newer, older=older, link=link, is_stored=False)


def proposed_pairs(
    wanted: Sequence[tuple[str, str, float]], graph: GraphStore, *, at: datetime
) -> list[PossibleReplacement]:
    """Return pairs of newer, older and probability that no link holds, as far as both still count.

    Args:
        wanted: Ids of the newer and of the older one, and the probability.
        graph: Where they are read.
        at: The time of the write.
    """
    newer = sorted({one for one, _, _ in wanted})
    ids = sorted({id for one, other, _ in wanted for id in (one, other)})
    chunks = {row.id: row for row in (graph.chunks(ids) if ids else ())}
    known = {link.id for link in (graph.links(newer) if newer else ())}
    pairs = [
        proposed_pair(chunks[one], chunks[other], probability=likely, at=at)
        for one, other, likely in wanted
        if one in chunks and other in chunks
    ]
    return [p for p in pairs if p.link.id not in known and _open_pair(p.link, chunks, at) is not None]


def _open_pair(link: Link, chunks: Mapping[str, Chunk], at: datetime) -> PossibleReplacement | None:
    newer, older = chunks.get(link.source), chunks.get(link.target)
    if newer is None or older is None or link.state != "active" or newer.id == older.id:
        return None
    held = all(row.state == "active" and covers(None, row.expires_at, at) for row in (newer, older))
    return PossibleReplacement(newer=newer, older=older, link=link) if held else None


def beginning(row: Chunk) -> datetime:
    """Return from when on a memory holds: one that does not say so holds from when it was told."""
    return row.times.valid_from or row.happened_at or said_at(row)


def may_end_unasked(pair: PossibleReplacement) -> bool:
    """Say whether the older memory may end without a person.

    It must begin before the newer one, which must not hold for a time only; and only a verified memory ends a
    verified one.
    """
    older, newer = pair.rows
    later = older.times.valid_from is None or older.times.valid_from < beginning(newer)
    lasting = newer.times.valid_to is None and older.times.valid_to is None
    return later and lasting and (older.layer != "verified" or newer.layer == "verified")


def settled_link(link: Link, at: datetime) -> Link:
    """Return the link of a pair that is settled."""
    return replace(link, state="superseded", times=replace(link.times, retired_at=at))


def replaced(
    pair: PossibleReplacement, *, target: Target, at: datetime, reason: str, operation: str
) -> Write:
    """Return the write by which the older memory ends where the newer one begins.

    Where the older one begins no earlier, it ends now.

    Args:
        pair: As it is stored; the writer lock is held, or the rows are checked before the write.
        target: The project; nothing is committed.
        at: The time of the write.
        reason: Why, for the history.
        operation: Its name in the history.
    """
    older, newer = pair.rows
    begins = beginning(newer)
    ordered = older.times.valid_from is None or older.times.valid_from < begins
    starts = newer.times.valid_from or not_ahead(begins)
    encoding, written = _recorded(target, at, operation)
    if older.kind == "passage":  # it belongs to a document, which has no versions of a passage
        encoding.withdraw(older, corrected(older, at=at, by=newer.id), reason=reason)
        return _with_link(encoding, written, settled_link(pair.link, at))
    if ordered and newer.times.valid_from is None:
        # The newer one gets a beginning: before it the older one was true.
        encoding.change(newer, replace(newer, times=replace(newer.times, valid_from=starts)), reason=reason)
    encoding.supersede(
        older, until=starts if ordered else not_ahead(at), by=newer.id, reason=reason, vector=None
    )
    encoding.link(newer.id, older.id, "supersedes", weight=pair.link.weight, reason=reason)
    return _with_link(encoding, written, settled_link(pair.link, at))


def withdrawn_newer(
    pair: PossibleReplacement, *, target: Target, at: datetime, reason: str, operation: str
) -> Write:
    """Return the write by which the newer memory is withdrawn, because the older one still holds.

    Args:
        pair: As it is stored; the writer lock is held.
        target: The project; nothing is committed.
        at: The time of the write.
        reason: Why, for the history.
        operation: Its name in the history.
    """
    encoding, written = _recorded(target, at, operation)
    encoding.withdraw(pair.newer, corrected(pair.newer, at=at, by=pair.older.id), reason=reason)
    return _with_link(encoding, written, settled_link(pair.link, at))


def withdrawn_both(
    pair: PossibleReplacement, *, target: Target, at: datetime, reason: str, operation: str
) -> Write:
    """Return the write by which both memories are archived, because neither holds.

    Args:
        pair: As it is stored; the writer lock is held.
        target: The project; nothing is committed.
        at: The time of the write.
        reason: Why, for the history.
        operation: Its name in the history.
    """
    encoding, written = _recorded(target, at, operation)
    for row in pair.rows:
        encoding.withdraw(row, in_state(row, "archived", at), reason=reason)
    return _with_link(encoding, written, settled_link(pair.link, at))


def _with_link(encoding: MemoryWrite, written: Sequence[Write], link: Link) -> Write:
    """Return what a recorded write of memories holds, with one link more."""
    encoding.commit()
    (made,) = written
    return replace(made, links=(*made.links, link))


def _recorded(target: Target, at: datetime, operation: str) -> tuple[MemoryWrite, list[Write]]:
    """Return a write of memories that is recorded instead of committed."""
    written: list[Write] = []
    recording = replace(target, commit=lambda write, vectors: written.append(write), one_writer=nullcontext())
    return MemoryWrite(operation=operation, target=recording, at=at, deferred=True), written
