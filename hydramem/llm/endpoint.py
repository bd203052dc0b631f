"""One HTTP server that answers in JSON, and the key for it: its failures become the errors of models."""

import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from hydramem.core.errors import ModelError, ModelReplyError, ModelUnavailableError
from hydramem.llm.calls import TransientError, call

T = TypeVar("T")

QUOTED = 300


@dataclass(frozen=True, slots=True)
class _Model:
    id: str


@dataclass(frozen=True, slots=True)
class _Models:
    data: list[_Model]


class Endpoint:
    """One server and the key for it. The key goes into a header and nowhere else.

    Args:
        url: Where it is, without a slash at the end.
        key: The key; empty where there is none.
        key_env: Name of the variable that holds the key, for messages.
        headers: Sent with every request.
        seconds: Time for one answer.
        structured: Words of a refusal that show that structured output is what it refuses.
    """

    def __init__(
        self,
        url: str,
        *,
        key: str,
        key_env: str,
        headers: Mapping[str, str],
        seconds: float,
        structured: tuple[str, ...] = (),
    ) -> None:
        import httpx

        self.url = url
        self._key = key
        self._key_env = key_env
        self._structured = structured
        self._client = httpx.Client(timeout=seconds, headers=dict(headers))
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
        if any(word in text for word in self._structured):
            return ModelError(
                f"{self.url} refuses structured output ({self._structured[0]}), which is needed here; "
                f"use another model or server. It answers {status}: {self._quote(text)}"
            )
        return ModelUnavailableError(said) if status == 404 else ModelError(said)

    def _quote(self, text: str) -> str:
        """Quote the start of what a server said; some repeat the key that they were given."""
        return repr(text.replace(self._key, "***")[:QUOTED] if self._key else text[:QUOTED])


def key_for(url: str, key_env: str, environment: Mapping[str, str], *, needed: bool) -> str:
    """Look up the key of a server.

    Raises:
        ModelUnavailableError: It is needed and not set.
    """
    key = environment.get(key_env, "").strip()
    if needed and not key:
        raise ModelUnavailableError(f"{url} needs a key: set the environment variable {key_env}")
    return key


def first_model(endpoint: Endpoint, *, retries: int) -> str:
    """Return the first model that a server lists under `/models`.

    Raises:
        ModelUnavailableError: It cannot be reached, or lists none.
    """
    listed = call(lambda: endpoint.send("GET", "models", _Models), retries=retries)
    if not listed.data:
        raise ModelUnavailableError(f"{endpoint.url}: lists no model; set llm.model")
    return listed.data[0].id
