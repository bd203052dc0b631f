"""Stores of other sizes than the sets have: samples of about 100 chunks, and one of about 10,000."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from benchmarks.relevance.asked import (
    SETS,
    Counts,
    Drawn,
    Store,
    answered_by,
    elsewhere,
    written_stores,
)
from benchmarks.relevance.fit import Row, figures, fit_all, left_out, mean
from benchmarks.relevance.measure import Measured
from benchmarks.retrieval import by_case

Size = Literal["small", "large"]
SIZES: tuple[Size, ...] = ("small", "large")
Document = Mapping[str, Any]

IN_LARGE = ("2wiki", "hotpot100", "locomo-session")
"""The sets that the large store holds."""

_IN_100_CHUNKS = {"hotpot100": 90, "2wiki": 87, "locomo-turn": 100, "locomo-session": 5, "beam100k": 30}
"""How many documents of a set have about 100 chunks."""
_SAMPLES = {"hotpot100": 3, "2wiki": 3}
"""How many samples there are of a case; one where nothing is said."""
_SMALL = Counts(own=10, foreign=24, talk=15)
_OWN_IN_LARGE = {"2wiki": 150, "hotpot100": 100, "locomo-session": 40}
"""Questions of each case of the large store."""
_LARGE = Counts(own=500, foreign=300, talk=250)


def small_stores(data: Path, seed: int = 7) -> Iterator[Store]:
    """Yield samples of each case of the sets: documents that answer some questions, and their neighbours."""
    drawn = Drawn(seed)
    questions = {name: by_case(data / name / "queries.jsonl") for name in SETS}
    for name in SETS:
        for case, rows in by_case(data / name / "docs.jsonl").items():
            for number in range(_SAMPLES.get(name, 1)):
                sample = sampled(rows, questions[name][case], _IN_100_CHUNKS[name], drawn.random)
                own = answered_by(questions[name][case], sample)
                asked = drawn.asked(own, elsewhere(questions, case), counts=_SMALL)
                yield Store(name=f"{name}-{case}-{number}", kind=name, asked=asked, documents=sample)


def sampled(
    rows: Sequence[Document], questions: Sequence[Document], most: int, draw: random.Random
) -> list[Document]:
    """Return so many documents at most, in their order: whole answers, each with the documents beside it."""
    place = {row["id"]: number for number, row in enumerate(rows)}
    kept: set[int] = set()
    for question in draw.sample(questions, len(questions)):
        golds = {place[id] for id in question["gold"]}
        beside = {one + step for one in golds for step in (-1, 0, 1) if 0 <= one + step < len(rows)}
        kept |= next((more for more in (beside, golds) if len(kept | more) <= most), set())
    return [rows[number] for number in sorted(kept)]


def large_store(data: Path, seed: int = 7) -> Store:
    """Return all documents of some sets as one store; others' questions are foreign to it."""
    drawn = Drawn(seed)
    documents: list[Document] = []
    own = []
    for name in IN_LARGE:
        questions = by_case(data / name / "queries.jsonl")
        for case, rows in by_case(data / name / "docs.jsonl").items():
            renamed = [{**row, "id": f"{case}-{row['id']}"} for row in rows]
            golds = [{**row, "gold": [f"{case}-{id}" for id in row["gold"]]} for row in questions[case]]
            answered = answered_by(golds, renamed)
            own += drawn.random.sample(answered, min(_OWN_IN_LARGE[name], len(answered)))
            documents += renamed
    others = [row["query"] for rows in by_case(data / "beam100k" / "queries.jsonl").values() for row in rows]
    written = [*written_stores("fit"), *written_stores("test")]
    others += [
        one.text for store in written for one in store.asked if (one.kind, one.wording) == ("own", "plain")
    ]
    asked = drawn.asked(own, others, counts=_LARGE)
    return Store(name="large", kind="large", asked=asked, documents=documents)


def figures_of_sizes(
    known: Sequence[Measured], sized: Mapping[Size, Sequence[Measured]], *, floor: float
) -> list[Row]:
    """Return the figures of stores of other sizes, with weights that were fitted without their kinds.

    Args:
        known: What is fitted on.
        sized: What was measured at each size.
    """
    rows = []
    if small := sized.get("small"):
        found = left_out(known, floor=floor, of=lambda one: one.store_kind, on=small)
        rows = [replace(row, store=f"small: {row.store}") for row in found]
        rows.append(mean("mean of the small ones", rows))
    if large := [one for one in sized.get("large", ()) if one.use != "fit"]:
        others = [one for one in known if one.store_kind not in IN_LARGE]
        rows.append(figures("large, its sets left out", large, fit_all(others), floor=floor))
        rows.append(figures("large, none left out", large, fit_all(known), floor=floor))
    return rows
