"""A store of any size for measurements: real text, real vectors, names as unevenly spread as in text.

Sentences of a set's passages are shuffled into chunks. Some of the passages are embedded; the vector of a
chunk leans on two of them and a little on nothing, so that chunks lie as unevenly as text does and no
two are alike. What is written bypasses the model, which would take an hour, and nothing else.
"""

import json
import random
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count, islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import hydramem
from hydramem.core.config import Config
from hydramem.core.ids import entity_id, passage_id, relation_id
from hydramem.core.row_types import Chunk, ChunkKind, Document, Entity, Mention, Relation, Times
from hydramem.core.time import now
from hydramem.llm.contracts import Embedder
from hydramem.storage.changes import record
from hydramem.storage.write import Write
from hydramem.text.normalize import entity_key

PROJECT = "scale"

_BATCH = 2000
_SENTENCES = 4
_MENTIONS = 4
_EMBEDDED = 500
_APART = 0.3

Vectors = NDArray[np.float32]


def fill(
    path: Path,
    texts: Sequence[str],
    size: int,
    model: Embedder,
    *,
    kind: ChunkKind = "passage",
    entities: int = 0,
    relations: int = 1,
    config: Config | None = None,
) -> float:
    """Fill a new store; return the seconds that the store took, without those of the model and of the text.

    Args:
        path: Folder of the store.
        texts: Passages; the first line of each is a name.
        size: Chunks to write, each with four mentions.
        model: Embeds a sample of the passages, and serves the store.
        kind: What the chunks are.
        entities: How many, at least one for each name that the texts have.
        relations: How many for each chunk, on average.
        config: Of the store; the default one where there is none.
    """
    chance = random.Random(size)
    sample = model.embed_documents(chance.sample(texts, min(_EMBEDDED, len(texts))))
    sentences = [part for text in texts for part in re.split(r"(?<=[.!?])\s+", text) if part.strip()]
    names = list(dict.fromkeys(text.split("\n", 1)[0].strip() for text in texts if text.strip()))
    numbered = (f"{name} {number}" for number in count(2) for name in names)
    named = [_entity(name) for name in (*names, *islice(numbered, max(0, entities - len(names))))]
    # A name's share of mentions falls with its rank, as word frequencies do.
    shares = np.cumsum(1 / np.arange(1, len(named) + 1) ** 0.8).tolist()
    times = Times(recorded_at=now())
    took = 0.0
    with hydramem.connect(path, embedder=model, project=PROJECT, config=config) as memory:
        mirror = memory._opened.mirror
        for start in range(0, size, _BATCH):
            wanted = range(start, min(start + _BATCH, size))
            chunks = [replace(_chunk(number, chance, sentences, times), kind=kind) for number in wanted]
            document = str(chunks[0].document)
            write = Write(
                changes=(record("ingest", project=PROJECT, target=document),),
                documents=(_document(document, times),),
                chunks=tuple(chunks),
                entities=tuple(named) if start == 0 else (),
                mentions=tuple(_mentions(chunks, named, shares, chance)),
                relations=tuple(_relations(relations * len(chunks), named, shares, chance, times)),
            )
            rows = _between(sample, len(chunks), start)
            vectors = dict(zip((chunk.id for chunk in chunks), rows, strict=True))
            began = time.perf_counter()
            mirror.commit(write, vectors)
            took += time.perf_counter() - began
        began = time.perf_counter()
        memory._opened.vectors.maintain(force=True)
        memory._opened.graph.checkpoint()
    return took + time.perf_counter() - began


def passages(folder: Path) -> list[str]:
    """Return the passages of a set."""
    return [json.loads(line)["text"] for line in _lines(folder / "docs.jsonl")]


def questions(folder: Path) -> list[str]:
    """Return the questions of a set."""
    return [json.loads(line)["query"] for line in _lines(folder / "queries.jsonl")]


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _between(sample: Vectors, count: int, seed: int) -> Vectors:
    """Return unit rows that each lean on two of a sample."""
    draw = np.random.default_rng(seed)
    first, second = draw.integers(0, len(sample), (2, count))
    lean = draw.uniform(0.5, 1.0, (count, 1)).astype(np.float32)
    apart = draw.standard_normal((count, sample.shape[1]), dtype=np.float32) / np.sqrt(sample.shape[1])
    rows: Vectors = lean * sample[first] + (1 - lean) * sample[second] + _APART * apart.astype(np.float32)
    units: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return units


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
        vector_state="ready",
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
