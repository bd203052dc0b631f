"""What serves recall: the vectors and the embedder in whose space they lie, always read as one value."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from hydramem.core.errors import StorageError
from hydramem.llm.contracts import Embedder
from hydramem.storage.store import VectorStore


# Compared by identity: a folder that was rebuilt is another space to whoever reads it.
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Space:
    """An embedder and the vectors that it made.

    Attributes:
        folder: Name of the folder of the vectors.
        held: The vectors, or why they cannot be had.
    """

    embedder: Embedder
    folder: str
    held: VectorStore | StorageError

    @property
    def vectors(self) -> VectorStore:
        """The vector store.

        Raises:
            StorageError: It is damaged or gone; the message says how to rebuild it.
        """
        if isinstance(self.held, StorageError):
            raise self.held
        return self.held

    def close(self) -> None:
        """Release the vectors; harmless when repeated."""
        if not isinstance(self.held, StorageError):
            self.held.close()


class Serving:
    """The space in use; another can take its place while reads of the old one finish."""

    def __init__(self, space: Space) -> None:
        self._changed = threading.Condition()
        self._current = space
        self._readers: Counter[Space] = Counter()

    @property
    def current(self) -> Space:
        """The space that serves now."""
        return self._current

    @contextmanager
    def reading(self) -> Iterator[Space]:
        """Hold the space that serves now: it stays open until this ends, even where another takes over."""
        with self._changed:
            space = self._current
            self._readers[space] += 1
        try:
            yield space
        finally:
            with self._changed:
                self._readers[space] -= 1
                if not self._readers[space]:
                    del self._readers[space]
                self._changed.notify_all()

    def replace(self, space: Space) -> None:
        """Let another space serve every read that begins from now on."""
        with self._changed:
            self._current = space

    def retire(self, space: Space) -> None:
        """Wait until nobody reads a space that no longer serves, and close it."""
        with self._changed:
            self._changed.wait_for(lambda: space not in self._readers)
        space.close()

    def close(self) -> None:
        """Release the space that serves."""
        self._current.close()
