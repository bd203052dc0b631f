"""Both stages together, over a memory: what is accepted, what waits, and what is never taken on trust."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest

import hydramem
from hydramem.core.errors import InvalidInputError, ModelReplyError, ModelUnavailableError, NotFoundError
from hydramem.core.results.write_results import RelationView
from hydramem.core.row_types import RelationCandidate, Verdict
from hydramem.core.settings.config_loading import load_config
from hydramem.ingest.knowledge.graph_rows import decided
from hydramem.llm.scripted_generator import ScriptedGenerator, ScriptedPrompt
from hydramem.verification.verify import layer_for
from tests.graph.graphs import chunk, entity, relation
from tests.verification.conftest import Connect

CLAIM = re.compile(r'<claim index="(\d+)"><subject>(.*?)</subject>.*?<object>(.*?)</object>')
LEADS = "Ada Lovelace leads Billing."
OPEN = {"accept_at": "1.0", "reject_below": "0.0", "vog_sample_share": "0"}
"""Thresholds that leave everything to a model."""
REFUSING = {"accept_at": "1.0", "reject_below": "1.0", "vog_sample_share": "0"}
TRUSTING = {"accept_at": "0.0", "reject_below": "0.0", "vog_sample_share": "0"}


def saying(verdict: str, confidence: float = 0.9) -> Callable[[ScriptedPrompt], object]:
    """Answer every claim alike, quoting the line of the evidence that names its subject."""

    def answer(prompt: ScriptedPrompt) -> object:
        lines = prompt.text.splitlines()
        return {
            "claims": [
                {"index": int(index), "subject": subject, "object": object, "verdict": verdict}
                | {
                    "confidence": confidence,
                    "quote": next((one for one in lines if one.startswith(subject)), ""),
                }
                for index, subject, object in CLAIM.findall(prompt.text)
            ]
        }

    return answer


def only(memory: hydramem.Memory, subject: str = "Ada Lovelace") -> RelationView:
    (row,) = memory.relations(subject)
    return row


def changes(memory: hydramem.Memory, operation: str):
    rows = memory._opened.graph.changes(project="default", kind="r")
    return [row for row in rows if row.operation == operation]


def test_without_a_model_what_is_open_is_stored_and_waits(connect: Connect):
    memory = connect(**OPEN)
    memory.remember(LEADS)
    row = only(memory)
    assert (row.verdict, row.layer, row.state) == ("deferred", "working", "active")
    told = memory.verify()
    assert [(one.decision, one.stage) for one in told.relations] == [("deferred", "srmkg")]
    assert (told.deferred, told.accepted, told.calls) == (1, 0, 0)
    assert "no model" in told.reasons[0]


def test_what_a_model_finds_stated_is_verified_with_its_quote(connect: Connect):
    memory = connect(saying("GROUNDED"), **OPEN)
    memory.remember(LEADS)
    row = only(memory)
    assert (row.verdict, row.layer, row.quote, row.verifier) == (
        "accepted",
        "verified",
        LEADS,
        "vog:scripted",
    )
    (change,) = changes(memory, "remember")
    assert "states it" in change.reason
    assert json.loads(change.before)["verdict"] == "deferred"
    assert json.loads(change.after)["scores"]["vog"] == 0.9


def test_what_is_rejected_at_ingest_is_in_the_history_alone(connect: Connect):
    memory = connect(**REFUSING)
    memory.remember(LEADS)
    assert memory.relations("Ada Lovelace") == ()
    (change,) = changes(memory, "remember")
    assert change.before is None
    assert change.reason
    kept = json.loads(change.after)
    assert (kept["verdict"], kept["verifier"].split(":")[0]) == ("rejected", "srmkg")
    assert kept["scores"]


def test_what_a_model_denies_is_archived_and_more_of_the_same_does_not_revive_it(connect: Connect):
    memory = connect(saying("REJECTED"), **OPEN)
    memory.remember(LEADS)
    assert memory.relations("Ada Lovelace") == ()
    (change,) = changes(memory, "remember")
    archived = json.loads(change.after)
    assert (archived["verdict"], archived["state"]) == ("rejected", "archived")
    memory.remember(f"{LEADS} She said so.")
    assert memory.relations("Ada Lovelace") == ()


@pytest.mark.parametrize(
    "failure",
    [
        ModelUnavailableError("no answer in time"),
        ModelReplyError("nonsense"),
        "GROUNDED",
        saying("NOT GROUNDED"),
    ],
    ids=["outage", "error", "prose", "negated"],
)
def test_nothing_is_accepted_where_the_model_fails(connect: Connect, failure: object):
    memory = connect(failure if callable(failure) else [failure] * 9, **OPEN)
    memory.remember(LEADS)
    assert only(memory).verdict == "deferred"
    told = memory.verify()
    assert (told.accepted, told.deferred) == (0, 1)
    assert told.reasons[0] in told.relations[0].explanation.replace("It waits: ", "")


def test_a_model_that_cannot_be_had_costs_its_verdict_and_nothing_else(tmp_path):
    settings = {"STORAGE_GRAPH": "memory", "EMBEDDING_MODEL": "hash", "LLM_PROVIDER": "anthropic"}
    settings["LLM_API_KEY_ENV"] = "NO_SUCH_KEY"
    settings |= {f"VERIFICATION_{name.upper()}": value for name, value in OPEN.items()}
    given = {f"HYDRAMEM_{name}": value for name, value in settings.items()}
    with hydramem.connect(tmp_path, config=load_config(environment=given)) as memory:
        memory.remember(LEADS)
        assert only(memory).verdict == "deferred"
        told = memory.verify()
        assert "NO_SUCH_KEY" in told.reasons[0]
        assert told.deferred == 1


def test_the_queue_is_taken_up_in_turns_within_the_cap(connect: Connect):
    gone = [ModelUnavailableError("gone")] * 3
    script = iter(gone)
    grounded = saying("GROUNDED")
    memory = connect(lambda prompt: next(script, None) or grounded(prompt), **OPEN, vog_max_candidates="2")
    for name in ("Ada", "Grace", "Edith"):
        memory.remember(f"{name} Lovelace leads Billing.")
    first = memory.verify()
    assert (first.accepted, first.deferred, first.calls) == (2, 1, 2)
    assert "vog_max_candidates" in first.reasons[0]
    second = memory.verify()
    assert (second.accepted, second.deferred) == (1, 0)
    assert memory.verify().relations == ()


def test_an_ingest_says_what_waits_and_why(connect: Connect, tmp_path):
    source = tmp_path / "notes.md"
    source.write_text("# A\n\nAda Lovelace leads Billing.\n\n# B\n\nGrace Hopper leads Sales.\n")
    memory = connect(saying("GROUNDED"), **OPEN, vog_max_candidates="1")
    done = memory.ingest([str(source)])
    assert (done.relations, done.verification.deferred, done.verification.rejected) == (2, 1, 0)
    assert "vog_max_candidates" in done.verification.notes[0]
    verdicts = sorted(row.verdict or "" for row in memory.relations())
    assert verdicts == ["accepted", "deferred"]


def test_a_sampled_relation_is_read_though_it_was_accepted(connect: Connect):
    memory = connect(saying("REJECTED"), **TRUSTING | {"vog_sample_share": "1"})
    memory.remember(LEADS)
    assert memory.relations("Ada Lovelace") == ()
    silent = connect([], **TRUSTING)
    silent.remember(LEADS)
    assert only(silent).verdict == "accepted"


def test_an_assertion_falls_only_by_evidence_that_was_read(connect: Connect):
    memory = connect(**REFUSING)
    done = memory.relate("Ada", "leads", "Sales")
    row = only(memory, "Ada")
    assert (row.verdict, row.id) == ("deferred", done.relation.id)
    (told,) = memory.verify("Ada").relations
    assert (told.decision, "asserted" in told.explanation) == ("deferred", True)
    reading = connect(saying("REJECTED"), **REFUSING)
    note = reading.remember("Ada does not lead Sales.").id
    reading.relate("Ada", "leads", "Sales", evidence=[note])
    assert reading.relations("Ada") == ()


def test_a_claim_that_is_not_stored_is_judged_and_not_written(connect: Connect):
    memory = connect(saying("GROUNDED"), **OPEN)
    memory.remember("Ada Lovelace told Grace Hopper about Billing.")
    before = memory.stats().counts
    told = memory.verify("Ada Lovelace", "warned", "Grace Hopper")
    (one,) = told.relations
    assert (one.id, one.decision, one.stage) == (None, "accepted", "vog")
    assert memory.stats().counts == before
    memory.remember("Edith Clarke likes tea.")
    (unsaid,) = memory.verify("Edith Clarke", "knows", "Grace Hopper").relations
    assert unsaid.decision == "rejected"
    assert "No passage" in unsaid.explanation


def test_what_is_asked_wrongly_is_said(connect: Connect):
    memory = connect()
    memory.remember(LEADS)
    with pytest.raises(InvalidInputError, match="subject"):
        memory.verify(type="leads")
    with pytest.raises(InvalidInputError, match="is the subject"):
        memory.verify("Billing", "leads", "billing")
    with pytest.raises(NotFoundError, match="Nobody"):
        memory.verify("Nobody")
    with pytest.raises(InvalidInputError, match="limit"):
        memory.verify(limit=0)


def test_a_row_that_changes_while_a_model_reads_is_left_alone(connect: Connect):
    grounded = saying("GROUNDED")
    memory = connect([ModelUnavailableError("later")], **OPEN)
    memory.remember(LEADS)

    def reading(prompt: ScriptedPrompt) -> object:
        memory.unrelate("Ada Lovelace", "leads", "Billing", reason="meanwhile")
        return grounded(prompt)

    memory._given_generator = ScriptedGenerator(reading)
    (told,) = memory.verify("Ada Lovelace").relations
    assert (told.decision, told.state) == ("deferred", "archived")
    assert "changed" in told.explanation
    assert changes(memory, "verify") == []


ADA, BILLING = entity("Ada"), entity("billing")
AT = datetime(2026, 1, 1, tzinfo=UTC)


def verdict(decision: str = "accepted", stage: str = "srmkg", **values: object) -> Verdict:
    return Verdict(decision=decision, score=0.8, stage=stage, verifier=f"{stage}:x", **values)


def test_who_decided_is_not_overruled_by_less():
    row = relation(ADA, "leads", BILLING)
    by_model = decided(row, verdict("rejected", "vog"), AT)
    by_person = decided(by_model, verdict("accepted", "person"), AT)
    assert decided(by_model, verdict("accepted", "srmkg"), AT) is by_model
    assert decided(by_person, verdict("rejected", "vog"), AT) is by_person
    assert by_person.verdict == "accepted"
    assert decided(by_person, verdict("rejected", "person"), AT).verdict == "rejected"


SAYS, DENIES, BESIDE = "Ada leads billing.", "Ada no longer leads billing.", "Ada met Bo at billing."


@pytest.mark.parametrize(
    ("given", "texts", "before", "layer"),
    [
        (verdict(), [SAYS], "working", "working"),
        (verdict(), [SAYS, SAYS], "working", "verified"),
        (verdict(), [SAYS, BESIDE], "working", "shared"),
        (verdict(), [SAYS, DENIES], "working", "shared"),
        (verdict(), [SAYS], "verified", "working"),
        (verdict(stage="vog", quote=SAYS), [SAYS], "working", "verified"),
        (verdict(stage="person"), [SAYS], "working", "verified"),
        (verdict("deferred", "vog"), [SAYS, SAYS], "verified", "working"),
        (verdict("rejected"), [SAYS, SAYS], "working", "working"),
    ],
)
def test_layers_rise_by_what_was_found(given: Verdict, texts: list[str], before: str, layer: str):
    passages = tuple(chunk(f"c{n}", text, document=f"d{n}") for n, text in enumerate(texts))
    row = relation(ADA, "leads", BILLING, quote=SAYS, layer=before)
    candidate = RelationCandidate(relation=replace(row), subject=ADA, object=BILLING, passages=passages)
    assert layer_for(given, candidate) == layer


@pytest.mark.parametrize(
    ("fields", "layer"),
    [
        ([{"session": "s"}, {"session": "s"}], "working"),
        ([{"session": "s"}, {"session": "t"}], "verified"),
        ([{"source": ""}, {"source": ""}], "working"),
        ([{"document": "d"}, {"source": "mail"}], "verified"),
        ([{"source": "mail", "metadata": {"voices": [{"source": "wiki"}]}}], "verified"),
    ],
)
def test_sources_are_counted_and_not_passages(fields: list[dict[str, object]], layer: str):
    passages = tuple(chunk(f"c{n}", SAYS, **each) for n, each in enumerate(fields))
    row = relation(ADA, "leads", BILLING)
    candidate = RelationCandidate(relation=row, subject=ADA, object=BILLING, passages=passages)
    assert layer_for(verdict(), candidate) == layer


def test_what_was_inferred_rises_by_words_alone():
    passages = tuple(chunk(f"c{n}", BESIDE, document=f"d{n}") for n in range(2))
    row = relation(ADA, "leads", BILLING, origin="inferred")
    candidate = RelationCandidate(relation=row, subject=ADA, object=BILLING, passages=passages)
    assert layer_for(verdict(), candidate) == "working"
    assert layer_for(verdict(quote=BESIDE), candidate) == "shared"
    assert layer_for(verdict(stage="person"), candidate) == "verified"


def test_a_second_document_verifies_and_its_loss_takes_that_back(connect: Connect, tmp_path):
    memory = connect(**TRUSTING)
    one, two = tmp_path / "one.md", tmp_path / "two.md"
    one.write_text(f"# Notes\n\n{LEADS}\n\n## More\n\n{LEADS}\n")
    memory.ingest([str(one)])
    assert (only(memory).verdict, only(memory).layer) == ("accepted", "working")
    for text, layer in ((f"We met. {LEADS}\n", "verified"), ("She left.\n", "working"), (LEADS, "verified")):
        two.write_text(text)
        memory.ingest([str(two)])
        assert only(memory).layer == layer
    (told,) = [row.id for row in memory.documents() if "two" in row.source]
    memory.forget([told])
    assert only(memory).layer == "working"


def test_a_session_confirms_a_document_and_a_repetition_does_not(connect: Connect, tmp_path):
    memory = connect(**TRUSTING)
    memory.remember(LEADS)
    memory.remember(f"As I said before, {LEADS}")
    assert only(memory).layer == "working"
    (tmp_path / "one.md").write_text(f"{LEADS}\n")
    memory.ingest([str(tmp_path / "one.md")])
    assert only(memory).layer == "verified"
