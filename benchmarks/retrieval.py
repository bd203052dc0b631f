"""Retrieval quality and speed: documents go in as a user would have them, questions through `recall`.

A set is `docs.jsonl` and `queries.jsonl`; a case of it becomes a project. Passages and sessions are
written as text files, turns and messages as a transcript. A hit counts for the document of its chunk.
"""

import json
import resource
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

import numpy as np

import hydramem
from hydramem.core.config import Config, EmbeddingConfig, SearchConfig, StorageConfig
from hydramem.llm.choose import choose_embedder
from hydramem.llm.contracts import Embedder
from hydramem.storage.schema import CHUNK
from hydramem.storage.vector_rows import indexed_text

ABLATIONS = {
    "vector": SearchConfig(vector_weight=0.0),
    "text": SearchConfig(text_weight=0.0),
    "graph": SearchConfig(traversal="none"),
    "neighbours": SearchConfig(neighbor_weight=0.0),
    "speakers": SearchConfig(speaker_weight=0.0, asker_weight=0.0),
}
"""Parts of the search, and the configuration without each."""

EMBEDDERS = ("auto", "bge-small", "minilm", "hash")
DEPTHS = (1, 2, 5, 10)

# Several chunks may belong to one document; so many hits leave ten documents in nearly every case.
_HITS = 40
_BATCH = 256

