"""What both vector stores demand of a vector before anything is written or searched."""

import numpy as np

from hydramem.core.errors import InvalidInputError
from hydramem.storage.store import Vector


def checked_vector(vector: Vector, dimension: int, *, name: str) -> Vector:
    """Return a vector as float32 of the right length that has a direction.

    Args:
        vector: Shape (dimension,), unit length.
        dimension: Length that the store holds.
        name: What the vector belongs to, for the error message.

    Raises:
        InvalidInputError: It has another length, is not finite, or is zero.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        array = np.asarray(vector, dtype=np.float32)
        length = float(np.linalg.norm(array))
    if array.shape != (dimension,):
        raise InvalidInputError(f"vector of {name}: shape {array.shape}, the store holds ({dimension},)")
    if not np.isfinite(length):
        raise InvalidInputError(f"vector of {name}: not finite")
    if length == 0.0:
        raise InvalidInputError(f"vector of {name}: zero, it points nowhere")
    return array
