"""Any OpenAI-compatible endpoint, local or remote: answers held to a JSON schema, and vectors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hydramem.core.config import EmbeddingConfig, LlmConfig
from hydramem.core.errors import ModelReplyError
from hydramem.core.row_types import Usage
from hydramem.llm.model_calls import REMOTE_SECONDS, RemoteEmbedder, RemoteGenerator, messages, schema_of
from hydramem.llm.providers.http_endpoint import QUOTED, Endpoint, HttpProvider

_OPENAI = HttpProvider(
    url="https://api.openai.com/v1",
    key_env="OPENAI_API_KEY",
    headers=lambda key: {"Authorization": f"Bearer {key}"} if key else {},
    structured=("response_format json_schema", "response_format", "json_schema"),
)


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


class OpenAIGenerator(RemoteGenerator):
    """Answers through `/chat/completions` with a strict JSON schema; see `Generator`."""

    _provider = "openai"

    def __init__(self, settings: LlmConfig, *, environment: Mapping[str, str]) -> None:
        super().__init__(settings)
        self._endpoint = Endpoint(
            _OPENAI, settings.base_url, settings.api_key_env, environment, seconds=settings.timeout_seconds
        )

    def _first_model(self) -> str:
        return self._call(self._endpoint.first_model)

    def _answer(self, prompt: str, shape: type[Any], system: str) -> tuple[str, Usage]:
        schema = {"name": shape.__name__, "schema": schema_of(shape), "strict": True}
        body = {
            "model": self._model,
            "messages": messages(prompt, system),
            "temperature": 0,
            "response_format": {"type": "json_schema", "json_schema": schema},
        }
        completion = self._call(lambda: self._endpoint.send("POST", "chat/completions", _Completion, body))
        usage = completion.usage or _OpenAIUsage()
        cost = Usage(calls=1, prompt_tokens=usage.prompt_tokens, reply_tokens=usage.completion_tokens)
        return self._content(completion), cost

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
        self._endpoint = Endpoint(
            _OPENAI, settings.base_url, settings.api_key_env, environment, seconds=REMOTE_SECONDS
        )

    def _request(self, texts: Sequence[str], dimension: int) -> Sequence[Sequence[float]]:
        body: dict[str, Any] = {"model": self._settings.model, "input": list(texts)}
        body["encoding_format"] = "float"
        if dimension:
            body["dimensions"] = dimension
        reply = self._endpoint.send("POST", "embeddings", _Embeddings, body)
        return [item.embedding for item in sorted(reply.data, key=lambda item: item.index)]
