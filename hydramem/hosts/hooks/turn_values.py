"""Values of a host as they may be stored: text without what cannot be stored, and turns of it."""

import hashlib
from datetime import UTC, datetime

from hydramem.core.inputs import SaidTurn
from hydramem.hosts.hooks.said_text import said_text

MOST_CHARACTERS = 50_000
"""Of a turn; the rest of a longer one, as of a pasted log, is left out."""

_AUTHORS = ("user", "assistant")


def plain_text(value: object) -> str:
    """Return a text without NUL characters and lone surrogates; empty for what is no text."""
    if not isinstance(value, str):
        return ""
    return value.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def author_of(value: object) -> str | None:
    """Return the author of a role; None for a role that is nobody's words, such as system or developer."""
    return value if isinstance(value, str) and value in _AUTHORS else None


def said_turn(author: str, text: str, *, key: str, at: str) -> SaidTurn | None:
    """Return a turn without what hosts and hooks added to it; None where nothing is left.

    Args:
        author: user or assistant.
        text: As the host has it.
        key: Id of the turn in its session.
        at: When it was said, in ISO form; anything else counts as not known.
    """
    said = said_text(text)[:MOST_CHARACTERS].strip()
    return SaidTurn(author=author, text=said, key=key[:200], happened_at=_moment(at)) if said else None


def _moment(text: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def digest(*parts: str) -> str:
    """Return a short hash of texts, hexadecimal."""
    joined = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.blake2b(joined.encode("utf-8", "replace"), digest_size=12).hexdigest()
