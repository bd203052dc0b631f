"""Questions for a person: what waits in the store because nothing else can decide it.

The queue is no table of its own. A relation waits while it is deferred, two while only one of them can hold,
a memory while it is quarantined, two entities while their names are one in another spelling, two of a kind
while a night was not sure of them: so the queue is as durable, as undone and as dumped as the rows are, and
what was answered is a verdict or a mark on them.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hydramem.core.results.garden_results import Question
from hydramem.core.row_types import Chunk, Entity, Relation
from hydramem.garden.proposals.exclusions import UndecidedPair, is_told_apart, strings_in
from hydramem.garden.review.conflicting_pairs import conflicting_pairs
from hydramem.graph.snapshot.snapshot import SYNONYM, Snapshot
from hydramem.ingest.knowledge.graph_rows import candidates_of, is_given
from hydramem.ingest.screening.quarantine import QUARANTINED_FOR
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.store import GraphStore, Listing
from hydramem.text.shown_text import one_line

KEPT_OUT = "kept_out"
"""In a quarantined chunk's metadata: who says that it stays out."""

WHICH = ("1", "2", "both")
"""What a conflict is answered by."""

_MOST_RELATIONS = 2000

_MOST_CHUNKS = 500

_MOST_PAIRS = 1000

_SHOWN = 600

_SHOWN_TEXT = 160

_PASSAGES = 3

_UNKNOWN = 0.5
"""How uncertain a case is of which nothing computed a probability, 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question with the rows that an answer changes, and how much it matters.

    Attributes:
        rows: A relation, a chunk, or two of a kind: of entities the better known first, of relations and
            memories the earlier one.
        weight: How uncertain it is, times how well what it is about is connected.
    """

    question: Question
    rows: tuple[Relation | Chunk | Entity, ...]
    weight: float


def cases(
    graph: GraphStore,
    snapshot: Snapshot,
    doubts: Sequence[UndecidedPair] = (),
    *,
    functional: Collection[str] = (),
) -> list[Case]:
    """Return what waits for a person in a project, the most uncertain and best connected first.

    Evidence is left out: see `with_evidence`.

    Args:
        graph: Where it waits.
        snapshot: The project's graph.
        doubts: Pairs of entities and of memories that the last night left open.
        functional: Types of relations of which one holds at a time.
    """
    found = [
        *_relations(graph, snapshot),
        *_conflicts(graph, snapshot, functional),
        *_quarantined(graph, snapshot),
        *_alike(graph, snapshot, [each for each in doubts if each.of == "entities"]),
        *_memories(graph, snapshot, [each for each in doubts if each.of == "memories"]),
    ]
    return sorted(found, key=lambda case: (-case.weight, case.question.id))


def with_evidence(chosen: Sequence[Case], graph: GraphStore) -> tuple[Question, ...]:
    """Return the questions of some cases with what there is to read before answering."""
    relations = [row for case in chosen for row in case.rows if isinstance(row, Relation)]
    stated = {
        each.relation.id: tuple(one_line(chunk.text, _SHOWN) for chunk in each.passages[:_PASSAGES])
        for each in candidates_of(relations, graph)
    }
    things = {row.id: row for case in chosen for row in case.rows if isinstance(row, Entity)}
    named = _naming(sorted(things), graph)
    return tuple(replace(case.question, evidence=_evidence(case, stated, named)) for case in chosen)


def _evidence(case: Case, stated: Mapping[str, tuple[str, ...]], named: Mapping[str, str]) -> tuple[str, ...]:
    found: list[str] = []
    for place, row in enumerate(case.rows, 1):
        mark = f"({place}) " if len(case.rows) > 1 and not isinstance(row, Entity) else ""
        if isinstance(row, Relation):
            quoted = [f"quoted: {one_line(row.quote, _SHOWN)}"] if row.quote else []
            found += [f"{mark}{each}" for each in (*stated.get(row.id, ()), *quoted)]
        elif isinstance(row, Chunk):
            found.append(f"{mark}{one_line(row.text, _SHOWN)}{_told_by(row) if mark else ''}")
        else:
            said = f" ({one_line(row.description, _SHOWN)})" if row.description else ""
            found.append(f"{row.name}: {row.type}{said}")
            found += [named[row.id]] if row.id in named else []
    return tuple(found)


