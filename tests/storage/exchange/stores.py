"""Stores to dump and load, with what a `Memory` would hand over."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hydramem.core.results.upkeep_results import Dumped, Loaded
from hydramem.core.row_types import Change, Recalled, Times
from hydramem.llm.hash_embedder import HashEmbedder
from hydramem.storage.exchange.dump import DumpRequest, dump
from hydramem.storage.exchange.load import LoadTarget, load
from hydramem.storage.exchange.manifest import PARTS
from hydramem.storage.in_memory.graph import InMemoryGraph
from hydramem.storage.in_memory.vectors import InMemoryVectors
from hydramem.storage.outbox import Mirror, worth_a_vector
from hydramem.storage.repair.doctor import Progress
from hydramem.storage.store import GraphStore
from hydramem.storage.vector_rows import Vector, VectorStore
from hydramem.storage.write import Write
from tests.storage.rows import T0, at, chunk, document, entity, item, job, link, mention, relation, session


class Store:
    """A graph, its vectors and the way to write to both."""

    def __init__(
        self, graph: GraphStore | None = None, vectors: VectorStore | None = None, dimension: int = 16
    ) -> None:
        self.graph = graph or InMemoryGraph()
        self.embedder = HashEmbedder(dimension)
        self.vectors = vectors or InMemoryVectors(dimension)
        self.embedded = 0
        self.killed_after: int | None = None
        self.mirror = Mirror(self.graph, lambda: self.vectors, self.embed, lambda write: None)

    def embed(self, texts: Any) -> Any:
        self.embedded += len(texts)
        return self.embedder.embed_documents(texts)

    def commit(self, write: Write, vectors: Mapping[str, Vector]) -> None:
        """Commit, unless as many writes went before as it is to live through."""
        if self.killed_after is not None:
            self.killed_after -= 1
            if self.killed_after < 0:
                raise KeyboardInterrupt
        self.mirror.commit(write, vectors)

    def put(self, write: Write) -> None:
        """Commit rows with the vectors that they should have."""
        worth = {row.id: row.name for row in write.entities if worth_a_vector(row.mention_count)}
        self.mirror.commit(write, self.mirror.embed_by_id(worth))

    def dump(
        self, folder: Path, *, vectors: bool = False, progress: Progress | None = None, **wish: Any
    ) -> Dumped:
        wished = DumpRequest(
            vectors=self.vectors if vectors else None,
            embedder=self.embedder.fingerprint,
            dimension=self.embedder.dimension,
            **{"created_by": "tests", **wish},
        )
        return dump(self.graph, folder, wished, mirror=self.mirror, progress=progress)

    def load(self, folder: Path, **options: Any) -> Loaded:
        place = LoadTarget(
            graph=self.graph,
            commit=self.commit,
            one_writer=self.mirror.one_writer,
            embed=self.embed,
            embedder=self.embedder.fingerprint,
            dimension=self.embedder.dimension,
        )
        return load(folder, place, **options)

    def rows(self) -> dict[str, list[Any]]:
        """Return every row, by the name of its part."""
        return {
            part.name: sorted((row for batch in self.graph.scan(part.table) for row in batch), key=part.order)
            for part in PARTS
        }


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of a dump by name."""
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def change(id: str, **fields: Any) -> Change:
    given = {"project": "p", "actor": "tests", "operation": "remember", "target": "c1", "at": T0, **fields}
    return Change(**{"id": id, "before": None, "after": None, **given})


SAMPLE = Write(
    changes=(
        change("x1", after='{"text": "Ada leads billing."}', run="w1", image='{"made": []}'),
        change("x2", before='{"text": "old"}', reason="it’s wrong", request="q1", at=at(1)),
        change("x3", project="q", target="c4"),
    ),
    documents=(document("d1", metadata={"größe": 3, "odd": "\ud800", "deep": [1, {"x": None}]}),),
    sessions=(session("s1"), session("s2", project="q")),
    entities=(
        entity("e1", "Ada", mention_count=3, aliases=("A.", "Áda")),
        entity("e2", "'); MATCH (n) DETACH DELETE n //", description="東京"),
        entity("e3", "C++", project="q"),
    ),
    chunks=(
        chunk("c1", document="d1", position=2, heading_path=("A", "B"), vector_state="ready"),
        chunk(
            "c2",
            "Ada led\nbilling\u2028until 2019.",
            vector_state="ready",
            state="superseded",
            times=Times(recorded_at=T0, valid_from=at(-400), valid_to=at(-1)),
            metadata={"superseded_by": "c1"},
            recall_count=2,
            last_recalled_at=at(3),
        ),
        chunk("c3", "Who?", kind="turn", session="s1", author="user", private=True),
        chunk("c4", "Elsewhere.", project="q", session="s2", confidence=1e-300),
    ),
    mentions=(mention("c1", "e1", 2), mention("c2", "e1"), mention("c4", "e3")),
    relations=(
        relation(
            evidence=("c1",),
            quote="Ada leads",
            verdict="deferred",
            probability=0.1 + 0.2,
            verifier="srmkg:x",
            verified_at=at(1),
            scores={"jaccard": 0.25},
        ),
        relation(id="r_old", state="archived", metadata={"version_of": "r_e1_leads_e2"}),
    ),
    links=(link("c1", "c2", type="supersedes", weight=1.0, reason="newer"),),
    recalled=(
        Recalled(session="s1", chunk="c2", rank=1, at=at(2)),
        Recalled(session="s1", chunk="c2", rank=1, at=at(3)),
        Recalled(session="s1", chunk="c2", rank=2, at=at(3)),
    ),
    jobs=(job("j1", state="failed", attempts=5, error="no model"), job("j2", project="q")),
    items=(
        item("i1", namespace=("a/b", "é"), value='{"n":  1}', chunks=("c1",), ttl=0.5, expires_at=at(1)),
        item("i2", project="q", namespace=(), key="", session="talk", position=2**60),
    ),
    verbatim=True,
)
"""A little of everything."""
