"""Headings as they read: marks of Markdown go, and what is part of a name stays."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.text.chunking import chunk
from hydramem.text.outline import plain_heading
from tests.examples import FEW


@pytest.mark.parametrize(
    ("heading", "plain"),
    [
        ("**Bold** and _slanted_", "Bold and slanted"),
        ("The `set_task_factory` call", "The set_task_factory call"),
        ("[The **guide**](https://example.org/a_b)", "The guide"),
        ("set_task_factory", "set_task_factory"),
        ("`__init__` and __init__", "__init__ and __init__"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        (r"set\_task\_factory \*", "set_task_factory *"),
    ],
)
def test_marks_go_and_names_stay(heading: str, plain: str) -> None:
    assert plain_heading(heading) == plain


PLAIN_HEADING = re.compile(r"#[ \t]+(?P<heading>[^\n]*?)[ \t]*#*[ \t]*")


@FEW
@given(st.lists(st.sampled_from(["#", " ", "\t", "a", "b c", "# "]), max_size=10).map("".join))
def test_the_marks_that_close_a_heading_are_no_part_of_it(rest: str) -> None:
    plain = PLAIN_HEADING.fullmatch(f"# {rest}")
    heading = plain and plain_heading(plain["heading"])
    (cut,) = chunk(f"# {rest}\n\nSome text.", kind="markdown", max_tokens=220, overlap_tokens=0)
    assert cut.heading_path == ((heading,) if heading else ())
