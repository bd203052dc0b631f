"""A careless extractor: passages extracted again by an agent, with false relations beside the true.

The true ones are what the rules found in a passage, and what its set says of it. A false one joins two names
of one passage by a type that the graph has, with the sentence that names both as the quote and the confidence
that extraction by a model has: what names nothing in the passage would be rejected when it is written. As
many are stated as it takes until their share is stored, as far as the passages have names.
"""

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from pathlib import Path

import hydramem
from benchmarks.aging.rest import Triple
from hydramem.core.inputs import ExtractedChunk, ExtractedRelation

_CONFIDENCE = 0.8
"""As `ingest.extraction.extraction_prompt` has it."""
_PAGE = 1000
_ROUNDS = 10
"""Most times that false relations are stated: the package rejects about nine of ten when they are written."""

_AT_ONCE = 3
"""More of one passage in each round."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


def extract_again(
    memory: hydramem.Memory, stated: Mapping[str, Sequence[Triple]], share: float, *, seed: int
) -> tuple[Triple, ...]:
    """Have the passages that relations rest on extracted by an agent.

    Args:
        memory: Holds the passages as documents.
        stated: Further true relations, by the name of the document's file.
        share: False relations for each true one.
        seed: Of the false ones.

    Returns:
        The false relations that are stored.
    """
    true = _true_by_document(memory, stated)
    for document, rows in true.items():
        _state(memory, document, rows.values(), ())
    wanted = round(share * sum(map(len, true.values())))
    names = {document: _named(memory, document) for document in true} if wanted else {}
    drawn = _wrong_by_document(true, names, random.Random(f"extractor {seed}"))
    stored: list[Triple] = []
    said: dict[str, int] = dict.fromkeys(drawn, 0)
    for _ in range(_ROUNDS if wanted else 0):
        open_ = [document for document in drawn if said[document] < len(drawn[document])]
        for document in sorted(open_, key=lambda one: said[one])[: wanted - len(stored)]:
            said[document] += _AT_ONCE
            _state(memory, document, true[document].values(), drawn[document][: said[document]])
        wrong = {triple for document in drawn for triple in drawn[document][: said[document]]}
        stored = [one for one in map(_triple, _relations(memory)) if one in wrong]
        if len(stored) >= wanted:
            break
    return tuple(stored)


def _wrong_by_document(
    true: Mapping[str, Mapping[Triple, ExtractedRelation]],
    names: Mapping[str, Mapping[str, str]],
    chance: random.Random,
) -> dict[str, list[Triple]]:
    """Return false relations among the names of each document, in an order of chance.

    They join pairs that no true relation joins, first by a type that joins things of their kinds, then by any
    type. Of a pair that a true one joins another type may say the same: `born_on` beside `date_of_birth`.
    """
    kinds = {name: kind for named in names.values() for name, kind in named.items()}
    types: dict[tuple[str | None, str | None], list[str]] = defaultdict(list)
    for rows in true.values():
        for subject, type, object in rows:
            types[kinds.get(subject), kinds.get(object)].append(type)
    joined = {frozenset((subject, object)) for rows in true.values() for subject, _, object in rows}
    found: dict[str, list[Triple]] = {}
    every = [type for fitting in types.values() for type in fitting]
    known = {triple for rows in true.values() for triple in rows}
    for document in chance.sample(sorted(names), len(names)):
        pairs = list(permutations(sorted(names[document]), 2))
        chance.shuffle(pairs)
        apart = [pair for pair in pairs if frozenset(pair) not in joined]
        fitting = [(pair, types.get((kinds[pair[0]], kinds[pair[1]]), ())) for pair in apart]
        chosen = [(pair, chance.choice(some)) for pair, some in fitting if some]
        chosen += [(pair, chance.choice(every)) for pair in apart]
        drawn = dict.fromkeys((one, type, other) for (one, other), type in chosen)
        found[document] = [triple for triple in drawn if triple not in known]
    return found


def _named(memory: hydramem.Memory, document: str) -> dict[str, str]:
    """Return the names of the things that a document mentions, each with its kind."""
    graph = memory._opened.graph
    chunks = [row.id for row in memory.document(document).chunks]
    things = {mention.entity for mention in graph.mentions(chunks)}
    return {row.name: row.type for row in graph.entities(sorted(things))}


def _triple(row: hydramem.RelationView) -> Triple:
    return row.subject, row.type, row.object


def _true_by_document(
    memory: hydramem.Memory, stated: Mapping[str, Sequence[Triple]]
) -> dict[str, dict[Triple, ExtractedRelation]]:
    """Return the relations of each document, by its id."""
    found: dict[str, dict[Triple, ExtractedRelation]] = defaultdict(dict)
    for document in _documents(memory):
        for subject, type, object in stated.get(Path(document.source).stem, ()):
            kind = "_".join(type.lower().split())
            found[document.id][subject, kind, object] = ExtractedRelation(
                subject=subject, type=kind, object=object, confidence=_CONFIDENCE
            )
    documents: dict[str, str | None] = {}
    for row in _relations(memory):
        for chunk in row.evidence[:1]:
            if chunk not in documents:
                documents[chunk] = memory.get(chunk).document
            document_id = documents[chunk]
            if document_id is not None:
                found[document_id].setdefault(
                    (row.subject, row.type, row.object),
                    ExtractedRelation(
                        subject=row.subject,
                        type=row.type,
                        object=row.object,
                        confidence=row.confidence,
                        quote=row.quote,
                    ),
                )
    return dict(found)


def _documents(memory: hydramem.Memory) -> list[hydramem.Document]:
    found: list[hydramem.Document] = []
    while page := memory.documents(limit=_PAGE, offset=len(found)):
        found += page
    return found


def _relations(memory: hydramem.Memory) -> list[hydramem.RelationView]:
    found: list[hydramem.RelationView] = []
    while page := memory.relations(limit=_PAGE, offset=len(found)):
        found += page
    return sorted(found, key=lambda row: row.id)


def _state(
    memory: hydramem.Memory, document: str, true: Iterable[ExtractedRelation], false: Sequence[Triple]
) -> None:
    view = memory.document(document)
    chunks = [ExtractedChunk(text=row.text, heading_path=row.heading_path) for row in view.chunks]
    text = " ".join(row.text for row in view.chunks)
    wrong = [
        ExtractedRelation(
            subject=subject,
            type=type,
            object=object,
            confidence=_CONFIDENCE,
            quote=_naming_both(text, subject, object),
        )
        for subject, type, object in false
    ]
    memory.ingest_extracted(
        view.document.source, chunks, relations=[*true, *wrong], title=view.document.title or None
    )


def _naming_both(text: str, one: str, other: str) -> str | None:
    """Return the first sentence that names both; None where none does."""
    sentences = _SENTENCE_END.split(text)
    return next((each for each in sentences if one in each and other in each), None)
