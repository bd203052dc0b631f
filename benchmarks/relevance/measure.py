"""The numbers of each query on each store, measured through the engine as a user has it."""

import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import hydramem
from benchmarks.relevance.asked import Kind, Store, Use
from benchmarks.retrieval import document_names, ingest_case
from hydramem.core.config import Config, EmbeddingConfig
from hydramem.llm.choose import choose_embedder
from hydramem.llm.contracts import Embedder
from hydramem.search.relevance.relevance import READ, Anchors, by_meaning, by_words, in_english
from hydramem.search.relevance.relevance_anchors import carried_anchors, measured
from hydramem.search.relevance.shared_grams import shared_grams
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.vector_rows import indexed_text

_HITS, _NEAREST = 10, 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One query on one store.

    Attributes:
        numbers: What relevance is made of, by name.
        gold_ranks: At which ranks, from 0, hits are of documents that answer it; for own questions.
        relevance: What recall said.
        use: Whether it is fitted on, measured, or both in turn.
        english: Whether the query or its hits are.
    """

    store: str
    store_kind: str
    kind: Kind
    wording: str
    numbers: Mapping[str, float]
    gold_ranks: tuple[int, ...]
    relevance: float
    use: Use = "both"
    english: bool = True

    @property
    def answerable(self) -> bool:
        """Whether one of the hits that relevance reads is gold."""
        return any(rank < READ for rank in self.gold_ranks)


def measure(stores: Iterable[Store], *, embedder: str) -> list[Measured]:
    """Fill each store and ask it everything.

    Args:
        embedder: The model, as `embedding.model` names it.
    """
    settings = EmbeddingConfig(model=embedder)
    model = choose_embedder(settings)
    anchors = carried_anchors(model.fingerprint) or measured(model)
    found: list[Measured] = []
    for number, store in enumerate(stores):
        with tempfile.TemporaryDirectory() as scratch:
            config = Config(embedding=settings)
            with hydramem.connect(Path(scratch) / "store", config=config, embedder=model) as memory:
                _fill(memory, store, Path(scratch) / "sources" / str(number))
                found += _ask(memory, store, model, anchors)
        print(f"{store.name}: {len(store.asked)} queries", file=sys.stderr, flush=True)
    return found


def _fill(memory: hydramem.Memory, store: Store, folder: Path) -> None:
    if store.documents:
        ingest_case(memory, store.name, store.documents, folder)
        return
    told = [hydramem.MemoryInput(text=text, metadata={"id": id}) for id, text in store.memories.items()]
    memory.remember_many(told, project=store.name)


def _ask(memory: hydramem.Memory, store: Store, model: Embedder, anchors: Anchors) -> Iterable[Measured]:
    named = document_names(memory, store.documents) if store.documents else None
    where = ChunkFilter(projects=(store.name,))
    count = next(each.chunks for each in memory.projects() if each.name == store.name)
    for one in store.asked:
        hits = memory.recall(one.text, limit=_HITS, project=store.name).hits
        vector = model.embed_query(one.text)
        with memory._opened.reading() as space:
            cosines = [found.score for found in space.vectors.nearest(vector, where, _NEAREST)]
        chunks = [memory.get(hit.id) for hit in hits]
        of = [str(each.metadata["id"]) for each in chunks] if named is None else [named(hit) for hit in hits]
        texts = [indexed_text(each) for each in chunks[:READ]]
        yield Measured(
            store=store.name,
            store_kind=store.kind,
            kind=one.kind,
            wording=one.wording,
            numbers={
                **by_words(one.text, texts),
                **by_meaning(vector, cosines, anchors, count),
                "grams": shared_grams(one.text, texts),
            },
            gold_ranks=tuple(rank for rank, document in enumerate(of) if document in one.gold),
            relevance=hits[0].relevance or 0.0 if hits else 0.0,
            use=one.use,
            english=in_english(one.text, texts),
        )
