"""Questions for a person: what nothing else can decide, most uncertain and best connected first.

The queue is no table of its own. It consists of deferred relations, conflicting relations, memories that may
supersede older ones, quarantined memories, entities that differ in spelling alone, and pairs that the last
run left undecided. An answer is a verdict or a mark on these rows, so the queue is stored, undone and dumped
with them.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hydramem.core.results.garden_results import YES_NO, Question, QuestionKind
from hydramem.core.row_types import Chunk, Entity, Relation
from hydramem.core.time import clock
from hydramem.garden.phases.supersede.possible_replacements import (
    PossibleReplacement,
    possible_replacements,
)
from hydramem.garden.proposals.exclusions import UndecidedPair, is_told_apart, strings_in
from hydramem.garden.review.conflicting_pairs import ConflictingPair, conflicting_pairs
from hydramem.graph.snapshot.snapshot import SYNONYM, Snapshot
from hydramem.ingest.knowledge.graph_rows import candidates_of, is_given
from hydramem.ingest.screening.quarantine import QUARANTINED_FOR
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.store import GraphStore, Listing
from hydramem.text.shown_text import one_line

KEPT_OUT = "kept_out"
"""Metadata key of a quarantined chunk: who says that it stays in quarantine."""

WHICH = ("1", "2", "both", "neither")
"""The answers to a conflict."""

REPLACES = ("replaces", "both", "older", "neither")
"""The answers where a memory may supersede an older one: it does, both hold, the older one alone does, or
none of them."""

NAMED_CHOICES = frozenset((*WHICH, *REPLACES))
"""Every answer but yes and no."""

_MOST_RELATIONS = 2000
_MOST_CHUNKS = 500
_MOST_PAIRS = 1000
_EVIDENCE_SHOWN = 600
TEXT_SHOWN = 160
_PASSAGES = 3
_UNKNOWN = 0.5
"""Uncertainty, 0 to 1, of a question without a probability."""

Row = Relation | Chunk | Entity


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question with the rows that an answer changes, and its weight.

    Attributes:
        rows: A relation, a chunk, or a pair: of entities the better connected first, else the older one.
        weight: Uncertainty times connectedness.
    """

    question: Question
    rows: tuple[Row, ...]
    weight: float


def cases(
    graph: GraphStore,
    snapshot: Snapshot,
    undecided: Sequence[UndecidedPair] = (),
    *,
    functional: Collection[str] = (),
) -> list[Case]:
    """Return the open questions of a project, by descending weight, without evidence (see `with_evidence`).

    Args:
        graph: Where the rows are stored.
        undecided: Pairs that the last run left undecided.
        functional: Types of relations of which one holds at a time.
    """
    open_pairs = possible_replacements(graph, snapshot, at=clock(), most=_MOST_PAIRS)
    asked = {frozenset(row.id for row in pair.rows) for pair in open_pairs}
    maybe_same = [
        each for each in undecided if each.of == "memories" and frozenset((each.one, each.other)) not in asked
    ]
    found = [
        *_relations(graph, snapshot),
        *_conflicts(graph, snapshot, functional),
        *_replacements(open_pairs, snapshot),
        *_quarantined(graph, snapshot.project),
        *_same_entities(graph, snapshot, [each for each in undecided if each.of == "entities"]),
        *_same_memories(graph, maybe_same),
    ]
    return sorted(found, key=lambda case: (-case.weight, case.question.id))


def with_evidence(chosen: Sequence[Case], graph: GraphStore) -> tuple[Question, ...]:
    """Return the questions of cases with the evidence to read before answering."""
    relations = [row for case in chosen for row in case.rows if isinstance(row, Relation)]
    passages = {
        each.relation.id: tuple(one_line(chunk.text, _EVIDENCE_SHOWN) for chunk in each.passages[:_PASSAGES])
        for each in candidates_of(relations, graph)
    }
    things = {row.id: row for case in chosen for row in case.rows if isinstance(row, Entity)}
    named = _passage_naming(sorted(things), graph)
    return tuple(replace(case.question, evidence=_evidence(case, passages, named)) for case in chosen)


