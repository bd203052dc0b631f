"""Models on a server: retries with back-off, checked replies, and what all generators and embedders share."""

import logging
import random
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hydramem.core.config import EmbeddingConfig, LlmConfig
from hydramem.core.errors import ModelReplyError, ModelUnavailableError
from hydramem.core.row_types import Usage
from hydramem.core.stages import stage
from hydramem.llm.contracts import Reply
from hydramem.llm.local_embedder import prefixes
from hydramem.text.surrogates import well_formed

T = TypeVar("T")
_log = logging.getLogger(__name__)
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 30.0
_QUOTED = 200
REMOTE_SECONDS = 60.0
_EMBEDDER_RETRIES = 2

# Servers refuse an empty input, yet every text has a place in the space.
_NOTHING = " "


class TransientError(ModelUnavailableError):
    """A failure that may pass: no connection, too many requests, or an error of the server.

    Attributes:
        wait: Seconds that the server asks to wait; None where it does not say.
    """

    def __init__(self, message: str, *, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


def call(attempt: Callable[[], T], *, retries: int, pause: float = _FIRST_PAUSE) -> T:
    """Call a remote model, again after failures that may pass, waiting twice as long each time.

    Args:
        attempt: One try; raises TransientError for what may pass.
        retries: Further tries after the first.
        pause: Seconds before the second try.

    Raises:
        ModelUnavailableError: The last try failed too.
    """
    with stage("model"):
        return _until_answered(attempt, retries, pause)


def _until_answered(attempt: Callable[[], T], retries: int, pause: float) -> T:
    for tried in range(retries):
        try:
            return attempt()
        except TransientError as error:
            backed_off = pause * 2**tried * random.uniform(0.8, 1.2)  # noqa: S311 - spreads clients, no secret
            waited = min(error.wait if error.wait is not None else backed_off, _LONGEST_PAUSE)
            _log.info("%s; trying again in %.1f s", error, waited)
            time.sleep(waited)
    return attempt()


def read_reply(text: str, shape: type[T], *, name: str) -> T:
    """Turn a model's reply into a value.

    Args:
        text: JSON, and nothing else.
        shape: A frozen dataclass.
        name: The model, for the message.

    Raises:
        ModelReplyError: The reply is not JSON of that shape; quotes its start.
    """
    from pydantic import ValidationError

    try:
        value: T = _adapter(shape).validate_json(text)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, problem["loc"]))
        raise ModelReplyError(
            f"{name}: the reply is not a {shape.__name__}: {f'{place}: ' if place else ''}{problem['msg']}; "
            f"it begins {text[:_QUOTED]!r}"
        ) from error
    return value


def schema_of(shape: type[Any]) -> dict[str, Any]:
    """Return the JSON schema of a shape; every field must be given, and no other may be."""
    schema: dict[str, Any] = _adapter(shape).json_schema()
    _close(schema)
    return schema


def unit_rows(vectors: Sequence[Sequence[float]], *, count: int, name: str) -> NDArray[np.float32]:
    """Turn the vectors of a reply into unit-length rows.

    Raises:
        ModelReplyError: There are not `count` of one length, or one has no direction.
    """
    lengths = {len(vector) for vector in vectors}
    if len(vectors) != count or len(lengths) != 1:
        raise ModelReplyError(
            f"{name}: asked for {count} vectors of one length, got {len(vectors)} of {sorted(lengths)}"
        )
    rows = np.asarray(vectors, dtype=np.float64)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(norms).all() or (norms == 0).any():
        raise ModelReplyError(f"{name}: gave a vector without a direction")
    unit: NDArray[np.float32] = (rows / norms).astype(np.float32)
    return unit


def _adapter(shape: type[Any]) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(shape)


def _close(schema: dict[str, Any]) -> None:
    """Make every object in a schema strict, in place, as strict structured output demands."""
    schema.pop("default", None)
    if "properties" in schema:
        schema["required"] = list(schema["properties"])
        schema["additionalProperties"] = False
    # `properties` and `$defs` map names to schemas; the others hold schemas themselves.
    named = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()]
    held = [schema.get("items"), schema.get("additionalProperties")]
    listed = [*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("prefixItems", ())]
    for part in (*named, *held, *listed):
        if isinstance(part, dict):
            _close(part)


class RemoteGenerator:
    """Answers of a model on a server; a provider adds the requests. See `Generator`."""

    _provider: str

    def __init__(self, settings: LlmConfig) -> None:
        self._settings = settings
        self._model = settings.model

    @property
    def name(self) -> str:
        """Provider and model."""
        return f"{self._provider}:{self._model or '(the first it lists)'}"

    def generate(self, prompt: str, shape: type[T], *, system: str = "") -> Reply[T]:
        """Answer a prompt with an instance of `shape`.

        Raises:
            ModelUnavailableError: Not reachable, or no answer within the time-out and retries.
            ModelReplyError: The answer is not of the shape.
            ModelError: The server refuses the request, or structured output.
        """
        self._model = self._model or self._first_model()
        text, usage = self._answer(well_formed(prompt), shape, well_formed(system))
        return Reply(value=read_reply(text, shape, name=self.name), usage=usage)

    def _first_model(self) -> str:
        """Return the first model that the server lists."""
        raise NotImplementedError

    def _answer(self, prompt: str, shape: type[Any], system: str) -> tuple[str, Usage]:
        """Return the JSON text of an answer, and what it cost."""
        raise NotImplementedError

    def _call(self, attempt: Callable[[], T]) -> T:
        return call(attempt, retries=self._settings.retries)


def messages(prompt: str, system: str) -> list[dict[str, str]]:
    """Return a prompt as the messages of a chat, after the system's where there is one."""
    user = [{"role": "user", "content": prompt}]
    return [{"role": "system", "content": system}, *user] if system else user


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
        vectors = call(lambda: self._request(texts, self._settings.dimension), retries=_EMBEDDER_RETRIES)
        return unit_rows(vectors, count=len(texts), name=self._name)

    def _request(self, texts: Sequence[str], dimension: int) -> Sequence[Sequence[float]]:
        """Ask the server once; `dimension` 0 leaves the length to the model."""
        raise NotImplementedError
