"""The weights of the first stage: one number for each feature, learned, and an intercept."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from hydramem.core.errors import InvalidInputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """A logistic model: the log-odds are the intercept and the sum of feature times coefficient.

    Features enter as they are: what their mean and spread were when the model was fitted is already in
    the coefficients.

    Attributes:
        version: Names them in `Verdict.verifier`.
        names: Features, any order; a feature that is not named counts nothing.
        coefficients: One for each name.
    """

    version: str
    names: tuple[str, ...]
    coefficients: tuple[float, ...]
    intercept: float = 0.0

    def for_names(self, names: Sequence[str]) -> NDArray[np.float64]:
        """Return the coefficients of these features, in order; shape (names,)."""
        known = dict(zip(self.names, self.coefficients, strict=True))
        return np.array([known.get(name, 0.0) for name in names], dtype=np.float64)

    def to_json(self) -> str:
        """Return them as JSON text, the same for the same weights."""
        return json.dumps(asdict(self), indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Weights":
        """Read what `to_json` wrote.

        Raises:
            InvalidInputError: Where the text is no such weights; the message says what is wrong.
        """
        try:
            read = json.loads(text)
            weights = cls(
                version=str(read["version"]),
                names=tuple(map(str, read["names"])),
                coefficients=tuple(map(float, read["coefficients"])),
                intercept=float(read["intercept"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInputError(f"these are no weights of verification: {error!r}") from error
        if len(weights.names) != len(weights.coefficients) or not np.all(
            np.isfinite([weights.intercept, *weights.coefficients])
        ):
            raise InvalidInputError("these weights of verification lack a number for some feature")
        return weights


def _shipped() -> Weights:
    file = resources.files("hydramem") / "data" / "verification.json"
    return Weights.from_json(file.read_text(encoding="utf-8"))


DEFAULT = _shipped()
"""The weights that come with the package; how they were fitted: `benchmarks/fit_weights.py`."""
