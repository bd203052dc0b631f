"""The texts at the paths of a value, and the scope of a namespace."""

import pytest

from hydramem.core.argument_checks import check_scope
from hydramem.core.errors import InvalidInputError
from hydramem.core.inputs import ItemInput
from hydramem.ingest.items.item_values import check_items, scope_of, texts_at

VALUE = {"title": "One", "by": {"name": "Ada"}, "notes": [{"text": "a"}, {"text": "b"}, {}], "n": 3}


@pytest.mark.parametrize(
    ("path", "texts"),
    [
        ("title", ["One"]),
        ("by.name", ["Ada"]),
        ("notes[*].text", ["a", "b"]),
        ("notes[-3].text", ["a"]),
        ("by", ['{"name": "Ada"}']),
        (
            "$",
            ['{"by": {"name": "Ada"}, "n": 3, "notes": [{"text": "a"}, {"text": "b"}, {}], "title": "One"}'],
        ),
    ],
)
def test_the_texts_at_a_path(path: str, texts: list[str]) -> None:
    assert texts_at(VALUE, path) == texts


def test_scopes_of_different_namespaces_differ_and_are_scopes() -> None:
    namespaces = [
        ("a", "b"), ("a/b",), ("a%2Fb",), ("a", " b "), ("a", "b "), (".",), ("..",), ("a", "..", "b"),
        ("A", "b"), ("a\nb",), ("東京", "é"),
    ]  # fmt: skip
    scopes = [scope_of(namespace) for namespace in namespaces]
    assert len(set(scopes)) == len(namespaces) and scopes[0] == "/a/b"
    assert [check_scope(scope) for scope in scopes] == scopes


@pytest.mark.parametrize(
    "fields",
    [
        {"namespace": []},
        {"namespace": ["x" * 501]},
        {"namespace": [1]},
        {"value": {"a": {1}}},
        {"value": {"a": float("nan")}},
        {"ttl": -1},
        {"search_paths": ["a[x]"]},
        {"search_paths": [f"a[{'9' * 5_000}]"]},
    ],
    ids=lambda fields: str(fields)[:40],
)
def test_a_wrong_item_is_named_by_its_place(fields: dict[str, object]) -> None:
    good = ItemInput(namespace=["a"], key="k", value={})
    wrong = ItemInput(**{"namespace": ["a"], "key": "k", "value": {}, **fields})  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match=r"items\[1\]"):
        check_items([good, wrong], "p")


def test_the_last_item_of_a_key_counts() -> None:
    one, two, other = (ItemInput(namespace=["a"], key=key, value={"n": n}) for n, key in enumerate("kko"))
    assert [item.value for item in check_items([one, other, two], "p")] == ['{"n": 2}', '{"n": 1}']
