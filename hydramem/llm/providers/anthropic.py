"""Anthropic's Messages API: answers held to a JSON schema by the one tool that the model must use.

Plain HTTP, as for OpenAI-compatible endpoints: it takes no client library, so there is no extra to install.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from hydramem.core.config import LlmConfig
from hydramem.core.errors import ModelError, ModelReplyError, ModelUnavailableError
from hydramem.core.row_types import Usage
from hydramem.llm.contracts import Reply
from hydramem.llm.model_calls import call, read_reply, schema_of
from hydramem.llm.providers.http_endpoint import QUOTED, Endpoint, first_model, key_for
from hydramem.text.tokens import well_formed

T = TypeVar("T")

ANTHROPIC_URL = "https://api.anthropic.com/v1"

ANTHROPIC_KEY_ENV = "ANTHROPIC_API_KEY"

_VERSION = "2023-06-01"

_TOOL = "answer"

_MOST_REPLY_TOKENS = 8192


# What is read of the wire format; the server adds to it freely.
@dataclass(frozen=True, slots=True)
class _Block:
    type: str
    name: str | None = None
    input: Any = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class _AnthropicUsage:
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class _AnthropicMessage:
    content: list[_Block]
    stop_reason: str | None = None
    usage: _AnthropicUsage | None = None


class AnthropicGenerator:
    """Answers through `/messages` by a forced tool with the shape's schema; see `Generator`."""

    def __init__(self, settings: LlmConfig, *, environment: Mapping[str, str]) -> None:
        self._endpoint = _endpoint(settings, environment)
        self._settings = settings
        self._model = settings.model
        # The newest models refuse to be told; the others answer one question alike only when they are.
        self._temperature = True

    @property
    def name(self) -> str:
        """Provider and model."""
        return f"anthropic:{self._model or '(the first it lists)'}"

    def generate(self, prompt: str, shape: type[T], *, system: str = "") -> Reply[T]:
        """Answer a prompt with an instance of `shape`.

        Raises:
            ModelUnavailableError: Not reachable, or no answer within the time-out and retries.
            ModelReplyError: The answer is not of the shape.
            ModelError: The server refuses the request.
        """
        self._model = self._model or first_model(self._endpoint, retries=self._settings.retries)
        message = self._ask(_question(self._model, prompt, shape, system))
        usage = message.usage or _AnthropicUsage()
        return Reply(
            value=read_reply(self._given(message), shape, name=self.name),
            usage=Usage(calls=1, prompt_tokens=usage.input_tokens, reply_tokens=usage.output_tokens),
        )

    def _ask(self, body: Mapping[str, Any]) -> _AnthropicMessage:
        def attempt() -> _AnthropicMessage:
            sent = {**body, "temperature": 0} if self._temperature else body
            return self._endpoint.send("POST", "messages", _AnthropicMessage, sent)

        try:
            return call(attempt, retries=self._settings.retries)
        except ModelUnavailableError:
            raise
        except ModelError as error:
            if not self._temperature or "temperature" not in str(error):
                raise
            self._temperature = False
            return call(attempt, retries=self._settings.retries)

    def _given(self, message: _AnthropicMessage) -> str:
        """Return what the model gave the tool, as JSON text."""
        if message.stop_reason == "max_tokens":
            raise ModelReplyError(f"{self.name}: the reply was cut off at the token limit")
        if message.stop_reason == "refusal":
            raise ModelReplyError(f"{self.name}: refused to answer")
        given = [block for block in message.content if block.type == "tool_use" and block.name == _TOOL]
        if len(given) != 1:
            said = " ".join(block.text or block.type for block in message.content)
            raise ModelReplyError(f"{self.name}: the reply is not one answer; it begins {said[:QUOTED]!r}")
        return json.dumps(given[0].input)


def _endpoint(settings: LlmConfig, environment: Mapping[str, str]) -> Endpoint:
    url = (settings.base_url or ANTHROPIC_URL).rstrip("/")
    key_env = settings.api_key_env or ANTHROPIC_KEY_ENV
    key = key_for(url, key_env, environment, needed=not settings.base_url)
    headers = {"anthropic-version": _VERSION} | ({"x-api-key": key} if key else {})
    return Endpoint(
        url,
        key=key,
        key_env=key_env,
        headers=headers,
        seconds=settings.timeout_seconds,
        structured=("tool_choice", "input_schema"),
    )


def _question(model: str, prompt: str, shape: type[Any], system: str) -> dict[str, Any]:
    tool = {"name": _TOOL, "description": "Give your answer.", "input_schema": schema_of(shape)}
    body = {
        "model": model,
        "max_tokens": _MOST_REPLY_TOKENS,
        "messages": [{"role": "user", "content": well_formed(prompt)}],
        "tools": [tool],
        "tool_choice": {"type": "tool", "name": _TOOL, "disable_parallel_tool_use": True},
    }
    return {**body, "system": well_formed(system)} if system else body
