"""Link a stored memory to those near it, as A-MEM does (Xu et al., 2025); a job does so after it is stored.

Without a model two memories are linked when they are near in meaning, or mention the same rare name. A model
says which go together, how and why, and what each is about now; its reply is applied by id, to the rows as
they are when it is written, with history. Doing it again changes nothing.
"""

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from hydramem.core.config import MemoryConfig
from hydramem.core.errors import ModelError
from hydramem.core.row_types import Change, Chunk, Link, Usage
from hydramem.core.time import now
from hydramem.graph.snapshot.snapshot import LINK, Snapshot
from hydramem.ingest.memories.link.link_candidates import (
    Neighbour,
    bounded,
    link_candidates,
    link_of,
    proposed,
)
from hydramem.ingest.memories.link.link_prompt import LinkSuggestions, refined, suggest_links
from hydramem.ingest.memories.memory_input import MEMORIES
from hydramem.ingest.write_target import Target
from hydramem.llm.contracts import Generator
from hydramem.storage.changes import record
from hydramem.storage.vector_rows import VectorStore
from hydramem.storage.write import Write

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """What linking one memory did.

    Attributes:
        links: Links that were added.
        notes: Which parts of a model's reply could not be used, or why rules stood in.
        usage: What the model cost.
    """

    id: str
    links: tuple[Link, ...] = ()
    notes: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class _LinkWork:
    """What is to be done for one memory, before the rows are read once more."""

    new: Chunk
    neighbours: tuple[Neighbour, ...]
    suggested: LinkSuggestions


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
        vectors: Finds what is near.
        snapshot: The project's graph, for the names that memories share.
        settings: How near, how many, and how many at most.
        generator: The model that says which memories are linked and how; None for rules alone.
    """
    rows = {
        row.id: row
        for row in target.graph.chunks(list(dict.fromkeys(ids)))
        if row.state == "active" and row.kind in MEMORIES and row.project == target.project
    }
    near = link_candidates(tuple(rows.values()), target, vectors, snapshot, settings)
    # The arrays know who is linked to whom; reading links of many memories from the store takes far longer.
    paired = {frozenset((id, other)) for id in rows for other in _linked_ids(id, snapshot)}
    work = [
        _work(row, [one for one in near[id] if frozenset((id, one.chunk.id)) not in paired], generator)
        for id, row in rows.items()
    ]
    fresh = _write_links(work, target, snapshot, settings)
    done = {
        each.new.id: Linked(
            id=each.new.id,
            links=tuple(link for link in fresh if link.source == each.new.id),
            notes=each.suggested.notes,
            usage=each.suggested.usage,
        )
        for each in work
    }
    return tuple(done.get(id, Linked(id=id)) for id in ids)


def _work(new: Chunk, neighbours: Sequence[Neighbour], generator: Generator | None) -> _LinkWork:
    near = tuple(neighbours)
    suggested = LinkSuggestions(links=proposed(near))
    if generator is not None and near:
        try:
            suggested = suggest_links(new, near, generator)
        except ModelError as error:
            logger.warning("linking by %s failed, rules stand in: %s", generator.name, error)
            suggested = replace(suggested, notes=(f"link: the model failed, rules stand in ({error})",))
    return _LinkWork(new=new, neighbours=near, suggested=suggested)


def _linked_ids(id: str, snapshot: Snapshot) -> list[str]:
    """Return what a memory is linked to, by links of any state, once for each link."""
    node = snapshot.node(id)
    if node is None:
        return []
    out = snapshot.adjacency.expand(np.array([node]))
    links = snapshot.edges.kind[out.halves >> 1] == LINK
    return [snapshot.nodes.ids[other] for other in out.neighbors[links].tolist()]


def _crowded(new: Sequence[Link], snapshot: Snapshot, most: int) -> list[str]:
    """Return the memories that might have more links than allowed with the new ones."""
    more = Counter(end for link in new for end in (link.source, link.target))
    return sorted(end for end, count in more.items() if count + len(_linked_ids(end, snapshot)) > most)


def _write_links(
    work: Sequence[_LinkWork], target: Target, snapshot: Snapshot, settings: MemoryConfig
) -> tuple[Link, ...]:
    """Write links and refinements to the rows as they are now; return the links that were added.

    A row whose text changed since it was read is left alone.
    """
    read = {one.chunk.id: one.chunk for each in work for one in each.neighbours}
    read |= {each.new.id: each.new for each in work}
    with target.one_writer:
        at = now()
        rows = {
            row.id: row
            for row in target.graph.chunks(sorted(read))
            if row.state == "active" and row.text == read[row.id].text
        }
        new = _new_links(work, rows, target.project, at)
        crowded = _crowded(new, snapshot, settings.most_links)
        stored = [link for link in target.graph.links(crowded) if link.state == "active"] if crowded else []
        fresh, weak = bounded(stored, new, settings.most_links)
        # `archived` would be for links that forgetting takes along, and reviving brings back.
        replaced = [
            (link, replace(link, state="superseded", times=replace(link.times, retired_at=at)))
            for link in weak
        ]
        refined = _refined_rows(work, rows)
        changes = (
            *_link_changes(fresh, target.project),
            *(
                record("link", project=target.project, target=old.id, before=old, after=link)
                for old, link in replaced
            ),
            *(
                record(
                    "link",
                    project=target.project,
                    target=id,
                    before=rows[id],
                    after=row,
                    reason="seen beside a new memory",
                )
                for id, row in refined.items()
            ),
        )
        if changes:
            links = (*fresh, *(link for _, link in replaced))
            target.commit(Write(changes=changes, chunks=tuple(refined.values()), links=links), {})
    return fresh


def _new_links(
    work: Sequence[_LinkWork], rows: Mapping[str, Chunk], project: str, at: datetime
) -> list[Link]:
    """Return the links to add: between memories that are still there, each pair once."""
    links: list[Link] = []
    paired = set[frozenset[str]]()
    for each in work:
        for proposal in each.suggested.links:
            pair = frozenset((each.new.id, proposal.target))
            if pair not in paired and pair <= rows.keys() and len(pair) == 2:
                paired.add(pair)
                links.append(link_of(project, each.new.id, proposal, at))
    return links


def _refined_rows(work: Sequence[_LinkWork], rows: Mapping[str, Chunk]) -> dict[str, Chunk]:
    changed: dict[str, Chunk] = {}
    for each in work:
        for one in each.suggested.refined:
            row = changed.get(one.id) or rows.get(one.id)
            if row is not None:
                keywords, summary = refined(row, one, new=row.id == each.new.id)
                changed[row.id] = replace(row, keywords=keywords, summary=summary)
    return {id: row for id, row in changed.items() if row != rows[id]}


def _link_changes(links: Sequence[Link], project: str) -> Iterator[Change]:
    by_source: dict[str, list[object]] = {}
    for one in links:
        plain = {"type": one.type, "to": one.target, "weight": one.weight, "reason": one.reason, "id": one.id}
        by_source.setdefault(one.source, []).append(plain)
    for source, added in by_source.items():
        yield record("link", project=project, target=source, before={}, after={"links": added})
