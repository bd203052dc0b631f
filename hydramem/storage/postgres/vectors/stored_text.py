"""Text as PostgreSQL can hold it: NUL, which it refuses, is escaped character by character.

Each character is escaped by itself and no escape begins another, so that texts are equal, or one begins
with the other, exactly where their escaped forms do.
"""

from collections.abc import Sequence

from hydramem.core.errors import InvalidInputError
from hydramem.storage.vector_rows import storable

_ESCAPE = "\x01"
_NUL, _SELF = _ESCAPE + "0", _ESCAPE + "1"


def escaped(text: str) -> str:
    """Return the form of a text that the database holds."""
    if "\0" not in text and _ESCAPE not in text:
        return text
    return text.replace(_ESCAPE, _SELF).replace("\0", _NUL)


def plain(stored: str) -> str:
    """Return the text that a stored form stands for."""
    return stored.replace(_NUL, "\0").replace(_SELF, _ESCAPE) if _ESCAPE in stored else stored


def checked(value: str, id: str) -> str:
    """Return the stored form of a name that identifies something.

    Raises:
        InvalidInputError: It has a lone surrogate: replaced, two projects or scopes could become one.
    """
    if not storable(value):
        raise InvalidInputError(f"row {id!a}: {value[:80]!a} is not Unicode text (it has a lone surrogate)")
    return escaped(value)


def readable(text: str) -> str:
    """Return the stored form of a text that people read, lone surrogates replaced."""
    return escaped(text if storable(text) else text.encode("utf-8", "replace").decode())


def findable(values: Sequence[str]) -> list[str]:
    """Return the stored forms of values that a row can have, each once; no row has a lone surrogate."""
    return [escaped(value) for value in dict.fromkeys(values) if storable(value)]
