"""Checks of arguments."""

import pytest

from hydramem.core import argument_checks
from hydramem.core.errors import InvalidInputError


def test_scopes_have_one_spelling() -> None:
    for given, scope in (("/", "/"), ("/a/", "/a"), ("//a//b", "/a/b"), (" /a b/東 ", "/a b/東")):
        assert argument_checks.check_scope(given) == scope
    for wrong in ("", "a/b", "/a/../b", "/.", "x" * 600, 7, None, "/a\x00"):
        with pytest.raises(InvalidInputError, match="scope"):
            argument_checks.check_scope(wrong)


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
