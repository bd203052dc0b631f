"""What the reranker brings, on sets that it was not trained on, and what it costs.

Turns of conversations are ordered by weights that their conversation had no part in, before and after.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import hydramem
from benchmarks.conversations.fit import fit
from benchmarks.conversations.run import KINDS, by_turn_weights, turn_questions
from benchmarks.results import table, where, with_section
from benchmarks.retrieval import DEPTHS, Answered, document_names, recall_at
from benchmarks.set_stores import asked_of, opened_set, recall_sources, recalled
from benchmarks.train_reranker.questions import Question, written
from hydramem.llm.pair_model import PairModel
from hydramem.llm.passage_reranker import MOST_TOKENS, PassageReranker, shared_reranker
from hydramem.search.conversation.turn_order import TurnScorer, by_weights
from hydramem.search.rerank.rerank import Reranker
from hydramem.search.rerank.text_rankers import RankedText, TextRanker, by_reading

SETS = ("locomo-turn", "locomo-session", "beam100k")
LEFT_OUT = {
    "locomo-turn": "locomo",
    "locomo-session": "locomo",
    "beam100k": "others",
}
"""Folder of the model that was trained without a set and its like."""

TITLE = "## Reranker"
_READ = 20

_INTRODUCTION = (
    "Share of a question's documents among the first hits, in percent, without the reranker that the",
    "package carries and with it (`python -m benchmarks reranker --models DIR`). Each set is measured by a",
    "reranker that was trained without it: LoCoMo by one without LoCoMo, BEAM by one without BEAM and",
    "without the encyclopedias. Turns are ordered by weights that their conversation had no part in. The",
    "written questions are of an author of whom nothing was trained on; before is the order by shared words.",
    "Time is the median of a whole recall.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Recall of a set in percent by depth, and milliseconds of a recall, without and with the reranker.

    Attributes:
        gains: By case, what recall at 5 gained.
    """

    set: str
    questions: int
    before: Mapping[int, float]
    after: Mapping[int, float]
    gains: Sequence[float] = ()
    ms_before: float = 0.0
    ms_after: float = 0.0


def run(
    data: Path, *, models: Path | None, stores: Path | None, embedder: str, sets: Sequence[str] = SETS
) -> list[Row]:
    """Measure each set without the reranker and with it.

    Args:
        data: Folder of the sets.
        models: Folder of the models that were trained without a set, `LEFT_OUT` in each; None for the one
            that the package carries, which knows all of them.
        stores: Folder that keeps the ingested sets between runs; None for a temporary one.
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder = stores or Path(scratch)
        rows = []
        left_out: dict[str, TurnScorer] = {}
        for name in sets:
            ranker = by_reading(_model(models, LEFT_OUT[name]))
            kinds = [kind for kind, each in KINDS.items() if each == name]
            with opened_set(data / name, folder / name, embedder) as memory:
                if kinds:
                    asked = list(turn_questions(memory, data / name, kinds[0]))
                    left_out |= {
                        case: by_turn_weights(fit([one for one in asked if one.case != case]))
                        for case in {one.case for one in asked}
                    }
                rows.append(_measured(memory, data / name, ranker, left_out))
            print(shown(rows[-1:]), flush=True)
        if models is None:
            return rows
        return rows + _written(by_reading(_model(models, "all")))


def _model(models: Path | None, name: str) -> PassageReranker:
    if models is None:
        return shared_reranker()
    return PassageReranker(
        PairModel(name=name, file=f"{name}/reranker.onnx", data=models, most_tokens=MOST_TOKENS)
    )


def _measured(
    memory: hydramem.Memory, data: Path, ranker: TextRanker, left_out: Mapping[str, TurnScorer]
) -> Row:
    ways: dict[str, list[Answered]] = {"before": [], "after": []}
    gains = []
    for case, rows, asked in asked_of(data):
        names = document_names(memory, rows)
        scorer = left_out.get(case, by_weights)
        at_5 = []
        for way, reranker in (("before", None), ("after", Reranker(lambda: ranker))):
            with recall_sources(memory, turn_scorer=scorer, reranker=reranker) as sources:
                answered = []
                for row in asked:
                    found = recalled(sources, case, row)
                    answered.append(
                        Answered(
                            category=str(row["category"]),
                            gold=frozenset(row["gold"]),
                            found=tuple(dict.fromkeys(names(hit) for hit in found.hits)),
                            seconds=sum(found.milliseconds.values()) / 1000,
                        )
                    )
            at_5.append(recall_at(5, answered) if answered else 0.0)
            ways[way] += answered
        gains.append(round(100 * (at_5[1] - at_5[0]), 1))
    times = {way: 1000 * float(np.median([one.seconds for one in found])) for way, found in ways.items()}
    return Row(
        set=data.name,
        questions=len(ways["before"]),
        before=_by_depth(ways["before"]),
        after=_by_depth(ways["after"]),
        gains=gains,
        ms_before=round(times["before"], 1),
        ms_after=round(times["after"], 1),
    )


def _written(ranker: TextRanker) -> list[Row]:
    questions = list(written("test"))
    return [
        Row(
            set=f"written: {kind}",
            questions=len(asked),
            before=_by_depth([_answer(one, range(len(one.candidates))) for one in asked]),
            after=_by_depth([_answer(one, _ranked(one, ranker)) for one in asked]),
        )
        for kind in sorted({one.set for one in questions})
        if (asked := [one for one in questions if one.set == kind])
    ]


def _ranked(question: Question, ranker: TextRanker) -> Sequence[int]:
    read = [
        RankedText(text=one.passage.text, spoken=True, before=one.passage.before)
        for one in question.candidates[:_READ]
    ]
    return (*ranker(question.query, read), *range(len(read), len(question.candidates)))


def _answer(question: Question, places: Sequence[int]) -> Answered:
    right = frozenset(str(place) for place, one in enumerate(question.candidates) if one.right)
    return Answered(category="", gold=right, found=tuple(map(str, places)), seconds=0.0)


def _by_depth(answered: Sequence[Answered]) -> dict[int, float]:
    return {depth: round(100 * recall_at(depth, answered), 1) for depth in DEPTHS}


def shown(rows: Sequence[Row]) -> str:
    """Return rows as a table."""
    head = ("set", "questions", *(f"@{depth}" for depth in DEPTHS), "gain @5 of the cases", "ms")
    lines = []
    for one in rows:
        recalls = [f"{one.before[depth]:.1f} -> {one.after[depth]:.1f}" for depth in DEPTHS]
        gain = f"{np.mean(one.gains):+.1f} ± {np.std(one.gains):.1f}" if len(one.gains) > 1 else ""
        spent = f"{one.ms_before:.0f} -> {one.ms_after:.0f}" if one.ms_before else ""
        lines.append((one.set, str(one.questions), *recalls, gain, spent))
    return "\n".join(table(head, lines))


def placed(page: str, rows: Sequence[Row], *, embedder: str) -> str:
    """Return a results page with the figures in their section."""
    about = where()
    made = f"Embedder {embedder}. Measured {about['date']} on {about['machine']}."
    return with_section(page, TITLE, ["", *_INTRODUCTION, "", shown(rows), "", made])
