"""Link: a stored memory and those near it, as A-MEM does (Xu et al., 2025), after the fact and again at need.

Without a model two memories are linked for being near in meaning, or for mentioning the same rare name. With
one, it says which go together, how and why, and what each is about now; that is applied by id, to the rows as
they are when it is written, with history. Doing it again changes nothing.
"""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from hydramem.core.config import MemoryConfig
from hydramem.core.errors import ModelError
from hydramem.core.row_types import Change, Chunk, Link, Usage
from hydramem.core.time import now
from hydramem.graph.snapshot.snapshot import LINK, Snapshot
from hydramem.ingest.memories.link import link_prompt
from hydramem.ingest.memories.link.link_candidates import (
    MEMORIES,
    LinkProposal,
    Neighbour,
    bounded,
    link_candidates,
    link_of,
    proposed,
)
from hydramem.ingest.memories.link.link_prompt import Refinement
from hydramem.ingest.write_target import Target
from hydramem.llm.contracts import Generator
from hydramem.storage.changes import record
from hydramem.storage.store import VectorStore
from hydramem.storage.write import Write

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """What linking one memory did.

    Attributes:
        links: Links that were added.
        given_way: Ids of links that gave way to stronger ones.
        refined: Ids of the memories whose keywords or summary changed.
        notes: What a model said that could not be used, or why rules stood in.
        usage: What the model cost.
    """

    id: str
    links: tuple[Link, ...] = ()
    given_way: tuple[str, ...] = ()
    refined: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class _LinkWork:
    """What is to be done for one memory, before the rows are looked at once more."""

    new: Chunk
    neighbours: tuple[Neighbour, ...]
    links: tuple[LinkProposal, ...]
    refined: tuple[Refinement, ...] = ()
    notes: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)


def link_memory(
    id: str,
    *,
    target: Target,
    vectors: VectorStore,
    snapshot: Snapshot,
    settings: MemoryConfig,
    generator: Generator | None = None,
) -> Linked:
    """Link one memory; see `link_memories`."""
    return link_memories(
        [id], target=target, vectors=vectors, snapshot=snapshot, settings=settings, generator=generator
    )[0]


def link_memories(
    ids: Sequence[str],
    *,
    target: Target,
    vectors: VectorStore,
    snapshot: Snapshot,
    settings: MemoryConfig,
    generator: Generator | None = None,
) -> tuple[Linked, ...]:
    """Link memories to those near them, in one transaction; what is linked already, or gone, is left alone.

    A model that fails costs its answer: rules link, and a note says so.

    Args:
        ids: Memories of the target's project.
        target: Where they are.
        vectors: Finds what is near.
        snapshot: The project's graph, for the names that memories share.
        settings: How near, how many, and how many at most.
        generator: Says which belong together and how; None goes by rules.
    """
    rows = {
        row.id: row
        for row in target.graph.chunks(list(dict.fromkeys(ids)))
        if row.state == "active" and row.kind in MEMORIES and row.project == target.project
    }
    near = link_candidates(tuple(rows.values()), target, vectors, snapshot, settings)
    # The arrays know who is linked to whom; reading links of many memories from the store takes far longer.
    paired = {frozenset((id, other)) for id in rows for other in _linked(id, snapshot)}
    found = {
        id: _decided(row, [one for one in near[id] if frozenset((id, one.chunk.id)) not in paired], generator)
        for id, row in rows.items()
    }
    done = _applied(tuple(found.values()), target, snapshot, settings)
    return tuple(done.get(id, Linked(id=id)) for id in ids)


def _decided(new: Chunk, neighbours: Sequence[Neighbour], generator: Generator | None) -> _LinkWork:
    near = tuple(neighbours)
    if generator is None or not near:
        return _LinkWork(new=new, neighbours=near, links=proposed(near))
    try:
        said = link_prompt.ask(new, near, generator)
    except ModelError as error:
        logger.warning("linking by %s failed, rules stand in: %s", generator.name, error)
        note = f"link: the model failed, rules stand in ({error})"
        return _LinkWork(new=new, neighbours=near, links=proposed(near), notes=(note,))
    return _LinkWork(
        new=new, neighbours=near, links=said.links, refined=said.refined, notes=said.notes, usage=said.usage
    )


# What is written ----------------------------------------------------------------------------------
def _linked(id: str, snapshot: Snapshot) -> list[str]:
    """Return what a memory is linked to, by links of any state, once for each link."""
    node = snapshot.node(id)
    if node is None:
        return []
    out = snapshot.adjacency.expand(np.array([node]))
    links = snapshot.edges.kind[out.halves >> 1] == LINK
    return [snapshot.nodes.ids[other] for other in out.neighbors[links].tolist()]


