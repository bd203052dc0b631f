"""Tokens of the HTTP server: who may call it, as what, and for which projects. The secret is not stored.

A token has 256 random bits, so its SHA-256 is enough to know it by: what slows down guessing a password
(salt, many rounds) has nothing to slow down here.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from hydramem.core.argument_checks import check_choice, check_project
from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.core.roles import ROLES, Role
from hydramem.core.time import clock
from hydramem.storage.changes import TOKEN_ACTOR

PREFIX = "hm_"
"""What a token begins with, so that scanners of repositories can find one that was committed."""
_BYTES = 32
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRow:
    """A token as it is stored.

    Attributes:
        name: Whose it is; changes made with it have the actor `token:NAME`.
        role: What it may do.
        hash: SHA-256 of the token, as hexadecimal digits.
        projects: Those that it may touch, the first by default; every project where there are none.
        tools: A profile, or tools by name, that it sees of those that its role allows; None as the server.
        made_at, expires_at, revoked_at: When; a token is good from the first to before the others.
    """

    name: str
    role: Role
    hash: str
    projects: tuple[str, ...] = ()
    tools: str | None = None
    made_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    @property
    def actor(self) -> str:
        """The actor of the changes that it makes."""
        return f"{TOKEN_ACTOR}{self.name}"

    def is_good(self, at: datetime) -> bool:
        """Return whether it is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or at < self.expires_at)


class TokenStore(Protocol):
    """Where tokens are kept: a file beside an embedded store, a table of a database."""

    def rows(self) -> tuple[TokenRow, ...]:
        """Return every token, the oldest first, as the last change of any process left them.

        Raises:
            StorageError: They cannot be read.
        """

    def change(self, edit: Callable[[tuple[TokenRow, ...]], Iterable[TokenRow]]) -> None:
        """Replace the rows by what `edit` makes of them, while nobody else changes them.

        Raises:
            StorageError: They cannot be written.
        """


def make_token(
    store: TokenStore,
    name: str,
    *,
    role: Role,
    projects: Sequence[str] = (),
    tools: str | None = None,
    expires_at: datetime | None = None,
) -> tuple[TokenRow, str]:
    """Make a token; return its row, and the token itself, which is shown once and kept nowhere.

    Raises:
        InvalidInputError: A good token has this name, or an argument is wrong.
    """
    if not _NAME.fullmatch(name):
        raise InvalidInputError(
            f"name: {name[:80]!r} is not up to 64 letters, digits, dots, dashes and underscores"
        )
    at = clock()
    if expires_at is not None and expires_at <= at:
        raise InvalidInputError(f"expires: {expires_at:%Y-%m-%d %H:%M} is over")
    token = PREFIX + secrets.token_urlsafe(_BYTES)
    made = TokenRow(
        name=name,
        role=check_choice(role, ROLES, name="role"),
        hash=_hash(token),
        projects=tuple(dict.fromkeys(map(check_project, projects))),
        tools=tools,
        made_at=at,
        expires_at=expires_at,
    )

    def added(rows: tuple[TokenRow, ...]) -> Iterable[TokenRow]:
        if any(row.name == name and row.is_good(at) for row in rows):
            raise InvalidInputError(f"name: there is a token {name}; revoke it first, or take another name")
        return (*rows, made)

    store.change(added)
    return made, token


def revoke_token(store: TokenStore, name: str) -> TokenRow:
    """Revoke the good token of a name, and return it; servers that run refuse it from then on.

    Raises:
        NotFoundError: There is none.
    """
    at, found = clock(), []

    def revoked(rows: tuple[TokenRow, ...]) -> Iterable[TokenRow]:
        for row in rows:
            if row.name == name and row.is_good(at):
                row = replace(row, revoked_at=at)
                found.append(row)
            yield row
        if not found:
            raise NotFoundError(f"{name[:80]!r}: no token that is good has this name")

    store.change(revoked)
    return found[0]


def good_token(rows: Iterable[TokenRow], token: str) -> TokenRow | None:
    """Return the row of a token; None where it is none, or no longer good. Every row is compared."""
    hashed, at = _hash(token), clock()
    found = None
    for row in rows:
        if hmac.compare_digest(row.hash, hashed):
            found = row
    return found if found is not None and found.is_good(at) else None


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
