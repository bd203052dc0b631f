"""Any OpenAI-compatible endpoint, local or remote: answers held to a JSON schema, and vectors."""

import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from hydramem.core.config import EmbeddingConfig, LlmConfig
from hydramem.core.errors import ModelError, ModelReplyError, ModelUnavailableError
from hydramem.core.tokens import well_formed
from hydramem.llm.calls import TransientError, call, read_reply, schema_of
from hydramem.llm.model import Reply, Usage
from hydramem.llm.remote import REMOTE_SECONDS, RemoteEmbedder

T = TypeVar("T")

OPENAI_URL = "https://api.openai.com/v1"
_QUOTED = 300


# What is read of the wire format; servers add to it freely.


@dataclass(frozen=True, slots=True)
class _Message:
    content: str | None = None
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class _Choice:
    message: _Message
    finish_reason: str | None = None


@dataclass(frozen=True, slots=True)
class _Usage:
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class _Completion:
    choices: list[_Choice]
    usage: _Usage | None = None


@dataclass(frozen=True, slots=True)
class _Embedding:
    index: int
    embedding: list[float]


@dataclass(frozen=True, slots=True)
class _Embeddings:
    data: list[_Embedding]


@dataclass(frozen=True, slots=True)
class _Model:
    id: str


@dataclass(frozen=True, slots=True)
class _Models:
    data: list[_Model]


class OpenAIGenerator:
    """Answers through `/chat/completions` with a strict JSON schema; see `Generator`."""

    def __init__(self, settings: LlmConfig, *, environment: Mapping[str, str]) -> None:
        self._endpoint = _Endpoint(
            settings.base_url, settings.api_key_env, environment, seconds=settings.timeout_seconds
        )
        self._settings = settings
        self._model = settings.model

    @property
    def name(self) -> str:
        """Provider and model."""
        return f"openai:{self._model or '(the first it lists)'}"

    def generate(self, prompt: str, shape: type[T], *, system: str = "") -> Reply[T]:
        """Answer a prompt with an instance of `shape`.

        Raises:
            ModelUnavailableError: Not reachable, or no answer within the time-out and retries.
            ModelReplyError: The answer is not of the shape.
            ModelError: The server refuses the request, or structured output.
        """
        self._model = self._model or self._first_model()
        body = _question(self._model, prompt, shape, system)
        completion = call(
            lambda: self._endpoint.send("POST", "chat/completions", _Completion, body),
            retries=self._settings.retries,
        )
        usage = completion.usage or _Usage()
        return Reply(
            value=read_reply(self._content(completion), shape, name=self.name),
            usage=Usage(calls=1, prompt_tokens=usage.prompt_tokens, reply_tokens=usage.completion_tokens),
        )

    def _content(self, completion: _Completion) -> str:
        if not completion.choices:
            raise ModelReplyError(f"{self.name}: the reply has no choice in it")
        choice = completion.choices[0]
        if choice.message.refusal:
            raise ModelReplyError(f"{self.name}: refused: {choice.message.refusal[:_QUOTED]!r}")
        if choice.finish_reason == "length":
            raise ModelReplyError(f"{self.name}: the reply was cut off at the model's limit")
        return choice.message.content or ""

    def _first_model(self) -> str:
        listed = call(lambda: self._endpoint.send("GET", "models", _Models), retries=self._settings.retries)
        if not listed.data:
            raise ModelUnavailableError(f"{self._endpoint.url}: lists no model; set llm.model")
        return listed.data[0].id


class OpenAIEmbedder(RemoteEmbedder):
    """Vectors through `/embeddings`; see `Embedder`."""

    def __init__(
        self, settings: EmbeddingConfig, *, environment: Mapping[str, str], known_dimension: int = 0
    ) -> None:
        super().__init__(settings, known_dimension=known_dimension)
        self._endpoint = _Endpoint(
            settings.base_url, settings.api_key_env, environment, seconds=REMOTE_SECONDS
        )

    def _request(self, texts: Sequence[str], dimension: int) -> Sequence[Sequence[float]]:
        body: dict[str, Any] = {"model": self._settings.model, "input": list(texts)}
        body["encoding_format"] = "float"
        if dimension:
            body["dimensions"] = dimension
        reply = self._endpoint.send("POST", "embeddings", _Embeddings, body)
        return [item.embedding for item in sorted(reply.data, key=lambda item: item.index)]


class _Endpoint:
    """One server and the key for it. The key goes into a header and nowhere else."""

    def __init__(
        self, base_url: str, key_env: str, environment: Mapping[str, str], *, seconds: float
    ) -> None:
        import httpx

        self.url = (base_url or OPENAI_URL).rstrip("/")
        self._key_env = key_env
        self._key = environment.get(key_env, "").strip()
        if not base_url and not self._key:
            raise ModelUnavailableError(f"{self.url} needs a key: set the environment variable {key_env}")
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        self._client = httpx.Client(timeout=seconds, headers=headers)
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
        if "response_format" in text or "json_schema" in text:
            return ModelError(
                f"{self.url} refuses structured output (response_format json_schema), which is needed here; "
                f"use another model or server. It answers {status}: {self._quote(text)}"
            )
        return ModelUnavailableError(said) if status == 404 else ModelError(said)

    def _quote(self, text: str) -> str:
        """Quote the start of what a server said; some repeat the key that they were given."""
        return repr(text.replace(self._key, "***")[:_QUOTED] if self._key else text[:_QUOTED])


def _question(model: str, prompt: str, shape: type[Any], system: str) -> dict[str, Any]:
    messages = [{"role": "system", "content": well_formed(system)}] if system else []
    messages.append({"role": "user", "content": well_formed(prompt)})
    schema = {"name": shape.__name__, "schema": schema_of(shape), "strict": True}
    return {
        "model": model,
        "messages": messages,
        "temperature": 0,
        "response_format": {"type": "json_schema", "json_schema": schema},
    }
