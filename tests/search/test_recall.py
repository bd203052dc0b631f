import threading
from collections.abc import Sequence
from dataclasses import replace

import pytest

from hydramem.core.config import SearchConfig
from hydramem.core.errors import InvalidInputError
from hydramem.core.results.hits import Recall
from hydramem.core.row_types import Chunk, Document, Link, Session, Times
from hydramem.graph.snapshot.registry import Snapshots
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.llm.hash_embedder import HashEmbedder
from hydramem.search.recall import recall
from hydramem.search.recall_run import RecallSources
from hydramem.search.relevance.relevance_anchors import AnchorsByEmbedder
from hydramem.search.rerank.rerank import Reranker
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.in_memory.graph import InMemoryGraph
from hydramem.storage.in_memory.vectors import InMemoryVectors
from hydramem.storage.store import Stretch
from hydramem.storage.vector_rows import ChunkVector, EntityVector, indexed_text
from tests.graph.graphs import THEN, P, chunk, entity, mention, relation, turn, write

ADA, BILLING, MYSQL = entity("Ada Lovelace", aliases=("Ada",)), entity("billing"), entity("MySQL")
LEAD = chunk("lead", "Ada Lovelace leads billing since the spring.")
DATABASE = chunk("database", "The invoices are kept in MySQL, version eight.")
WEATHER = chunk("weather", "It rained on the harbour all week.")
GRAPH = (
    *(ADA, BILLING, MYSQL, LEAD, DATABASE, WEATHER),
    *(relation(ADA, "leads", BILLING), relation(BILLING, "uses", MYSQL)),
    *(mention(LEAD, ADA), mention(LEAD, BILLING), mention(DATABASE, MYSQL)),
)


def document(id: str) -> Document:
    names = dict.fromkeys(("id", "source", "title", "content_hash"), id)
    return Document(project=P, source_type="text", times=Times(recorded_at=THEN), **names)


class Memory:
    """The real stores in memory, filled with rows, and recall over them."""

    def __init__(self, *rows: object) -> None:
        self.graph, self.embedder = InMemoryGraph(), HashEmbedder()
        self.vectors = InMemoryVectors(self.embedder.dimension)
        self.snapshots = Snapshots(self.graph)
        self.anchors = AnchorsByEmbedder(None)
        self.loads: list[Sequence[str]] = []
        self.add(*rows)

    def add(self, *rows: object) -> None:
        chunks = [row for row in rows if isinstance(row, Chunk)]
        self.keep(*rows)
        texts = [indexed_text(one) for one in chunks]
        if chunks:
            vectors = self.embedder.embed_documents(texts)
            self.vectors.put(
                [ChunkVector(chunk=one, vector=row) for one, row in zip(chunks, vectors, strict=True)]
            )

    def keep(self, *rows: object) -> None:
        """Write to the graph store alone, as if the vectors had not heard yet."""
        done = write(*rows)
        sessions = {one.session for one in done.chunks if one.session}
        documents = {one.document for one in done.chunks if one.document}
        done = replace(
            done,
            sessions=tuple(
                Session(id=id, project=P, name=id, started_at=THEN, last_at=THEN) for id in sorted(sessions)
            ),
            documents=tuple(document(id) for id in sorted(documents)),
        )
        self.graph.write(done)
        self.snapshots.apply(done)

    def recall(
        self,
        query: str,
        *,
        limit: int = 5,
        traversal="ppr",
        where=None,
        context: int = 0,
        max_tokens: int | None = None,
        reranker: Reranker | None = None,
        **settings: object,
    ) -> Recall:
        return recall(
            query,
            self.sources(reranker, **settings),
            context=context,
            max_tokens=max_tokens,
            where=where or ChunkFilter(projects=(P,)),
            limit=limit,
            traversal=traversal,
        )

    def sources(self, reranker: Reranker | None = None, **settings: object) -> RecallSources:
        return RecallSources(
            graph=self,
            vectors=self.vectors,
            snapshots=self.snapshots,
            embedder=self.embedder,
            settings=SearchConfig(**settings),
            anchors=lambda: self.anchors.of(self.embedder),
            reranker=reranker,
        )

    def chunks(self, ids: Sequence[str]) -> tuple[Chunk, ...]:
        self.loads.append(ids)
        return self.graph.chunks(ids)

    def links(self, chunks: Sequence[str]) -> tuple[Link, ...]:
        self.loads.append(chunks)
        return self.graph.links(chunks)

    def between(self, stretches: Sequence[Stretch]) -> tuple[Chunk, ...]:
        return self.graph.between(stretches)


@pytest.mark.parametrize("traversal", ["ppr", "bfs", "hybrid"])
def test_the_graph_leads_to_what_no_word_says(traversal: str) -> None:
    memory = Memory(*GRAPH)
    found = memory.recall("what does Ada lead to?", limit=2, traversal=traversal, vector_weight=0)
    assert [hit.id for hit in found.hits] == ["lead", "database"]
    assert found.entities == ("Ada Lovelace",)
    hit = found.hits[1]
    assert [str(step) for step in hit.path] == [
        "Ada Lovelace -[leads]-> billing",
        "billing -[uses]-> MySQL",
        "MySQL <-[mentions]- this passage",
    ]
    assert "raph: Ada Lovelace -[leads]-> billing -[uses]-> MySQL, mentioned here" in hit.why
    assert hit.scores.keys() == {"graph"}


