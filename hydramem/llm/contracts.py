"""The two model contracts: Embedder turns text into vectors, Generator turns a prompt into a value."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from hydramem.core.row_types import Usage

T = TypeVar("T")


class Embedder(Protocol):
    """Turns text into unit-length float32 vectors. Loads its model at first use; safe from many threads."""

    @property
    def fingerprint(self) -> str:
        """Name of the vector space: two embedders with one fingerprint give comparable vectors."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return an array of shape (len(texts), dimension), rows in the order given.

        Raises:
            ModelError: The model failed; never a zero vector in its place.
        """

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return an array of shape (dimension,)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply(Generic[T]):
    """A validated value and what it cost."""

    value: T
    usage: Usage


class Generator(Protocol):
    """Answers a prompt with a value of a given shape."""

    @property
    def name(self) -> str:
        """Provider and model, e.g. `ollama:qwen3`."""

    def generate(self, prompt: str, shape: type[T], *, system: str = "") -> Reply[T]:
        """Answer a prompt with an instance of `shape`, a frozen dataclass that pydantic can validate.

        Raises:
            ModelUnavailableError: Not reachable, or no answer within the time-out and retries.
            ModelReplyError: The answer is not of the shape.
        """
