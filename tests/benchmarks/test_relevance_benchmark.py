"""The benchmark of relevance: what it asks, and what its fit and its figures are."""

from dataclasses import replace

from benchmarks.relevance.asked import DATA, talk_of, written_stores
from benchmarks.relevance.fit import figures, fit, fit_all, fit_rank, left_out, mean, usable
from benchmarks.relevance.measure import Measured
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
