"""Values of any kind on their way between processes: each arrives as the type that was given.

An operation checks what it is given, so an argument that changed its type on the way would be accepted where
it is refused in process. What MessagePack has no type for goes as an extension: a type's name and its parts.
"""

import dataclasses
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any

import msgspec

from hydramem.core.errors import InvalidInputError

_EXTENSION = 1
_PUBLIC = "hydramem.core."
"""Where the dataclasses are that operations take and return."""

_encode = msgspec.msgpack.Encoder().encode
_READ_TWICE = (str, bytes, bytearray, Mapping, list, tuple, set, frozenset, type)
_INTEGERS = range(-(2**63), 2**64)
"""What MessagePack holds as a number."""


def given_once(arguments: Mapping[str, object]) -> dict[str, object]:
    """Return arguments that can be read twice: of what can be read once, such as a generator, a list."""
    return {name: list(value) if _is_lazy(value) else value for name, value in arguments.items()}  # type: ignore[call-overload]  # it is iterable


def _is_lazy(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, _READ_TWICE)


def with_full_paths(arguments: Mapping[str, object], files: Sequence[str]) -> dict[str, object]:
    """Return arguments with the paths among them made absolute: the owner may work in another folder."""
    return {name: _full(value) if name in files else value for name, value in arguments.items()}


def _full(value: object) -> object:
    if isinstance(value, list | tuple | set | frozenset):
        return type(value)(_full_path(each) for each in value)
    return _full_path(value)


def _full_path(value: object) -> object:
    if not isinstance(value, str | PurePath) or not str(value).strip() or "\0" in str(value):
        return value  # for the operation to refuse
    full = os.path.abspath(os.path.expanduser(value))  # noqa: PTH100, PTH111 -- without following links
    return Path(full) if isinstance(value, PurePath) else full


def to_wire(arguments: Mapping[str, object]) -> msgspec.Raw:
    """Return arguments as bytes.

    Raises:
        InvalidInputError: One holds something that another process cannot be given.
    """
    return msgspec.Raw(_encode({name: _argument(name, value) for name, value in arguments.items()}))


def _argument(name: str, value: object) -> object:
    try:
        wire = _wire(value)
        _encode(wire)  # nesting that is too deep for it
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise InvalidInputError(f"{name}: cannot be given to another process: {error}") from error
    return wire


def _wire(value: Any) -> Any:
    match value:
        case None | bool() | bytes():
            return value
        case str():
            try:
                value.encode()
            except UnicodeEncodeError:
                return _tagged("str", value.encode("utf-8", "surrogatepass"))
            return str.__str__(value)  # also of a kind of text, such as that of an array
        case int():
            return int(value) if value in _INTEGERS else _tagged("int", str(int(value)))
        case float():
            return float(value)
        case list():
            return [_wire(each) for each in value]
        case Mapping():
            pairs = [(_wire(key), _wire(each)) for key, each in value.items()]
            is_simple = not any(isinstance(key, msgspec.msgpack.Ext) for key, _ in pairs)
            return dict(pairs) if is_simple else _tagged("dict", pairs)
        case tuple() | set() | frozenset():
            return _tagged(_plain_kind(value), [_wire(each) for each in value])
        case datetime() | date():
            return _tagged("datetime" if isinstance(value, datetime) else "date", value.isoformat())
        case PurePath():
            return _tagged("Path", _wire(str(value)))
        case bytearray():
            return _tagged("bytearray", bytes(value))
    kind = type(value)
    if dataclasses.is_dataclass(kind) and kind.__module__.startswith(_PUBLIC):
        fields = {each.name: _wire(getattr(value, each.name)) for each in dataclasses.fields(kind)}
        return _tagged(f"{kind.__module__}:{kind.__name__}", fields)
    raise TypeError(f"{type(value).__name__} is not plain data")


def _plain_kind(value: "tuple[object, ...] | set[object] | frozenset[object]") -> str:
    return next(kind.__name__ for kind in (tuple, frozenset, set) if isinstance(value, kind))


def _tagged(kind: str, parts: object) -> msgspec.msgpack.Ext:
    return msgspec.msgpack.Ext(_EXTENSION, _encode([kind, parts]))


def packed(result: object) -> bytes:
    """Return a result as bytes that `unpacked` reads.

    Raises:
        TypeError: It holds something that another process cannot be given.
    """
    return _encode(_wire(result))


def unpacked(content: bytes | msgspec.Raw) -> Any:
    """Return what `packed` was given.

    Raises:
        ValueError: The bytes hold no such value.
    """
    return _any.decode(content)


def from_wire(content: msgspec.Raw) -> dict[str, Any]:
    """Return the arguments of a call, by name.

    Raises:
        InvalidInputError: They cannot be read.
    """
    try:
        return _decoder.decode(content)
    except (msgspec.MsgspecError, ValueError, TypeError, ImportError, RecursionError, OverflowError) as error:
        raise InvalidInputError(f"the arguments cannot be read: {error}") from error


def _extension(code: int, content: memoryview) -> object:
    kind, parts = _pair.decode(content) if code == _EXTENSION else ("", None)
    if kind in _MADE:
        return _MADE[kind](parts)
    module, _, name = kind.partition(":")
    made = getattr(import_module(module), name, None) if module.startswith(_PUBLIC) else None
    if not isinstance(made, type) or not dataclasses.is_dataclass(made) or not isinstance(parts, dict):
        raise ValueError(f"no value is called {kind[:80]!r}")
    return made(**parts)


_MADE: Mapping[str, Callable[[Any], object]] = {
    "str": lambda content: content.decode("utf-8", "surrogatepass"),
    "int": int,
    "dict": dict,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "Path": Path,
    "bytearray": bytearray,
}
_decoder = msgspec.msgpack.Decoder(dict[str, Any], ext_hook=_extension)
_any = msgspec.msgpack.Decoder(ext_hook=_extension)
_pair = msgspec.msgpack.Decoder(tuple[str, Any], ext_hook=_extension)
