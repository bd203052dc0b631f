"""Supersession: what a later fact ends, and every reason not to."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.row_types import Chunk, Relation, Times
from hydramem.ingest.knowledge.end_validity import (
    STANDS_BESIDE,
    SUPERSEDED_BY,
    VERSION_OF,
    WITHDRAWN,
    Fact,
    can_coexist,
    closed,
    corrected,
    fact_of,
    facts_ended_by,
    is_version,
    mark_coexisting,
    may_return,
    newest_said,
    overlap,
    returned,
    revised,
    superseded,
    withdrawn,
)


def year(number: int) -> datetime:
    return datetime(number, 1, 1, tzinfo=UTC)


OLD = Fact(id="old", slot="ada works_for", value="acme", said_at=year(2020), valid_from=year(2019))
NEW = Fact(id="new", slot="ada works_for", value="beta", said_at=year(2022), valid_from=year(2021))


def test_a_later_fact_of_the_slot_ends_the_one_before() -> None:
    (closing,) = facts_ended_by(NEW, [OLD]).closings
    assert (closing.id, closing.until) == ("old", year(2021))
    undated = replace(NEW, valid_from=None)
    assert facts_ended_by(undated, [replace(OLD, valid_from=None)]).closings[0].until == year(2022)
    together = replace(NEW, said_at=OLD.said_at)
    assert [one.id for one in facts_ended_by(together, [OLD]).closings] == ["old"]
    seeming = facts_ended_by(NEW, [OLD], may_close=False)
    assert (seeming.closings, len(seeming.clashes)) == ((), 1), "the slot may have several values"


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
    outcome = facts_ended_by(NEW, [other])
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
    outcome = facts_ended_by(new, [old])
    assert outcome.closings == ()
    assert why in outcome.clashes[0].explanation


def test_every_fact_of_the_slot_is_looked_at() -> None:
    others = [
        replace(OLD, id="elsewhere", slot="grace works_for"),
        replace(OLD, id="agrees", value="beta"),
        replace(OLD, id="first"),
        replace(OLD, id="clashing", valid_from=year(2022)),
        replace(OLD, id="second", value="gamma"),
    ]
    outcome = facts_ended_by(NEW, others)
    assert [one.id for one in outcome.closings] == ["first", "second"]
    assert [one.id for one in outcome.clashes] == ["clashing"]
    assert [note.split()[0] for note in outcome.notes] == ["it", "it", "the"]
    assert outcome.notes[-1] == outcome.clashes[0].explanation


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
    id="c_old",
    project="p",
    text="We use PostgreSQL.",
    kind="fact",
    times=Times(recorded_at=year(2020), valid_from=year(2019)),
)


def test_a_superseded_memory_ends_and_keeps_what_was_believed() -> None:
    current, version = superseded(CHUNK, until=year(2022), at=year(2022), by="c_new")
    assert (current.id, current.state, current.times.valid_to) == ("c_old", "superseded", year(2022))
    assert current.times.recorded_at == year(2022)
    assert current.times.valid_from == CHUNK.times.valid_from == year(2019)
    assert current.metadata[SUPERSEDED_BY] == "c_new"
    assert is_version(version)
    assert not is_version(current)
    assert version.id != current.id
    assert version.id.startswith("c_")
    assert (version.state, version.times.retired_at, version.times.valid_to) == ("archived", year(2022), None)
    still, _ = superseded(CHUNK, until=year(2030), at=year(2022), by="c_new")
    assert still.state == "active"


def test_a_corrected_memory_is_believed_no_longer() -> None:
    gone = corrected(CHUNK, at=year(2022), by="c_new")
    assert (gone.state, gone.times.retired_at) == ("archived", year(2022))
    assert gone.times.recorded_at == CHUNK.times.recorded_at
    assert gone.metadata[SUPERSEDED_BY] == "c_new"


# Relations ----------------------------------------------------------------------------------------

RELATION = Relation(
    id="r_1",
    project="p",
    subject="ada",
    type="works_for",
    object="acme",
    origin="extracted",
    times=Times(recorded_at=year(2020), valid_from=year(2019), valid_to=year(2030)),
    metadata={"source": "wiki"},
)


def test_the_names_of_stored_metadata_do_not_change() -> None:
    names = (VERSION_OF, SUPERSEDED_BY, WITHDRAWN, STANDS_BESIDE)
    assert names == ("version_of", "superseded_by", "withdrawn", "stands_beside")


def test_a_relation_is_a_fact_of_either_end() -> None:
    fact = fact_of(RELATION, subject="ada", said_at=year(2021))
    assert (fact.id, fact.value, fact.said_at) == ("r_1", "acme", year(2021))
    assert (fact.valid_from, fact.valid_to) == (year(2019), year(2030))
    both = replace(RELATION, bidirectional=True)
    sides = [fact_of(both, subject=end, said_at=year(2021)) for end in ("ada", "acme")]
    assert [one.value for one in sides] == ["acme", "ada"]
    assert len({one.slot for one in (fact, *sides)}) == 3
    assert fact_of(replace(RELATION, object="beta"), subject="ada", said_at=year(2021)).slot == fact.slot


@pytest.mark.parametrize(
    ("verdict", "origin", "evidence", "certain"),
    [
        (None, "extracted", ("c1",), True),
        ("accepted", "extracted", ("c1",), True),
        ("deferred", "extracted", ("c1",), False),
        ("rejected", "extracted", (), False),
        ("deferred", "asserted", (), True),
        ("deferred", "asserted", ("c1",), False),
        ("deferred", "inferred", (), False),
    ],
)
def test_only_what_is_accepted_or_vouched_for_is_certain(
    verdict: str | None, origin: str, evidence: tuple[str, ...], certain: bool
) -> None:
    row = replace(RELATION, verdict=verdict, origin=origin, evidence=evidence)
    assert fact_of(row, subject="ada", said_at=year(2021)).certain is certain


def test_a_revised_relation_has_other_times_and_keeps_what_was_believed() -> None:
    before = replace(RELATION, state="superseded", metadata={"source": "wiki", SUPERSEDED_BY: "r_0"})
    current, version = revised(before, valid_from=year(2018), valid_to=None, at=year(2022))
    assert current.times == Times(recorded_at=year(2022), valid_from=year(2018))
    assert (current.id, current.state, current.metadata) == ("r_1", "active", {"source": "wiki"})
    assert version.times == replace(before.times, retired_at=year(2022))
    assert version.state == "archived"
    assert version.metadata == before.metadata | {VERSION_OF: "r_1"}
    assert version.id != before.id
    assert (is_version(version), is_version(current)) == (True, False)
    assert replace(version, id="", state="active", times=before.times, metadata={}) == replace(
        before, id="", state="active", metadata={}
    )
    later = revised(current, valid_from=None, valid_to=None, at=year(2023))[1]
    assert later.id != version.id, "each version of a row has a name of its own"


@pytest.mark.parametrize(
    ("until", "by", "state"),
    [
        (2022, "r_2", "superseded"),
        (2023, "r_2", "active"),
        (2021, None, "active"),
    ],
)
def test_a_closed_relation_ends_and_names_its_successor(until: int, by: str | None, state: str) -> None:
    current, version = closed(RELATION, until=year(until), at=year(2022), by=by)
    assert current.times == Times(
        recorded_at=year(2022), valid_from=RELATION.times.valid_from, valid_to=year(until)
    )
    assert (current.state, current.metadata.get(SUPERSEDED_BY)) == (state, by)
    assert current.metadata["source"] == "wiki"
    assert version == revised(RELATION, valid_from=None, valid_to=None, at=year(2022))[1]


def test_what_a_person_says_holds_beside_it_may_be_marked_on_either() -> None:
    one, other, third = (replace(RELATION, id=f"r_{number}") for number in (1, 2, 3))
    assert not can_coexist(one, other)
    marked = mark_coexisting(one, "r_2")
    assert can_coexist(marked, other)
    assert can_coexist(other, marked)
    assert not can_coexist(marked, third)
    both = mark_coexisting(mark_coexisting(marked, "r_3"), "r_2")
    assert both.metadata == {"source": "wiki", STANDS_BESIDE: ["r_2", "r_3"]}
    assert can_coexist(both, other)
    assert can_coexist(replace(both, metadata={STANDS_BESIDE: ("r_3",)}), third)
    assert not can_coexist(replace(one, metadata={STANDS_BESIDE: "r_2"}), other)


@pytest.mark.parametrize(
    ("state", "metadata", "returns"),
    [
        ("archived", {}, True),
        ("archived", {SUPERSEDED_BY: "r_2"}, True),
        ("archived", {WITHDRAWN: True}, False),
        ("archived", {VERSION_OF: "r_2"}, False),
        ("active", {}, False),
        ("superseded", {}, False),
    ],
)
def test_only_what_went_with_its_evidence_returns_with_it(
    state: str, metadata: dict[str, object], returns: bool
) -> None:
    assert may_return(replace(RELATION, state=state, metadata=metadata)) is returns


@pytest.mark.parametrize("metadata", [{"source": "wiki"}, {SUPERSEDED_BY: "r_2"}])
def test_a_withdrawn_relation_returns_as_it_was(metadata: dict[str, object]) -> None:
    state = "superseded" if SUPERSEDED_BY in metadata else "active"
    row = replace(RELATION, state=state, metadata=metadata)
    gone = withdrawn(row, year(2022))
    assert (gone.state, gone.times.retired_at, gone.metadata[WITHDRAWN]) == ("archived", year(2022), True)
    assert replace(gone.times, retired_at=None) == row.times
    assert not may_return(gone)
    assert returned(gone) == row


def test_a_relation_was_last_said_by_its_newest_evidence() -> None:
    assert newest_said(RELATION, [year(2018), year(2025), year(2021)]) == year(2025)
    assert newest_said(RELATION, [year(2010)]) == year(2010)
    assert newest_said(RELATION, []) == RELATION.times.recorded_at
