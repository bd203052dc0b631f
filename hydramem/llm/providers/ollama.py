"""Ollama: answers and vectors from a local server, through its own client library (extra `ollama`)."""

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from hydramem.core.config import EmbeddingConfig, LlmConfig
from hydramem.core.errors import ModelError, ModelReplyError, ModelUnavailableError
from hydramem.core.row_types import Usage
from hydramem.llm.contracts import Reply
from hydramem.llm.model_calls import TransientError, call, read_reply, schema_of
from hydramem.llm.providers.http_endpoint import REMOTE_SECONDS, RemoteEmbedder
from hydramem.text.tokens import well_formed

if TYPE_CHECKING:
    from ollama import Client

T = TypeVar("T")

OLLAMA_URL = "http://127.0.0.1:11434"

_PROBE_SECONDS = 1.0


class OllamaGenerator:
    """Answers through Ollama's chat endpoint, held to the JSON schema of the shape; see `Generator`."""

    def __init__(self, settings: LlmConfig) -> None:
        self._settings = settings
        self._url = settings.base_url or OLLAMA_URL
        self._model = settings.model
        self._client = _connect(self._url, settings.timeout_seconds)
        weakref.finalize(self, self._client.close)

    @property
    def name(self) -> str:
        """Provider and model."""
        return f"ollama:{self._model or '(the first it lists)'}"

    def generate(self, prompt: str, shape: type[T], *, system: str = "") -> Reply[T]:
        """Answer a prompt with an instance of `shape`.

        Raises:
            ModelUnavailableError: Not reachable, or no answer within the time-out and retries.
            ModelReplyError: The answer is not of the shape.
        """
        model = self._model or self._first_model()
        messages = [{"role": "system", "content": well_formed(system)}] if system else []
        messages.append({"role": "user", "content": well_formed(prompt)})
        answer = self._call(
            lambda: self._client.chat(
                model=model, messages=messages, format=schema_of(shape), options={"temperature": 0}
            )
        )
        usage = Usage(
            calls=1, prompt_tokens=answer.prompt_eval_count or 0, reply_tokens=answer.eval_count or 0
        )
        return Reply(value=read_reply(answer.message.content or "", shape, name=self.name), usage=usage)

    def _first_model(self) -> str:
        listed = self._call(self._client.list).models
        names = [model.model for model in listed if model.model]
        if not names:
            raise ModelUnavailableError(f"Ollama at {self._url} has no model; run `ollama pull MODEL`")
        self._model = names[0]
        return names[0]

    def _call(self, attempt: Callable[[], T]) -> T:
        def once() -> T:
            with _ollama_errors(self._url):
                return attempt()

        return call(once, retries=self._settings.retries)


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
