"""Arguments, results and errors on their way between processes.

Results keep their types: a frozen dataclass is encoded by its fields and decoded by the return type of its
operation. Arguments go untyped, since an operation checks what it is given; the dataclasses among them are
built again by the types of its parameters.
"""

import builtins
import dataclasses
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import PurePath
from typing import Any, get_args, get_origin, get_type_hints

import msgspec

from hydramem.core import errors
from hydramem.core.errors import HydraMemError, InvalidInputError


def to_wire(arguments: Mapping[str, object]) -> dict[str, Any]:
    """Return arguments as plain values: dataclasses as mappings, times as ISO text, paths as text.

    Raises:
        InvalidInputError: One holds something that another process cannot be given.
    """
    return {name: _plain(name, value) for name, value in arguments.items()}


def with_full_paths(arguments: Mapping[str, object], files: Sequence[str]) -> dict[str, object]:
    """Return arguments with the paths among them made absolute: the owner may work in another folder."""
    return {name: _full(value) if name in files else value for name, value in arguments.items()}


def _full(value: object) -> object:
    if isinstance(value, list | tuple):
        return [_full(each) for each in value]
    if not isinstance(value, str | PurePath) or not str(value).strip() or "\0" in str(value):
        return value  # for the operation to refuse
    return os.path.abspath(os.path.expanduser(value))  # noqa: PTH100, PTH111 -- without following links


def _plain(name: str, value: object) -> Any:
    try:
        plain = msgspec.to_builtins(value, enc_hook=_plain_part)
        msgspec.msgpack.encode(plain)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise InvalidInputError(f"{name}: cannot be given to another process: {error}") from error
    return plain


def _plain_part(value: object) -> object:
    match value:
        case PurePath():
            return str(value)
        case Iterator():
            return list(value)
        case Mapping():
            return dict(value)
    if hasattr(value, "item") and callable(value.item):  # a number of an array
        return value.item()
    raise TypeError(f"{type(value).__name__} is not plain data")


def rebuilt(hint: Any, value: Any) -> Any:
    """Return a plain value with the dataclasses that a type hint names built again, unchecked."""
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        if not isinstance(value, dict):
            return value
        hints = get_type_hints(hint)
        try:
            return hint(**{name: rebuilt(hints.get(name), each) for name, each in value.items()})
        except TypeError as error:
            raise InvalidInputError(f"{hint.__name__}: {error}") from error
    parts = [each for each in get_args(hint) if each is not type(None)]
    if isinstance(value, list) and get_origin(hint) in _SEQUENCES:
        made = [rebuilt(parts[0], each) for each in value]
        return made if any(new is not old for new, old in zip(made, value, strict=True)) else value
    if isinstance(value, dict | list):
        for part in parts:  # of a union: the one that the value has the shape of
            made = rebuilt(part, value)
            if made is not value:
                return made
    return value


_SEQUENCES = (list, tuple, Sequence)


@cache
def _encoder() -> msgspec.msgpack.Encoder:
    return msgspec.msgpack.Encoder(enc_hook=_plain_part)


def encoded(result: object) -> bytes:
    """Return a result as bytes."""
    return _encoder().encode(result)


def decoded(content: bytes | msgspec.Raw, hint: Any) -> Any:
    """Return the result of bytes, by the return type of its operation.

    Raises:
        StorageError: They do not hold such a result.
    """
    try:
        return _decoder(hint).decode(content)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise errors.StorageError(f"the process that holds the store answered wrongly: {error}") from error


@cache
def _decoder(hint: Any) -> "msgspec.msgpack.Decoder[Any]":
    return msgspec.msgpack.Decoder(hint)


def raised(name: str, text: str) -> Exception:
    """Return the error of a class name and a message: one of HydraMem's or of Python's, as it was raised."""
    kind = getattr(errors, name, None) or getattr(builtins, name, None)
    if isinstance(kind, type) and issubclass(kind, Exception):
        try:
            return kind(text)
        except TypeError:  # a class with other arguments, such as UnicodeDecodeError
            return HydraMemError(f"{name}: {text}")
    return HydraMemError(f"{name}: {text}")
