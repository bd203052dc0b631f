"""The benchmark of relevance: what it asks, and what its fit and its figures are."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.relevance.asked import DATA, talk_of, written_stores
from benchmarks.relevance.fit import figures, fit, fit_all, fit_rank, left_out, mean, usable
from benchmarks.relevance.measure import Measured
from benchmarks.relevance.sizes import IN_LARGE, large_store, small_stores
from hydramem.search.relevance.relevance import BY_MEANING


def row(kind: str, *, near: float, store: str = "short memories", ranks=(0,), **more) -> Measured:
    numbers = {"nearness": near, "stands_out": near, "share": near / 2, "talk": 0.1, "grams": 0.0}
    numbers |= {"length": 1.0, "missing_names": 0.0, "chance": 3.0}
    return Measured(
        store=store,
        store_kind=store,
        kind=kind,
        wording="plain",
        numbers=numbers,
        gold_ranks=ranks if kind == "own" else (),
        relevance=near,
        **more,
    )


def rows(store: str) -> list[Measured]:
    own = [row("own", near=0.6 + n / 50, store=store) for n in range(20)]
    others = [row("foreign", near=n / 50, store=store) for n in range(20)]
    talk = [row("talk", near=n / 50, store=store, use="fit") for n in range(20)]
    other_languages = [replace(one, english=False) for one in (*own, *others)]
    return [*own, *others, *talk, *other_languages, row("talk", near=0.05, store=store, use="test")]


def test_a_fit_tells_them_apart_where_the_kind_of_store_was_left_out():
    measured = [*rows("short memories"), *rows("letters")]
    found = left_out(measured, floor=0.4, of=lambda one: one.store_kind)
    assert [one.store for one in found] == ["short memories", "letters"]
    for one in found:
        assert (one.own, one.foreign, one.talk) == (40, 40, 1)
        assert one.auc_foreign == one.auc_talk == 1
        assert one.lost == 0 and one.foreign_unanswered == 1
    assert mean("mean", found).own == 80


def test_own_questions_that_recall_missed_and_held_out_talk_are_not_fitted_on():
    kept = [row("own", near=0.8), row("foreign", near=0.2), row("talk", near=0.1)]
    missed = row("own", near=0.0, ranks=(7,))
    assert usable([*kept, missed]) == kept
    odd = row("talk", near=0.9, use="test")
    assert fit([*kept, missed, odd], BY_MEANING) == fit(kept, BY_MEANING)


def test_ranks_are_fitted_from_where_the_gold_is():
    measured = [row("own", near=0.8, ranks=(0,)), row("own", near=0.8, ranks=(0, 1))]
    curve = fit_rank(measured)
    assert curve["log"] < 0 < curve["intercept"]
    assert set(fit_all(rows("short memories"))) == {"by_meaning", "by_words", "not_english"}


def test_calibration_error_is_the_distance_of_what_is_said_from_what_is_so():
    measured = rows("short memories")
    assert figures("x", measured, fit_all(measured), floor=0.4).calibration_error < 0.15


def test_the_written_texts_are_whole_and_what_is_held_out_is_not_fitted_on():
    fit_texts = {one.text for one in talk_of(DATA / "talk.jsonl")}
    test_texts = {one.text for one in talk_of(DATA / "talk_test.jsonl")}
    assert len(fit_texts) >= 250 and len(test_texts) >= 250
    assert fit_texts.isdisjoint(test_texts)
    for part, least in (("fit", 10), ("test", 9)):
        stores = list(written_stores(part))
        assert len(stores) >= least
        for store in stores:
            golds = {id for one in store.asked for id in one.gold}
            assert golds <= store.memories.keys()
            assert {one.kind for one in store.asked} == {"own", "foreign", "talk"}


def a_set(folder: Path, cases: dict[str, int]) -> None:
    """Write a set of cases, each with so many documents, every fourth of which answers a question."""
    folder.mkdir(parents=True)
    docs, queries = [], []
    for case, count in cases.items():
        for number in range(count):
            id = f"D{number}"
            docs.append({"case": case, "id": id, "text": f"Text {number} of {case}.", "meta": {"time": ""}})
            if number % 4 == 0:
                query = f"What is text {number} of {case}?"
                queries.append({"case": case, "qid": id, "query": query, "gold": [id], "category": "c"})
    for name, rows in (("docs", docs), ("queries", queries)):
        lines = "\n".join(json.dumps(row) for row in rows)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name in ("2wiki", "hotpot100", "beam100k"):
        a_set(tmp_path / name, {name: 400})
    for name in ("locomo-session", "locomo-turn"):
        a_set(tmp_path / name, {"talk-1": 300, "talk-2": 300})
    return tmp_path


def test_stores_answer_their_own_questions_and_no_foreign_one(data: Path) -> None:
    stores = list(small_stores(data))
    assert len({store.name for store in stores}) == len(stores) == 3 + 3 + 2 + 2 + 1
    for store in stores:
        held = {row["id"] for row in store.documents}
        assert 3 <= len(held) <= 100
        own = [one for one in store.asked if one.kind == "own"]
        assert own and all(one.gold <= held for one in own)
        case = store.name.removeprefix(f"{store.kind}-").rsplit("-", 1)[0]
        assert not any(case in one.text for one in store.asked if one.kind == "foreign")
    store = large_store(data)
    held = {row["id"] for row in store.documents}
    assert len(held) == len(store.documents) == 400 + 400 + 600
    own = [one for one in store.asked if one.kind == "own"]
    assert own and all(one.gold <= held for one in own)
    foreign = [one.text for one in store.asked if one.kind == "foreign"]
    assert foreign and not any(name in text for text in foreign for name in (*IN_LARGE, "talk-"))
