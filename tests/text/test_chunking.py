"""The laws of chunking: nothing lost, nothing over the limit, structure kept, ids stable."""

import re
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from hydramem.text.chunking import Piece, chunk
from hydramem.text.sentences import sentence_spans
from hydramem.text.tokens import count_tokens

BLOCKS = st.sampled_from(
    [
        "# Top",
        "## Under",
        "#### Deep",
        "Plain words stand here. And here! Are they? Yes.",
        "Short.",
        "A sentence ends. " * 30,
        "- one\n- two",
        "key: value\n" * 30,
        "```python\n# not a heading\nx = 1\n\ny = 2\n```",
        "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 40,
        "日本語の文章です。とても長い。まだ続く！",
        "word " * 60,
        "x" * 300,
        "Setext\n======",
        "   ",
    ]
)
SIZES = st.sampled_from([(24, 6), (80, 0), (220, 20)])
SAID = "Six plain words stand right here"
TEXTS = st.one_of(st.lists(BLOCKS, max_size=12).map("\n\n".join), st.text(max_size=400))


def pieces(text: str, kind: str = "markdown", limit: int = 24, overlap: int = 6) -> list[Piece]:
    return chunk(text, kind=kind, max_tokens=limit, overlap_tokens=overlap)


@settings(max_examples=50)
@given(TEXTS, st.sampled_from(["markdown", "text", "code", "turn"]), SIZES)
def test_chunks_cover_the_text_in_order_keep_the_limit_and_are_not_small(
    text: str, kind: str, sizes: tuple[int, int]
) -> None:
    limit, overlap = sizes
    cut = pieces(text, kind, limit, overlap)
    assert limit == 24 or len(cut) == 1 or all(piece.tokens >= 20 for piece in cut)
    headings = "".join(heading for piece in cut for heading in piece.heading_path)
    position = 0
    for piece in cut:
        assert piece.text == piece.head + text[piece.start : piece.end]
        assert piece.start <= piece.fresh < piece.end
        assert piece.fresh >= position
        assert piece.tokens == count_tokens(piece.text) <= limit
        _lost_only_headings(text[position : piece.fresh], headings)
        position = piece.end
    _lost_only_headings(text[position:], headings)


def _lost_only_headings(between: str, headings: str) -> None:
    for word in re.sub(r"[#=\-*_`\s]|\[|\]|\(|\)", " ", between).split():
        assert word in headings


@settings(max_examples=50)
@given(st.text(max_size=300))
def test_sentences_tile_the_text(text: str) -> None:
    assert "".join(text[start:end] for start, end in sentence_spans(text)) == text


def test_sentences_end_where_a_reader_says() -> None:
    text = "Dr. Lee met J. K. Hale in c. 890. They left! 東京へ行く。また来る。 Done"
    assert [text[start:end].strip() for start, end in sentence_spans(text)] == [
        "Dr. Lee met J. K. Hale in c. 890.",
        "They left!",
        "東京へ行く。",
        "また来る。",
        "Done",
    ]


PLAIN_END = re.compile(
    r"[.!?…]+[\"'”’»)\]]*(?=\s)|[。！？｡]+[」』”’）)]*|\n[ \t]*\n|\n(?=[ \t]*(?:[-*+•|>]|\d+[.)])[ \t])"
)
MARKS = st.sampled_from([".", "…", "!", '"', ")", " ", "\n", "word", "- ", "。", "1."])


@settings(max_examples=50)
@given(st.lists(MARKS, max_size=14).map("".join))
def test_sentences_end_where_the_plain_form_of_the_pattern_ends_them(text: str) -> None:
    plain = {match.end() for match in PLAIN_END.finditer(text) if match.end() < len(text)}
    ends = {end for _, end in sentence_spans(text)} - {len(text)}
    # An abbreviation ends no sentence.
    assert ends <= plain
    assert all(text[max(0, end - 16) : end].rstrip(")\"'").endswith(".") for end in plain - ends)


def test_the_heading_path_stands_above_its_text() -> None:
    cut = pieces(f"{SAID} intro\n\n# A\n\n## B\n\n{SAID} one\n\n# C\n\n{SAID} two")
    assert [(piece.heading_path, piece.text) for piece in cut] == [
        ((), f"{SAID} intro"),
        (("A", "B"), f"{SAID} one"),
        (("C",), f"{SAID} two"),
    ]


def test_fences_and_tables_that_fit_stay_whole() -> None:
    fence = "```\n# no heading\n\na = 1\n```"
    table = "| a | b |\n|---|---|\n| 1 | 2 |"
    texts = [
        piece.text for piece in pieces("word " * 22 + f"\n\n{fence}\n\n{table}\n\n" + "word " * 22, limit=30)
    ]
    assert any(fence in text for text in texts)
    assert any(table in text for text in texts)


def test_running_text_repeats_a_little() -> None:
    text = " ".join(f"This is sentence {number}." for number in range(20))
    cut = pieces(text, "text", limit=24, overlap=8)
    assert all(piece.text.split(". ")[0] in before.text for before, piece in pairwise(cut))
    assert all(count_tokens(text[piece.start : piece.fresh]) <= 8 for piece in cut)


def test_a_title_line_is_a_heading_and_a_wrapped_line_is_not() -> None:
    assert pieces("Kestrel\nKestrel is a bird.", "text")[0].heading_path == ("Kestrel",)
    assert pieces("This line goes\non in the next.", "text")[0].heading_path == ()
    assert pieces("One line", "text")[0].heading_path == ()
