"""The phase verify: what waits is decided where it can be, and what a person stands behind stays."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from hydramem import Memory
from hydramem.core.errors import ModelUnavailableError
from hydramem.core.ids import relation_id
from hydramem.core.results.write_results import RelationView
from hydramem.core.row_types import Relation
from hydramem.garden.phases import weighed_relations
from hydramem.garden.phases.infer.inferred_proposals import INFERRED_BY
from hydramem.llm.scripted_generator import ScriptedPrompt
from tests.garden.memories import OPEN, night, opened, put, rows
from tests.garden.rows import relation
from tests.verification.test_verify import saying

LEADS = "Ada Lovelace leads Billing."
QUOTED = "Ada Lovelace sat beside Billing."


class Model:
    """Says of every claim what it is told to, or fails."""

    def __init__(self, verdict: str | Exception) -> None:
        self.verdict = verdict
        self.asked = 0

    def __call__(self, prompt: ScriptedPrompt) -> object:
        self.asked += 1
        return self.verdict if isinstance(self.verdict, Exception) else saying(self.verdict)(prompt)


@pytest.fixture
def model() -> Model:
    """A model that has not answered so far."""
    return Model(ModelUnavailableError("no answer"))


@pytest.fixture
def waiting(tmp_path: Path, model: Model) -> Iterator[Memory]:
    """A memory in which a claim waits for the model."""
    with opened(tmp_path, model, **OPEN) as memory:
        memory.remember(LEADS)
        yield memory


def only(memory: Memory) -> RelationView:
    (row,) = memory.relations("Ada Lovelace")
    return row


def test_what_waits_is_decided_once_a_model_can_be_asked(waiting: Memory, model: Model) -> None:
    assert only(waiting).verdict == "deferred"
    failed = night(waiting, "verify")
    assert failed.phases[0].state == "failed" and failed.run is None
    assert "no answer" in failed.phases[0].notes[0]
    model.verdict, before = "GROUNDED", rows(waiting)
    planned = night(waiting, "verify", plan=True)
    assert [each.text for each in planned.changes] == ["Ada Lovelace leads Billing is believed"]
    assert rows(waiting) == before
    done = night(waiting, "verify")
    assert (done.state, done.phases[0].applied) == ("completed", 1)
    row = only(waiting)
    assert (row.verdict, row.layer, row.quote) == ("accepted", "verified", LEADS)
    waiting.undo(done.run)
    assert rows(waiting) == before
    assert night(waiting, "verify").phases[0].proposals == 0, "what was undone is not done again"


def test_what_the_evidence_denies_goes_to_the_archive(waiting: Memory, model: Model) -> None:
    model.verdict = "REJECTED"
    done = night(waiting, "verify")
    assert done.changes[0].action == "archive" and "is not believed" in done.changes[0].text
    assert waiting.relations("Ada Lovelace") == ()
    assert night(waiting, "verify").phases[0].proposals == 0


def test_what_a_person_asserted_is_never_archived(tmp_path: Path, model: Model) -> None:
    with opened(tmp_path, model, **OPEN) as memory:
        told = memory.remember("A talk with Ada Lovelace on Billing.")
        memory.relate("Ada Lovelace", "leads", "Billing", evidence=[told.id])
        model.verdict = "REJECTED"
        report = night(memory, "verify")
        assert all(each.action != "archive" for each in report.changes)
        assert only(memory).state == "active"


def test_without_a_model_nothing_is_written_where_nothing_moves(tmp_path: Path) -> None:
    with opened(tmp_path, **OPEN) as memory:
        memory.remember(LEADS)
        before = rows(memory)
        report = night(memory, "verify")
        assert (report.state, report.phases[0].proposals) == ("completed", 0)
        assert report.phases[0].counts["still_open"] == 1
        assert rows(memory) == before
        assert "no model" in report.phases[0].notes[0]


def test_a_model_does_not_verify_what_it_inferred(waiting: Memory, model: Model) -> None:
    (row,) = rows(waiting)["RELATES"]
    own = replace(row, origin="inferred", metadata={INFERRED_BY: "scripted"})
    put(waiting, relations=(own,))
    model.verdict, model.asked = "GROUNDED", 0
    report = night(waiting, "verify")
    assert model.asked == 0 and report.phases[0].counts["left_to_another_model"] == 1
    assert only(waiting).verdict == "deferred"


def accepted_early(memory: Memory) -> tuple[Relation, Relation]:
    """Store a claim; return it, and as a graph that said less would have accepted it."""
    memory.remember(LEADS)
    (row,) = rows(memory)["RELATES"]
    early = replace(row, verdict="accepted", verifier="srmkg:1", verified_at=row.times.recorded_at)
    return row, replace(early, layer="working", probability=0.1)


def test_what_was_accepted_by_a_smaller_graph_is_looked_at_again(memory: Memory) -> None:
    row, early = accepted_early(memory)
    put(memory, relations=(early,))
    assert night(memory, "verify").phases[0].counts["relations_looked_at"] == 0
    for name in ("Carl Sun", "Dora Poe", "Emil Fox"):
        memory.relate(name, "knows", "Grace Hopper")
    assert row.id in [each.target for each in night(memory, "verify").changes]


def test_what_a_person_decided_is_not_looked_at(waiting: Memory, model: Model) -> None:
    (row,) = rows(waiting)["RELATES"]
    decided = replace(row, verdict="deferred", verifier="person:ada")
    put(waiting, relations=(decided,))
    model.verdict = "GROUNDED"
    assert night(waiting, "verify").phases[0].proposals == 0


def contested(memory: Memory) -> tuple[Relation, Relation]:
    """Put a claim of a memory beside another of the same type and object that is less probable."""
    memory.remember(LEADS)
    (right,) = rows(memory)["RELATES"]
    right = replace(right, verdict="accepted", probability=0.9, verifier="srmkg:1", scores={})
    memory.entity("Carl Sun")
    (carl,) = [row.id for row in rows(memory)["Entity"] if row.name == "Carl Sun"]
    id = relation_id(right.project, carl, right.type, right.object, None)
    wrong = replace(right, id=id, subject=carl, quote=None, probability=0.6)
    put(memory, relations=(right, wrong))
    return right, wrong


@pytest.mark.parametrize("page", [weighed_relations.PAGE, 1])
def test_a_claim_that_its_passage_contests_loses_its_weight_and_nothing_else(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    monkeypatch.setattr(weighed_relations, "PAGE", page)
    right, wrong = contested(memory)
    before = rows(memory)
    done = night(memory, "verify")
    assert done.phases[0].counts["weighed"] == 2
    after = {row.id: row for row in rows(memory)["RELATES"]}
    assert after[wrong.id].weight == 0 and after[right.id].weight > 0.5
    assert {row.state for row in after.values()} == {"active"}
    assert [each.entity for each in memory.neighbors("Billing")] == ["Ada Lovelace"]
    assert len(memory.relations("Billing")) == 2, "it is listed, and a person can confirm it"
    assert night(memory, "verify").phases[0].proposals == 0
    memory.undo(done.run)
    assert rows(memory) == before
    assert night(memory, "verify").phases[0].proposals == 0, "what was undone is not done again"


def test_a_verdict_that_makes_a_rival_weaker_leaves_the_next_night_nothing_to_do(
    memory: Memory,
) -> None:
    right, wrong = contested(memory)
    right = replace(right, verified_at=right.times.recorded_at - timedelta(days=1))
    wrong = replace(wrong, verified_at=right.times.recorded_at + timedelta(days=1))
    put(memory, relations=(right, wrong))
    for name in ("Carl Moon", "Dora Poe", "Emil Fox"):
        memory.relate(name, "knows", "Grace Hopper")
    first = night(memory, "verify")
    assert {each.target for each in first.changes} == {right.id, wrong.id}
    assert night(memory, "verify").phases[0].proposals == 0


def test_the_graph_alone_ends_nothing_that_is_quoted(tmp_path: Path) -> None:
    strict = {"VERIFICATION_ACCEPT_AT": "1.0", "VERIFICATION_REJECT_BELOW": "0.9999"}
    with opened(tmp_path, **strict) as memory:
        talk = memory.remember(f"A talk of Grace Hopper was on Compilers. {QUOTED}")
        for name in ("Grace Hopper", "Compilers", "Ada Lovelace", "Billing"):
            memory.entity(name)
        ids = {row.name: row.id for row in rows(memory)["Entity"]}
        open_ = {"evidence": (talk.id,), "verdict": "deferred", "probability": 0.5, "verifier": "srmkg:1"}
        quoted = relation(ids["Ada Lovelace"], "leads", ids["Billing"], quote=QUOTED, **open_)
        bare = relation(ids["Grace Hopper"], "leads", ids["Compilers"], **open_)
        put(memory, relations=(quoted, bare))
        done = night(memory, "verify")
        assert [each.target for each in done.changes if each.action == "archive"] == [bare.id]
        kept = {row.id: row for row in rows(memory)["RELATES"]}[quoted.id]
        assert (kept.state, kept.verdict) == ("active", "deferred")
        assert night(memory, "verify").phases[0].proposals == 0


def test_a_model_reads_as_many_claims_as_the_night_has_calls_for(tmp_path: Path, model: Model) -> None:
    names = ["Aldo", "Bea", "Ciro", "Dana", "Ezra", "Fay", "Gus"]
    names += ["Hana", "Ines", "Jens", "Kira", "Leo", "Mona", "Nils"]
    limits = {"GARDEN_PHASE_CALLS": "9", "VERIFICATION_VOG_MAX_CANDIDATES": "3"}
    with opened(tmp_path, model, **OPEN, **limits) as memory:
        for name in names:
            memory.remember(f"{name} Lovelace leads {name}works.")
        model.verdict, model.asked = "GROUNDED", 0
        read = []
        for _ in range(2):
            report = night(memory, "verify")
            read.append(model.asked)
            assert report.phases[0].state == "partial"
            (note,) = report.phases[0].notes
            assert "budget" in note
        assert 3 < read[0] <= 9 and read[0] < read[1] <= 18
        waiting = [row for row in memory.relations(limit=50) if row.verdict == "deferred"]
        assert len(waiting) == max(0, len(names) - read[1])
