"""What the hooks of a real agent do: memories reach the model, and turns reach the store, once each."""

import os
import signal
from contextlib import suppress

import pytest

from tests.hosts.real_agents.desk import PROJECT, Desk, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

ANSWERED = {"Stop", "AfterAgent", "session.idle"}
"""Events at which a turn is captured."""


@pytest.fixture
def fact(desk: Desk) -> str:
    """A memory of the project; the process that holds the store runs from now on."""
    text = "The billing service stores its invoices in MySQL 8."
    desk.hydramem("--project", PROJECT, "remember", text)
    return text


def test_a_prompt_gets_the_memory_that_bears_on_it_and_no_other(desk: Desk, fact: str) -> None:
    (desk.store / "config.yml").write_text("hooks:\n  session_start: false\n")
    asked = desk.ask_in_time("Where does the billing service store its invoices?")
    assert fact in asked[-1].text
    asked = desk.ask_in_time("Write a haiku about the sea in winter.")
    assert fact not in "".join(request.text for request in asked)


def test_a_session_starts_with_the_memories_of_its_project(desk: Desk, fact: str) -> None:
    asked = desk.ask_in_time("Write a haiku about the sea in winter.")
    assert fact in asked[-1].text


def test_a_killed_agent_loses_no_turn_that_it_ended(desk: Desk, fact: str) -> None:
    desk.model.reply = "The ledger closes on the third working day."
    running = desk.start("When does the ledger of Oslo close?")
    wait_for(lambda: ANSWERED & set(desk.events()) or running.poll() is not None, "the turn has ended")
    with suppress(ProcessLookupError):  # OpenCode has ended by itself, and its hook has a group of its own
        os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    desk.wait_for_turn(desk.model.reply)
    assert desk.turns() == ["When does the ledger of Oslo close?", desk.model.reply]


@pytest.mark.smoke
def test_a_session_knows_what_the_one_before_was_told(desk: Desk) -> None:
    desk.model.reply = "Understood."
    first = "We decided that the billing service moves to CockroachDB in May."
    desk.ask(first)
    desk.wait_for_turn(first)
    desk.model.reply = "To the one that you decided on."
    second = "Which database does the billing service move to?"
    asked = desk.ask_in_time(second)
    assert "CockroachDB" in asked[-1].text
    desk.wait_for_turn(desk.model.reply)
    said = [first, "Understood.", second, desk.model.reply]
    assert sorted(desk.turns()) == sorted(said), "each once, and nothing that was injected"
