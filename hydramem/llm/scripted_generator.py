"""A generator that answers from a script: for tests, for docs, and for trying a flow without a model."""

import json
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from hydramem.core.errors import ModelReplyError, ModelUnavailableError
from hydramem.core.row_types import Usage
from hydramem.llm.contracts import Reply
from hydramem.llm.model_calls import read_reply

T = TypeVar("T")
Answer = Callable[["ScriptedPrompt"], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedPrompt:
    """One prompt that a scripted generator received."""

    text: str
    system: str
    shape: type[Any]


class ScriptedGenerator:
    """Gives the replies of a script, in order, or what a callable answers; see `Generator`.

    A reply is an instance of the shape asked for, JSON text, a value that becomes JSON, or an exception,
    which is raised. Text goes through the same checks as the reply of a real model.

    Attributes:
        prompts: The prompts received, in order.
        usage: Cost of all answers, a word counted as a token.
    """

    def __init__(self, replies: Iterable[Any] | Answer, *, name: str = "scripted") -> None:
        self._answer = replies if callable(replies) else None
        self._replies = None if callable(replies) else iter(replies)
        self.name = name
        self._lock = threading.Lock()
        self.prompts: list[ScriptedPrompt] = []
        self.usage = Usage()

    def generate(self, prompt: str, shape: type[T], *, system: str = "") -> Reply[T]:
        """Answer with the next reply of the script.

        Raises:
            ModelUnavailableError: The script has no reply left.
            ModelReplyError: The reply is not of the shape.
        """
        received = ScriptedPrompt(text=prompt, system=system, shape=shape)
        with self._lock:
            self.prompts.append(received)
            reply = self._answer(received) if self._answer else self._next()
        if isinstance(reply, BaseException):
            raise reply
        value, text = self._read(reply, shape)
        usage = Usage(
            calls=1, prompt_tokens=len(f"{system} {prompt}".split()), reply_tokens=len(text.split())
        )
        with self._lock:
            self.usage += usage
        return Reply(value=value, usage=usage)

    def _next(self) -> Any:
        try:
            return next(self._replies or iter(()))
        except StopIteration as error:
            raise ModelUnavailableError(
                f"{self.name}: no reply left for prompt {len(self.prompts)}"
            ) from error

    def _read(self, reply: Any, shape: type[T]) -> tuple[T, str]:
        if isinstance(reply, shape):
            return reply, repr(reply)
        try:
            text = reply if isinstance(reply, str) else json.dumps(reply)
        except TypeError as error:
            raise ModelReplyError(f"{self.name}: {reply!r} is not a {shape.__name__}") from error
        return read_reply(text, shape, name=self.name), text
