"""Patterns that were rewritten to take linear time match what their plain forms match."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydramem.ingest.documents.read import _heading_of
from hydramem.ingest.extraction import name_spans
from hydramem.text import chunking, outline
from hydramem.text.names import name_comparison
from hydramem.text.sentences import sentence_spans
from hydramem.verification.first_stage import passage, text_features

Reads = Callable[[re.Pattern[str], str], object]


def found(pattern: re.Pattern[str], text: str) -> object:
    return [(match.span(), match.groups()) for match in pattern.finditer(text)]


def begins(pattern: re.Pattern[str], text: str) -> object:
    match = pattern.match(text)
    return match and (match.span(), match.groups())


def whole(pattern: re.Pattern[str], text: str) -> object:
    match = pattern.fullmatch(text)
    return match and match.groups()


REWRITTEN: list[tuple[re.Pattern[str], str, int, Reads, list[str]]] = [
    (
        name_comparison._AMOUNT,
        r"\s*[^\w\s]?\s*(\d+(?:\.\d+)?)\s*[^\w\s]?\s*",
        0,
        whole,
        [" ", "$", "1", ".", "%", "a", "\n"],
    ),
    (
        name_spans._DISAMBIGUATION,
        r"\s*\([^()]{1,60}\)\s*$",
        0,
        found,
        ["(", ")", " ", "a", "film", "\n"],
    ),
    (
        name_spans._LEADING,
        r"[\s\"'“‘«„(\[*_>~-]*$",
        0,
        lambda pattern, text: pattern.sub("", text),
        ["(", "a", " ", "*", "'", "\n"],
    ),
    (
        chunking._BORDER,
        r"\n[ \t]*\n\s*|\n(?=[^\n|]*\|[^\n]*\n[ \t]*\|?[ \t]*:?-+:?[ \t]*\|[ \t|:-]*(?:\n|\Z))",
        0,
        found,
        ["|", "a", "\n", " ", "-", ":", "|-|\n"],
    ),
    (passage._TO, r"[\s–—-]*(?:c\.)?\s*", 0, whole, [" ", "–", "-", "c.", "c", "\n"]),
    (
        text_features._AND,
        r"[\s,&\"“”']*(?:and|or)?[\s,&\"“”']*",
        0,
        whole,
        [" ", ",", "and", "or", '"', "'"],
    ),
]


@pytest.mark.parametrize(
    ("pattern", "plain", "flags", "read", "parts"), REWRITTEN, ids=[plain[:20] for _, plain, *_ in REWRITTEN]
)
def test_a_rewritten_pattern_matches_what_its_plain_form_matches(pattern, plain, flags, read, parts):
    slow = re.compile(plain, flags)
    texts = st.lists(st.sampled_from([*parts, "x"]), max_size=12).map("".join)

    @given(texts)
    @settings(max_examples=60)
    def agree(text: str) -> None:
        assert read(pattern, text) == read(slow, text)

    agree()


_END = re.compile(
    r"[.!?…]+[\"'”’»)\]]*(?=\s)|[。！？｡]+[」』”’）)]*|\n[ \t]*\n|\n(?=[ \t]*(?:[-*+•|>]|\d+[.)])[ \t])"
)


@given(
    st.lists(
        st.sampled_from([".", "…", "!", '"', ")", " ", "\n", "word", "- ", "。", "1."]), max_size=14
    ).map("".join)
)
def test_sentences_end_where_the_plain_form_ends_them(text):
    plain = [match.end() for match in _END.finditer(text) if match.end() < len(text)]
    ends = {end for _, end in sentence_spans(text)} - {len(text)}
    # An abbreviation ends no sentence.
    assert ends <= set(plain)
    assert all(text[max(0, end - 16) : end].rstrip(")\"'").endswith(".") for end in set(plain) - ends)


_HEADING = re.compile(r"^ {0,3}(?P<level>#{1,6})[ \t]+(?P<heading>[^\n]*?)[ \t]*#*[ \t]*$")


@given(st.lists(st.sampled_from(["#", " ", "\t", "a", "b c", "# "]), max_size=10).map("".join))
def test_the_marks_that_close_a_heading_are_no_part_of_it(rest):
    line = f"# {rest}"
    plain = _HEADING.match(line)
    mark = outline._MARK.match(line)
    assert (plain is None) == (mark is None)
    if plain is not None and mark is not None:
        assert outline.without_closing_marks(mark["heading"]) == plain["heading"]
        heading = outline.plain_heading(plain["heading"])
        assert _heading_of(line) == (heading or None)