def _evidence(
    case: Case, passages: Mapping[str, tuple[str, ...]], named: Mapping[str, str]
) -> tuple[str, ...]:
    found: list[str] = []
    for place, row in enumerate(case.rows, 1):
        mark = f"({place}) " if len(case.rows) > 1 and not isinstance(row, Entity) else ""
        if isinstance(row, Relation):
            quoted = [f"quoted: {one_line(row.quote, _EVIDENCE_SHOWN)}"] if row.quote else []
            found += [f"{mark}{each}" for each in (*passages.get(row.id, ()), *quoted)]
        elif isinstance(row, Chunk):
            found.append(f"{mark}{one_line(row.text, _EVIDENCE_SHOWN)}{_source(row) if mark else ''}")
        else:
            details = f" ({one_line(row.description, _EVIDENCE_SHOWN)})" if row.description else ""
            found.append(f"{row.name}: {row.type}{details}")
            found += [named[row.id]] if row.id in named else []
    return tuple(found)


def _source(row: Chunk) -> str:
    who = ", ".join(filter(None, (row.source, row.author)))
    return f" [{f'{who}, ' if who else ''}{row.times.recorded_at:%Y-%m-%d}]"


def _passage_naming(entities: Sequence[str], graph: GraphStore) -> dict[str, str]:
    """Return, for each entity, the text of an active chunk that names it, where there is one."""
    first: dict[str, list[str]] = {}
    for mention in graph.mentioned(entities) if entities else ():
        first.setdefault(mention.entity, []).append(mention.chunk)
    few = {entity: sorted(chunks)[:_PASSAGES] for entity, chunks in first.items()}
    rows = graph.chunks(sorted({id for chunks in few.values() for id in chunks})) if few else ()
    texts = {row.id: one_line(row.text, _EVIDENCE_SHOWN) for row in rows if row.state == "active"}
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
    names = names_of(waiting, graph)
    for row in waiting:
        if {row.subject, row.object} <= names.keys():
            yield new_case(
                "relation",
                (row,),
                f"Is it true: {names[row.subject]} {row.type} {names[row.object]}?",
                "Verification left it open.",
                degree=_degree((row.subject, row.object), snapshot),
                probability=row.probability,
            )


def _conflicts(graph: GraphStore, snapshot: Snapshot, functional: Collection[str]) -> Iterator[Case]:
    """Yield the pairs of relations of which only one can hold."""
    pairs = conflicting_pairs(graph, snapshot, functional)
    names = names_of([row for pair in pairs for row in pair.rows], graph)
    for pair in pairs:
        case = conflict_case(pair, names, snapshot)
        if case is not None:
            yield case


def conflict_case(pair: ConflictingPair, names: Mapping[str, str], snapshot: Snapshot) -> Case | None:
    """Return the case of two relations of which only one can hold; None where an end has no name."""
    ids = {end for row in pair.rows for end in (row.subject, row.object)}
    if not ids <= names.keys():
        return None
    one, other = (_dated(row, names) for row in pair.rows)
    return new_case(
        "conflict",
        pair.rows,
        f"Which holds: (1) {one}, (2) {other}, both or neither?",
        f"{pair.reason} 1 withdraws the second, 2 ends the first, both keeps them, neither withdraws them.",
        degree=_degree(ids, snapshot),
        choices=WHICH,
    )


def names_of(relations: Iterable[Relation], graph: GraphStore) -> Mapping[str, str]:
    """Return the names of the ends of relations, by id."""
    ends = sorted({end for row in relations for end in (row.subject, row.object)})
    return {row.id: row.name for row in (graph.entities(ends) if ends else ())}


def _dated(row: Relation, names: Mapping[str, str]) -> str:
    since, until = row.times.valid_from, row.times.valid_to
    dates = [f"from {since:%Y-%m-%d}"] if since else []
    dates += [f"until {until:%Y-%m-%d}"] if until else []
    period = f" ({' '.join(dates)})" if dates else ""
    return f"{names[row.subject]} {row.type} {names[row.object]}{period}"


def _replacements(pairs: Sequence[PossibleReplacement], snapshot: Snapshot) -> Iterator[Case]:
    """Yield the pairs of memories of which the newer may replace the older."""
    for pair in pairs:
        older, newer = (one_line(row.text, TEXT_SHOWN) for row in pair.rows)
        yield new_case(
            "may_supersede",
            pair.rows,
            f'Does (2) "{newer}" replace (1) "{older}"?',
            "It was told later, and both may not hold. replaces ends the first, both keeps them, older "
            "withdraws the second, neither withdraws them.",
            degree=_degree([row.id for row in pair.rows], snapshot),
            probability=pair.link.weight,
            choices=REPLACES,
        )


