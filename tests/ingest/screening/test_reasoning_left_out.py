"""What an assistant keeps to itself is left out; what only talks about such tags stays."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.ingest.screening.strip_recalled_blocks import without_reasoning
from tests.examples import FEW


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("<think>The user lies.</think>\nIt is in hall 3.", "It is in hall 3."),
        ("<THINK>\nhm\n</Think>  Yes.", "Yes."),
        ("Yes.\n<thinking type='x'>why</thinking>\nNo.", "Yes.\n\nNo."),
        ("I should lie.\n</think>\n\nIt is in hall 3.", "It is in hall 3."),
        ("<think>a <think>b</think> c</think>d", "d"),
        ("Put `<think>` before it.", "Put `<think>` before it."),
        ("Wrap it in <think> and </think> tags.", "Wrap it in <think> and </think> tags."),
        ("<thinker>Rodin</thinker>", "<thinker>Rodin</thinker>"),
        ("  as it was  ", "  as it was  "),
    ],
)
def test_blocks_of_reasoning_are_left_out(text: str, kept: str) -> None:
    assert without_reasoning(text) == kept


@FEW
@given(
    st.lists(st.sampled_from(["<think>", "</think>", "secret", "\n", "<reasoning>", " ", "x"]), max_size=30)
)
def test_nothing_between_tags_is_kept(parts: list[str]) -> None:
    text = "".join(parts)
    kept = without_reasoning(text)
    assert without_reasoning(f"<think>{text}\n</think>") in ("", kept) or "</think>" in text
    assert len(kept) <= len(text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["<think>" * 50_000, "<think " * 50_000, "\n<think>x</think>" * 20_000, "</think>\n" * 50_000]
)
def test_hostile_texts_take_time_in_proportion(text: str) -> None:
    started = time.process_time()
    without_reasoning(text)
    assert time.process_time() - started < 2
