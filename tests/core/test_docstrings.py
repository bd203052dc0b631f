from hydramem.core.docstrings import first_line, section, summary


def described(a: int, b: int) -> None:
    """Do one thing.

    More about it,
    on two lines.

    Args:
        a, b: One line
            that goes on: further.
        c: Another.

    Raises:
        ValueError: Not always.
    """


def test_the_summary_ends_where_the_sections_begin():
    assert summary(described.__doc__) == "Do one thing.\n\nMore about it, on two lines."
    assert first_line(described.__doc__) == "Do one thing."


def test_entries_join_their_continuations_and_split_their_names():
    joined = "One line that goes on: further."
    assert section(described.__doc__, "Args") == {"a": joined, "b": joined, "c": "Another."}
    assert section(described.__doc__, "Raises") == {"ValueError": "Not always."}


def test_no_docstring_says_nothing():
    assert (summary(None), first_line(""), section(None, "Args")) == ("", "", {})
