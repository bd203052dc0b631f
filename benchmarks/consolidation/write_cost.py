"""What a memory costs over its embedding where each has a stored memory that it may touch."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

import hydramem
from benchmarks.consolidation.sets import Pair
from benchmarks.filling import PROJECT, fill
from hydramem.ingest.memories.memory_input import MemoryInput
from hydramem.llm.contracts import Embedder

MOST_MS = 25.0
_NAME = re.compile(r"(?<=\s)[A-Z]\w+(?: [A-Z]\w+)*")
_WARM_UP = 5

Percentiles = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteCost:
    """Milliseconds of one `remember`, as (p50, p95).

    Attributes:
        held: Memories in the store before.
        count: Memories timed.
        embedding: The embedder alone, on the same texts.
        remember: The whole call.
        over: What each call took longer than its embedding.
        over_processor: The same in time of processors, all threads together, which other programs on the
            machine do not lengthen.
    """

    held: int
    count: int
    embedding: Percentiles
    remember: Percentiles
    over: Percentiles
    over_processor: Percentiles

    @property
    def met(self) -> bool:
        """Return whether the median is within the bound."""
        return self.over[0] <= MOST_MS


def write_cost(
    place: Path, pairs: Sequence[Pair], *, held: int, count: int, embedder: Embedder
) -> WriteCost | None:
    """Fill a store, remember old texts, and time their new ones; None where nothing is to be timed.

    Args:
        place: Folder of the new store.
        pairs: Texts to fill with; new texts are of the first ones.
        held: Memories to begin with.
        count: Memories to time.
        embedder: Makes the vectors.
    """
    timed, warm = pairs[:count], pairs[count : count + _WARM_UP]
    if not timed:
        return None
    fill(place, [_passage(pair.old) for pair in pairs], held, embedder, kind="note")
    with hydramem.connect(place, embedder=embedder, project=PROJECT) as memory:
        memory.remember_many([MemoryInput(text=pair.old) for pair in (*timed, *warm)])
        memory.drain()
        for pair in warm:
            memory.remember(pair.new)
        memory.drain()
        spent = [_spent(memory, embedder, pair.new) for pair in timed]
    embedding, remember, embedding_processor, remember_processor = np.array(spent).T
    return WriteCost(
        held=held,
        count=len(timed),
        embedding=_percentiles(embedding),
        remember=_percentiles(remember),
        over=_percentiles(remember - embedding),
        over_processor=_percentiles(remember_processor - embedding_processor),
    )


def _passage(text: str) -> str:
    """Return a text under a name that it mentions, as a store is filled with; else under its longest word."""
    name = _NAME.search(text)
    return f"{name.group() if name else max(text.split(), key=len)}\n{text}"


def _spent(memory: hydramem.Memory, embedder: Embedder, text: str) -> tuple[float, ...]:
    """Return milliseconds: of the embedding alone and of remembering, by the clock, then by processors.

    Jobs that the memory leaves run afterwards, so that the next one does not wait for them.
    """
    moments = [(perf_counter(), process_time())]
    embedder.embed_documents([text])
    moments.append((perf_counter(), process_time()))
    memory.remember(text)
    moments.append((perf_counter(), process_time()))
    memory.drain()
    (embedding, remember), (embedding_processor, remember_processor) = np.diff(moments, axis=0).T * 1e3
    return embedding, remember, embedding_processor, remember_processor


def _percentiles(values: np.ndarray) -> Percentiles:
    return float(np.percentile(values, 50)), float(np.percentile(values, 95))
