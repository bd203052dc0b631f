"""Patterns that were rewritten to take linear time match what their plain forms match."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydramem.ingest.documents.read import _heading_of
from hydramem.ingest.extraction import name_spans, relation_claims, relation_forms, statement_cues
from hydramem.ingest.extraction.name_words import NOUN_TYPES
from hydramem.ingest.memories.consolidate import explicit_words
from hydramem.text import chunking, outline
from hydramem.text.cutting import table_cuts
from hydramem.text.names import name_comparison
from hydramem.text.sentences import sentence_spans
from hydramem.verification.first_stage import passage, text_features

Reads = Callable[[re.Pattern[str], str], object]


def found(pattern: re.Pattern[str], text: str) -> object:
    return [(match.span(), match.groups()) for match in pattern.finditer(text)]


def first(pattern: re.Pattern[str], text: str) -> object:
    match = pattern.search(text)
    return match and (match.span(), match.groups())


def begins(pattern: re.Pattern[str], text: str) -> object:
    match = pattern.match(text)
    return match and (match.span(), match.groups())


def whole(pattern: re.Pattern[str], text: str) -> object:
    match = pattern.fullmatch(text)
    return match and match.groups()


NOUNS = "|".join(sorted(NOUN_TYPES, key=len, reverse=True))
REWRITTEN: list[tuple[re.Pattern[str], str, int, Reads, list[str]]] = [
    (
        name_comparison._AMOUNT,
        r"\s*[^\w\s]?\s*(\d+(?:\.\d+)?)\s*[^\w\s]?\s*",
        0,
        whole,
        [" ", "$", "1", ".", "%", "a", "\n"],
    ),
    (
        statement_cues._LABEL,
        r"[\s\"“'(\[*_>#•–-]*(\w+)(?:\s+\w+)?\s*[*_]*:[*_]*\s+",
        0,
        begins,
        ["Note", "be 2", ":", " ", "*", "(", "-", "'", "\n"],
    ),
    (
        statement_cues._INFINITIVE,
        r"(?:([\w’']+)\s+)?\bto\s+(?:\w+ly\s+)?$",
        re.I,
        first,
        ["to", " ", "want", "really", "ly", "'", "-", "\n"],
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
        relation_claims._AFTER,
        rf"[\s:]*(?:{relation_claims._ARTICLE}\s+){{0,2}}[\"“«`]?\s*$",
        0,
        whole,
        ["the", "a", "his", " ", ":", '"', "\n"],
    ),
    (
        relation_claims._AND_NEXT,
        r"[\"”`]?(?:\s*\([^()]*\))?(?:\s*,\s*(?:and\s+|or\s+)?|\s+and\s+|\s*&\s*)(?:the\s+)?[\"“`]?\s*$",
        0,
        whole,
        ["and", "or", "the", ",", "&", " ", '"', "(a)", "\n"],
    ),
    (
        relation_claims._DESCRIBES,
        r"(?:[ -][a-z][\w’'-]*,?){1,5} ?$",
        0,
        whole,
        [" ", "-", "a", "bc", ",", "'", "B"],
    ),
    (
        relation_forms._KIND,
        rf"\s*(?:is|was|are|were|remains)\s+(?:an?|the|one of the)\s+((?:[\w’'/-]+\s+){{0,6}}?)({NOUNS})\b",
        0,
        begins,
        [" ", "is", "was", "a", "the", "one of the", "film", "city", "old-", "\n"],
    ),
    (
        explicit_words._TAILS[0],
        r"\s*[(\[][^()\[\]]{1,60}[)\]]\s*$",
        0,
        first,
        ["(", ")", "[", "]", " ", "a", "\n"],
    ),
    (
        explicit_words._NEW_BEFORE,
        r"\S+(?: \S+)?\s*$",
        0,
        first,
        ["a", "bc", " ", "\n", "  "],
    ),
    (
        table_cuts._HEADER,
        r"[^\n]*\|[^\n]*\n[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*(?:\n|\Z)",
        0,
        begins,
        ["|", "a", "\n", " ", "-", ":", "--", "|-|\n"],
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
    @settings(max_examples=150)
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
