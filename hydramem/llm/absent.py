"""Stands for an embedder that cannot be had here, so that a store of its vectors opens and can leave it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hydramem.core.errors import HydraMemError, ModelUnavailableError


class AbsentEmbedder:
    """Knows its vector space and makes no vectors; see `Embedder`.

    Args:
        fingerprint: Name of the vector space.
        dimension: Length of its vectors.
        reason: Why the embedder cannot be had.
    """

    def __init__(self, fingerprint: str, dimension: int, reason: HydraMemError) -> None:
        self.fingerprint = fingerprint
        self.dimension = dimension
        self._reason = reason

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Raise ModelUnavailableError."""
        raise ModelUnavailableError(str(self._reason)) from self._reason

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Raise ModelUnavailableError."""
        raise ModelUnavailableError(str(self._reason)) from self._reason
