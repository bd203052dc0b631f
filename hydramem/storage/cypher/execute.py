"""Run one statement on a connection of an engine, with parameters that it may not be able to read."""

from collections.abc import Mapping
from typing import Any


def execute(connection: Any, statement: str, parameters: Mapping[str, object]) -> Any:
    """Return the open result of a statement, which the caller closes; raises what the engine raises."""
    given = dict(parameters)
    try:
        return connection.execute(statement, given)
    except RuntimeError:
        # The engines cannot read text with lone surrogates. No stored text has them (rows are checked), so
        # looking for one finds nothing, as does looking for NUL, which no stored text has either.
        readable = {name: _readable(value) for name, value in given.items()}
        if readable == given:
            raise
        return connection.execute(statement, readable)


def _readable(value: object) -> object:
    if isinstance(value, list):
        return [_readable(item) for item in value]
    if isinstance(value, str):
        return "\0" if any("\ud800" <= character <= "\udfff" for character in value) else value
    return value
