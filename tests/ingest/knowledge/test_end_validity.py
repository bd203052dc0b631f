"""Supersession: what a later fact ends, and every reason not to."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.row_types import Chunk, Times
from hydramem.ingest.knowledge.end_validity import (
    SUPERSEDED_BY,
    Fact,
    corrected,
    end_validity,
    is_version,
    overlap,
    superseded,
)


def year(number: int) -> datetime:
    return datetime(number, 1, 1, tzinfo=UTC)


OLD = Fact(id="old", slot="ada works_for", value="acme", said_at=year(2020), valid_from=year(2019))
NEW = Fact(id="new", slot="ada works_for", value="beta", said_at=year(2022), valid_from=year(2021))


def test_a_later_fact_of_the_slot_ends_the_one_before() -> None:
    (closing,) = end_validity(NEW, [OLD]).closings
    assert (closing.id, closing.until) == ("old", year(2021))
    undated = replace(NEW, valid_from=None)
    assert end_validity(undated, [replace(OLD, valid_from=None)]).closings[0].until == year(2022)


@pytest.mark.parametrize(
    "other",
    [
        replace(OLD, slot="grace works_for"),
        replace(OLD, value="beta"),
        replace(OLD, id="new"),
        replace(OLD, valid_to=year(2021)),
        replace(OLD, valid_from=year(2023), valid_to=year(2024), slot="elsewhere"),
    ],
)
def test_what_does_not_meet_it_is_left_alone(other: Fact) -> None:
    outcome = end_validity(NEW, [other])
    assert outcome.closings == outcome.clashes == ()


@pytest.mark.parametrize(
    ("new", "old", "why"),
    [
        (replace(NEW, certain=False), OLD, "not verified"),
        (replace(NEW, valid_to=year(2022)), OLD, "for a time only"),
        (NEW, replace(OLD, valid_to=year(2023)), "an end of its own"),
        (NEW, replace(OLD, said_at=year(2023)), "older than what states the other"),
        (NEW, replace(OLD, valid_from=year(2022)), "does not begin after"),
        (NEW, replace(OLD, valid_from=year(2021)), "does not begin after"),
    ],
)
def test_what_is_not_plain_is_a_clash_and_ends_nothing(new: Fact, old: Fact, why: str) -> None:
    outcome = end_validity(new, [old])
    assert outcome.closings == ()
    assert why in outcome.clashes[0].explanation


def test_a_slot_that_only_seems_to_have_one_value_ends_nothing() -> None:
    outcome = end_validity(NEW, [OLD], may_close=False)
    assert (outcome.closings, len(outcome.clashes)) == ((), 1)


moments = st.none() | st.integers(2000, 2009).map(year)


@given(moments, moments, moments, moments)
def test_overlap_is_of_moments_that_both_cover(
    one_from: datetime | None,
    one_to: datetime | None,
    other_from: datetime | None,
    other_to: datetime | None,
) -> None:
    def holds(start: datetime | None, end: datetime | None, at: datetime) -> bool:
        return (start is None or start <= at) and (end is None or at < end)

    if (one_from and one_to and one_to <= one_from) or (other_from and other_to and other_to <= other_from):
        return
    one = replace(OLD, valid_from=one_from, valid_to=one_to)
    other = replace(NEW, valid_from=other_from, valid_to=other_to)
    both = any(
        holds(one_from, one_to, year(at)) and holds(other_from, other_to, year(at))
        for at in range(1999, 2011)
    )
    assert overlap(one, other) == overlap(other, one) == both


CHUNK = Chunk(
    id="c_old", project="p", text="We use PostgreSQL.", kind="fact", times=Times(recorded_at=year(2020))
)


def test_a_superseded_memory_ends_and_keeps_what_was_believed() -> None:
    current, version = superseded(CHUNK, until=year(2022), at=year(2022), by="c_new")
    assert (current.id, current.state, current.times.valid_to) == ("c_old", "superseded", year(2022))
    assert current.times.recorded_at == year(2022)
    assert current.metadata[SUPERSEDED_BY] == "c_new"
    assert is_version(version)
    assert version.id != current.id
    assert version.id.startswith("c_")
    assert (version.state, version.times.retired_at, version.times.valid_to) == ("archived", year(2022), None)


def test_a_memory_that_is_to_end_later_still_holds() -> None:
    current, _ = superseded(CHUNK, until=year(2030), at=year(2022), by="c_new")
    assert current.state == "active"


def test_a_corrected_memory_is_believed_no_longer() -> None:
    gone = corrected(CHUNK, at=year(2022), by="c_new")
    assert (gone.state, gone.times.retired_at) == ("archived", year(2022))
    assert gone.times.recorded_at == CHUNK.times.recorded_at
    assert gone.metadata[SUPERSEDED_BY] == "c_new"
