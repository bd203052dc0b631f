"""What the remote embedders share: batches, retries, prefixes, and a dimension learnt from one reply."""

import threading
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hydramem.core.config import EmbeddingConfig
from hydramem.core.errors import ModelReplyError
from hydramem.llm.calls import call, unit_rows
from hydramem.llm.embedder import prefixes
from hydramem.text.tokens import well_formed

REMOTE_SECONDS = 60.0

_RETRIES = 2

# Servers refuse an empty input, yet every text has a place in the space.
_NOTHING = " "


class RemoteEmbedder:
    """Vectors from a server; a provider adds the one request. See `Embedder`."""

    def __init__(self, settings: EmbeddingConfig, *, known_dimension: int = 0) -> None:
        self._settings = settings
        self._known_dimension = known_dimension or settings.dimension
        self._query_prefix, self._document_prefix = prefixes(settings.model)
        self._lock = threading.Lock()

    @property
    def fingerprint(self) -> str:
        """Name of the vector space, e.g. `ollama:nomic-embed-text/768`; may ask the server once."""
        return f"{self._name}/{self.dimension}"

    @property
    def dimension(self) -> int:
        """Length of a vector; asks the server once where neither the store nor the configuration says."""
        with self._lock:
            if not self._known_dimension:
                self._known_dimension = self._fetch([_NOTHING]).shape[1]
            return self._known_dimension

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit-length rows of shape (len(texts), dimension), in the order given.

        Raises:
            ModelError: The server is not reachable, or its reply cannot be used.
        """
        size = max(1, self._settings.batch_size)
        sent = [well_formed(self._document_prefix + text) or _NOTHING for text in texts]
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(sent), size):
            rows[start : start + size] = self._checked(sent[start : start + size])
        return rows

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return a unit-length array of shape (dimension,).

        Raises:
            ModelError: The server is not reachable, or its reply cannot be used.
        """
        row: NDArray[np.float32] = self._checked([well_formed(self._query_prefix + text) or _NOTHING])[0]
        return row

    @property
    def _name(self) -> str:
        return f"{self._settings.provider}:{self._settings.model}"

    def _checked(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = self._fetch(texts)
        if rows.shape[1] != self.dimension:
            raise ModelReplyError(f"{self._name}: expected vectors of {self.dimension}, got {rows.shape[1]}")
        return rows

    def _fetch(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = call(lambda: self._request(texts, self._settings.dimension), retries=_RETRIES)
        return unit_rows(vectors, count=len(texts), name=self._name)

    def _request(self, texts: Sequence[str], dimension: int) -> Sequence[Sequence[float]]:
        """Ask the server once; `dimension` 0 leaves the length to the model."""
        raise NotImplementedError
