"""Checks of arguments."""

import math

import pytest

from hydramem.core import argument_checks
from hydramem.core.errors import InvalidInputError


@pytest.mark.parametrize(
    ("given", "scope"),
    [("/", "/"), ("/a", "/a"), ("/a/", "/a"), ("//a//b", "/a/b"), (" /a b/c ", "/a b/c"), ("/東京", "/東京")],
)
def test_scopes_have_one_spelling(given: str, scope: str) -> None:
    assert argument_checks.check_scope(given) == scope


@pytest.mark.parametrize("scope", ["", "a", "a/b", "/a/../b", "/.", "x" * 600, 7, None, "/a\x00"])
def test_what_is_no_scope_is_refused(scope: object) -> None:
    with pytest.raises(InvalidInputError, match="scope"):
        argument_checks.check_scope(scope)


@pytest.mark.parametrize("share", [0, 1, 0.5, 1.0])
def test_shares(share: float) -> None:
    assert argument_checks.check_share(share, name="x") == share


@pytest.mark.parametrize("share", [math.nan, math.inf, -math.inf, -0.01, 1.01, "0.5", True, None])
def test_what_is_no_share_is_refused(share: object) -> None:
    with pytest.raises(InvalidInputError, match="importance"):
        argument_checks.check_share(share, name="importance")


def test_counts_are_bounded_on_both_sides() -> None:
    assert argument_checks.check_count(1, name="limit", most=3) == 1
    for count in (0, 4, 1.0, "1", True, None):
        with pytest.raises(InvalidInputError, match="limit"):
            argument_checks.check_count(count, name="limit", most=3)


def test_names_are_one_line_and_trimmed() -> None:
    assert argument_checks.check_name("  C++ ", name="entity") == "C++"
    for name in ("", " ", "a\nb", "a\tb", "a\x00b", "\ud800", "x" * 201, 3):
        with pytest.raises(InvalidInputError, match="entity"):
            argument_checks.check_name(name, name="entity")


def test_choices_name_what_was_given_and_what_may_be() -> None:
    assert argument_checks.check_choices(["a", "b"], ("a", "b", "c"), name="kinds") == ("a", "b")
    with pytest.raises(InvalidInputError, match="kinds: 'd' is none of a, b, c"):
        argument_checks.check_choices(["a", "d"], ("a", "b", "c"), name="kinds")
    with pytest.raises(InvalidInputError, match="list"):
        argument_checks.check_choices("a", ("a",), name="kinds")
