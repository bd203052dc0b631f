"""Any OpenAI-compatible endpoint, local or remote: answers held to a JSON schema, and vectors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from hydramem.core.config import EmbeddingConfig, LlmConfig
from hydramem.core.errors import ModelReplyError
from hydramem.core.row_types import Usage
from hydramem.llm.contracts import Reply
from hydramem.llm.model_calls import call, read_reply, schema_of
from hydramem.llm.providers.http_endpoint import (
    QUOTED,
    REMOTE_SECONDS,
    Endpoint,
    RemoteEmbedder,
    first_model,
    key_for,
)
from hydramem.text.tokens import well_formed

T = TypeVar("T")

OPENAI_URL = "https://api.openai.com/v1"

OPENAI_KEY_ENV = "OPENAI_API_KEY"


# What is read of the wire format; servers add to it freely.
@dataclass(frozen=True, slots=True)
class _OpenAIMessage:
    content: str | None = None
    refusal: str | None = None


@dataclass(frozen=True, slots=True)
class _Choice:
    message: _OpenAIMessage
    finish_reason: str | None = None


@dataclass(frozen=True, slots=True)
class _OpenAIUsage:
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class _Completion:
    choices: list[_Choice]
    usage: _OpenAIUsage | None = None


@dataclass(frozen=True, slots=True)
class _Embedding:
    index: int
    embedding: list[float]


@dataclass(frozen=True, slots=True)
class _Embeddings:
    data: list[_Embedding]


class OpenAIGenerator:
    """Answers through `/chat/completions` with a strict JSON schema; see `Generator`."""

    def __init__(self, settings: LlmConfig, *, environment: Mapping[str, str]) -> None:
        self._endpoint = _endpoint(
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
        self._model = self._model or first_model(self._endpoint, retries=self._settings.retries)
        body = _question(self._model, prompt, shape, system)
        completion = call(
            lambda: self._endpoint.send("POST", "chat/completions", _Completion, body),
            retries=self._settings.retries,
        )
        usage = completion.usage or _OpenAIUsage()
        return Reply(
            value=read_reply(self._content(completion), shape, name=self.name),
            usage=Usage(calls=1, prompt_tokens=usage.prompt_tokens, reply_tokens=usage.completion_tokens),
        )

    def _content(self, completion: _Completion) -> str:
        if not completion.choices:
            raise ModelReplyError(f"{self.name}: the reply has no choice in it")
        choice = completion.choices[0]
        if choice.message.refusal:
            raise ModelReplyError(f"{self.name}: refused: {choice.message.refusal[:QUOTED]!r}")
        if choice.finish_reason == "length":
            raise ModelReplyError(f"{self.name}: the reply was cut off at the model's limit")
        return choice.message.content or ""


class OpenAIEmbedder(RemoteEmbedder):
    """Vectors through `/embeddings`; see `Embedder`."""

    def __init__(
        self, settings: EmbeddingConfig, *, environment: Mapping[str, str], known_dimension: int = 0
    ) -> None:
        super().__init__(settings, known_dimension=known_dimension)
        self._endpoint = _endpoint(
            settings.base_url, settings.api_key_env, environment, seconds=REMOTE_SECONDS
        )

    def _request(self, texts: Sequence[str], dimension: int) -> Sequence[Sequence[float]]:
        body: dict[str, Any] = {"model": self._settings.model, "input": list(texts)}
        body["encoding_format"] = "float"
        if dimension:
            body["dimensions"] = dimension
        reply = self._endpoint.send("POST", "embeddings", _Embeddings, body)
        return [item.embedding for item in sorted(reply.data, key=lambda item: item.index)]


def _endpoint(base_url: str, key_env: str, environment: Mapping[str, str], *, seconds: float) -> Endpoint:
    url, key_env = (base_url or OPENAI_URL).rstrip("/"), key_env or OPENAI_KEY_ENV
    key = key_for(url, key_env, environment, needed=not base_url)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    return Endpoint(
        url,
        key=key,
        key_env=key_env,
        headers=headers,
        seconds=seconds,
        structured=("response_format json_schema", "response_format", "json_schema"),
    )


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
