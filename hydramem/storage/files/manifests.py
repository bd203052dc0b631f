"""Manifests: JSON that says what a dump or a backup holds, and in which version of its format."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from hydramem.core.errors import InvalidInputError, SchemaError

T = TypeVar("T")


def parse_manifest(shape: type[T], data: bytes, place: Path, *, format: str, newest: Mapping[str, int]) -> T:
    """Read a manifest.

    Args:
        shape: Its dataclass.
        data: Its text.
        place: What messages name.
        format: What its `format` must be.
        newest: The newest versions that are read, by the key that holds them.

    Raises:
        InvalidInputError: It is not JSON, of another format, or not of this shape.
        SchemaError: A newer version wrote it.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        values = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{place}: its manifest is not JSON: {str(error)[:200]}") from error
    if not isinstance(values, dict) or values.get("format") != format:
        raise InvalidInputError(f"{place}: is no manifest of a {format}")
    for name, known in newest.items():
        found = values.get(name)
        if isinstance(found, int) and found > known:
            raise SchemaError(
                f"{place}: has {name} {found}, this HydraMem reads up to {known}; use a newer one"
            )
    try:
        manifest: T = TypeAdapter(shape).validate_json(data, strict=True)
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(map(str, problem["loc"]))
        raise InvalidInputError(f"{place}: manifest: {where}: {problem['msg']}") from error
    return manifest
