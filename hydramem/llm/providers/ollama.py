"""Ollama: answers and vectors from a local server, through its own client library (extra `ollama`)."""

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from hydramem.core.config import EmbeddingConfig, LlmConfig
from hydramem.core.errors import ModelError, ModelReplyError, ModelUnavailableError
from hydramem.core.row_types import Usage
from hydramem.llm.model_calls import (
    REMOTE_SECONDS,
    RemoteEmbedder,
    RemoteGenerator,
    TransientError,
    messages,
    schema_of,
)

if TYPE_CHECKING:
    from ollama import Client

T = TypeVar("T")
OLLAMA_URL = "http://127.0.0.1:11434"
_PROBE_SECONDS = 1.0


class OllamaGenerator(RemoteGenerator):
    """Answers through Ollama's chat endpoint, held to the JSON schema of the shape; see `Generator`."""

    _provider = "ollama"

    def __init__(self, settings: LlmConfig) -> None:
        super().__init__(settings)
        self._url = settings.base_url or OLLAMA_URL
        self._client = _connect(self._url, settings.timeout_seconds)
        weakref.finalize(self, self._client.close)

    def _first_model(self) -> str:
        listed = self._call(self._client.list).models
        name = next((model.model for model in listed if model.model), None)
        if name is None:
            raise ModelUnavailableError(f"Ollama at {self._url} has no model; run `ollama pull MODEL`")
        return name

    def _answer(self, prompt: str, shape: type[Any], system: str) -> tuple[str, Usage]:
        reply = self._call(
            lambda: self._client.chat(
                model=self._model,
                messages=messages(prompt, system),
                format=schema_of(shape),
                options={"temperature": 0},
            )
        )
        cost = Usage(calls=1, prompt_tokens=reply.prompt_eval_count or 0, reply_tokens=reply.eval_count or 0)
        return reply.message.content or "", cost

    def _call(self, attempt: Callable[[], T]) -> T:
        def once() -> T:
            with _ollama_errors(self._url):
                return attempt()

        return super()._call(once)


class OllamaEmbedder(RemoteEmbedder):
    """Vectors of a model that Ollama serves; see `Embedder`."""

    def __init__(self, settings: EmbeddingConfig, *, known_dimension: int = 0) -> None:
        super().__init__(settings, known_dimension=known_dimension)
        self._url = settings.base_url or OLLAMA_URL
        self._client = _connect(self._url, REMOTE_SECONDS)
        weakref.finalize(self, self._client.close)

    def _request(self, texts: Sequence[str], dimension: int) -> Sequence[Sequence[float]]:
        with _ollama_errors(self._url):
            answer = self._client.embed(
                model=self._settings.model, input=list(texts), truncate=True, dimensions=dimension or None
            )
        return answer.embeddings


def ollama_answers(base_url: str) -> bool:
    """Say whether an Ollama with a model answers, within a second."""
    import httpx

    try:
        answer = httpx.get(f"{(base_url or OLLAMA_URL).rstrip('/')}/api/tags", timeout=_PROBE_SECONDS)
        return answer.is_success and bool(answer.json().get("models"))
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, AttributeError):
        return False


def _connect(url: str, seconds: float) -> "Client":
    try:
        from ollama import Client
    except ImportError as error:
        raise ModelUnavailableError(
            "the Ollama client is not installed; run `pip install hydramem[ollama]`"
        ) from error
    return Client(host=url, timeout=seconds)


@contextmanager
def _ollama_errors(url: str) -> Iterator[None]:
    import httpx
    from ollama import ResponseError
    from pydantic import ValidationError

    try:
        yield
    except httpx.TimeoutException as error:
        raise ModelUnavailableError(f"Ollama at {url}: no answer in time") from error
    except (ConnectionError, httpx.TransportError) as error:
        raise TransientError(
            f"Ollama at {url} is not reachable; is it running? Try `ollama serve`"
        ) from error
    except ResponseError as error:
        message = f"Ollama at {url}: {error.status_code}: {error.error[:200]}"
        if error.status_code == 429 or error.status_code >= 500:
            raise TransientError(message) from error
        raise (ModelUnavailableError if error.status_code == 404 else ModelError)(message) from error
    except (ValidationError, ValueError) as error:
        raise ModelReplyError(f"Ollama at {url}: the answer is not what Ollama sends: {error}") from error
