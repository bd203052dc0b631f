"""Headings as they read: marks of Markdown go, and what is part of a name stays."""

import time

import pytest

from hydramem.text.outline import plain_heading


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


@pytest.mark.slow
def test_marks_without_an_end_take_linear_time() -> None:
    def seconds(heading: str) -> float:
        began = time.process_time()
        plain_heading(heading)
        return time.process_time() - began

    for mark in ("*a ", "_a ", "a*", "**", "`", "[a](", "\\"):
        short = min(seconds(mark * 1000) for _ in range(3))
        assert min(seconds(mark * 2000) for _ in range(3)) < 3 * short + 0.02, mark
