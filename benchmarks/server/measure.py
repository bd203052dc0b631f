"""Load, commits, writers, readers and whole recalls of a memory on PostgreSQL, beside the embedded folder."""

import random
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import hydramem
from benchmarks.filling import PROJECT, fill, passages
from benchmarks.server import workers
from benchmarks.server.database import served
from benchmarks.server.workers import Span, Worker, together
from hydramem.core.config import Config, EmbeddingConfig
from hydramem.llm.choose import choose_embedder
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.store import Listing

PROCESSES = (1, 2, 4, 8)
Pair = tuple[float, float]
_ROUNDS = 4
_INDEXED_QUERIES = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """Calls a second of several processes together, and (p50, p95) milliseconds of one call."""

    per_second: float
    ms: Pair


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What one kind of store measured.

    Attributes:
        load_seconds: Filling it with all rows, whose vectors are made.
        commit: One memory in one transaction, by one process.
        writers, readers: By their number. Writers of the embedded folder are threads of the process that
            holds it; its readers are processes, all but one of them its clients.
        recall: The whole of recall, in one process, in turns with the other kind.
        stages: Medians of its parts.
        found: Share of the questions whose chunk is among the first five, in percent.
    """

    load_seconds: float
    commit: Pair
    writers: dict[int, Rate]
    readers: dict[int, Rate]
    recall: Pair
    stages: dict[str, float]
    found: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One run on both kinds.

    Attributes:
        same: Share of the first five hits that both kinds find, in percent.
        index_recall, index_ms: Share of the exact 20 nearest that the server's vector index finds behind a
            filter, and (p50, p95) of that search.
    """

    chunks: int
    entities: int
    relations: int
    embedder: str
    questions: int
    server: Side
    embedded: Side
    same: float
    index_recall: float
    index_ms: Pair


def measure(
    data: Path, *, chunks: int, entities: int, relations: int, count: int, each: int, embedder: str
) -> Compared:
    """Measure both kinds of store on the same rows.

    Args:
        data: Folder of the sets, whose text fills the stores.
        chunks, entities, relations: How many of each there are.
        count: Questions of each measurement.
        each: Memories that each writer commits.
        embedder: Makes the vectors of questions, and of a sample of the text.
    """
    texts = passages(next(path.parent for path in sorted(data.glob("*/docs.jsonl"))))
    model = choose_embedder(EmbeddingConfig(model=embedder))
    with tempfile.TemporaryDirectory() as scratch, served(embedder) as on_server:
        folders = {"server": Path(scratch) / "server", "embedded": Path(scratch) / "embedded"}
        configs = {"server": on_server, "embedded": Config(embedding=EmbeddingConfig(model=embedder))}
        loads = {}
        for kind, folder in folders.items():
            loads[kind] = fill(
                folder, texts, chunks, model, entities=entities, relations=relations // chunks,
                config=configs[kind],
            )  # fmt: skip
        asked, gold = _questions(folders["embedded"], configs["embedded"], 2 * count)
        with _both(folders, configs) as both:
            recall = _in_turns(both, asked[:count])
            hits = {kind: worker.run(workers.hits, asked, 5) for kind, worker in both.items()}
            parts = {kind: worker.run(workers.stages, asked[count:]) for kind, worker in both.items()}
            commit = {kind: _pair(one.run(workers.commits, each, PROJECT)[2]) for kind, one in both.items()}
        sides = {
            kind: Side(
                load_seconds=loads[kind],
                commit=commit[kind],
                writers=_writers(kind, folders[kind], configs[kind], each),
                readers=_readers(folders[kind], configs[kind], asked[:count]),
                recall=recall[kind],
                stages=parts[kind],
                found=100 * float(np.mean([id in ids for id, ids in zip(gold, hits[kind], strict=True)])),
            )
            for kind in folders
        }
        index_recall, index_times = _indexed(folders["server"], on_server, chunks, model, asked)
    same = [
        len(set(a) & set(b)) / max(1, len(b)) for a, b in zip(hits["server"], hits["embedded"], strict=True)
    ]
    return Compared(
        chunks=chunks,
        entities=entities,
        relations=relations,
        embedder=model.fingerprint,
        questions=count,
        server=sides["server"],
        embedded=sides["embedded"],
        same=100 * float(np.mean(same)),
        index_recall=index_recall,
        index_ms=_pair(index_times),
    )


