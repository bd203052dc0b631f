"""What has had its time: memories expired or over the limit, links that hold nothing, bare things."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from hydramem.core.row_types import Chunk, Entity, Link, Relation
from hydramem.garden.phases.prune.over_limits import over_quota
from hydramem.garden.proposals.exclusions import UndoneRows
from hydramem.garden.proposals.phase_context import PhaseContext
from hydramem.garden.proposals.proposal import Proposal, precondition_hash
from hydramem.graph.snapshot.columns import microseconds
from hydramem.graph.snapshot.snapshot import LINK, MENTION, RELATION, STATES
from hydramem.ingest.knowledge.support import moved_chunk, moved_relation, unsupported
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.store import Listing
from hydramem.storage.write import Removal, Write
from hydramem.text.shown_text import one_line

_MOST_EXPIRED = 2000

_MOST_ISOLATED = 1000

_AT_ONCE = 500

_SETTLED = timedelta(days=1)
"""A thing that was named this recently may be about to be named again."""

_WEAK = 0.5
"""A link under this share of `memory.link_threshold` would not be made any more."""

_LIKENESS = ("relates_to", "supports")
"""Links that say no more than that two memories are near each other; others are history."""

_SHOWN = 80


def expired(ground: PhaseContext, undone: UndoneRows, counts: Counter[str]) -> list[Proposal]:
    """Return the memories past their expiry, and those over the limit, with what hangs on them alone."""
    where = ChunkFilter(projects=(ground.project,))
    page = ground.graph.list_chunks(where, Listing(limit=_MOST_EXPIRED), expired_by=ground.now)
    rows = [row for row in page if row.id not in undone]
    counts["memories_expired"] = len(rows)
    over = over_quota(ground, undone, {row.id for row in rows if row.kind != "passage"})
    if ground.settings.limits.memories:
        counts["memories_over_limit"] = len(over)
    rows += over
    ids = [row.id for row in rows]
    relations = unsupported(ids, ground.graph) if ids else ()
    links = [link for link in ground.graph.links(ids) if link.state == "active"] if ids else []
    return [_archived(*group, ground) for group in _together(rows, relations, links)]


def _together(
    rows: Sequence[Chunk], relations: Sequence[Relation], links: Sequence[Link]
) -> Iterator[tuple[list[Chunk], list[Relation], list[Link]]]:
    """Group memories that share a relation or a link: those go with all of them, or not at all."""
    above = {row.id: row.id for row in rows}

    def root(id: str) -> str:
        while above[id] != id:
            above[id] = id = above[above[id]]
        return id

    first: dict[str, str] = {}
    for one, ends in [
        *((relation.id, relation.evidence) for relation in relations),
        *((link.id, (link.source, link.target)) for link in links),
    ]:
        here = [id for id in ends if id in above]
        first[one] = here[0]
        for id in here[1:]:
            above[root(id)] = root(here[0])
    groups: dict[str, tuple[list[Chunk], list[Relation], list[Link]]] = defaultdict(lambda: ([], [], []))
    for row in rows:
        groups[root(row.id)][0].append(row)
    for relation in relations:
        groups[root(first[relation.id])][1].append(relation)
    for link in links:
        groups[root(first[link.id])][2].append(link)
    yield from groups.values()


def _archived(
    rows: list[Chunk], relations: list[Relation], links: list[Link], ground: PhaseContext
) -> Proposal:
    more = f" and {len(rows) - 1} more with it" if len(rows) > 1 else ""
    return Proposal(
        project=ground.project,
        phase="prune",
        action="archive",
        target=rows[0].id,
        text=f"{_shown(rows[0].text)}{more}",
        reason=" ".join(dict.fromkeys(_why(row, ground) for row in rows)),
        write=Write(
            changes=(),
            chunks=tuple(moved_chunk(row, "archived", ground.now) for row in rows),
            relations=tuple(moved_relation(row, "archived", ground.now) for row in relations),
            links=tuple(_gone(link, ground) for link in links),
        ),
        expects=precondition_hash(*rows, *relations, *links),
    )


def _why(row: Chunk, ground: PhaseContext) -> str:
    if row.expires_at is not None and row.expires_at <= ground.now:
        return f"It expired on {row.expires_at:%Y-%m-%d}."
    allowed = ground.settings.limits.memories
    return (
        f"The project holds more than the {allowed} memories that limits allows, and this is of least worth."
    )


def _gone(link: Link, ground: PhaseContext) -> Link:
    return replace(link, state="archived", times=replace(link.times, retired_at=ground.now))


def loose_links(
    ground: PhaseContext, undone: UndoneRows, counts: Counter[str], *, most: int
) -> list[Proposal]:
    """Return links of mere likeness that are weak, or that are old and faint and were never of use."""
    edges, ids = ground.snapshot.edges, ground.snapshot.nodes.ids
    bound = ground.settings.memory.link_threshold
    likeness = np.array([name in _LIKENESS for name in edges.types] + [False])[edges.type]
    active = (edges.kind == LINK) & (edges.state == STATES.index("active")) & likeness
    age = timedelta(days=ground.settings.garden.decay_after_days)
    old = edges.recorded_at < microseconds(ground.now - age, 0)
    weak = edges.weight < _WEAK * bound
    rows = np.flatnonzero(active & (weak | (old & (edges.weight < bound))))
    rows = rows[np.lexsort((rows, edges.weight[rows]))]
    proposals: list[Proposal] = []
    for start in range(0, len(rows), _AT_ONCE):
        if ground.budget.over or len(proposals) >= most:
            break
        part = rows[start : start + _AT_ONCE]
        wanted = {edges.ids[row].decode(): bool(weak[row]) for row in part}
        sources = sorted({ids[edges.source[row]] for row in part})
        proposals += [each for each in _links(wanted, sources, ground) if each.target not in undone]
    counts["links_loose"] = len(rows)
    return proposals[:most]


def _links(weak: Mapping[str, bool], sources: Sequence[str], ground: PhaseContext) -> Iterator[Proposal]:
    stored = {link.id: link for link in ground.graph.links(sources) if link.id in weak}
    ends = sorted({end for link in stored.values() for end in (link.source, link.target)})
    chunks = {row.id: row for row in ground.graph.chunks(ends)}
    recalled = {row.chunk for row in ground.graph.recalled(chunks=ends)} if ends else set()
    for id, is_weak in weak.items():
        link = stored.get(id)
        if link is None or link.state != "active" or {link.source, link.target} - chunks.keys():
            continue
        if is_weak or recalled.isdisjoint((link.source, link.target)):
            yield _loosened(link, chunks[link.source], chunks[link.target], is_weak, ground)


def _loosened(link: Link, source: Chunk, target: Chunk, weak: bool, ground: PhaseContext) -> Proposal:
    why = "too weak to be made again" if weak else "faint and old, and neither end was ever recalled"
    return Proposal(
        project=ground.project,
        phase="prune",
        action="archive",
        target=link.id,
        text=f"{_shown(source.text)} {link.type} {_shown(target.text)}",
        reason=f"The link is {why} (weight {link.weight:.2f}).",
        score=round(1 - min(1.0, max(0.0, link.weight)), 4),
        write=Write(changes=(), links=(_gone(link, ground),)),
        expects=precondition_hash(link),
    )


def isolated(ground: PhaseContext, undone: UndoneRows, counts: Counter[str]) -> list[Proposal]:
    """Return the things that nothing names and nothing is told of; what a person told of them keeps them."""
    alone = _alone(ground)
    proposals: list[Proposal] = []
    for start in range(0, len(alone), _AT_ONCE):
        if ground.budget.over or len(proposals) >= _MOST_ISOLATED:
            break
        ids = [ground.snapshot.nodes.ids[node] for node in alone[start : start + _AT_ONCE]]
        named = {mention.entity for mention in ground.graph.mentioned(ids)}
        joined = {end for row in ground.graph.relations(ids) for end in (row.subject, row.object)}
        rows = ground.graph.entities([id for id in ids if id not in named and id not in joined])
        proposals += [_removed(row) for row in rows if _is_bare(row, ground) and row.id not in undone]
    counts["entities_unnamed"] = len(proposals)
    return proposals[:_MOST_ISOLATED]


def _alone(ground: PhaseContext) -> NDArray[np.int64]:
    edges, nodes = ground.snapshot.edges, ground.snapshot.nodes
    used = np.isin(edges.kind, (RELATION, MENTION))
    joined = np.zeros(ground.snapshot.size, dtype=bool)
    joined[edges.source[used]] = True
    joined[edges.target[used]] = True
    return np.flatnonzero(~joined & ~nodes.is_chunk[: ground.snapshot.size])


def _is_bare(row: Entity, ground: PhaseContext) -> bool:
    told = row.description or row.aliases or row.metadata
    settled = row.last_seen <= ground.now - _SETTLED
    return not told and settled


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


def _shown(text: str) -> str:
    return f'"{one_line(text, _SHOWN)}"'
