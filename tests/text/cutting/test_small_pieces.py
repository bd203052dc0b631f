"""Small sections join, running text is cut as ever, tables repeat their header, and the work is linear."""

import time

import pytest

from hydramem.text.chunking import chunk
from hydramem.text.tokens import count_tokens


def test_running_text_is_cut_at_the_same_places_as_ever() -> None:
    more = " it mattered"
    sentences = [
        f"Sentence {n} of this report tells what the harbour did on day {n}, and why{more * (n % 4)}."
        for n in range(60)
    ]
    paragraphs = [" ".join(sentences[n : n + 5]) for n in range(0, 60, 5)]
    text = "A report\n\n" + "\n\n".join(paragraphs)
    cut = chunk(text, kind="text", max_tokens=220, overlap_tokens=20)
    assert [(piece.start, piece.end) for piece in cut] == [
        *((10, 886), (888, 1353), (1355, 1832), (1834, 2730), (2732, 3197), (3199, 3676), (3678, 4574)),
        *((4576, 5041), (5043, 5520)),
    ]


def test_a_small_section_between_full_ones_takes_whole_sentences() -> None:
    full = " ".join(f"Sentence {n} is of seven words." for n in range(27))
    text = f"# One\n\n{full}\n\n# Two\n\nTiny.\n\n# Three\n\n{full}"
    cut = chunk(text, kind="markdown", max_tokens=220, overlap_tokens=0)
    small = next(one for one in cut if "Tiny." in one.text)
    assert small.tokens >= 20
    assert small.text.startswith(("Sentence", "# Two"))
    assert all(one.text.endswith(".") for one in cut)


def test_a_table_below_one_line_repeats_its_header_too() -> None:
    header = "| name | use |\n| --- | --- |"
    for count in (20, *range(40, 47), 60):
        rows = [f"| part {n} | it is for {'me ' * (n % 2)}|" for n in range(count)]
        text = "# Parts\n\nThese are known.\n\n" + "\n".join([header, *rows]) + "\n"
        cut = chunk(text, kind="markdown", max_tokens=220, overlap_tokens=20)
        for piece in cut:
            assert piece.tokens == count_tokens(piece.text) <= 220
            assert piece.text == piece.head + text[piece.start : piece.end]
            assert f"{header}\n| part" in piece.text, piece.text
        assert all(sum(row in piece.text for piece in cut) == 1 for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["code", "markdown"])
def test_twice_the_text_takes_about_twice_the_time(kind: str) -> None:
    function = "def f(a):\n    if a:\n        return {\n            1: a,\n        }\n\n    return [a]\n\n\n"
    code = (function, "{\n", "    a\n", "# note\n", "}\n{\n", "  \n\n", '"""\n')
    prose = ("# a b c\n", "## h\n\nx\n\n", "x", "| a |\n", "```\n", "\n")

    def seconds(text: str) -> float:
        began = time.process_time()
        pieces = chunk(text, kind=kind, max_tokens=220, overlap_tokens=20)
        assert all(piece.tokens <= 220 for piece in pieces)
        return time.process_time() - began

    seconds(function * 100)
    for unit in code if kind == "code" else prose:
        text = unit * (20_000 // len(unit))
        once, twice = min(seconds(text) for _ in range(3)), min(seconds(text * 2) for _ in range(3))
        assert twice <= 3 * once + 0.02, unit
