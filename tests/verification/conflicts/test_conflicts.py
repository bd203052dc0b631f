"""Conflicts: what rules find in relations and texts, what they leave alone, and what a model may do to it."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from hydramem.core.config import VerificationConfig
from hydramem.core.errors import ModelUnavailableError
from hydramem.core.results.verdicts import Conflict, Conflicts
from hydramem.core.row_types import Relation, Times
from hydramem.graph.functional_types import functional_types
from hydramem.graph.snapshot.registry import Snapshots
from hydramem.llm.contracts import Generator
from hydramem.llm.scripted_generator import ScriptedGenerator
from hydramem.storage.in_memory.graph import InMemoryGraph
from hydramem.verification.conflicts.conflicts import conflicts
from tests.graph.graphs import THEN, P, chunk, entity, mention, relation, write

ADA, ACME, BETA, CYAN = (entity(name) for name in ("Ada", "Acme", "Beta", "Cyan"))


def year(number: int) -> datetime:
    return datetime(number, 1, 1, tzinfo=UTC)


def works_for(
    company: object, start: int | None = None, end: int | None = None, **values: object
) -> Relation:
    times = Times(recorded_at=THEN, valid_from=start and year(start), valid_to=end and year(end))
    return relation(ADA, "works_for", company, times=times, **values)


def find(
    *rows: object,
    about: str | None = None,
    generator: Generator | None = None,
    limit: int = 20,
    most: int = 30,
) -> Conflicts:
    graph = InMemoryGraph()
    graph.write(write(*rows))
    snapshot = Snapshots(graph).of(P)
    return conflicts(
        None if about is None else snapshot.find(about),
        snapshot=snapshot,
        graph=graph,
        settings=VerificationConfig(vog_max_candidates=most),
        generator=generator,
        limit=limit,
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
        (works_for(ACME), relation(ADA, "knows", BETA)),
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


def test_a_mutual_relation_is_seen_from_both_ends() -> None:
    married = {"bidirectional": True}
    rows = [relation(ACME, "led_by", ADA, **married), relation(ADA, "led_by", BETA, **married)]
    assert {one.entity for one in find(*ENDS, *rows).conflicts} == {"Ada"}


def test_what_the_store_shows_to_be_functional_counts_less() -> None:
    places = [entity(f"Place {number}") for number in range(40)]
    things = [entity(f"Thing {number}") for number in range(40)]
    rows = [relation(one, "kept_at", other) for one, other in zip(things, places, strict=True)]
    again = relation(things[0], "kept_at", places[1])
    (one,) = find(*places, *things, *rows, again).conflicts
    assert (one.entity, one.score) == ("Thing 0", 0.7)
    assert "as far as this memory shows" in one.explanation
    graph = InMemoryGraph()
    graph.write(write(*places, *things, *rows[:20]))
    snapshot = Snapshots(graph).of(P)
    assert functional_types(snapshot) == frozenset()
    assert functional_types(snapshot, least=20) == {"kept_at"}


def test_texts_that_differ_in_a_telling_place() -> None:
    found = find(SLOW, FAST)
    graph = InMemoryGraph()
    graph.write(write(SLOW, replace(FAST, private=True)))
    seen = Snapshots(graph).of(P)
    public = conflicts(
        None,
        snapshot=seen,
        graph=graph,
        settings=VerificationConfig(),
        generator=None,
        limit=5,
        include_private=False,
    )
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
    assert len(find(*rows[:3]).conflicts) == 2


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
        reply("COMPATIBLE", index=0),
        reply("NOT A CONTRADICTION"),
        {"pairs": reply("COMPATIBLE")["pairs"] * 2},
        {"pairs": []},
        "They are compatible.",
        ModelUnavailableError("timed out"),
    ],
)
def test_a_reply_that_cannot_be_checked_takes_nothing_away(answer: object) -> None:
    (kept,), notes = judge(answer)
    assert kept.judged_by == "rules"
    assert any("not judged" in note for note in notes)


def test_a_model_reads_no_more_than_its_cap() -> None:
    (kept,), notes = judge(ModelUnavailableError("must not be asked"), most=0)
    assert (kept.judged_by, notes) == ("rules", ("1 were not judged by judge",))
