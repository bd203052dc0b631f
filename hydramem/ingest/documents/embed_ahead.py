"""Embedding ahead of storing: the model works on the next batch while the last one is committed."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from hydramem.core.row_types import Chunk
from hydramem.storage.vector_rows import Vector, indexed_text
from hydramem.storage.write_validation import batches

Vectors = Mapping[str, Vector]

# Chunks in one call of the model: an interrupted ingest waits for no more than these.
_AT_ONCE = 64


class EmbeddingAhead:
    """Embeds chunks in a thread of its own, one batch after the other; leaving it stops the thread.

    Args:
        embed_by_id: Embeds texts by the id of their row.
    """

    def __init__(self, embed_by_id: Callable[[Mapping[str, str]], Mapping[str, Vector]]) -> None:
        self._embed_by_id = embed_by_id
        self._stopped = threading.Event()
        self._model = ThreadPoolExecutor(1, thread_name_prefix="hydramem-embed")

    def __enter__(self) -> "EmbeddingAhead":
        return self

    def __exit__(self, *raised: object) -> None:
        self._stopped.set()
        self._model.shutdown(cancel_futures=True)

    def start(self, chunks: Sequence[Chunk]) -> "Future[Vectors]":
        """Begin to embed chunks once those before them are done; the result raises what the model raised."""
        return self._model.submit(self._embed, chunks)

    def each(self, parts: Iterable[tuple[Sequence[Chunk], Sequence[Chunk]]]) -> "Iterator[_Embedded]":
        """Yield rows with the vectors of those to embed, always one step behind the model.

        Args:
            parts: Rows, and which of them to embed.
        """
        waiting: tuple[Sequence[Chunk], Future[Vectors]] | None = None
        for rows, wanted in parts:
            started = self.start(wanted)
            if waiting is not None:
                yield waiting[0], waiting[1].result()
            waiting = rows, started
        if waiting is not None:
            yield waiting[0], waiting[1].result()

    def _embed(self, chunks: Sequence[Chunk]) -> Vectors:
        vectors: dict[str, Vector] = {}
        # By length, as the model does within a call: texts that are read together are padded to the longest.
        ordered = {row.id: indexed_text(row) for row in sorted(chunks, key=lambda row: -len(row.text))}
        for ids in batches(ordered, _AT_ONCE):
            if self._stopped.is_set():
                break
            vectors |= self._embed_by_id({id: ordered[id] for id in ids})
        return vectors


_Embedded = tuple[Sequence[Chunk], Vectors]
