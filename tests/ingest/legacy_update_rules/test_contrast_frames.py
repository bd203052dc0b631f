"""Contrast: every labelled pair, and laws that hold for any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.ingest.legacy_update_rules.contrast_frames import (
    Contrast,
    Saying,
    comparable,
    contrast,
    outlines,
    read,
)
from tests.ingest.legacy_update_rules.contrasts import COMPATIBLE, CONTRADICTIONS


def sayings(text: str) -> list[Saying]:
    return [saying for sentence, _ in outlines(text) if (saying := read(sentence)) is not None]


def between(one: str, other: str) -> Contrast | None:
    found = [
        clash
        for mine in sayings(one)
        for yours in sayings(other)
        if (clash := contrast(mine, yours)) is not None
    ]
    return found[0] if found else None


@pytest.mark.parametrize(("kind", "one", "other"), CONTRADICTIONS)
def test_what_contradicts_is_found_by_its_key_alone(kind: str, one: str, other: str) -> None:
    for first, second in ((one, other), (other, one)):
        clash = between(first, second)
        assert clash is not None
        assert clash.kind == kind
        (mine,), (yours,) = sayings(first), sayings(second)
        assert set(comparable(mine)) & set(comparable(yours))
        assert [outline for _, outline in outlines(first)] == [outline for _, outline in outlines(second)]


@pytest.mark.parametrize(("one", "other"), COMPATIBLE)
def test_what_only_looks_alike_is_left_alone(one: str, other: str) -> None:
    assert between(one, other) is None
    assert between(other, one) is None


@given(st.text(max_size=200))
def test_any_text_can_be_read_and_nothing_contradicts_itself(text: str) -> None:
    assert between(text, text) is None or len(sayings(text)) > 1
    for saying in sayings(text):
        assert contrast(saying, saying) is None


@given(st.sampled_from([pair[1:] for pair in CONTRADICTIONS] + list(COMPATIBLE)))
def test_it_is_symmetric(pair: tuple[str, str]) -> None:
    one, other = between(*pair), between(*reversed(pair))
    assert (one is None) == (other is None)
    assert one is None or other is None or (one.kind, one.one) == (other.kind, other.other)
