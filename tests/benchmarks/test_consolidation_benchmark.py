"""The benchmark of consolidation: its sets share no pair, and its figures count harm as they say."""

from collections import Counter
from typing import get_args

import pytest

from benchmarks.consolidation import alone, figures, together
from benchmarks.consolidation.sets import Label, Pair, SetName, read_sets
from hydramem.core.row_types import LinkType


def pair(label: Label, *, old: str = "a", new: str = "b", kind: str = "k", question: str = "") -> Pair:
    return Pair(old=old, new=new, label=label, kind=kind, question=question)


def outcome(label: Label, *, links: set[LinkType] | None = None, **values: bool) -> alone.PairOutcome:
    given = {"ended": False, "merged": False, "near": False} | values
    return alone.PairOutcome(pair=pair(label), links=frozenset(links or ()), **given)


def by_name(found: object) -> dict[str, figures.Figure]:
    return {one.name: one for one in found}


@pytest.mark.parametrize("name", get_args(SetName))
def test_a_set_holds_each_label_and_enough_that_is_both_true(name: SetName) -> None:
    sets = read_sets(name)
    counts = Counter(row.label for row in sets.pairs)
    assert set(counts) == set(get_args(Label))
    assert counts["unrelated"] + len(sets.generic) >= (300 if name == "test" else 250)
    assert all(row.apart for row in sets.generic)
    assert [len(one.texts) for one in sets.wordings] == [30] * len(sets.wordings)


def test_no_pair_of_the_test_set_is_one_to_calibrate_on() -> None:
    test, calibration = ({(row.old, row.new) for row in read_sets(name).pairs} for name in get_args(SetName))
    assert not test & calibration


def test_a_true_memory_that_is_gone_misses_the_target() -> None:
    rows = [outcome("unrelated"), outcome("unrelated", ended=True), outcome("unrelated", merged=True)]
    empty = together.Store(pairs=(), memories=2, ended_by_others=1)
    found = by_name(figures.harm(rows, [outcome("unrelated")], empty))
    gone = found["both true, one ended or merged away"]
    assert (gone.count, gone.of, gone.target, gone.met) == (2, 3, "0", False)
    assert found["the same, new text in a wrapper"].met is True
    assert found["the same, all pairs in one project"].met is None  # there were none
    assert found["memories ended by a text of another pair, all in one project"].count == 1
    # A new text that was not stored is harm, unless it is a duplicate.
    rows = [outcome("update", merged=True), outcome("refine"), outcome("duplicate", merged=True)]
    lost = by_name(figures.harm(rows, [], empty))["updates, contradictions, refinements merged away"]
    assert (lost.count, lost.of, lost.met) == (1, 2, False)


def test_updates_count_where_ended_or_linked_and_precision_is_of_all_that_ended() -> None:
    rows = [
        outcome("update", ended=True, links={"supersedes"}),
        outcome("update", links={"may_supersede"}),
        outcome("update", links={"relates_to"}),
        outcome("contradict", links={"contradicts"}),
        outcome("refine", ended=True, links={"extends"}),
        outcome("duplicate", links={"duplicates"}),
        outcome("unrelated", links={"extends"}),
    ]
    found = by_name(figures.consolidated(rows))
    assert found["updates ended"].count == 1
    assert found["updates ended or linked `may_supersede`"].share == pytest.approx(2 / 3)
    assert found["updates ended or linked `may_supersede`"].met is False
    precision = found["precision: ended by an update or contradiction"]
    assert (precision.count, precision.of) == (1, 2)
    assert {part.kind for part in precision.parts} == {"update", "refine"}
    assert found["contradictions ended or linked `may_supersede` or `contradicts`"].share == 1
    assert found["duplicates merged or linked `duplicates`"].met is True
    assert found["refinements linked `extends`"].count == 1
    assert found["precision of links `extends`"].of == 2


@pytest.mark.parametrize(
    ("old_rank", "new_rank", "counted", "first"),
    [(1, 0, 1, 1), (0, 1, 1, 0), (None, 4, 1, 1), (4, None, 1, 0), (None, None, 0, 0)],
)
def test_the_current_text_ranks_before_the_stale_one(
    old_rank: int | None, new_rank: int | None, counted: int, first: int
) -> None:
    row = together.StoredPair(
        pair=pair("update", question="Which?"), gone=False, old_rank=old_rank, new_rank=new_rank
    )
    store = together.Store(pairs=(row,), memories=2, ended_by_others=0)
    found = by_name(figures.recalled(store, []))
    updates = found["updates: the current text before the stale one"]
    assert (updates.count, updates.of) == (first, counted)
    assert found["updates: the current text before the stale one, of all questions"].of == 1
    assert found["both true: the text asked for before the other"].of == 0
