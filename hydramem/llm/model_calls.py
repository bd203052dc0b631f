"""What every remote model needs: retries with back-off, and replies checked against a shape."""

import logging
import random
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hydramem.core.errors import ModelReplyError, ModelUnavailableError

T = TypeVar("T")

_log = logging.getLogger(__name__)

_FIRST_PAUSE = 0.5

_LONGEST_PAUSE = 30.0

_QUOTED = 200


class TransientError(ModelUnavailableError):
    """A failure that may pass: no connection, too many requests, or an error of the server.

    Attributes:
        wait: Seconds that the server asks to wait; None where it does not say.
    """

    def __init__(self, message: str, *, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


def call(attempt: Callable[[], T], *, retries: int, pause: float = _FIRST_PAUSE) -> T:
    """Call a remote model, again after failures that may pass, waiting twice as long each time.

    Args:
        attempt: One try; raises TransientError for what may pass.
        retries: Further tries after the first.
        pause: Seconds before the second try.

    Raises:
        ModelUnavailableError: The last try failed too.
    """
    for tried in range(retries):
        try:
            return attempt()
        except TransientError as error:
            backed_off = pause * 2**tried * random.uniform(0.8, 1.2)  # noqa: S311 - spreads clients, no secret
            waited = min(error.wait if error.wait is not None else backed_off, _LONGEST_PAUSE)
            _log.info("%s; trying again in %.1f s", error, waited)
            time.sleep(waited)
    return attempt()


def read_reply(text: str, shape: type[T], *, name: str) -> T:
    """Turn a model's reply into a value.

    Args:
        text: JSON, and nothing else.
        shape: A frozen dataclass.
        name: The model, for the message.

    Raises:
        ModelReplyError: The reply is not JSON of that shape; quotes its start.
    """
    from pydantic import ValidationError

    try:
        value: T = _adapter(shape).validate_json(text)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, problem["loc"]))
        raise ModelReplyError(
            f"{name}: the reply is not a {shape.__name__}: {f'{place}: ' if place else ''}{problem['msg']}; "
            f"it begins {text[:_QUOTED]!r}"
        ) from error
    return value


def schema_of(shape: type[Any]) -> dict[str, Any]:
    """Return the JSON schema of a shape; every field must be given, and no other may be."""
    schema: dict[str, Any] = _adapter(shape).json_schema()
    _close(schema)
    return schema


def unit_rows(vectors: Sequence[Sequence[float]], *, count: int, name: str) -> NDArray[np.float32]:
    """Turn the vectors of a reply into unit-length rows.

    Raises:
        ModelReplyError: There are not `count` of one length, or one has no direction.
    """
    lengths = {len(vector) for vector in vectors}
    if len(vectors) != count or len(lengths) != 1:
        raise ModelReplyError(
            f"{name}: asked for {count} vectors of one length, got {len(vectors)} of {sorted(lengths)}"
        )
    rows = np.asarray(vectors, dtype=np.float64)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(norms).all() or (norms == 0).any():
        raise ModelReplyError(f"{name}: gave a vector without a direction")
    unit: NDArray[np.float32] = (rows / norms).astype(np.float32)
    return unit


def _adapter(shape: type[Any]) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(shape)


def _close(schema: dict[str, Any]) -> None:
    """Make every object in a schema strict, in place, as strict structured output demands."""
    schema.pop("default", None)
    if "properties" in schema:
        schema["required"] = list(schema["properties"])
        schema["additionalProperties"] = False
    # `properties` and `$defs` map names to schemas; the others hold schemas themselves.
    named = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()]
    held = [schema.get("items"), schema.get("additionalProperties")]
    listed = [*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("prefixItems", ())]
    for part in (*named, *held, *listed):
        if isinstance(part, dict):
            _close(part)
