"""Turns of conversations: the weights of their order, each conversation left out of the fit in turn.

Every question is recalled with weights that its own conversation had no part in.
"""

import json
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np

import hydramem
from benchmarks.conversations.fit import Question, fit
from benchmarks.results import table, where, with_section
from benchmarks.retrieval import Answered, by_case, document_names, ingest_case, recall_at
from benchmarks.retrieval import Row as Record
from hydramem.core.config import Config, EmbeddingConfig
from hydramem.llm.choose import choose_embedder
from hydramem.search.conversation.turn_order import NUMBERS, Floats, TurnScorer, TurnWeights
from hydramem.search.recall import recall
from hydramem.search.recall_run import RecallSources
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.schema import CHUNK

KINDS = {"people": "locomo-turn", "chat": "beam100k"}
"""The set that each kind of weights is fitted on."""

ALSO = {"locomo-turn": "locomo-session"}
"""The same conversations as a set of other documents, which is measured by the same weights."""

SHIPPED = Path(__file__).parents[2] / "hydramem" / "data" / "conversation" / "weights.json"
TITLE = "## Conversations"
DEPTHS = (5, 10)
_HITS = 40

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
            with _opened(data / name, folder / name, embedder) as memory:
                questions = list(_collected(memory, data / name, kind))
                left_out = {
                    case: fit([one for one in questions if one.case != case])
                    for case in sorted({one.case for one in questions})
                }
                weights[kind] = fit(questions)
                rows.append(_measured(memory, data / name, left_out))
            if name in ALSO:
                also = ALSO[name]
                with _opened(data / also, folder / also, embedder) as memory:
                    rows.append(_measured(memory, data / also, left_out))
    if refit:
        _write(weights, rows)
    return rows


def _opened(data: Path, folder: Path, embedder: str) -> hydramem.Memory:
    """Return the store of a set, ingested where the folder has none."""
    settings = EmbeddingConfig(model=embedder)
    new = not (folder / "store").exists()
    folder.mkdir(parents=True, exist_ok=True)
    memory = hydramem.connect(
        folder / "store", config=Config(embedding=settings), embedder=choose_embedder(settings)
    )
    if new:
        for number, (case, rows) in enumerate(by_case(data / "docs.jsonl").items()):
            ingest_case(memory, case, rows, folder / "sources" / str(number))
    return memory


@contextmanager
def _sources(memory: hydramem.Memory, scorer: TurnScorer) -> Iterator[RecallSources]:
    """Give where a memory's recalls look, with another scorer of turns."""
    store = memory._opened
    with store.reading() as space:
        yield RecallSources(
            graph=store.graph,
            vectors=space.vectors,
            snapshots=store.snapshots,
            embedder=space.embedder,
            settings=memory.config.search,
            anchors=partial(store.anchors.of, space.embedder),
            turn_scorer=scorer,
        )


def _asked(data: Path) -> Iterator[tuple[str, Sequence[Record], Sequence[Record]]]:
    queries = by_case(data / "queries.jsonl")
    for case, rows in by_case(data / "docs.jsonl").items():
        yield case, rows, [row for row in queries.get(case, []) if row["gold"]]


def _collected(memory: hydramem.Memory, data: Path, kind: str) -> Iterator[Question]:
    """Yield the questions with the numbers of their turns."""
    seen: list[tuple[str, Sequence[str], Floats]] = []

    def noted(kind: str, turns: Sequence[str], numbers: Floats) -> Floats:
        seen.append((kind, turns, numbers))
        return _unchanged(kind, turns, numbers)

    with _sources(memory, noted) as sources:
        turns_of = (chunk for batch in sources.graph.scan(CHUNK) for chunk in batch if chunk.kind == "turn")
        document_of = {chunk.id: str(chunk.metadata["id"]) for chunk in turns_of}
        for case, _, asked in _asked(data):
            for row in asked:
                seen.clear()
                _recalled(sources, case, row)
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


def _by(weights: TurnWeights) -> TurnScorer:
    return lambda kind, turns, numbers: weights.scores(numbers)


def _measured(memory: hydramem.Memory, data: Path, weights: Mapping[str, TurnWeights]) -> Row:
    """Recall every question without the learned order, and by the weights of its case."""
    before: list[Answered] = []
    after: list[Answered] = []
    gains: list[list[float]] = []
    for case, rows, asked in _asked(data):
        names = document_names(memory, rows)
        with _sources(memory, _unchanged) as sources:
            without = [_answered(_recalled(sources, case, row), row, names) for row in asked]
        with _sources(memory, _by(weights[case])) as sources:
            ordered = [_answered(_recalled(sources, case, row), row, names) for row in asked]
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


def _recalled(sources: RecallSources, case: str, row: Record) -> hydramem.Recall:
    return recall(
        row["query"],
        sources,
        where=ChunkFilter(projects=(case,)),
        limit=_HITS,
        traversal=sources.settings.traversal,
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