def _same_memories(graph: GraphStore, undecided: Sequence[UndecidedPair]) -> Iterator[Case]:
    """Yield the pairs of memories that may say the same, without those that a person keeps apart."""
    ids = sorted({id for pair in undecided for id in (pair.one, pair.other)})
    rows = {row.id: row for row in (graph.chunks(ids) if ids else ()) if row.state == "active"}
    for pair in undecided:
        if not {pair.one, pair.other} <= rows.keys():
            continue
        older, newer = sorted((rows[pair.one], rows[pair.other]), key=lambda row: row.times.recorded_at)
        if not is_told_apart(older, newer):
            one, other = (one_line(row.text, TEXT_SHOWN) for row in (older, newer))
            text = f'Do they say the same, so that one is enough: "{one}" and "{other}"?'
            yield new_case("same_memory", (older, newer), text, pair.why)


def _quarantined(graph: GraphStore, project: str) -> Iterator[Case]:
    """Yield the memories in quarantine that nobody has looked at."""
    where = ChunkFilter(projects=(project,), states=("quarantined",))
    for row in graph.list_chunks(where, Listing(limit=_MOST_CHUNKS)):
        if KEPT_OUT not in row.metadata:
            why = ", ".join(strings_in(row.metadata, QUARANTINED_FOR))
            text = f'May it be recalled: "{one_line(row.text, TEXT_SHOWN)}"?'
            yield new_case("quarantined", (row,), text, f"It was held back{f': {why}' if why else ''}.")


def _same_entities(
    graph: GraphStore, snapshot: Snapshot, undecided: Sequence[UndecidedPair]
) -> Iterator[Case]:
    """Yield the pairs of entities that may be the same, without those that a person keeps apart."""
    found: dict[tuple[str, str], UndecidedPair | None] = dict.fromkeys(_spelling_variants(snapshot))
    found |= {(min(each.one, each.other), max(each.one, each.other)): each for each in undecided}
    wanted = sorted({id for ids in found for id in ids})
    rows = {row.id: row for row in (graph.entities(wanted) if wanted else ())}
    for ids, pair in found.items():
        if not rows.keys() >= set(ids) or is_told_apart(rows[ids[0]], rows[ids[1]]):
            continue
        keep, gone = (rows[id] for id in sorted(ids, key=lambda id: (-_degree((id,), snapshot), id)))
        yield new_case(
            "same_entity",
            (keep, gone),
            f"Are they one thing: {keep.name} ({keep.type}) and {gone.name} ({gone.type})?",
            "Their names differ in spelling alone." if pair is None else pair.why,
            degree=_degree(ids, snapshot),
            probability=None if pair is None else pair.probability,
        )


def _spelling_variants(snapshot: Snapshot) -> list[tuple[str, str]]:
    """Return pairs of entities whose names differ in spelling alone; of very many the best connected."""
    edges, ids = snapshot.edges, snapshot.nodes.ids
    rows = np.flatnonzero(edges.kind == SYNONYM)
    if len(rows) > _MOST_PAIRS:
        degrees = snapshot.adjacency.degrees
        known = degrees(edges.source[rows]) + degrees(edges.target[rows])
        rows = np.sort(rows[np.argsort(-known, kind="stable")[:_MOST_PAIRS]])
    ends = [(ids[edges.source[row]], ids[edges.target[row]]) for row in rows]
    return sorted({(min(pair), max(pair)) for pair in ends})


def new_case(
    kind: QuestionKind,
    rows: tuple[Row, ...],
    text: str,
    reason: str,
    *,
    degree: int = 0,
    probability: float | None = None,
    choices: tuple[str, ...] = YES_NO,
) -> Case:
    """Return the case of a question about rows; its weight comes from its probability and their degree."""
    ids = tuple(row.id for row in rows)
    question = Question(
        id=f"{kind}:{'+'.join(sorted(ids))}",
        kind=kind,
        project=rows[0].project,
        text=text,
        reason=reason,
        rows=ids,
        probability=probability,
        choices=choices,
    )
    uncertain = _UNKNOWN
    if probability is not None:
        uncertain = 1.0 - 2.0 * abs(min(1.0, max(0.0, probability)) - 0.5)
    return Case(question=question, rows=rows, weight=uncertain * (1.0 + math.log1p(degree)))


def _degree(ids: Iterable[str], snapshot: Snapshot) -> int:
    nodes = [node for id in ids if (node := snapshot.node(id)) is not None]
    return int(snapshot.adjacency.degrees(np.array(nodes)).sum()) if nodes else 0
