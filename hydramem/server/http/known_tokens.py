"""Which token a request carries, and what it may do."""

import hashlib
import hmac
import logging
from dataclasses import dataclass

from hydramem.core.errors import ConfigError
from hydramem.server.access import Access, access_of
from hydramem.server.manifest import tool_names
from hydramem.storage.tokens.token_rows import TokenStore, good_token

_log = logging.getLogger(__name__)
_BEARER = "bearer "
_LONGEST = 512
"""Characters of a token; a longer one is not hashed."""


@dataclass(frozen=True, slots=True)
class KnownTokens:
    """The tokens that a server accepts; safe to use from many threads.

    Attributes:
        store: Those that `hydramem token` made.
        environment: SHA-256 of the one that the environment holds, which may do everything; None without one.
        tools: The server's tools: a profile, or names.
        project: The server's own project.
    """

    store: TokenStore
    environment: bytes | None
    tools: str
    project: str

    @property
    def are_required(self) -> bool:
        """Whether a request must carry a token now: once there is one that may, also a former one."""
        return self.environment is not None or bool(self.store.rows())

    def access(self, token: str) -> Access | None:
        """Return what a token may do; None for one that is not known, or no longer good.

        Raises:
            StorageError: The tokens cannot be read.
        """
        if not token or len(token) > _LONGEST:
            return None
        if self.environment is not None and hmac.compare_digest(token_hash(token), self.environment):
            return self.of_environment()
        row = good_token(self.store.rows(), token)
        if row is None:
            return None
        try:
            return access_of(row, tools=self.tools, project=self.project)
        except ConfigError as error:  # a token of another version
            _log.warning("token %s is refused: %s", row.name, error)
            return None

    def of_environment(self) -> Access:
        """Return what the environment's token may do, and who needs none: everything that is shown."""
        return Access(tools=frozenset(tool_names(self.tools)))


def token_hash(token: str) -> bytes:
    """Return the SHA-256 of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def bearer_of(headers: list[tuple[bytes, bytes]]) -> str:
    """Return the token of a request's headers; empty where there is none, or several."""
    given = [value for name, value in headers if name.lower() == b"authorization"]
    text = given[0].decode("latin-1") if len(given) == 1 else ""
    return text[len(_BEARER) :] if text[: len(_BEARER)].lower() == _BEARER else ""
