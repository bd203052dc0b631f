"""Sets as stores that are kept between runs, and recall over them with parts exchanged."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import hydramem
from benchmarks.retrieval import Row, by_case, ingest_case
from hydramem.core.config import Config, EmbeddingConfig
from hydramem.llm.choose import choose_embedder
from hydramem.search.recall import recall
from hydramem.search.recall_run import RecallSources
from hydramem.storage.chunk_filter import ChunkFilter

HITS = 40


def opened_set(data: Path, folder: Path, embedder: str, *, documents: int | None = None) -> hydramem.Memory:
    """Return the store of a set, ingested where the folder has none.

    Args:
        data: Folder of the set.
        folder: Where its store is kept.
        documents: How many of the first documents of each case are ingested; None for all.
    """
    settings = EmbeddingConfig(model=embedder)
    new = not (folder / "store").exists()
    folder.mkdir(parents=True, exist_ok=True)
    memory = hydramem.connect(
        folder / "store", config=Config(embedding=settings), embedder=choose_embedder(settings)
    )
    if new:
        for number, (case, rows) in enumerate(by_case(data / "docs.jsonl").items()):
            ingest_case(memory, case, rows[:documents], folder / "sources" / str(number))
    return memory


@contextmanager
def recall_sources(memory: hydramem.Memory, **changed: Any) -> Iterator[RecallSources]:
    """Give where a memory's recalls look, without a reranker.

    Args:
        memory: An opened set.
        **changed: Fields of `RecallSources` in place of what the memory uses.
    """
    store = memory._opened
    with store.reading() as space:
        sources = RecallSources(
            graph=store.graph,
            vectors=space.vectors,
            snapshots=store.snapshots,
            embedder=space.embedder,
            settings=memory.config.search,
            anchors=partial(store.anchors.of, space.embedder),
        )
        yield replace(sources, **changed)


def asked_of(
    data: Path, *, documents: int | None = None
) -> Iterator[tuple[str, Sequence[Row], Sequence[Row]]]:
    """Yield the cases of a set: name, documents, and the questions whose documents are all among them."""
    queries = by_case(data / "queries.jsonl")
    for case, rows in by_case(data / "docs.jsonl").items():
        kept = rows[:documents]
        ids = {row["id"] for row in kept}
        yield case, kept, [row for row in queries.get(case, []) if row["gold"] and ids >= set(row["gold"])]


def recalled(sources: RecallSources, case: str, row: Row) -> hydramem.Recall:
    """Return what a question recalls in its case."""
    return recall(
        row["query"],
        sources,
        where=ChunkFilter(projects=(case,)),
        limit=HITS,
        traversal=sources.settings.traversal,
    )
