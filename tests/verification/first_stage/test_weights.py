"""The weights as a value."""

import json

import pytest

from hydramem.core.errors import InvalidInputError
from hydramem.verification.first_stage import first_stage
from hydramem.verification.first_stage.weights import DEFAULT, Weights


def test_weights_are_read_as_written() -> None:
    assert Weights.from_json(DEFAULT.to_json()) == DEFAULT
    assert set(DEFAULT.names) == set(first_stage.NAMES)
    assert DEFAULT.for_names(["jaccard", "unknown"])[1] == 0


def test_weights_are_written_a_number_a_line() -> None:
    written = Weights(version="1", names=("a",), coefficients=(2.0,), intercept=0.5).to_json()
    assert written.splitlines()[:3] == ["{", ' "version": "1",', ' "names": [']
    assert written.endswith('"intercept": 0.5\n}\n')


def test_an_intercept_is_kept_and_none_where_none_is_given() -> None:
    plain = Weights(version="1", names=("a",), coefficients=(2.0,))
    assert plain.intercept == 0
    shifted = Weights(version="1", names=("a",), coefficients=(2.0,), intercept=-1.5)
    assert Weights.from_json(shifted.to_json()) == shifted


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{}", '{"version": 1}'),
        json.dumps({"version": "1", "names": ["a"], "coefficients": [], "intercept": 0}),
        '{"version": "1", "names": ["a"], "coefficients": [NaN], "intercept": 0}',
        json.dumps({"version": "1", "names": ["a"], "coefficients": ["x"], "intercept": 0}),
    ],
)
def test_what_is_no_weights_is_an_error(text: str) -> None:
    with pytest.raises(InvalidInputError, match="weights of verification"):
        Weights.from_json(text)


def test_names_without_a_coefficient_are_an_error() -> None:
    with pytest.raises(ValueError, match="shorter"):
        Weights(version="1", names=("a", "b"), coefficients=(2.0,)).for_names(["a"])