def test_without_traversal_only_words_and_meaning_count() -> None:
    found = Memory(*GRAPH).recall("what does Ada lead to?", traversal="none", vector_weight=0)
    assert [hit.id for hit in found.hits] == ["lead"]
    assert found.hits[0].path == ()
    assert found.hits[0].why.startswith("Shares the words Ada, lead")


def test_a_query_without_a_name_is_walked_from_what_it_means() -> None:
    report, others = entity("quarterly revenue report"), [entity(f"thing {number}") for number in range(40)]
    memory = Memory(*GRAPH, report, *others, mention(DATABASE, report))
    named = memory.embedder.embed_documents([one.name for one in (report, *others)])
    memory.vectors.put(
        entities=[
            EntityVector(entity=one, vector=row) for one, row in zip((report, *others), named, strict=True)
        ]
    )
    found = memory.recall("the report of the revenue, quarterly")
    assert found.entities == ("quarterly revenue report",)
    assert "graph" in next(hit for hit in found.hits if hit.id == DATABASE.id).scores
    assert memory.recall("quite another matter").entities == ()
    assert memory.recall("the report of the revenue, quarterly", traversal="none").entities == ()


def test_scores_are_parts_and_stages_are_timed() -> None:
    found = Memory(*GRAPH).recall("MySQL invoices")
    assert found.hits[0].id == "database"
    for hit in found.hits:
        assert hit.score == pytest.approx(sum(hit.scores.values()))
    assert {"plan", "embed", "vector", "text", "graph", "check"} <= found.milliseconds.keys()


def test_neighbouring_turns_support_each_other() -> None:
    turns = [turn("s", position, text) for position, text in enumerate(["hello", "the key?", "in the attic"])]
    far = turn("t", 9, "key of the house, key of the car")
    found = Memory(*turns, far).recall("key attic", vector_weight=0)
    assert found.hits[0].id == "s-2"
    assert "neighbors" in found.hits[0].scores
    assert "is next to turns that match" in found.hits[0].why


def test_the_graph_store_has_the_last_word() -> None:
    memory = Memory(*GRAPH)
    memory.keep(replace(DATABASE, state="archived"))
    assert [hit.id for hit in memory.recall("MySQL invoices").hits if hit.id == "database"] == []
    gone = ChunkVector(chunk=chunk("ghost", "MySQL invoices"), vector=memory.embedder.embed_query("MySQL"))
    memory.vectors.put([gone])
    assert "ghost" not in [hit.id for hit in memory.recall("MySQL invoices").hits]


def test_a_memory_without_a_vector_yet_loses_nothing_by_it() -> None:
    alike = [chunk(f"n{number}", f"Note zeta{number} of the harbour in the rain.") for number in range(30)]
    memory = Memory(*alike)
    told = chunk("new", "Note zeta99 of the harbour in the rain.")
    memory.keep(told)
    memory.vectors.put([ChunkVector(chunk=told, vector=None)])
    assert memory.recall(told.text).hits[0].id == "new"


def test_the_same_words_of_a_document_come_once() -> None:
    one = chunk("one", "The harbour opens at seven. It closes at nine.", document="d_1")
    again = chunk("again", "It closes  at nine.", document="d_1")
    other = chunk("other", "It closes at nine.", document="d_2")
    similar = chunk("similar", "It closes at ten.", document="d_1")
    found = Memory(one, again, other, similar).recall("when does the harbour close: closes at nine", limit=10)
    ids = {hit.id for hit in found.hits}
    assert {"other", "similar"} < ids
    assert len(ids & {"one", "again"}) == 1


def test_limits_are_checked() -> None:
    memory = Memory(*GRAPH)
    for limit in (0, -1, 10**9):
        with pytest.raises(InvalidInputError, match="limit"):
            memory.recall("Ada", limit=limit)
    for query in ("", "  ", "x" * 40_000, "a\x00b", "\ud800"):
        with pytest.raises(InvalidInputError, match="query"):
            memory.recall(query)
    for query in ("'; DROP TABLE chunks; --", '" OR 1=1', "…", "東京", "(" * 500, "*"):
        memory.recall(query)  # odd queries are words


def test_what_the_filter_leaves_out_stays_out_of_every_arm() -> None:
    memory = Memory(*GRAPH, chunk("secret", "Ada's secret harbour", private=True))
    where = ChunkFilter(projects=(P,), include_private=False)
    assert "secret" not in [hit.id for hit in memory.recall("secret harbour", where=where).hits]
    past = ChunkFilter(projects=(P,), known_at=THEN.replace(year=2000))
    assert memory.recall("Ada", where=past).hits == ()
    notes = ChunkFilter(projects=(P,), kinds=("note",))
    assert memory.recall("what does Ada lead to?", where=notes).hits == ()
    assert memory.recall("Ada", where=ChunkFilter(projects=("nowhere",))).hits == ()
    assert [hit.id for hit in memory.recall("Ada", where=ChunkFilter(), limit=1).hits] == ["secret"]


class Slow(Snapshots):
    """Snapshots that are there once something else happened."""

    happened: threading.Event

    def of(self, project: str) -> Snapshot:
        """Return a snapshot."""
        assert self.happened.wait(20), "vectors wait for the graph"
        return super().of(project)


def test_the_first_recall_loads_the_graph_and_the_vectors_at_the_same_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memory, looked = Memory(*GRAPH), threading.Event()
    nearest = memory.vectors.nearest
    monkeypatch.setattr(memory.vectors, "nearest", lambda *asked: looked.set() or nearest(*asked))
    memory.snapshots = Slow(memory.graph)
    memory.snapshots.happened = looked
    assert memory.recall("what does Ada lead?").entities == ("Ada Lovelace",)
