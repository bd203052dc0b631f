"""Edits of YAML text: the value is what was asked for, and every other line is as it was."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.errors import InvalidInputError
from hydramem.core.settings.yaml_edits import with_value, without
from tests.examples import FEW


def test_comments_stay_and_what_was_added_leaves_no_trace() -> None:
    text = "# Ours.\na:\n  b: {c: 1, d: ''}  # the default\n"
    assert with_value(text, ("a", "b", "c"), 2) == text.replace("c: 1", "c: 2")
    assert without(with_value(text, ("x", "y"), "all"), ("x", "y")) == text
    assert with_value("# Only a comment", ("a",), 1) == "# Only a comment\na: 1\n"


def test_line_ends_of_windows_stay_and_line_breaks_of_unicode_come_back() -> None:
    text = "a:\r\n  b: 1\r\n"
    assert with_value(text, ("a", "c"), 2) == "a:\r\n  b: 1\r\n  c: 2\r\n"
    assert with_value(text, ("a", "b"), 2) == "a:\r\n  b: 2\r\n"
    for value in ("\x85", "a\u2028b", ["\u2029"], {"key": "ä\x85"}):
        assert yaml.safe_load(with_value("", ("a",), value)) == {"a": value}


def test_a_text_of_another_form_is_refused() -> None:
    for text in ("- a\n- b\n", "a: [", "just words", "a: &x 1\n---\nb: 2\n"):
        with pytest.raises(InvalidInputError):
            with_value(text, ("a",), 1)


KEYS = st.sampled_from(["a", "b", "c", "key"])
VALUES: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.lists(st.integers(), max_size=3),
    lambda inner: st.dictionaries(KEYS, inner, min_size=1, max_size=3),
    max_leaves=8,
)


@FEW
@given(
    st.dictionaries(KEYS, VALUES, max_size=4), st.lists(KEYS, min_size=1, max_size=3), VALUES, st.booleans()
)
def test_any_edit_is_right(values: dict[str, Any], path: list[str], value: object, flow: bool) -> None:
    text = yaml.safe_dump(values, default_flow_style=flow or None, allow_unicode=True) if values else ""
    values = yaml.safe_load(text) or {}  # PyYAML folds the line breaks of Unicode that it has written itself
    section: Any = values
    for key in path[:-1]:
        if not isinstance(section.get(key), dict):
            section[key] = {}
        section = section[key]
    section[path[-1]] = value
    changed = with_value(text, path, value)
    assert (yaml.safe_load(changed) or {}) == values
    assert not _has(yaml.safe_load(without(changed, path)), path)


def _has(values: Any, path: list[str]) -> bool:
    for key in path:
        if not isinstance(values, dict) or key not in values:
            return False
        values = values[key]
    return True
