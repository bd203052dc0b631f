"""One HTTP server that answers in JSON, and the key for it: its failures become the errors of models."""

import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hydramem.core.config import EmbeddingConfig
from hydramem.core.errors import ModelError, ModelReplyError, ModelUnavailableError
from hydramem.llm.local_embedder import prefixes
from hydramem.llm.model_calls import TransientError, call, unit_rows
from hydramem.text.tokens import well_formed

T = TypeVar("T")

QUOTED = 300


@dataclass(frozen=True, slots=True)
class _Model:
    id: str


@dataclass(frozen=True, slots=True)
class _Models:
    data: list[_Model]


class Endpoint:
    """One server and the key for it. The key goes into a header and nowhere else.

    Args:
        url: Where it is, without a slash at the end.
        key: The key; empty where there is none.
        key_env: Name of the variable that holds the key, for messages.
        headers: Sent with every request.
        seconds: Time for one answer.
        structured: Words of a refusal that show that structured output is what it refuses.
    """

    def __init__(
        self,
        url: str,
        *,
        key: str,
        key_env: str,
        headers: Mapping[str, str],
        seconds: float,
        structured: tuple[str, ...] = (),
    ) -> None:
        import httpx

        self.url = url
        self._key = key
        self._key_env = key_env
        self._structured = structured
        self._client = httpx.Client(timeout=seconds, headers=dict(headers))
        weakref.finalize(self, self._client.close)

    def send(self, method: str, path: str, shape: type[T], body: Mapping[str, Any] | None = None) -> T:
        """Send one request and read its reply.

        Raises:
            TransientError: A failure that may pass.
            ModelError: Any other.
        """
        import httpx

        try:
            answer = self._client.request(method, f"{self.url}/{path}", json=body)
        except httpx.TimeoutException as error:
            raise ModelUnavailableError(f"{self.url}: no answer in time") from error
        except httpx.TransportError as error:
            raise TransientError(f"{self.url} is not reachable ({type(error).__name__})") from error
        except httpx.InvalidURL as error:
            raise ModelError(f"base_url {self.url!r} is not an address: {error}") from error
        if answer.status_code >= 300:
            raise self._problem(answer.status_code, answer.text, answer.headers.get("retry-after", ""))
        return self._read(answer.content, shape)

    def _read(self, content: bytes, shape: type[T]) -> T:
        from pydantic import TypeAdapter, ValidationError

        try:
            return TypeAdapter(shape).validate_json(content)
        except ValidationError as error:
            start = self._quote(content.decode("utf-8", "replace"))
            raise ModelReplyError(f"{self.url}: not an answer of such a server; it begins {start}") from error

    def _problem(self, status: int, text: str, retry_after: str) -> ModelError:
        said = f"{self.url} answers {status}: {self._quote(text)}"
        if status in (408, 429) or status >= 500:
            return TransientError(said, wait=float(retry_after) if retry_after.isdecimal() else None)
        if status in (401, 403):
            return ModelUnavailableError(f"{self.url} refuses the key in {self._key_env} ({status})")
        if any(word in text for word in self._structured):
            return ModelError(
                f"{self.url} refuses structured output ({self._structured[0]}), which is needed here; "
                f"use another model or server. It answers {status}: {self._quote(text)}"
            )
        return ModelUnavailableError(said) if status == 404 else ModelError(said)

    def _quote(self, text: str) -> str:
        """Quote the start of what a server said; some repeat the key that they were given."""
        return repr(text.replace(self._key, "***")[:QUOTED] if self._key else text[:QUOTED])


def key_for(url: str, key_env: str, environment: Mapping[str, str], *, needed: bool) -> str:
    """Look up the key of a server.

    Raises:
        ModelUnavailableError: It is needed and not set.
    """
    key = environment.get(key_env, "").strip()
    if needed and not key:
        raise ModelUnavailableError(f"{url} needs a key: set the environment variable {key_env}")
    return key


def first_model(endpoint: Endpoint, *, retries: int) -> str:
    """Return the first model that a server lists under `/models`.

    Raises:
        ModelUnavailableError: It cannot be reached, or lists none.
    """
    listed = call(lambda: endpoint.send("GET", "models", _Models), retries=retries)
    if not listed.data:
        raise ModelUnavailableError(f"{endpoint.url}: lists no model; set llm.model")
    return listed.data[0].id


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
