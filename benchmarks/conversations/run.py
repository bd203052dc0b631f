"""Turns of conversations: the weights of their order, each conversation left out of the fit in turn.

Every question is recalled with weights that its own conversation had no part in.
"""

import json
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

import hydramem
from benchmarks.conversations.fit import Question, fit
from benchmarks.results import table, where, with_section
from benchmarks.retrieval import Answered, document_names, recall_at
from benchmarks.retrieval import Row as Record
from benchmarks.set_stores import asked_of, opened_set, recall_sources, recalled
from hydramem.search.conversation.turn_order import NUMBERS, Floats, TurnScorer, TurnWeights
from hydramem.storage.schema import CHUNK

KINDS = {"people": "locomo-turn", "chat": "beam100k"}
"""The set that each kind of weights is fitted on."""

ALSO = {"locomo-turn": "locomo-session"}
"""The same conversations as a set of other documents, which is measured by the same weights."""

SHIPPED = Path(__file__).parents[2] / "hydramem" / "data" / "conversation" / "weights.json"
TITLE = "## Conversations"
DEPTHS = (5, 10)

_INTRODUCTION = (
    "Share of a question's turns among the first hits, without the learned order of turns and with it",
    "(`python -m benchmarks conversations`; it fits with torch). Each conversation was left out of the fit",
    "of the weights that its questions are recalled with. Spread is the standard deviation over",
    "conversations. `locomo-session` has whole sessions as documents, with the weights that were fitted on",
    "the turns of other conversations.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Recall of a set in percent, without and with the learned order, by depth.

    Attributes:
        gain: Mean gain of the cases at each depth.
        spread: Standard deviation of the cases' gains.
    """

    set: str
    cases: int
    questions: int
    before: Mapping[int, float]
    after: Mapping[int, float]
    gain: Mapping[int, float]
    spread: Mapping[int, float]


def run(data: Path, *, embedder: str, refit: bool, stores: Path | None) -> list[Row]:
    """Measure with each conversation left out.

    Args:
        data: Folder of the sets.
        refit: Whether to write the weights that the package carries anew, from all conversations.
        stores: Folder that keeps the ingested sets between runs; None for a temporary one.
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder = stores or Path(scratch)
        rows: list[Row] = []
        weights: dict[str, TurnWeights] = {}
        for kind, name in KINDS.items():
            with opened_set(data / name, folder / name, embedder) as memory:
                questions = list(turn_questions(memory, data / name, kind))
                left_out = {
                    case: fit([one for one in questions if one.case != case])
                    for case in sorted({one.case for one in questions})
                }
                weights[kind] = fit(questions)
                rows.append(_measured(memory, data / name, left_out))
            if name in ALSO:
                also = ALSO[name]
                with opened_set(data / also, folder / also, embedder) as memory:
                    rows.append(_measured(memory, data / also, left_out))
    if refit:
        _write(weights, rows)
    return rows


def turn_questions(memory: hydramem.Memory, data: Path, kind: str) -> Iterator[Question]:
    """Yield the questions with the numbers of their turns."""
    seen: list[tuple[str, Sequence[str], Floats]] = []

    def noted(kind: str, turns: Sequence[str], numbers: Floats) -> Floats:
        seen.append((kind, turns, numbers))
        return _unchanged(kind, turns, numbers)

    with recall_sources(memory, turn_scorer=noted) as sources:
        turns_of = (chunk for batch in sources.graph.scan(CHUNK) for chunk in batch if chunk.kind == "turn")
        document_of = {chunk.id: str(chunk.metadata["id"]) for chunk in turns_of}
        for case, _, asked in asked_of(data):
            for row in asked:
                seen.clear()
                recalled(sources, case, row)
                for of_kind, turns, numbers in seen:
                    right = np.array([document_of[turn] in row["gold"] for turn in turns], dtype=np.float64)
                    if of_kind == kind:
                        yield Question(case=case, numbers=numbers, right=right)
    print(f"{data.name}: numbers of its turns collected", file=sys.stderr, flush=True)


def _unchanged(kind: str, turns: Sequence[str], numbers: Floats) -> Floats:
    """Leave the turns in the order of their scores."""
    del kind, turns
    scores: Floats = numbers[:, NUMBERS.index("score")]
    return scores


def by_turn_weights(weights: TurnWeights) -> TurnScorer:
    return lambda kind, turns, numbers: weights.scores(numbers)


def _measured(memory: hydramem.Memory, data: Path, weights: Mapping[str, TurnWeights]) -> Row:
    """Recall every question without the learned order, and by the weights of its case."""
    before: list[Answered] = []
    after: list[Answered] = []
    gains: list[list[float]] = []
    for case, rows, asked in asked_of(data):
        names = document_names(memory, rows)
        with recall_sources(memory, turn_scorer=_unchanged) as sources:
            without = [_answered(recalled(sources, case, row), row, names) for row in asked]
        with recall_sources(memory, turn_scorer=by_turn_weights(weights[case])) as sources:
            ordered = [_answered(recalled(sources, case, row), row, names) for row in asked]
        gains.append([recall_at(depth, ordered) - recall_at(depth, without) for depth in DEPTHS])
        before += without
        after += ordered
    return Row(
        set=data.name,
        cases=len(gains),
        questions=len(before),
        before=_by_depth([recall_at(depth, before) for depth in DEPTHS]),
        after=_by_depth([recall_at(depth, after) for depth in DEPTHS]),
        gain=_by_depth(np.mean(gains, axis=0)),
        spread=_by_depth(np.std(gains, axis=0)),
    )


def _answered(found: hydramem.Recall, row: Record, names: Callable[[hydramem.Hit], str]) -> Answered:
    return Answered(
        category=str(row["category"]),
        gold=frozenset(row["gold"]),
        found=tuple(dict.fromkeys(names(hit) for hit in found.hits)),
        seconds=sum(found.milliseconds.values()) / 1000,
    )


def _by_depth(values: Iterable[float]) -> dict[int, float]:
    return {depth: round(100 * float(value), 1) for depth, value in zip(DEPTHS, values, strict=True)}


def _write(weights: Mapping[str, TurnWeights], rows: Sequence[Row]) -> None:
    kinds = {
        kind: {name: part.tolist() for name, part in asdict(values).items()} | {"fitted_on": [KINDS[kind]]}
        for kind, values in weights.items()
    }
    card = {"numbers": list(NUMBERS), "left_out": [asdict(row) for row in rows]}
    SHIPPED.parent.mkdir(exist_ok=True)
    SHIPPED.write_text(json.dumps(card | kinds) + "\n", encoding="utf-8")


def shown(rows: Sequence[Row]) -> str:
    """Return rows as a table."""
    head = ("set", "conversations", "questions")
    for depth in DEPTHS:
        head += (f"@{depth} before", f"@{depth} after", f"gain @{depth}, mean and spread")
    lines = []
    for one in rows:
        cells = [one.set, str(one.cases), str(one.questions)]
        for depth in DEPTHS:
            gain = f"{one.gain[depth]:+.1f} ± {one.spread[depth]:.1f}"
            cells += [f"{one.before[depth]:.1f}", f"{one.after[depth]:.1f}", gain]
        lines.append(tuple(cells))
    return "\n".join(table(head, lines))


def placed(page: str, rows: Sequence[Row], *, embedder: str) -> str:
    """Return a results page with the figures in their section."""
    about = where()
    made = f"Embedder {embedder}. Measured {about['date']} on {about['machine']}."
    return with_section(page, TITLE, ["", *_INTRODUCTION, "", shown(rows), "", made])