def _crowded(asked: Sequence[Link], snapshot: Snapshot, most: int) -> list[str]:
    """Return the memories that might have more links than allowed with those that are asked for."""
    more = Counter(end for link in asked for end in (link.source, link.target))
    return sorted(end for end, count in more.items() if count + len(_linked(end, snapshot)) > most)


def _applied(
    found: Sequence[_LinkWork], target: Target, snapshot: Snapshot, settings: MemoryConfig
) -> dict[str, Linked]:
    """Write what is to be done, to the rows as they are now; what changed since it was read is left alone."""
    read = {one.chunk.id: one.chunk for each in found for one in each.neighbours}
    read |= {each.new.id: each.new for each in found}
    with target.one_writer:
        at = now()
        rows = {
            row.id: row
            for row in target.graph.chunks(sorted(read))
            if row.state == "active" and row.text == read[row.id].text
        }
        asked = _asked(found, rows, target.project, at)
        crowded = _crowded(asked, snapshot, settings.most_links)
        held = [link for link in target.graph.links(crowded) if link.state == "active"] if crowded else []
        fresh, weak = bounded(held, asked, settings.most_links)
        refined = _refined(found, rows)
        changes = _changes(fresh, weak, refined, rows, target.project, at)
        if changes:
            gone = tuple(_given_way(link, at) for link in weak)
            target.commit(Write(changes=changes, chunks=tuple(refined.values()), links=(*fresh, *gone)), {})
    return {each.new.id: _told(each, fresh, weak, refined) for each in found}


def _asked(found: Sequence[_LinkWork], rows: Mapping[str, Chunk], project: str, at: datetime) -> list[Link]:
    """Return the links to add: between memories that are still there, each pair once."""
    links: list[Link] = []
    paired = set[frozenset[str]]()
    for each in found:
        for proposal in each.links:
            pair = frozenset((each.new.id, proposal.target))
            if pair not in paired and pair <= rows.keys() and len(pair) == 2:
                paired.add(pair)
                links.append(link_of(project, each.new.id, proposal, at))
    return links


def _refined(found: Sequence[_LinkWork], rows: Mapping[str, Chunk]) -> dict[str, Chunk]:
    changed: dict[str, Chunk] = {}
    for each in found:
        for one in each.refined:
            row = changed.get(one.id) or rows.get(one.id)
            if row is not None:
                keywords, summary = link_prompt.refined(row, one, new=row.id == each.new.id)
                changed[row.id] = replace(row, keywords=keywords, summary=summary)
    return {id: row for id, row in changed.items() if row != rows[id]}


def _given_way(link: Link, at: datetime) -> Link:
    """Return a link in whose place a stronger one came; `archived` is for what forgetting takes along."""
    return replace(link, state="superseded", times=replace(link.times, retired_at=at))


def _changes(
    fresh: Sequence[Link],
    weak: Sequence[Link],
    refined: Mapping[str, Chunk],
    rows: Mapping[str, Chunk],
    project: str,
    at: datetime,
) -> tuple[Change, ...]:
    by_source: dict[str, list[Link]] = {}
    for link in fresh:
        by_source.setdefault(link.source, []).append(link)
    added = (
        record(
            "link", project=project, target=source, before={}, after={"links": [_plain(one) for one in links]}
        )
        for source, links in by_source.items()
    )
    gone = (
        record("link", project=project, target=link.id, before=link, after=_given_way(link, at))
        for link in weak
    )
    rewritten = (
        record(
            "link", project=project, target=id, before=rows[id], after=row, reason="seen beside a new memory"
        )
        for id, row in refined.items()
    )
    return (*added, *gone, *rewritten)


def _plain(link: Link) -> dict[str, object]:
    return {"type": link.type, "to": link.target, "weight": link.weight, "reason": link.reason, "id": link.id}


def _told(
    each: _LinkWork, fresh: Sequence[Link], weak: Sequence[Link], refined: Mapping[str, Chunk]
) -> Linked:
    own = tuple(link for link in fresh if link.source == each.new.id)
    ends = {end for link in own for end in (link.source, link.target)}
    return Linked(
        id=each.new.id,
        links=own,
        given_way=tuple(link.id for link in weak if ends.intersection((link.source, link.target))),
        refined=tuple(one.id for one in each.refined if one.id in refined),
        notes=each.notes,
        usage=each.usage,
    )