Row = Mapping[str, Any]
Engine = Literal["ladybug", "kuzu", "memory"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a run measured: recall and MRR as shares, latency in milliseconds, rates in chunks a second.

    Attributes:
        ablations: Recall with one part of the search left out, by what was.
    """

    set: str
    embedder: str
    engine: str
    cases: int
    documents: int
    queries: int
    recall: Mapping[str, float]
    mrr: float
    by_category: Mapping[str, Mapping[str, float]]
    latency_p50_ms: float
    latency_p95_ms: float
    ingest_rate: float
    embedder_rate: float
    ingest_ratio: float
    peak_rss_mb: float
    ablations: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """One question: which documents came, best first, and how long it took."""

    category: str
    gold: frozenset[str]
    found: tuple[str, ...]
    seconds: float


def measure(
    folder: Path, *, embedder: str, engine: Engine, limit_queries: int | None = None, ablate: bool = False
) -> Report:
    """Ingest a set and ask its questions.

    Args:
        folder: Holds `docs.jsonl` and `queries.jsonl`.
        embedder: A name of `EMBEDDERS`.
        engine: The graph engine.
        limit_queries: Ask only the first so many questions of each case.
        ablate: Whether to ask again with each part of the search left out in turn.
    """
    docs, queries = by_case(folder / "docs.jsonl"), by_case(folder / "queries.jsonl")
    settings = EmbeddingConfig(model=embedder)
    model = choose_embedder(settings)
    model.embed_query("loads the model, which is not counted")
    config = Config(storage=StorageConfig(graph=engine), embedding=settings)
    asked = {case: (rows, queries.get(case, [])[:limit_queries]) for case, rows in docs.items()}
    without: dict[str, Mapping[str, float]] = {}
    with tempfile.TemporaryDirectory() as scratch, _connect(Path(scratch), config, model) as memory:
        ingesting = sum(
            ingest_case(memory, case, rows, Path(scratch) / "sources" / str(number))
            for number, (case, rows) in enumerate(docs.items())
        )
        bare, chunks = _embedder_seconds(memory, model)
        answered = ask_all(memory, asked)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        for name in ABLATIONS if ablate else ():
            memory.close()
            memory = _connect(Path(scratch), replace(config, search=ABLATIONS[name]), model)
            without[name] = recalls_of([one for one in ask_all(memory, asked) if one.gold])
            _say(f"without {name}: {_line(without[name])}")
        memory.close()
    total = sum(map(len, docs.values()))
    report = _report(
        *(folder.name, model.fingerprint, engine, len(docs), total, answered),
        ingest_rate=chunks / ingesting,
        embedder_rate=chunks / bare,
        peak=peak,
    )
    return replace(report, ablations=without)


def ingest_case(memory: hydramem.Memory, case: str, rows: Sequence[Row], folder: Path) -> float:
    source = _written(folder, rows)
    started = perf_counter()
    memory.ingest([str(source)], project=case)
    seconds = perf_counter() - started
    _say(f"{case}: {len(rows)} documents in {seconds:.0f} s")
    return seconds


def ask_all(
    memory: hydramem.Memory, asked: Mapping[str, tuple[Sequence[Row], Sequence[Row]]]
) -> list[Answered]:
    return [one for case, (rows, questions) in asked.items() for one in _ask(memory, case, rows, questions)]


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def by_case(path: Path) -> dict[str, list[Row]]:
    cases: dict[str, list[Row]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        cases.setdefault(row["case"], []).append(row)
    return cases


def _connect(scratch: Path, config: Config, model: Embedder) -> hydramem.Memory:
    return hydramem.connect(scratch / "store", config=config, embedder=model)


def _embedder_seconds(memory: hydramem.Memory, model: Embedder) -> tuple[float, int]:
    """Time the embedder alone on the texts that ingest gave it; return seconds and how many there were."""
    texts = [indexed_text(chunk) for batch in memory._opened.graph.scan(CHUNK) for chunk in batch]
    started = perf_counter()
    for begin in range(0, len(texts), _BATCH):
        model.embed_documents(texts[begin : begin + _BATCH])
    return perf_counter() - started, len(texts)


# Documents as files -----------------------------------------------------------------------------


def _written(folder: Path, rows: Sequence[Row]) -> Path:
    folder.mkdir(parents=True)
    if _speaker(rows[0]) is not None:
        return _transcript(folder / "transcript.jsonl", rows)
    for row in rows:
        (folder / f"{row['id']}.txt").write_text(row["text"], encoding="utf-8")
    return folder


def _speaker(row: Row) -> str | None:
    meta = row["meta"]
    who: str | None = meta.get("speaker") or meta.get("role")
    return who


def _transcript(path: Path, rows: Sequence[Row]) -> Path:
    lines = (json.dumps(_turn(row), ensure_ascii=False) for row in rows)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _turn(row: Row) -> Row:
    """Write a turn as a chat export has it: the speaker apart from what was said."""
    meta, who = row["meta"], _speaker(row)
    return {
        "id": row["id"],
        "author": who,
        "content": row["text"].removeprefix(f"{who}: "),
        "session": meta["session"],
        "time": meta["time"],
    }


# Questions --------------------------------------------------------------------------------------


def _ask(memory: hydramem.Memory, case: str, rows: Sequence[Row], asked: Sequence[Row]) -> list[Answered]:
    document_of = document_names(memory, rows)
    answered = []
    for row in asked:
        started = perf_counter()
        recalled = memory.recall(row["query"], limit=_HITS, project=case)
        seconds = perf_counter() - started
        found = tuple(dict.fromkeys(document_of(hit) for hit in recalled.hits))
        answered.append(
            Answered(category=str(row["category"]), gold=frozenset(row["gold"]), found=found, seconds=seconds)
        )
    return answered


def document_names(memory: hydramem.Memory, rows: Sequence[Row]) -> Callable[[hydramem.Hit], str]:
    if _speaker(rows[0]) is None:
        return lambda hit: Path(hit.source).stem
    known: dict[str, str] = {}

    def turn_name(hit: hydramem.Hit) -> str:
        if hit.id not in known:
            known[hit.id] = str(memory.get(hit.id).metadata["id"])
        return known[hit.id]

    return turn_name


def recall_at(depth: int, answered: Sequence[Answered]) -> float:
    """Return the mean share of a question's documents among its first so many."""
    return float(np.mean([len(one.gold & set(one.found[:depth])) / len(one.gold) for one in answered]))


def mean_reciprocal_rank(answered: Sequence[Answered]) -> float:
    """Return the mean of one over the rank of a question's first right document, 0 where none came."""
    ranks = [next((rank for rank, id in enumerate(one.found, 1) if id in one.gold), 0) for one in answered]
    return float(np.mean([1 / rank if rank else 0.0 for rank in ranks]))


def recalls_of(answered: Sequence[Answered]) -> dict[str, float]:
    return {f"@{depth}": recall_at(depth, answered) for depth in DEPTHS}


def _report(
    name: str,
    embedder: str,
    engine: str,
    cases: int,
    documents: int,
    answered: Sequence[Answered],
    *,
    ingest_rate: float,
    embedder_rate: float,
    peak: float,
) -> Report:
    # A question without documents to find cannot be scored.
    scored = [one for one in answered if one.gold]
    milliseconds = np.array([one.seconds for one in answered]) * 1000
    categories = sorted({one.category for one in scored})
    return Report(
        set=name,
        embedder=embedder,
        engine=engine,
        cases=cases,
        documents=documents,
        queries=len(scored),
        recall=recalls_of(scored),
        mrr=mean_reciprocal_rank(scored),
        by_category={
            category: recalls_of([one for one in scored if one.category == category])
            for category in categories
        },
        latency_p50_ms=float(np.percentile(milliseconds, 50)),
        latency_p95_ms=float(np.percentile(milliseconds, 95)),
        ingest_rate=ingest_rate,
        embedder_rate=embedder_rate,
        ingest_ratio=ingest_rate / embedder_rate,
        peak_rss_mb=peak,
    )


def shown(report: Report) -> str:
    """Return a report as a person reads it."""
    head = f"{report.set}: {report.documents} documents, {report.queries} questions, {report.cases} cases"
    lines = [
        f"{head}; {report.embedder}, {report.engine}",
        f"recall   {_line(report.recall)}   MRR {report.mrr:.3f}",
        *(f"  {category:24} {_line(recalls)}" for category, recalls in report.by_category.items()),
        f"latency  p50 {report.latency_p50_ms:.1f} ms   p95 {report.latency_p95_ms:.1f} ms",
        f"ingest   {report.ingest_rate:.1f} chunks/s, embedder alone {report.embedder_rate:.1f}, "
        f"ratio {report.ingest_ratio:.2f}",
        f"memory   {report.peak_rss_mb:.0f} MB at its peak",
        *(f"  without {name:16} {_line(recalls)}" for name, recalls in report.ablations.items()),
    ]
    return "\n".join(lines)


def _line(recalls: Mapping[str, float]) -> str:
    return "   ".join(f"{depth} {share * 100:5.1f}" for depth, share in recalls.items())
