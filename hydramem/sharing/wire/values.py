"""Results and errors on their way from the owner.

Results keep their types: a frozen dataclass is encoded by its fields and decoded by the return type of its
operation.
"""

import builtins
from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec

from hydramem.core import errors
from hydramem.core.errors import HydraMemError
from hydramem.sharing.wire.exact_values import packed, unpacked
from hydramem.sharing.wire.messages import Failure


def _plain_part(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "item") and callable(value.item):  # a number of an array
        return value.item()
    raise TypeError(f"{type(value).__name__} is not plain data")


@cache
def _encoder() -> msgspec.msgpack.Encoder:
    return msgspec.msgpack.Encoder(enc_hook=_plain_part)


def encoded(result: object) -> bytes:
    """Return a result as bytes: by its type, or value by value where MessagePack has no type for one."""
    try:
        return _encoder().encode(result)
    except (OverflowError, UnicodeEncodeError):
        return packed(result)


def decoded(content: bytes | msgspec.Raw, hint: Any) -> Any:
    """Return the result of bytes, by the return type of its operation.

    Raises:
        StorageError: They do not hold such a result.
    """
    try:
        is_packed = bytes(content)[0] in _EXTENSIONS
        return unpacked(content) if is_packed else _decoder(hint).decode(content)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise errors.StorageError(f"the process that holds the store answered wrongly: {error}") from error


_EXTENSIONS = frozenset({*range(0xC7, 0xCA), *range(0xD4, 0xD9)})
"""First bytes of extensions in MessagePack; no result that is encoded by its type begins so."""


@cache
def _decoder(hint: Any) -> "msgspec.msgpack.Decoder[Any]":
    return msgspec.msgpack.Decoder(hint)


def failure(error: BaseException) -> Failure:
    """Return the message of an error."""
    return Failure(type(error).__name__, str(error).encode("utf-8", "surrogatepass"))


def raised(said: Failure) -> Exception:
    """Return the error of a message: one of HydraMem's or of Python's, as it was raised."""
    name, text = said.error, said.text.decode("utf-8", "surrogatepass")
    kind = getattr(errors, name, None) or getattr(builtins, name, None)
    if isinstance(kind, type) and issubclass(kind, Exception):
        try:
            return kind(text)
        except TypeError:  # a class with other arguments, such as UnicodeDecodeError
            return HydraMemError(f"{name}: {text}")
    return HydraMemError(f"{name}: {text}")
