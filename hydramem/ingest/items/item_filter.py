"""Filters on the values of items, as the stores of agent frameworks have them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hydramem.core.errors import InvalidInputError

_UNDEFINED = object()
_MOST_DEPTH = 50
"""Objects and lists within each other in a filter."""


def _comparable(compare: Callable[[float, float], bool]) -> Callable[[Any, Any], bool]:
    """Compare numbers, or two texts; other values are neither greater nor less."""

    def compared(value: Any, given: Any) -> bool:
        if isinstance(value, str) and isinstance(given, str):
            return compare(value, given)  # type: ignore[arg-type]  # texts have an order too
        if isinstance(value, int | float) and isinstance(given, int | float):
            return compare(value, given)  # a whole number can be greater than any float
        try:
            return compare(float(value), float(given))
        except (TypeError, ValueError, OverflowError):
            return False

    return compared


_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda value, given: bool(_equal(value, given)),
    "$ne": lambda value, given: not _equal(value, given),
    "$gt": _comparable(lambda value, given: value > given),
    "$gte": _comparable(lambda value, given: value >= given),
    "$lt": _comparable(lambda value, given: value < given),
    "$lte": _comparable(lambda value, given: value <= given),
}


def check_filter(given: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return a filter whose operators are all known.

    Raises:
        InvalidInputError: It is no mapping, has an unknown operator, or is nested too deep.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise InvalidInputError("filter: expected an object such as {'kind': 'note', 'stars': {'$gte': 4}}")
    for condition in given.values():
        _check_condition(condition, depth=1)
    return given


def _check_condition(condition: Any, *, depth: int) -> None:
    if depth > _MOST_DEPTH:
        raise InvalidInputError(f"filter: is nested deeper than {_MOST_DEPTH} objects and lists")
    if isinstance(condition, Mapping):
        for name, inner in condition.items():
            if str(name).startswith("$") and name not in _OPERATORS:
                known = ", ".join(_OPERATORS)
                raise InvalidInputError(f"filter: {str(name)[:40]!r} is no operator; there are {known}")
            _check_condition(inner, depth=depth + 1)
    elif isinstance(condition, Sequence) and not isinstance(condition, str):
        for inner in condition:
            _check_condition(inner, depth=depth + 1)


def admits(conditions: Mapping[str, Any], value: Mapping[str, Any]) -> bool:
    """Say whether a value meets every condition.

    Args:
        conditions: By name, or by names joined by dots for what is in an inner object: a value that must be
            equal, or an object of operators (`$eq`, `$ne`, `$gt`, `$gte`, `$lt`, `$lte`) and their operands.
        value: The value of an item.
    """
    return all(_meets(_field(value, name), condition) for name, condition in conditions.items())


def _field(value: Mapping[str, Any], name: str) -> Any:
    if name in value:
        return value[name]
    first, dot, rest = name.partition(".")
    inner = value.get(first, _UNDEFINED)
    return _field(inner, rest) if dot and isinstance(inner, Mapping) else _UNDEFINED


def _meets(value: Any, condition: Any) -> bool:
    if isinstance(condition, Mapping) and any(name in _OPERATORS for name in condition):
        return all(_OPERATORS[name](value, given) for name, given in condition.items() if name in _OPERATORS)
    return _equal(value, condition)


def _equal(value: Any, given: Any) -> bool:
    """Say whether a value equals what a filter gives; of an object, what the filter names."""
    if isinstance(given, Mapping):
        return isinstance(value, Mapping) and all(
            _meets(_field(value, name), each) for name, each in given.items()
        )
    if isinstance(given, Sequence) and not isinstance(given, str):
        return (
            isinstance(value, Sequence)
            and not isinstance(value, str)
            and len(value) == len(given)
            and all(_equal(one, other) for one, other in zip(value, given, strict=True))
        )
    # None in a filter also means that the value has no such field.
    return value == given or (given is None and value is _UNDEFINED)
