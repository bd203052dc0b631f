"""One HTTP server that answers in JSON, and the key for it: its failures become errors of models."""

import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from hydramem.core.errors import ModelError, ModelReplyError, ModelUnavailableError
from hydramem.llm.model_calls import TransientError

T = TypeVar("T")
QUOTED = 300


@dataclass(frozen=True, slots=True)
class _Model:
    id: str


@dataclass(frozen=True, slots=True)
class _Models:
    data: list[_Model]


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpProvider:
    """What one kind of server needs.

    Attributes:
        url: The usual address.
        key_env: The usual name of the variable that holds the key.
        headers: What is sent with every request, from the key.
        structured: Words of a refusal that show that structured output is what it refuses.
    """

    url: str
    key_env: str
    headers: Callable[[str], Mapping[str, str]]
    structured: tuple[str, ...]


class Endpoint:
    """One server and the key for it. The key goes into a header and nowhere else.

    Args:
        provider: What kind of server it is.
        url: Where it is; empty for the provider's usual address, which needs a key.
        key_env: Name of the variable that holds the key; empty for the provider's usual one.
        environment: Where the key is looked up.
        seconds: Time for one answer.

    Raises:
        ModelUnavailableError: The key is needed and not set.
    """

    def __init__(
        self,
        provider: HttpProvider,
        url: str,
        key_env: str,
        environment: Mapping[str, str],
        *,
        seconds: float,
    ) -> None:
        import httpx

        self.url = (url or provider.url).rstrip("/")
        self._key_env = key_env or provider.key_env
        self._key = environment.get(self._key_env, "").strip()
        self._structured = provider.structured
        if not url and not self._key:
            raise ModelUnavailableError(
                f"{self.url} needs a key: set the environment variable {self._key_env}"
            )
        self._client = httpx.Client(timeout=seconds, headers=dict(provider.headers(self._key)))
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
        message = f"{self.url} answers {status}: {self._quote(text)}"
        if status in (408, 429) or status >= 500:
            return TransientError(message, wait=float(retry_after) if retry_after.isdecimal() else None)
        if status in (401, 403):
            return ModelUnavailableError(f"{self.url} refuses the key in {self._key_env} ({status})")
        if any(word in text for word in self._structured):
            return ModelError(
                f"{self.url} refuses structured output ({self._structured[0]}), which is needed here; "
                f"use another model or server. It answers {status}: {self._quote(text)}"
            )
        return ModelUnavailableError(message) if status == 404 else ModelError(message)

    def _quote(self, text: str) -> str:
        """Return the start of a server's reply in quotes; some repeat the key that they were given."""
        return repr(text.replace(self._key, "***")[:QUOTED] if self._key else text[:QUOTED])

    def first_model(self) -> str:
        """Return the first model that the server lists under `/models`.

        Raises:
            TransientError: A failure that may pass.
            ModelUnavailableError: It cannot be reached, or lists none.
        """
        listed = self.send("GET", "models", _Models).data
        if not listed:
            raise ModelUnavailableError(f"{self.url}: lists no model; set llm.model")
        return listed[0].id
