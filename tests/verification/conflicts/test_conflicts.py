"""Conflicts: what is found in relations and texts, what they leave alone, and what a model may do to it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from hydramem.core.config import VerificationConfig
from hydramem.core.errors import ModelUnavailableError
from hydramem.core.results.verdicts import Conflict, Conflicts
from hydramem.core.row_types import Chunk, Relation, Times
from hydramem.graph.snapshot.registry import Snapshots
from hydramem.llm.contracts import Generator
from hydramem.llm.hash_embedder import HashEmbedder
from hydramem.llm.pair_classifier import JudgePairs, PairClassifier, PairJudgement, judge_none
from hydramem.llm.scripted_generator import ScriptedGenerator
from hydramem.storage.in_memory.graph import InMemoryGraph
from hydramem.storage.in_memory.vectors import InMemoryVectors
from hydramem.storage.vector_rows import ChunkVector
from hydramem.text.decisive_marks import marks
from hydramem.verification.conflicts.conflicts import conflicts
from tests.graph.graphs import THEN, P, chunk, entity, link, mention, relation, write

ADA, ACME, BETA, CYAN = (entity(name) for name in ("Ada", "Acme", "Beta", "Cyan"))


def year(number: int) -> datetime:
    return datetime(number, 1, 1, tzinfo=UTC)


def works_for(
    company: object, start: int | None = None, end: int | None = None, **values: object
) -> Relation:
    times = Times(recorded_at=THEN, valid_from=start and year(start), valid_to=end and year(end))
    return relation(ADA, "works_for", company, times=times, **values)


def judge_numbers(new: str, old: Sequence[str]) -> list[PairJudgement]:
    """Judge as a classifier that goes by numbers alone."""

    def judgement(text: str) -> PairJudgement:
        update = 0.8 if marks(text).numbers != marks(new).numbers else 0.1
        return PairJudgement(update=update, duplicate=0.0, refine=0.0, contradict=0.1, unrelated=0.9 - update)

    return [judgement(text) for text in old]


def find(
    *rows: object,
    about: str | None = None,
    generator: Generator | None = None,
    limit: int = 20,
    most: int = 30,
    judge: JudgePairs = judge_numbers,
    include_private: bool = True,
) -> Conflicts:
    graph, embedder = InMemoryGraph(), HashEmbedder()
    graph.write(write(*rows))
    snapshot = Snapshots(graph).of(P)
    vectors = InMemoryVectors(embedder.dimension)
    chunks = [row for row in rows if isinstance(row, Chunk)]
    made = embedder.embed_documents([row.text for row in chunks]) if chunks else []
    vectors.put([ChunkVector(chunk=row, vector=each) for row, each in zip(chunks, made, strict=True)])
    return conflicts(
        None if about is None else snapshot.find(about),
        snapshot=snapshot,
        graph=graph,
        settings=VerificationConfig(vog_max_candidates=most),
        generator=generator,
        limit=limit,
        vectors=vectors.vectors,
        judge=judge,
        include_private=include_private,
    )


def told(found: Conflicts) -> set[tuple[str, str, str]]:
    return {(one.kind, one.older.text, one.newer.text) for one in found.conflicts}


ENDS = (ADA, ACME, BETA, CYAN)
TWO_JOBS = (*ENDS, works_for(ACME, 2019), works_for(BETA, 2020))
SLOW = chunk("c_a", "The Atlas export takes 5 minutes.")
FAST = chunk("c_b", "All is well. The Atlas export takes 8 minutes.", times=Times(recorded_at=year(2025)))


def test_one_subject_with_two_objects_at_once() -> None:
    evidence = chunk("c_1", "Ada works for Acme.", source="card", happened_at=year(2019))
    newer = chunk("c_2", "Ada works for Beta.", source="mail", happened_at=year(2023))
    found = find(
        *(*ENDS, evidence, newer),
        works_for(BETA, 2020, evidence=("c_2",), quote="works for Beta"),
        works_for(ACME, 2019, evidence=("c_1",), confidence=0.5),
    )
    (one,) = found.conflicts
    assert (one.kind, one.entity, one.score, one.judged_by) == ("relation", "Ada", 0.5, "rules")
    assert (one.older.source, one.newer.source, one.newer.quote) == ("card", "mail", "works for Beta")
    assert (one.older.said_at, one.older.valid_from) == (year(2019), year(2019))


@pytest.mark.parametrize(
    "rows",
    [
        (works_for(ACME, 2019, 2020), works_for(BETA, 2020)),
        (works_for(ACME), works_for(BETA, state="archived")),
        (relation(ADA, "knows", ACME), relation(ADA, "knows", BETA)),
        (works_for(ACME), relation(CYAN, "works_for", BETA)),
        (
            *(chunk("c_1", "one", scope="/alpha"), chunk("c_2", "two", scope="/alphabet")),
            *(works_for(ACME, evidence=("c_1",)), works_for(BETA, evidence=("c_2",))),
        ),
    ],
)
def test_what_can_be_true_together_is_left_alone(rows: tuple[object, ...]) -> None:
    assert find(*ENDS, *rows).conflicts == ()


def test_what_the_store_shows_to_be_functional_counts_less() -> None:
    places = [entity(f"Place {number}") for number in range(40)]
    things = [entity(f"Thing {number}") for number in range(40)]
    rows = [relation(one, "kept_at", other) for one, other in zip(things, places, strict=True)]
    again = relation(things[0], "kept_at", places[1])
    (one,) = find(*places, *things, *rows, again).conflicts
    assert (one.entity, one.score) == ("Thing 0", 0.7)
    assert "as far as this memory shows" in one.explanation


def test_texts_that_differ_in_a_telling_place() -> None:
    found = find(SLOW, FAST)
    public = find(SLOW, replace(FAST, private=True), include_private=False)
    assert (public.conflicts, public.chunks) == ((), 1)
    assert told(found) == {
        ("number", "The Atlas export takes 5 minutes.", "The Atlas export takes 8 minutes.")
    }
    (one,) = found.conflicts
    assert (one.older.id, one.newer.id, one.newer.quote) == (
        "c_a",
        "c_b",
        "The Atlas export takes 8 minutes.",
    )
    assert (one.score, one.judged_by) == (0.9, "classifier")
    doubtful = find(replace(SLOW, confidence=0.5), FAST)
    assert doubtful.conflicts[0].score == 0.45


def test_a_link_is_a_conflict_without_the_classifier() -> None:
    old = chunk("c_1", "Nobody sails on Mondays.", kind="note")
    new = chunk("c_2", "The boat leaves every Monday.", kind="note", times=Times(recorded_at=year(2025)))
    made = replace(link(new, old), type="may_supersede", weight=0.7)
    (one,) = find(old, new, made, judge=judge_none).conflicts
    assert (one.kind, one.older.id, one.newer.id) == ("negation", "c_1", "c_2")
    assert (one.score, one.judged_by) == (pytest.approx(0.7), "link")
    (one,) = find(old, new, replace(link(old, new), type="contradicts", weight=0.7)).conflicts
    assert (one.older.id, one.newer.id) == ("c_1", "c_2"), "a contradiction has no direction"
    for gone in (replace(made, state="superseded"), replace(made, type="extends")):
        assert find(old, new, gone).conflicts == ()
    assert find(replace(old, state="archived"), new, made).conflicts == ()
    ended = replace(old, times=replace(old.times, valid_to=year(2025)))
    begun = replace(new, times=replace(new.times, valid_from=year(2025)))
    assert find(ended, begun, made).conflicts == ()


def test_a_classifier_that_fails_leaves_the_rest_and_a_note() -> None:
    def fail(new: str, old: Sequence[str]) -> list[PairJudgement]:
        raise ModelUnavailableError("the file is gone")

    found = find(*TWO_JOBS, SLOW, FAST, judge=fail)
    assert [one.kind for one in found.conflicts] == ["relation"]
    assert found.notes == ("sentences were not compared: the file is gone",)


def test_sentences_of_documents_must_contradict_in_either_order() -> None:
    def judge(new: str, old: Sequence[str]) -> list[PairJudgement]:
        return judge_numbers(new, old) if new == FAST.text[13:] else judge_numbers(old[0], old)

    assert find(SLOW, FAST, judge=judge).conflicts == ()
    memories = (replace(row, kind="note") for row in (SLOW, FAST))
    assert len(find(*memories, judge=judge).conflicts) == 1


def test_the_classifier_of_the_package_reads_near_sentences() -> None:
    rows = (
        chunk("c_1", "The Atlas server runs in Dublin.", kind="note"),
        chunk("c_2", "The Atlas server runs in Oslo.", kind="note", times=Times(recorded_at=year(2025))),
        chunk("c_3", "The Atlas logo is green.", kind="note"),
    )
    found = find(*rows, judge=PairClassifier())
    assert told(found) == {("name", rows[0].text, rows[1].text)}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {"scope": "/elsewhere"}),
        ({}, {"kind": "turn"}),
        ({}, {"state": "archived"}),
        (
            {"times": Times(recorded_at=THEN, valid_to=year(2020))},
            {"times": Times(recorded_at=THEN, valid_from=year(2020))},
        ),
        ({"kind": "event", "happened_at": year(2020)}, {"kind": "event", "happened_at": year(2021)}),
        ({"heading_path": ("Uploads",)}, {"heading_path": ("Downloads",)}),
    ],
)
def test_sentences_of_different_places_are_about_different_things(one: dict, other: dict) -> None:
    first = chunk("c_1", "The limit is 5 files.", **one)
    second = chunk("c_2", "The limit is 8 files.", **other)
    assert find(first, second).conflicts == ()
    assert len(find(chunk("c_1", first.text), chunk("c_2", second.text)).conflicts) == 1


def test_a_series_of_measurements_is_no_dispute() -> None:
    rows = [chunk(f"c_{number}", f"The load of Atlas is {number} %.") for number in range(9)]
    assert find(*rows).conflicts == ()
    assert len(find(*rows[:3]).conflicts) == 3


def test_one_entity_is_looked_at_alone() -> None:
    rows = (*TWO_JOBS, SLOW, FAST, mention(SLOW, CYAN), mention(FAST, CYAN))
    assert {one.kind for one in find(*rows).conflicts} == {"relation", "number"}
    assert {one.kind for one in find(*rows, about="ada").conflicts} == {"relation"}
    assert {one.kind for one in find(*rows, about="beta").conflicts} == {"relation"}
    assert {one.kind for one in find(*rows, about="cyan").conflicts} == {"number"}
    few = find(*rows, limit=1)
    assert (len(few.conflicts), len(few.notes)) == (1, 1)


def reply(verdict: str, **values: object) -> dict[str, object]:
    pair = {"index": 1, "verdict": verdict, "first_quote": "5 minutes", "second_quote": "takes  8 minutes"}
    return {"pairs": [pair | values]}


def judge(answer: object, *, most: int = 30) -> tuple[tuple[Conflict, ...], tuple[str, ...]]:
    found = find(SLOW, FAST, generator=ScriptedGenerator([answer], name="judge"), most=most)
    return found.conflicts, found.notes


def test_a_model_confirms_or_takes_away_with_words_of_both_sides() -> None:
    (kept,), notes = judge(reply("CONTRADICTION"))
    assert (kept.judged_by, notes) == ("judge", ())
    none, notes = judge(reply("COMPATIBLE"))
    assert none == ()
    assert "both can be true of 1 more" in notes[0]


@pytest.mark.parametrize(
    "answer",
    [
        reply("COMPATIBLE", first_quote="from nowhere"),
        reply("COMPATIBLE", second_quote=""),
        reply("COMPATIBLE", index=2),
        reply("NOT A CONTRADICTION"),
        {"pairs": reply("COMPATIBLE")["pairs"] * 2},
        {"pairs": []},
        "They are compatible.",
        ModelUnavailableError("timed out"),
    ],
)
def test_a_reply_that_cannot_be_checked_takes_nothing_away(answer: object) -> None:
    (kept,), notes = judge(answer)
    assert kept.judged_by == "classifier"
    assert any("not judged" in note for note in notes)


def test_a_model_reads_no_more_than_its_cap() -> None:
    (kept,), notes = judge(ModelUnavailableError("must not be asked"), most=0)
    assert (kept.judged_by, notes) == ("classifier", ("1 were not judged by judge",))
