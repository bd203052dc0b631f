"""What is no longer needed: memories expired or over the limit, weak links, unused entities."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from hydramem.core.row_types import Chunk, Entity, Link, Relation
from hydramem.garden.phases.prune.over_limits import over_quota
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseWork
from hydramem.garden.proposals.proposal import Proposal, precondition_hash, quoted
from hydramem.graph.snapshot.columns import microseconds
from hydramem.graph.snapshot.snapshot import LINK, MENTION, RELATION, STATES, Snapshot
from hydramem.ingest.knowledge.support import in_state, unsupported
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.store import Listing
from hydramem.storage.undo.row_images import ITEM_TEXT
from hydramem.storage.write import Removal, Write

_MOST_EXPIRED = 2000
_MOST_ISOLATED = 1000
_AT_ONCE = 500
_UNUSED_FOR = timedelta(days=1)
"""An entity that was seen more recently may soon be named again."""

_WEAK = 0.5
"""A link under this share of `memory.link_threshold` would not be made again."""

_SIMILARITY_LINKS = ("relates_to", "supports")
"""Links that only say that two memories are similar; others record history."""


def expired(work: PhaseWork) -> list[Proposal]:
    """Return what archives expired memories and those over the limit, with what depends on them alone."""
    context = work.context
    where = ChunkFilter(projects=(context.project,))
    page = context.graph.list_chunks(where, Listing(limit=_MOST_EXPIRED), expired_by=context.clock)
    # The texts of items go with their items, which maintenance removes.
    rows = [row for row in page if row.id not in work.undone and row.source_type != ITEM_TEXT]
    work.counts["memories_expired"] = len(rows)
    over = over_quota(work, {row.id for row in rows if row.kind != "passage"})
    if context.settings.limits.memories:
        work.counts["memories_over_limit"] = len(over)
    rows += over
    ids = [row.id for row in rows]
    relations = unsupported(ids, context.graph) if ids else ()
    links = [link for link in context.graph.links(ids) if link.state == "active"] if ids else []
    return [_archived(*group, context) for group in _connected(rows, relations, links)]


def _connected(
    rows: Sequence[Chunk], relations: Sequence[Relation], links: Sequence[Link]
) -> Iterator[tuple[list[Chunk], list[Relation], list[Link]]]:
    """Group memories that share a relation or a link: a group is archived as a whole or not at all."""
    parent = {row.id: row.id for row in rows}

    def root(id: str) -> str:
        while parent[id] != id:
            parent[id] = id = parent[parent[id]]
        return id

    first: dict[str, str] = {}
    for edge, ends in [
        *((relation.id, relation.evidence) for relation in relations),
        *((link.id, (link.source, link.target)) for link in links),
    ]:
        first[edge], *others = [id for id in ends if id in parent]
        for id in others:
            parent[root(id)] = root(first[edge])
    groups: dict[str, tuple[list[Chunk], list[Relation], list[Link]]] = defaultdict(lambda: ([], [], []))
    for row in rows:
        groups[root(row.id)][0].append(row)
    for relation in relations:
        groups[root(first[relation.id])][1].append(relation)
    for link in links:
        groups[root(first[link.id])][2].append(link)
    yield from groups.values()


def _archived(
    rows: list[Chunk], relations: list[Relation], links: list[Link], context: PhaseContext
) -> Proposal:
    more = f" and {len(rows) - 1} more with it" if len(rows) > 1 else ""
    return Proposal(
        project=context.project,
        phase="prune",
        action="archive",
        target=rows[0].id,
        text=f"{quoted(rows[0].text)}{more}",
        reason=" ".join(dict.fromkeys(_why(row, context) for row in rows)),
        write=Write(
            changes=(),
            chunks=tuple(in_state(row, "archived", context.now) for row in rows),
            relations=tuple(in_state(row, "archived", context.now) for row in relations),
            links=tuple(in_state(link, "archived", context.now) for link in links),
        ),
        expects=precondition_hash(*rows, *relations, *links),
    )


def _why(row: Chunk, context: PhaseContext) -> str:
    if row.expires_at is not None and row.expires_at <= context.clock:
        return f"It expired on {row.expires_at:%Y-%m-%d}."
    allowed = context.settings.limits.memories
    return (
        f"The project holds more than the {allowed} memories that limits allows, and this is of least worth."
    )


def weak_links(work: PhaseWork, *, most: int) -> list[Proposal]:
    """Return what archives similarity links that are weak, or old and faint and never were of use."""
    context = work.context
    edges, ids = context.snapshot.edges, context.snapshot.nodes.ids
    bound = context.settings.memory.link_threshold
    similarity = np.array([name in _SIMILARITY_LINKS for name in edges.types] + [False])[edges.type]
    active = (edges.kind == LINK) & (edges.state == STATES.index("active")) & similarity
    age = timedelta(days=context.settings.garden.decay_after_days)
    old = edges.recorded_at < microseconds(context.clock - age, 0)
    weak = edges.weight < _WEAK * bound
    rows = np.flatnonzero(active & (weak | (old & (edges.weight < bound))))
    rows = rows[np.lexsort((rows, edges.weight[rows]))]
    proposals: list[Proposal] = []
    for part in work.batches(rows, _AT_ONCE) if most > 0 else ():
        wanted = {edges.ids[row].decode(): bool(weak[row]) for row in part}
        sources = sorted({ids[edges.source[row]] for row in part})
        proposals += [each for each in _links(wanted, sources, context) if each.target not in work.undone]
        if len(proposals) >= most:
            break
    work.counts["links_loose"] = len(rows)
    return proposals[:most]


def _links(weak: Mapping[str, bool], sources: Sequence[str], context: PhaseContext) -> Iterator[Proposal]:
    stored = {link.id: link for link in context.graph.links(sources) if link.id in weak}
    ends = sorted({end for link in stored.values() for end in (link.source, link.target)})
    chunks = {row.id: row for row in context.graph.chunks(ends)}
    recalled = {row.chunk for row in context.graph.recalled(chunks=ends)} if ends else set()
    for id, is_weak in weak.items():
        link = stored.get(id)
        if link is None or link.state != "active" or {link.source, link.target} - chunks.keys():
            continue
        if is_weak or recalled.isdisjoint((link.source, link.target)):
            yield _unlinked(link, chunks[link.source], chunks[link.target], is_weak, context)


def _unlinked(link: Link, source: Chunk, target: Chunk, weak: bool, context: PhaseContext) -> Proposal:
    fault = "too weak to be made again" if weak else "faint and old, and neither end was ever recalled"
    return Proposal(
        project=context.project,
        phase="prune",
        action="archive",
        target=link.id,
        text=f"{quoted(source.text)} {link.type} {quoted(target.text)}",
        reason=f"The link is {fault} (weight {link.weight:.2f}).",
        score=round(1 - min(1.0, max(0.0, link.weight)), 4),
        write=Write(changes=(), links=(in_state(link, "archived", context.now),)),
        expects=precondition_hash(link),
    )


def isolated(work: PhaseWork) -> list[Proposal]:
    """Return what removes entities without mentions, relations or details."""
    context, proposals = work.context, list[Proposal]()
    for nodes in work.batches(_unconnected(context.snapshot), _AT_ONCE):
        ids = [context.snapshot.nodes.ids[node] for node in nodes]
        named = {mention.entity for mention in context.graph.mentioned(ids)}
        joined = {end for row in context.graph.relations(ids) for end in (row.subject, row.object)}
        rows = context.graph.entities([id for id in ids if id not in named and id not in joined])
        proposals += [_removed(row) for row in rows if _is_bare(row, context) and row.id not in work.undone]
        if len(proposals) >= _MOST_ISOLATED:
            break
    work.counts["entities_unnamed"] = len(proposals)
    return proposals[:_MOST_ISOLATED]


def _unconnected(snapshot: Snapshot) -> NDArray[np.int64]:
    """Return the entities that no mention and no relation joins."""
    edges = snapshot.edges
    used = np.isin(edges.kind, (RELATION, MENTION))
    joined = np.zeros(snapshot.size, dtype=bool)
    joined[edges.source[used]] = joined[edges.target[used]] = True
    return np.flatnonzero(~joined & ~snapshot.nodes.is_chunk[: snapshot.size])


def _is_bare(row: Entity, context: PhaseContext) -> bool:
    has_details = row.description or row.aliases or row.metadata
    return not has_details and row.last_seen <= context.clock - _UNUSED_FOR


def _removed(row: Entity) -> Proposal:
    return Proposal(
        project=row.project,
        phase="prune",
        action="remove",
        target=row.id,
        text=row.name,
        reason="No memory names it, and no relation ends in it.",
        write=Write(changes=(), removed=Removal(entities=(row.id,))),
        expects=precondition_hash(row),
    )
