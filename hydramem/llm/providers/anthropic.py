"""Anthropic's Messages API: answers held to a JSON schema by the one tool that the model must use.

Plain HTTP, as for OpenAI-compatible endpoints: it takes no client library, so there is no extra to install.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hydramem.core.config import LlmConfig
from hydramem.core.errors import ModelError, ModelReplyError, ModelUnavailableError
from hydramem.core.row_types import Usage
from hydramem.llm.model_calls import RemoteGenerator, messages, schema_of
from hydramem.llm.providers.http_endpoint import QUOTED, Endpoint, HttpProvider

_VERSION = {"anthropic-version": "2023-06-01"}

_ANTHROPIC = HttpProvider(
    url="https://api.anthropic.com/v1",
    key_env="ANTHROPIC_API_KEY",
    headers=lambda key: _VERSION | {"x-api-key": key} if key else _VERSION,
    structured=("tool_choice", "input_schema"),
)

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


class AnthropicGenerator(RemoteGenerator):
    """Answers through `/messages` by a forced tool with the shape's schema; see `Generator`."""

    _provider = "anthropic"

    def __init__(self, settings: LlmConfig, *, environment: Mapping[str, str]) -> None:
        super().__init__(settings)
        self._endpoint = Endpoint(
            _ANTHROPIC, settings.base_url, settings.api_key_env, environment, seconds=settings.timeout_seconds
        )
        # The newest models refuse a temperature; the others answer a question the same way only with one.
        self._temperature = True

    def _first_model(self) -> str:
        return self._call(self._endpoint.first_model)

    def _answer(self, prompt: str, shape: type[Any], system: str) -> tuple[str, Usage]:
        tool = {"name": _TOOL, "description": "Give your answer.", "input_schema": schema_of(shape)}
        body = {
            "model": self._model,
            "max_tokens": _MOST_REPLY_TOKENS,
            "messages": messages(prompt, ""),
            "tools": [tool],
            "tool_choice": {"type": "tool", "name": _TOOL, "disable_parallel_tool_use": True},
        }
        message = self._send(body | {"system": system} if system else body)
        usage = message.usage or _AnthropicUsage()
        cost = Usage(calls=1, prompt_tokens=usage.input_tokens, reply_tokens=usage.output_tokens)
        return self._tool_input(message), cost

    def _send(self, body: Mapping[str, Any]) -> _AnthropicMessage:
        def attempt() -> _AnthropicMessage:
            sent = {**body, "temperature": 0} if self._temperature else body
            return self._endpoint.send("POST", "messages", _AnthropicMessage, sent)

        try:
            return self._call(attempt)
        except ModelUnavailableError:
            raise
        except ModelError as error:
            if not self._temperature or "temperature" not in str(error):
                raise
            self._temperature = False
            return self._call(attempt)

    def _tool_input(self, message: _AnthropicMessage) -> str:
        """Return the arguments that the model called the tool with, as JSON text."""
        if message.stop_reason == "max_tokens":
            raise ModelReplyError(f"{self.name}: the reply was cut off at the token limit")
        if message.stop_reason == "refusal":
            raise ModelReplyError(f"{self.name}: refused to answer")
        calls = [block for block in message.content if block.type == "tool_use" and block.name == _TOOL]
        if len(calls) != 1:
            text = " ".join(block.text or block.type for block in message.content)
            raise ModelReplyError(f"{self.name}: the reply is not one answer; it begins {text[:QUOTED]!r}")
        return json.dumps(calls[0].input)