def _told_by(row: Chunk) -> str:
    who = ", ".join(filter(None, (row.source, row.author)))
    return f" [{f'{who}, ' if who else ''}{row.times.recorded_at:%Y-%m-%d}]"


def _naming(entities: Sequence[str], graph: GraphStore) -> dict[str, str]:
    """Return one active chunk's text for each entity that one names."""
    first: dict[str, list[str]] = {}
    for mention in graph.mentioned(entities) if entities else ():
        first.setdefault(mention.entity, []).append(mention.chunk)
    few = {entity: sorted(chunks)[:_PASSAGES] for entity, chunks in first.items()}
    rows = graph.chunks(sorted({id for chunks in few.values() for id in chunks})) if few else ()
    texts = {row.id: one_line(row.text, _SHOWN) for row in rows if row.state == "active"}
    return {
        entity: next(texts[id] for id in chunks if id in texts)
        for entity, chunks in few.items()
        if not texts.keys().isdisjoint(chunks)
    }


def _relations(graph: GraphStore, snapshot: Snapshot) -> Iterator[Case]:
    """Yield the relations that verification left open."""
    page = Listing(limit=_MOST_RELATIONS)
    rows = graph.list_relations(snapshot.project, page, verdicts=("deferred",))
    waiting = [row for row in rows if not is_given(row)]
    ends = sorted({end for row in waiting for end in (row.subject, row.object)})
    names = {row.id: row.name for row in (graph.entities(ends) if ends else ())}
    for row in waiting:
        if row.subject in names and row.object in names:
            yield _case(
                Question(
                    id=f"relation:{row.id}",
                    kind="relation",
                    project=row.project,
                    text=f"Is it true: {names[row.subject]} {row.type} {names[row.object]}?",
                    reason="Verification left it open.",
                    rows=(row.id,),
                    probability=row.probability,
                ),
                (row,),
                _degree((row.subject, row.object), snapshot),
            )


def _conflicts(graph: GraphStore, snapshot: Snapshot, functional: Collection[str]) -> Iterator[Case]:
    """Yield the relations of which only one can hold."""
    pairs = conflicting_pairs(graph, snapshot, functional)
    ends = sorted({end for pair in pairs for row in pair.rows for end in (row.subject, row.object)})
    names = {row.id: row.name for row in (graph.entities(ends) if ends else ())}
    for pair in pairs:
        one, other = pair.rows
        ids = {one.subject, one.object, other.subject, other.object}
        if ids <= names.keys():
            yield _case(
                Question(
                    id=f"conflict:{'+'.join(sorted((one.id, other.id)))}",
                    kind="conflict",
                    project=one.project,
                    text=f"Which holds: (1) {_said(one, names)}, (2) {_said(other, names)}, or both?",
                    reason=f"{pair.reason} 1 withdraws the second, 2 ends the first, both keeps them.",
                    rows=(one.id, other.id),
                    choices=WHICH,
                ),
                (one, other),
                _degree(ids, snapshot),
            )


def _said(row: Relation, names: Mapping[str, str]) -> str:
    since, until = row.times.valid_from, row.times.valid_to
    told = [f"from {since:%Y-%m-%d}"] if since else []
    told += [f"until {until:%Y-%m-%d}"] if until else []
    dates = f" ({' '.join(told)})" if told else ""
    return f"{names[row.subject]} {row.type} {names[row.object]}{dates}"


def _memories(graph: GraphStore, snapshot: Snapshot, doubts: Sequence[UndecidedPair]) -> Iterator[Case]:
    """Yield the memories that may say the same, and that nobody told apart."""
    ids = sorted({id for each in doubts for id in (each.one, each.other)})
    rows = {row.id: row for row in (graph.chunks(ids) if ids else ()) if row.state == "active"}
    for doubt in doubts:
        if {doubt.one, doubt.other} <= rows.keys():
            older, newer = sorted((rows[doubt.one], rows[doubt.other]), key=lambda row: row.times.recorded_at)
            if not is_told_apart(older, newer):
                yield _same_memory(older, newer, doubt)


