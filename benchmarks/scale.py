"""Recall as a store grows: latency by stage, memory, load time, and right after single writes.

The store is filled with sentences of real text, shuffled into chunks; entities are mentioned as unevenly
as names are in text (Zipf). Vectors of chunks are hashed, which costs nothing; queries go through the
embedder named, as a user's do.
"""

import json
import random
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

import hydramem
from hydramem.core.config import EmbeddingConfig
from hydramem.core.ids import entity_id, entity_key, passage_id, relation_id
from hydramem.core.time import now
from hydramem.core.types import Chunk, Document, Entity, Mention, Relation, Times
from hydramem.llm.choose import choose_embedder
from hydramem.llm.hashing import HashEmbedder
from hydramem.llm.model import Embedder
from hydramem.opened import OpenStore
from hydramem.storage.changes import record
from hydramem.storage.store import Write

PROJECT = "scale"

_BATCH = 2000
_SENTENCES = 4
_MENTIONS = 4
_WRITES = 100
_WARM = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """What a store of one size measured; stages are (p50, p95) in milliseconds.

    Attributes:
        embed: The embedder alone, on the same queries in the same run.
        after_writes: Whole recalls right after single writes.
        load_seconds: The snapshot, from the graph store.
        rss_mb: Resident memory, with everything open and warm.
        snapshot_mb: What of it came with the snapshot.
    """

    chunks: int
    edges: int
    embed: tuple[float, float]
    recall: tuple[float, float]
    after_writes: tuple[float, float]
    ratio: float
    load_seconds: float
    snapshot_mb: float
    rss_mb: float
    stages: Mapping[str, tuple[float, float]] = field(default_factory=dict)


class Filling:
    """Hashes what is stored and embeds what is asked; see `Embedder`."""

    def __init__(self, asked: Embedder) -> None:
        self._asked, self._stored = asked, HashEmbedder(asked.dimension)

    @property
    def fingerprint(self) -> str:
        """Name of the vector space, which is no real one."""
        return f"{self._stored.fingerprint}+{self._asked.fingerprint}"

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._asked.dimension

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return hashed rows."""
        return self._stored.embed_documents(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the real embedder's vector."""
        return self._asked.embed_query(text)


def measure(folder: Path, size: int, *, embedder: str, queries: int) -> Scale:
    """Fill a store and ask it.

    Args:
        folder: A set; its documents are the text, its questions the queries.
        size: Chunks.
        embedder: Of the queries.
        queries: How many to ask, all different.
    """
    asked = [json.loads(line)["query"] for line in _lines(folder / "queries.jsonl")][:queries]
    model = Filling(choose_embedder(EmbeddingConfig(model=embedder)))
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "store"
        with hydramem.connect(path, embedder=model, project=PROJECT) as memory:
            _fill(memory._opened, _lines(folder / "docs.jsonl"), size)
        with hydramem.connect(path, embedder=model, project=PROJECT) as memory:
            return _measured(memory, asked, size, model)


def _measured(memory: hydramem.Memory, asked: Sequence[str], size: int, model: Embedder) -> Scale:
    before, started = _resident(), perf_counter()
    snapshot = memory._opened.snapshots.of(PROJECT)
    loaded, grown = perf_counter() - started, _resident() - before
    for query in asked[:_WARM]:
        memory.recall(query)
    embed = _times(lambda query: model.embed_query(query) is None, asked)
    stages: dict[str, list[float]] = {}

    def ask(query: str) -> None:
        for stage, milliseconds in memory.recall(query).milliseconds.items():
            stages.setdefault(stage, []).append(milliseconds)

    whole = _times(ask, asked)
    for number in range(_WRITES):
        memory.remember(f"Note {number}: {asked[number % len(asked)]}")
    after = _times(memory.recall, asked)
    return Scale(
        chunks=size,
        edges=len(snapshot.edges.source),
        embed=embed,
        recall=whole,
        after_writes=after,
        ratio=whole[0] / embed[0],
        load_seconds=loaded,
        snapshot_mb=grown,
        rss_mb=_resident(),
        stages={stage: _percentiles(found) for stage, found in stages.items()},
    )


def _times(act: object, asked: Sequence[str]) -> tuple[float, float]:
    assert callable(act)
    found = []
    for query in asked:
        started = perf_counter()
        act(query)
        found.append((perf_counter() - started) * 1000)
    return _percentiles(found)


