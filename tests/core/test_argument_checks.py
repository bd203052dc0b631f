"""Checks of arguments."""

import math

import pytest

from hydramem.core import argument_checks
from hydramem.core.errors import InvalidInputError


def test_scopes_have_one_spelling() -> None:
    for given, scope in (
        ("/", "/"),
        ("/a/", "/a"),
        ("//a//b", "/a/b"),
        (" /a b/c ", "/a b/c"),
        ("/東", "/東"),
    ):
        assert argument_checks.check_scope(given) == scope
    for wrong in ("", "a/b", "/a/../b", "/.", "x" * 600, 7, None, "/a\x00"):
        with pytest.raises(InvalidInputError, match="scope"):
            argument_checks.check_scope(wrong)


def test_shares_are_from_0_to_1() -> None:
    for share in (0, 1, 0.5):
        assert argument_checks.check_share(share, name="x") == share
    for wrong in (math.nan, -math.inf, -0.01, 1.01, "0.5", True, None):
        with pytest.raises(InvalidInputError, match="importance"):
            argument_checks.check_share(wrong, name="importance")


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