def _same_memory(older: Chunk, newer: Chunk, doubt: UndecidedPair) -> Case:
    one, other = (one_line(row.text, _SHOWN_TEXT) for row in (older, newer))
    return _case(
        Question(
            id=f"same_memory:{'+'.join(sorted((older.id, newer.id)))}",
            kind="same_memory",
            project=older.project,
            text=f'Do they say the same, so that one is enough: "{one}" and "{other}"?',
            reason=doubt.why,
            rows=(older.id, newer.id),
        ),
        (older, newer),
        0,
    )


def _quarantined(graph: GraphStore, snapshot: Snapshot) -> Iterator[Case]:
    """Yield the memories that were held back, and that nobody has looked at."""
    where = ChunkFilter(projects=(snapshot.project,), states=("quarantined",))
    for row in graph.list_chunks(where, Listing(limit=_MOST_CHUNKS)):
        if KEPT_OUT not in row.metadata:
            why = ", ".join(strings_in(row.metadata, QUARANTINED_FOR))
            yield _case(
                Question(
                    id=f"quarantined:{row.id}",
                    kind="quarantined",
                    project=row.project,
                    text=f'May it be recalled: "{one_line(row.text, _SHOWN_TEXT)}"?',
                    reason=f"It was held back{f': {why}' if why else ''}.",
                    rows=(row.id,),
                ),
                (row,),
                0,
            )


def _alike(graph: GraphStore, snapshot: Snapshot, doubts: Sequence[UndecidedPair]) -> Iterator[Case]:
    """Yield the entities that may be one, and that nobody told apart."""
    found: dict[tuple[str, str], UndecidedPair | None] = dict.fromkeys(_spelled_alike(snapshot))
    found |= {(min(each.one, each.other), max(each.one, each.other)): each for each in doubts}
    wanted = sorted({id for pair in found for id in pair})
    rows = {row.id: row for row in (graph.entities(wanted) if wanted else ())}
    for (one, other), doubt in found.items():
        there = one in rows and other in rows
        if there and not is_told_apart(rows[one], rows[other]):
            yield _same_entity(rows[one], rows[other], doubt, snapshot)


def _spelled_alike(snapshot: Snapshot) -> list[tuple[str, str]]:
    """Return pairs of entities whose names are one in another spelling, the best connected of very many."""
    edges, ids = snapshot.edges, snapshot.nodes.ids
    rows = np.flatnonzero(edges.kind == SYNONYM)
    if len(rows) > _MOST_PAIRS:
        degrees = snapshot.adjacency.degrees
        known = degrees(edges.source[rows]) + degrees(edges.target[rows])
        rows = np.sort(rows[np.argsort(-known, kind="stable")[:_MOST_PAIRS]])
    ends = [(ids[edges.source[row]], ids[edges.target[row]]) for row in rows]
    return sorted({(min(pair), max(pair)) for pair in ends})


def _same_entity(one: Entity, other: Entity, doubt: UndecidedPair | None, snapshot: Snapshot) -> Case:
    keep, gone = sorted((one, other), key=lambda row: (-_degree((row.id,), snapshot), row.id))
    return _case(
        Question(
            id=f"same_entity:{'+'.join(sorted((one.id, other.id)))}",
            kind="same_entity",
            project=one.project,
            text=f"Are they one thing: {keep.name} ({keep.type}) and {gone.name} ({gone.type})?",
            reason="Their names differ in spelling alone." if doubt is None else doubt.why,
            rows=(keep.id, gone.id),
            probability=None if doubt is None else doubt.probability,
        ),
        (keep, gone),
        _degree((one.id, other.id), snapshot),
    )


def _case(question: Question, rows: tuple[Relation | Chunk | Entity, ...], degree: int) -> Case:
    chance = question.probability
    uncertain = _UNKNOWN if chance is None else 1.0 - 2.0 * abs(min(1.0, max(0.0, chance)) - 0.5)
    return Case(question=question, rows=rows, weight=uncertain * (1.0 + math.log1p(degree)))


def _degree(ids: Iterable[str], snapshot: Snapshot) -> int:
    nodes = [node for id in ids if (node := snapshot.node(id)) is not None]
    return int(snapshot.adjacency.degrees(np.array(nodes)).sum()) if nodes else 0
