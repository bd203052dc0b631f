"""What a filter on the values of items admits."""

import pytest

from hydramem.core.errors import InvalidInputError
from hydramem.ingest.items.item_filter import admits, check_filter

VALUE = {"kind": "note", "stars": 4, "tags": ["a", "b"], "by": {"name": "Ada", "age": 36}, "none": None}


@pytest.mark.parametrize(
    ("conditions", "meets"),
    [
        ({}, True),
        ({"kind": {"$eq": "note"}, "stars": {"$gt": 3, "$lt": 5}}, True),
        ({"missing": None}, True),
        ({"tags": ["a", "b"]}, True),
        ({"by": {"name": "Ada", "age": {"$gt": 30}}}, True),
        ({"by.name": "Ada"}, True),
        ({"kind": "note", "stars": {"$gt": 4}}, False),
        ({"tags": ["b", "a"]}, False),
        ({"tags": "a"}, False),
        ({"by": {"name": "Ada", "age": 1}}, False),
        ({"kind.name": "note"}, False),
        ({"missing": ""}, False),
    ],
)
def test_a_value_that_meets_every_condition_is_admitted(conditions: dict[str, object], meets: bool) -> None:
    assert admits(check_filter(conditions), VALUE) is meets


@pytest.mark.parametrize("given", [{"stars": {"$near": 4}}, {"by": {"age": {"$in": [1]}}}, {1: 2}, "kind"])
def test_an_unknown_operator_is_refused(given: object) -> None:
    with pytest.raises(InvalidInputError, match="filter"):
        check_filter(given)  # type: ignore[arg-type]


def test_numbers_beyond_all_floats_have_an_order() -> None:
    assert admits(check_filter({"n": {"$gt": 1.5}}), {"n": 10**400})
    assert admits(check_filter({"n": {"$lt": 10**400}}), {"n": 10**399})
    assert not admits(check_filter({"n": {"$lt": 10**400}}), {"n": "3"})


@pytest.mark.parametrize("is_list", [True, False])
def test_a_filter_that_is_nested_without_end_is_refused(is_list: bool) -> None:
    inner: object = 1
    for _ in range(5_000):
        inner = [inner] if is_list else {"a": inner}
    with pytest.raises(InvalidInputError, match="nested"):
        check_filter({"a": inner})