@contextmanager
def _both(folders: dict[str, Path], configs: dict[str, Config]) -> Iterator[dict[str, Worker]]:
    both = {kind: Worker(folder, configs[kind]) for kind, folder in folders.items()}
    yield both
    for worker in both.values():
        worker.end()


def _questions(folder: Path, config: Config, count: int) -> tuple[list[str], list[str]]:
    """Return some words in the order of a chunk's text, and the ids of the chunks."""
    chance = random.Random(count)
    with hydramem.connect(folder, project=PROJECT, config=config) as memory:
        rows = memory._opened.graph.list_chunks(ChunkFilter(projects=(PROJECT,)), Listing(limit=10 * count))
    chosen = chance.sample(rows, count)
    return [_fragment(row.text, chance) for row in chosen], [row.id for row in chosen]


def _fragment(text: str, chance: random.Random) -> str:
    words = text.split()
    start = chance.randrange(max(1, len(words) - 12))
    return " ".join(words[start : start + 12])


def _in_turns(both: dict[str, Worker], asked: Sequence[str]) -> dict[str, Pair]:
    """Time recalls of both kinds in turns, the same questions."""
    for worker in both.values():
        worker.run(workers.recalls, ["The first question loads what the others need."])
    times: dict[str, list[float]] = {kind: [] for kind in both}
    for turn, part in enumerate(np.array_split(np.array(asked, dtype=object), _ROUNDS)):
        for kind in sorted(both, reverse=bool(turn % 2)):
            times[kind] += both[kind].run(workers.recalls, part.tolist())[2]
    return {kind: _pair(found) for kind, found in times.items()}


def _writers(kind: str, folder: Path, config: Config, each: int) -> dict[int, Rate]:
    if kind == "embedded":
        holder = Worker(folder, config)
        found = {n: _rate(holder.run(workers.threads_commit, n, each, PROJECT)) for n in PROCESSES}
        holder.end()
        return found
    with _processes(folder, config) as processes:
        return {n: _at_once(processes[:n], workers.commits, each, PROJECT) for n in PROCESSES}


def _readers(folder: Path, config: Config, asked: Sequence[str]) -> dict[int, Rate]:
    with _processes(folder, config) as processes:
        for process in processes:
            process.run(workers.recalls, asked[:1])
        return {
            n: _at_once(processes[:n], workers.recalls, asked[: max(5, len(asked) // n)]) for n in PROCESSES
        }


@contextmanager
def _processes(folder: Path, config: Config) -> Iterator[list[Worker]]:
    # Nodes of a server share no folder; processes on one machine share the embedded one.
    apart = config.storage.graph == "postgres"
    folders = [folder.with_name(f"node-{n}") if apart else folder for n in range(max(PROCESSES))]
    processes = [Worker(each, config) for each in folders]
    yield processes
    for process in reversed(processes):
        process.end()


def _at_once(processes: Sequence[Worker], work: object, *given: object) -> Rate:
    begun = [process.begin(work, *given) for process in processes]  # type: ignore[arg-type]
    return _rate(together([one.result() for one in begun]))


def _indexed(
    folder: Path, config: Config, chunks: int, model: object, asked: Sequence[str]
) -> tuple[float, list[float]]:
    worker = Worker(folder, config)
    vectors = model.embed_documents(asked[:_INDEXED_QUERIES])  # type: ignore[attr-defined]
    found: tuple[float, list[float]] = worker.run(workers.approximate, vectors, chunks // 2)
    worker.end()
    return found


def _rate(span: Span) -> Rate:
    began, ended, times = span
    return Rate(per_second=len(times) / (ended - began), ms=_pair(times))


def _pair(times: Sequence[float]) -> Pair:
    return float(np.percentile(times, 50)), float(np.percentile(times, 95))
