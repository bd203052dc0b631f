"""The start of a session, before any question: curated files, then what the project knows best.

The curated files come first; then the most valuable facts and notes, coming events and central entities in
turns.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, zip_longest

from hydramem.core.results.hits import Hit
from hydramem.core.results.write_results import Curated
from hydramem.core.row_types import Chunk, Entity
from hydramem.ingest.screening.quarantine import threats_in
from hydramem.search.candidate_scores import FusedScore, RecallCandidate, freshness, layer_gain
from hydramem.search.other_versions import (
    OtherVersions,
    newest_first,
    other_versions,
    version_links,
)
from hydramem.search.overview.overview import most_central
from hydramem.search.overview.surroundings import neighbors
from hydramem.search.packed_duplicates import without_duplicates
from hydramem.search.visible.visible_graph import View
from hydramem.storage.chunk_filter import LIVE
from hydramem.storage.store import GraphStore, Listing

_LEAST_CONFIDENCE = 0.7
_READ = 200
_EVENTS = 3
_ENTITIES = 4
_RELATIONS = 4

# A fact was stored as one; a note may be anything.
_FACT_GAIN = 0.2


def opening(*, curated: Sequence[Curated], seen: View, graph: GraphStore) -> tuple[Hit, ...]:
    """Return the hits that a session starts with, most needed first.

    Args:
        curated: The project's curated files, each with the block that the session is shown.
        seen: The visible part of the project. Without private memories, entities are left out: their
            descriptions may stem from those.
        graph: Where memories and descriptions are read.
    """
    files = [_file(seen.snapshot.project, each) for each in curated if each.block]
    facts = _facts(curated, seen, graph)
    entities = _entities(seen, graph) if seen.where.include_private else ()
    turns = zip_longest(facts[::2], facts[1::2], _events(seen, graph), entities)
    return (*files, *(hit for hit in chain.from_iterable(turns) if hit is not None))


def _file(project: str, file: Curated) -> Hit:
    # The block opens with three lines for a prompt of its own.
    body = file.block.split("\n", 3)[3]
    name = file.path.replace("\\", "/").rsplit("/", 2)
    return Hit(
        id="/".join(name[1:]),
        text=body,
        score=1.0,
        source=name[-1],
        kind="note",
        project=project,
        layer="curated",
    )


def _facts(curated: Sequence[Curated], seen: View, graph: GraphStore) -> list[Hit]:
    """Return the newest facts and notes of high confidence, the most valuable first.

    What may supersede another goes before it, and of two that say the same there is one.
    """
    where = replace(seen.where, kinds=("fact", "note"), min_confidence=_LEAST_CONFIDENCE)
    shown = {entry for file in curated for entry in file.entries}
    rows = [row for row in graph.list_chunks(where, Listing(limit=_READ)) if row.text not in shown]
    found = [RecallCandidate(chunk=row, fused=FusedScore(id=row.id, score=_worth(row, seen))) for row in rows]
    found.sort(key=lambda one: (-one.fused.score, one.chunk.id))
    held = {row.id: row for row in rows}
    links = version_links(held.keys(), [seen.snapshot], where) if where.states == LIVE else ()
    ordered = without_duplicates(newest_first(found, links, held={}, where=where), links)
    others = other_versions(held.keys(), links, held=held, where=where)
    return [
        replace(_hit(one.chunk, one.fused.score), newer=each.newer, older=each.older)
        for one in ordered
        for each in [others.get(one.chunk.id, OtherVersions())]
    ]


def _worth(row: Chunk, seen: View) -> float:
    gain = 1.0 + layer_gain(row) + _FACT_GAIN * (row.kind == "fact")
    return row.importance * row.confidence * gain * (0.5 + 0.5 * freshness(row, seen.where.at))


def _events(seen: View, graph: GraphStore) -> list[Hit]:
    """Return the next events."""
    where = replace(seen.where, kinds=("event",), happened_from=seen.where.at)
    return [
        _hit(row, row.importance) for row in graph.list_chunks(where, Listing(limit=_EVENTS), by_time=True)
    ]


def _hit(row: Chunk, score: float) -> Hit:
    return Hit(
        id=row.id,
        text=row.text,
        score=score,
        source=row.source,
        kind=row.kind,
        project=row.project,
        layer=row.layer,
        author=row.author,
        happened_at=row.happened_at,
    )


def _entities(seen: View, graph: GraphStore) -> Iterator[Hit]:
    """Yield the central entities, with the description and relations of each."""
    snapshot = seen.snapshot
    for node, share in most_central(seen, _ENTITIES):
        name = snapshot.label(node)
        row = next(iter(graph.entities([snapshot.nodes.ids[node]])), None)
        around = neighbors(name, depth=1, limit=_RELATIONS, seen=seen)
        known = [f"{name} ({snapshot.nodes.types[int(snapshot.nodes.type[node])]})"]
        known += _described(row)
        known += [str(step) for neighbor in around for step in neighbor.via]
        if row is not None and len(known) > 1:
            yield Hit(
                id=row.id,
                text="\n".join(known),
                score=share,
                source="graph",
                kind="fact",
                project=snapshot.project,
                layer="working",
            )


def _described(row: Entity | None) -> list[str]:
    """Return the description of an entity where it is safe for a prompt: a model may have written it."""
    text = (row.description if row is not None else None) or ""
    return [text] if text and not threats_in(text) else []