def _percentiles(found: Sequence[float]) -> tuple[float, float]:
    return float(np.percentile(found, 50)), float(np.percentile(found, 95))


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 2**20


# Filling ----------------------------------------------------------------------------------------


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _fill(store: OpenStore, lines: Sequence[str], size: int) -> None:
    texts = [json.loads(line)["text"] for line in lines]
    chance = random.Random(size)
    sentences = [part for text in texts for part in re.split(r"(?<=[.!?])\s+", text) if part.strip()]
    names = list(dict.fromkeys(text.split("\n", 1)[0].strip() for text in texts if text.strip()))
    entities = [_entity(name) for name in names]
    # A name's share of mentions falls with its rank, as word frequencies do.
    shares = np.cumsum(1 / np.arange(1, len(entities) + 1) ** 0.8).tolist()
    times = Times(recorded_at=now())
    for start in range(0, size, _BATCH):
        wanted = range(start, min(start + _BATCH, size))
        chunks = [_chunk(number, chance, sentences, times) for number in wanted]
        written = chunks[0].document
        store.mirror.commit(
            Write(
                changes=(record("ingest", project=PROJECT, target=str(written)),),
                documents=(_document(str(written), times),),
                chunks=tuple(chunks),
                entities=tuple(entities) if start == 0 else (),
                mentions=tuple(_mentions(chunks, entities, shares, chance)),
                relations=tuple(_relations(len(chunks), entities, shares, chance, times)),
            )
        )
    store.vectors.maintain(force=True)


def _entity(name: str) -> Entity:
    key = entity_key(name)
    return Entity(
        id=entity_id(PROJECT, key), project=PROJECT, key=key, name=name, first_seen=now(), last_seen=now()
    )


def _document(id: str, times: Times) -> Document:
    return Document(
        id=id, project=PROJECT, source=id, source_type="text", title=id, content_hash=id, times=times
    )


def _chunk(number: int, chance: random.Random, sentences: Sequence[str], times: Times) -> Chunk:
    text = " ".join(chance.choices(sentences, k=_SENTENCES))
    document = f"d_scale{number // _BATCH}"
    return Chunk(
        id=passage_id(document, number, text),
        project=PROJECT,
        text=text,
        kind="passage",
        document=document,
        position=number,
        tokens=len(text) // 4,
        source=document,
        times=times,
    )


def _mentions(
    chunks: Sequence[Chunk], entities: Sequence[Entity], shares: Sequence[float], chance: random.Random
) -> Iterator[Mention]:
    for chunk in chunks:
        chosen = chance.choices(entities, cum_weights=shares, k=_MENTIONS)
        for id in dict.fromkeys(entity.id for entity in chosen):
            yield Mention(chunk=chunk.id, entity=id)


def _relations(
    count: int, entities: Sequence[Entity], shares: Sequence[float], chance: random.Random, times: Times
) -> Iterator[Relation]:
    found: dict[str, Relation] = {}
    for _ in range(count):
        subject, object = chance.choices(entities, cum_weights=shares, k=2)
        if subject.id != object.id:
            id = relation_id(PROJECT, subject.id, "knows", object.id, None)
            found[id] = Relation(
                id=id,
                project=PROJECT,
                subject=subject.id,
                type="knows",
                object=object.id,
                origin="extracted",
                times=times,
            )
    return iter(found.values())


def shown(scale: Scale) -> str:
    """Return the figures as a person reads them."""
    stages = "   ".join(f"{stage} {p50:.1f}/{p95:.1f}" for stage, (p50, p95) in scale.stages.items())
    return "\n".join(
        [
            f"{scale.chunks:,} chunks, {scale.edges:,} edges; milliseconds are p50/p95",
            f"  recall {_pair(scale.recall)}   after {_WRITES} writes {_pair(scale.after_writes)}   "
            f"embedder alone {_pair(scale.embed)}   ratio {scale.ratio:.1f}",
            f"  {stages}",
            f"  snapshot loaded in {scale.load_seconds:.2f} s, {scale.snapshot_mb:.0f} MB; "
            f"resident {scale.rss_mb:.0f} MB",
        ]
    )


def _pair(milliseconds: tuple[float, float]) -> str:
    return f"{milliseconds[0]:.1f}/{milliseconds[1]:.1f}"
