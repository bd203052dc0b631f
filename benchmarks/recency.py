"""What newness may add to a score: what changed comes first, and nothing that is asked for is lost.

Pairs of memories, each with a date, stand in one project: of an update the new text is asked for, of two that
are both true the old one. Questions about long conversations are asked at the end of each. Every setting
reads the same stores.
"""

import random
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from time import perf_counter

import hydramem
from benchmarks.consolidation.sets import Pair, read_past, read_sets
from benchmarks.results import table, where, with_section
from benchmarks.retrieval import Answered, Row, by_case, document_names, ingest_case, recall_at
from hydramem.core.config import Config, EmbeddingConfig, SearchConfig
from hydramem.core.time import now
from hydramem.llm.choose import choose_embedder
from hydramem.llm.contracts import Embedder
from hydramem.text.dates.transcript_times import parse_loose

TITLE = "## Recency"
SETS = ("locomo-turn", "beam100k")
SETTINGS = ((0.0, 30.0), (0.02, 30.0), (0.05, 30.0), (0.1, 30.0), (0.2, 30.0), (0.1, 7.0), (0.1, 180.0))
"""Weights, and days until they are halved."""

_INTRODUCTION = (
    "What `search.recency_weight` does (`python -m benchmarks recency`), in percent. The memory pairs of",
    "the set `test`, each dated at random within a year and both in one project, show what changed and what",
    "only looks alike; conversations, asked at their end, show what is lost. Links between versions put the",
    "current text first without any weight. A weight gains less there than it loses elsewhere: the default",
    "is 0. The questions for what was before are by an author who knows the rules.",
)
_PAIRS = "pairs"
_YEAR_DAYS, _MONTHS_APART = 365, 62
_HITS = 20
_BATCH = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class DatedPair:
    """Two texts, and when each was said.

    Attributes:
        past: Asks for the old text as what was so before; empty where there is no such question.
    """

    pair: Pair
    old_at: datetime
    new_at: datetime
    past: str = ""

    @property
    def far_apart(self) -> bool:
        """Whether a month that the old text is of cannot mean the new one."""
        return (self.new_at - self.old_at).days > _MONTHS_APART


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What one weight and half-life does, as shares.

    Attributes:
        days: The half-life.
        current: Updates whose new text comes before the old one.
        asked: Pairs of which both are true, and the old text, which is asked for, comes before the new one.
        month: Updates asked with the month of the old text, which comes before the new one.
        past: Updates asked for what was so before, without a date; the old text comes first.
        recall: By set, recall at 5 and at 10.
    """

    weight: float
    days: float
    current: float
    asked: float
    month: float
    past: float
    recall: Mapping[str, tuple[float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was measured, with how many questions.

    Attributes:
        dated, past: Updates that are asked with a month, and for what was so before.
        questions: By set of conversations.
    """

    embedder: str
    updates: int
    both_true: int
    dated: int
    past: int
    questions: Mapping[str, int]
    settings: tuple[Setting, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A conversation with its questions."""

    name: str
    rows: Sequence[Row]
    asked: Sequence[Row]


def measure(
    data: Path,
    *,
    embedder: str,
    pairs: Sequence[Pair] | None = None,
    settings: Sequence[tuple[float, float]] = SETTINGS,
    limit_queries: int | None = None,
    keep: Path | None = None,
) -> Report:
    """Fill the stores, and ask everything with each setting.

    Args:
        data: Folder of the sets.
        embedder: As in `benchmarks.retrieval`.
        pairs: Those to remember; by default the set `test`. Only those with a question count.
        settings: Weights, each with a half-life in days.
        limit_queries: Ask at most so many questions of each conversation, evenly spread over all.
        keep: Folder where filled stores are kept; one that is there is not filled again.
    """
    model = choose_embedder(EmbeddingConfig(model=embedder))
    told = dated([one for one in (read_sets().pairs if pairs is None else pairs) if one.question])
    sets = {name: _conversations(data / name, limit_queries) for name in SETS}
    with tempfile.TemporaryDirectory() as scratch:
        stores = Stores(folder=keep or Path(scratch), embedder=model)
        stores.fill(told, sets)
        found = tuple(_measured(stores, told, sets, weight, days) for weight, days in settings)
    return Report(
        embedder=model.fingerprint,
        updates=sum(one.pair.label == "update" for one in told),
        both_true=sum(one.pair.label == "unrelated" for one in told),
        dated=sum(one.pair.label == "update" and one.far_apart for one in told),
        past=sum(bool(one.past) for one in told),
        questions={name: sum(len(one.asked) for one in cases) for name, cases in sets.items()},
        settings=found,
    )


def dated(pairs: Sequence[Pair], seed: int = 11) -> list[DatedPair]:
    """Give each text a time of the past year: the old one any, the new one any after it."""
    draw, today, past = random.Random(seed), now().replace(microsecond=0), read_past()
    found = []
    for pair in pairs:
        old = draw.uniform(1, _YEAR_DAYS)
        new = draw.uniform(0, old)
        found.append(
            DatedPair(
                pair=pair,
                old_at=today - timedelta(days=old),
                new_at=today - timedelta(days=new),
                past=past.get(pair.old, ""),
            )
        )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """The filled stores, in a folder each."""

    folder: Path
    embedder: Embedder

    def opened(self, name: str, search: SearchConfig | None = None) -> hydramem.Memory:
        """Open a store with settings of the search."""
        config = Config(search=search or SearchConfig())
        return hydramem.connect(self.folder / name / "store", config=config, embedder=self.embedder)

    def fill(self, pairs: Sequence[DatedPair], sets: Mapping[str, Sequence[Conversation]]) -> None:
        """Fill those that are not there yet: all old texts, then all new ones; each set as documents."""
        if not (self.folder / _PAIRS).exists():
            with self.opened(_PAIRS) as memory:
                olds = [hydramem.MemoryInput(text=one.pair.old, happened_at=one.old_at) for one in pairs]
                news = [hydramem.MemoryInput(text=one.pair.new, happened_at=one.new_at) for one in pairs]
                for told in (olds, news):
                    for start in range(0, len(told), _BATCH):
                        memory.remember_many(told[start : start + _BATCH], project=_PAIRS)
                memory.drain()
        for name, cases in sets.items():
            if not (self.folder / name).exists():
                with self.opened(name) as memory:
                    for number, one in enumerate(cases):
                        ingest_case(memory, one.name, one.rows, self.folder / name / "sources" / str(number))


def _conversations(folder: Path, limit_queries: int | None) -> list[Conversation]:
    questions = by_case(folder / "queries.jsonl")
    return [
        Conversation(name=case, rows=rows, asked=_spread(questions[case], limit_queries))
        for case, rows in by_case(folder / "docs.jsonl").items()
    ]


def _spread(rows: Sequence[Row], most: int | None) -> Sequence[Row]:
    if most is None or len(rows) <= most:
        return rows
    return [rows[place * len(rows) // most] for place in range(most)]


def _measured(
    stores: Stores,
    pairs: Sequence[DatedPair],
    sets: Mapping[str, Sequence[Conversation]],
    weight: float,
    days: float,
) -> Setting:
    search = SearchConfig(recency_weight=weight, recency_days=days)
    with stores.opened(_PAIRS, search) as memory:
        found = {name: _share(first) for name, first in _orders(memory, pairs).items()}
    recall = {}
    for name, cases in sets.items():
        with stores.opened(name, search) as memory:
            answered = [one for case in cases for one in _asked(memory, case) if one.gold]
        recall[name] = (recall_at(5, answered), recall_at(10, answered))
    print(f"weight {weight:g}, {days:g} days: {found} {recall}", file=sys.stderr, flush=True)
    return Setting(weight=weight, days=days, recall=recall, **found)


def _orders(memory: hydramem.Memory, pairs: Sequence[DatedPair]) -> dict[str, list[bool]]:
    """Return, for each figure, whether each text that is asked for comes before the other of its pair."""
    orders: dict[str, list[bool]] = {"current": [], "asked": [], "month": [], "past": []}
    for one in pairs:
        pair = one.pair
        if pair.label != "update":
            orders["asked"].append(_before(memory, pair.question, pair.old, pair.new))
            continue
        orders["current"].append(_before(memory, pair.question, pair.new, pair.old))
        if one.far_apart:
            question = f"In {one.old_at:%B %Y}: {pair.question}"
            orders["month"].append(_before(memory, question, pair.old, pair.new))
        if one.past:
            orders["past"].append(_before(memory, one.past, pair.old, pair.new))
    return orders


def _before(memory: hydramem.Memory, question: str, first: str, other: str) -> bool:
    """Say whether the first text is among the hits, and the other is not or comes later."""
    texts = [hit.text for hit in memory.recall(question, project=_PAIRS).hits]
    return first in texts and (other not in texts or texts.index(first) < texts.index(other))


def _asked(memory: hydramem.Memory, case: Conversation) -> Iterator[Answered]:
    """Ask the questions of a conversation as of its last day, from which age is counted."""
    document_of = document_names(memory, case.rows)
    times = [parse_loose(row["meta"]["time"]) for row in case.rows]
    end = max(time for time in times if time is not None)
    for row in case.asked:
        started = perf_counter()
        hits = memory.recall(row["query"], limit=_HITS, project=case.name, as_of=end).hits
        yield Answered(
            category=str(row["category"]),
            gold=frozenset(row["gold"]),
            found=tuple(dict.fromkeys(document_of(hit) for hit in hits)),
            seconds=perf_counter() - started,
        )


def _share(found: Sequence[bool]) -> float:
    return sum(found) / len(found) if found else float("nan")


def shown(report: Report) -> str:
    """Return a report as a table."""
    counts = report.questions
    head = (
        "`recency_weight`",
        "`recency_days`",
        f"changed: the current text first ({report.updates})",
        f"both true: the older one, which is asked for, first ({report.both_true})",
        f"changed, asked with the month of the old text: that one first ({report.dated})",
        f"changed, asked for what was before: the old text first ({report.past})",
        *(f"{name} @5 / @10 ({counts[name]})" for name in SETS),
    )
    lines = [
        (
            f"{one.weight:g}",
            f"{one.days:g}",
            *(f"{100 * share:.1f}" for share in (one.current, one.asked, one.month, one.past)),
            *(" / ".join(f"{100 * share:.1f}" for share in one.recall[name]) for name in SETS),
        )
        for one in report.settings
    ]
    return "\n".join(table(head, lines))


def placed(page: str, report: Report) -> str:
    """Return a results page with the figures in their section."""
    about = where()
    made = f"Embedder {report.embedder}. Measured {about['date']} on {about['machine']}."
    return with_section(page, TITLE, ["", *_INTRODUCTION, "", shown(report), "", made])
