"""A whole store in memory, and what ingest needs of it."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hydramem.core.config import IngestConfig, MemoryConfig
from hydramem.core.results.write_results import Ingested, Remembered
from hydramem.core.row_types import Chunk, Relation
from hydramem.graph.snapshot.registry import Snapshots
from hydramem.ingest.documents.ingest import ingest
from hydramem.ingest.memories.memory_input import MemoryInput
from hydramem.ingest.memories.remember import remember
from hydramem.ingest.write_target import Accept, Target
from hydramem.llm.contracts import Generator
from hydramem.llm.hash_embedder import HashEmbedder
from hydramem.storage.changes import record
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.in_memory.graph import InMemoryGraph
from hydramem.storage.in_memory.vectors import InMemoryVectors
from hydramem.storage.outbox import Mirror
from hydramem.storage.store import Listing
from hydramem.storage.vector_rows import Vector
from hydramem.storage.write import Write

PROJECT = "notes"


class KilledError(Exception):
    """Stands for the process dying."""


@dataclass
class Kit:
    """Stores in memory, with counts of what was embedded and written."""

    settings: IngestConfig = field(default_factory=IngestConfig)
    graph: InMemoryGraph = field(default_factory=InMemoryGraph)
    embedded: list[str] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    dies_after: int | None = None

    def __post_init__(self) -> None:
        self.embedder = HashEmbedder()
        self.vectors = InMemoryVectors(self.embedder.dimension)
        self.snapshots = Snapshots(self.graph)
        self.mirror = Mirror(
            self.graph, lambda: self.vectors, self.embedder.embed_documents, self.snapshots.apply
        )

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.embedded.extend(texts)
        return self.embedder.embed_documents(texts)

    def commit(self, write: Write, vectors: Mapping[str, Vector]) -> None:
        if self.dies_after is not None and len(self.writes) >= self.dies_after:
            raise KilledError
        self.mirror.commit(write, vectors)
        self.writes.append(write)

    def known(self, keys: Sequence[str]) -> "dict[str, str]":
        return dict(self.snapshots.of(PROJECT).names.lookup(keys))

    def ingest(
        self,
        *sources: Path,
        accept: Accept | None = None,
        generator: Generator | None = None,
        **settings: int,
    ) -> Ingested:
        return ingest(
            sources,
            target=self.target(accept),
            settings=replace(self.settings, **settings),
            generator=generator,
        )

    def target(self, accept: Accept | None = None) -> Target:
        """Return where to write, as an opened store does."""
        return Target(
            project=PROJECT,
            graph=self.graph,
            commit=self.commit,
            one_writer=self.mirror.one_writer,
            embed=self.embed,
            known=self.known,
            accept=accept,
            looking=lambda: nullcontext(self.vectors),
        )

    def remember(self, text: str, *, settings: MemoryConfig | None = None, **fields: Any) -> Remembered:
        """Remember a note, as a caller of the memory does."""
        given = MemoryInput(**{"text": text, "kind": "note"} | fields)
        return remember(given, target=self.target(), settings=settings or MemoryConfig())

    def put(self, **rows: Any) -> None:
        """Store rows as they are."""
        self.commit(Write(changes=(record("test", project=PROJECT, target="x"),), **rows), {})

    def chunks(self) -> list[Chunk]:
        """Return the active chunks in order of their document."""
        rows = self.graph.list_chunks(ChunkFilter(projects=(PROJECT,)), Listing(limit=10_000))
        return sorted(rows, key=lambda row: (row.source, row.session or "", row.position))

    def texts(self) -> list[str]:
        return [row.text for row in self.chunks()]

    def relations(self) -> list[Relation]:
        return list(self.graph.list_relations(PROJECT, Listing(limit=1000)))

    def triples(self) -> set[tuple[str, str, str]]:
        """Return the active relations by name."""
        names = {row.id: row.name for row in self.graph.list_entities(PROJECT, Listing(limit=10_000))}
        return {(names[row.subject], row.type, names[row.object]) for row in self.relations()}

    def counted_right(self) -> bool:
        """Say whether each entity's count is of the active chunks that mention it."""
        active = {row.id for row in self.chunks()}
        for entity in self.graph.list_entities(PROJECT, Listing(limit=10_000)):
            mentions = {mention.chunk for mention in self.graph.mentioned([entity.id])} & active
            if len(mentions) != entity.mention_count:
                return False
        return True


@pytest.fixture
def kit() -> Kit:
    return Kit()
