"""The benchmark of consolidation reads its sets, counts harm first, and its section names each target."""

import json
import os
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest

from benchmarks.consolidation import alone, figures, section, together, write_cost
from benchmarks.consolidation.measure import EMBEDDER, Report, measure
from benchmarks.consolidation.sets import FOLDER, Label, Pair, PairSets, SetName, Wordings, read_sets
from hydramem.core.config import EmbeddingConfig
from hydramem.core.row_types import LinkType
from hydramem.llm.choose import choose_embedder

ENGINE = os.environ.get("HYDRAMEM_TEST_ENGINE", "ladybug")


def pair(label: Label, *, old: str = "a", new: str = "b", kind: str = "k", question: str = "") -> Pair:
    return Pair(old=old, new=new, label=label, kind=kind, question=question)


def outcome(label: Label, *, links: set[LinkType] | None = None, **values: bool) -> alone.PairOutcome:
    given = {"ended": False, "merged": False, "near": False} | values
    return alone.PairOutcome(pair=pair(label), links=frozenset(links or ()), **given)


def by_name(found: object) -> dict[str, figures.Figure]:
    return {one.name: one for one in found}


# Sets -------------------------------------------------------------------------------------------


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


def test_the_test_set_asks_for_what_recall_must_order() -> None:
    asked = {row.label for row in read_sets().pairs if row.question}
    assert asked == {"update", "unrelated"}


def test_bare_and_wrapped_texts_are_of_the_same_pairs() -> None:
    sets = read_sets()
    assert [(row.old, row.label) for row in sets.bare] == [(row.old, row.label) for row in sets.wrapped]
    assert all(one.new != other.new for one, other in zip(sets.bare, sets.wrapped, strict=True))


def test_the_conventions_stand_beside_the_sets() -> None:
    page = (FOLDER / "CONVENTIONS.md").read_text(encoding="utf-8")
    assert all(f"`{label}`" in page for label in get_args(Label))


# Figures ----------------------------------------------------------------------------------------


def test_a_true_memory_that_is_gone_misses_the_target() -> None:
    rows = [outcome("unrelated"), outcome("unrelated", ended=True), outcome("unrelated", merged=True)]
    empty = together.Store(pairs=(), memories=2, ended_by_others=1)
    found = by_name(figures.harm(rows, [outcome("unrelated")], empty))
    gone = found["both true, one ended or merged away"]
    assert (gone.count, gone.of, gone.target, gone.met) == (2, 3, "0", False)
    assert found["the same, new text in a wrapper"].met is True
    assert found["the same, all pairs in one project"].met is None  # there were none
    assert found["memories ended by a text of another pair, all in one project"].count == 1


def test_a_new_text_that_was_not_stored_is_harm_unless_it_is_a_duplicate() -> None:
    rows = [outcome("update", merged=True), outcome("refine"), outcome("duplicate", merged=True)]
    empty = together.Store(pairs=(), memories=0, ended_by_others=0)
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


def test_wrapped_text_is_held_to_what_bare_text_reaches() -> None:
    bare = [outcome("update", ended=True)] * 10
    _, near = figures.wrappers(bare, [*bare[1:], outcome("update")])
    assert (near.count, near.of, near.met) == (9, 10, False)
    _, same = figures.wrappers(bare, bare)
    assert same.met is True


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


# The measurement --------------------------------------------------------------------------------


@pytest.fixture
def sets(monkeypatch: pytest.MonkeyPatch) -> PairSets:
    monkeypatch.setenv("HYDRAMEM_STORAGE_GRAPH", ENGINE)
    rows = (
        pair("duplicate", old="Bo keeps bees in Cork.", new="Bo keeps bees in Cork."),
        pair(
            "unrelated",
            old="Ada speaks Polish.",
            new="The kiln in the cellar broke.",
            question="Which language does Ada speak?",
        ),
    )
    generic = Pair(old="It froze.", new="The lamp is red.", label="unrelated", kind="generic", apart=True)
    texts = ("Eve works at Nokia.", "Eve's employer is called Shell.")
    return PairSets(
        name="made",
        pairs=rows,
        generic=(generic,),
        bare=(rows[1],),
        wrapped=(rows[1],),
        wordings=(Wordings(subject="Eve's employer", question="Where does Eve work?", texts=texts),),
    )


@pytest.mark.slow
def test_pairs_are_measured_through_a_real_store(sets: PairSets) -> None:
    report = measure(sets, timed=0)
    found = by_name(report.figures)
    assert (report.pairs, report.both_true, report.cost) == (2, 2, None)
    assert found["both true, one ended or merged away"].count == 0
    assert found["duplicates merged"].count == 1
    assert found["both true: the text asked for before the other"].count == 1
    wordings = found["wordings of one fact: the current one is first"]
    assert wordings.of == 2
    assert wordings.count >= 1  # the first one has no other beside it
    page = section.placed("# Results\n\n## Other\n\nkept\n", report)
    assert "| both true, one ended or merged away | 0 of 2 | 0.000 | 0 | yes |" in page
    assert page.index("kept") < page.index("## Consolidation")
    assert section.placed(page, report) == page


def test_a_memory_is_timed_over_its_embedding(sets: PairSets, tmp_path: Path) -> None:
    embedder = choose_embedder(EmbeddingConfig(model=EMBEDDER))
    cost = write_cost.write_cost(tmp_path, sets.pairs, held=20, count=1, embedder=embedder)
    assert cost is not None
    assert (cost.held, cost.count) == (20, 1)
    # By the clock a busy machine makes either of the two longer.
    assert cost.over_processor[0] > 0 and min(cost.remember[0], cost.embedding[0]) > 0
    report = Report(set="made", embedder="e", pairs=2, both_true=1, figures=(), cost=cost)
    assert f"| 20 | 1 | {cost.embedding[0]:.1f} / " in section.shown(report)


def test_every_line_of_a_set_is_an_object() -> None:
    for file in FOLDER.glob("*.jsonl"):
        assert all(isinstance(json.loads(line), dict) for line in file.read_text("utf-8").splitlines())
