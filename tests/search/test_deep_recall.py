"""Deep recall: what was found comes with its relations, verified now, and nothing is written."""

import pytest

from hydramem.core.errors import InvalidInputError, ModelUnavailableError
from hydramem.llm.scripted_generator import ScriptedGenerator
from tests.verification.conftest import Connect
from tests.verification.test_verify import OPEN, REFUSING, saying

TEXTS = ("Ada Lovelace leads Billing.", "Grace Hopper works for Acme.", "Grace Hopper leads Sales.")


def test_deep_recall_verifies_what_it_returns_and_writes_nothing(connect: Connect):
    memory = connect([ModelUnavailableError("not yet")] * 3, **OPEN)
    for text in TEXTS:
        memory.remember(text)
    model = memory._given_generator = ScriptedGenerator(saying("GROUNDED"))
    fast = memory.recall("Who leads Billing?", limit=3)
    assert (fast.relations, model.prompts) == ((), [])
    before = memory.stats().counts
    deep = memory.recall("Who leads Billing?", limit=3, mode="deep")
    assert [hit.id for hit in deep.hits] == [hit.id for hit in fast.hits]
    told = {(one.subject, one.type, one.object): (one.decision, one.stage) for one in deep.relations}
    assert told == {
        ("Ada Lovelace", "leads", "Billing"): ("accepted", "vog"),
        ("Grace Hopper", "works_for", "Acme"): ("accepted", "vog"),
        ("Grace Hopper", "leads", "Sales"): ("accepted", "vog"),
    }
    assert deep.milliseconds["verify"] > 0
    assert memory.stats().counts == before
    assert {row.verdict for row in memory.relations()} == {"deferred"}


def test_deep_recall_says_what_did_not_run_and_what_is_not_believed(connect: Connect):
    memory = connect(**OPEN)
    memory.remember(TEXTS[0])
    deep = memory.recall("Who leads Billing?", mode="deep")
    assert [one.decision for one in deep.relations] == ["deferred"]
    assert deep.skipped[0].startswith("verify: no model")
    memory._opened.config = connect(**REFUSING).config
    assert [one.decision for one in memory.recall("Billing", mode="deep").relations] == ["rejected"]
    with pytest.raises(InvalidInputError, match="mode"):
        memory.recall("Billing", mode="slow")


def test_what_only_a_private_memory_says_stays_private(connect: Connect):
    memory = connect(**OPEN)
    memory.remember(TEXTS[0], private=True)
    memory.remember("Ada Lovelace met Billing at noon.")
    shown = memory.recall("Ada Lovelace and Billing", mode="deep", include_private=False).relations
    assert "leads" not in {one.type for one in shown}
    assert "leads" in {one.type for one in memory.recall("Ada Lovelace and Billing", mode="deep").relations}
