"""Turns of Hermes: stored once and in order, by profile, without what was recalled."""

import logging
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.errors import StoreBusyError
from hydramem.hosts.hermes.turn_log import TurnLog, session_name
from hydramem.memory_api.memory import Memory
from tests.hosts.hermes.conftest import Begin, turns

BLOCK = (
    '<recalled-memory data-source="hydramem"><snippet index="1">The key is blue.</snippet></recalled-memory>'
)


@given(st.text(max_size=400), st.text(max_size=80))
def test_a_session_has_a_short_name_on_one_line_and_naming_it_again_changes_nothing(
    session: str, profile: str
) -> None:
    name = session_name(session, profile=profile, home="/srv/ada/.hermes")
    assert 0 < len(name) <= 128
    assert session_name(name, profile=profile, home="/srv/ada/.hermes") == name
    assert name != session_name(session, profile=profile, home="/srv/ben/.hermes")


def test_names_of_sessions_tell_sessions_and_profiles_apart() -> None:
    names = {
        session_name(session, profile=profile, home="/h")
        for session in ("a", "b", "x" * 300, "x" * 301, "two\nlines", "")
        for profile in ("", "work")
    }
    assert len(names) == 12


def test_a_turn_is_both_sides_words_under_the_session(begin: Begin, memory: Memory, home: Path) -> None:
    provider = begin("s1", agent_identity="work")
    provider.sync_turn("Where is the key?", "In the cellar.", session_id="s1", turn_author="Ada")
    provider.sync_turn("Hello", "Who are you?", turn_author="two\nlines")
    assert turns(memory)[:2] == [("Ada", "Where is the key?"), ("assistant", "In the cellar.")]
    assert [author for author, _ in turns(memory)] == ["Ada", "assistant", "user", "assistant"]
    assert list(home.iterdir()) == [], "nothing is written there"
    (session,) = memory.sessions()
    assert session.name.startswith("hermes:profile-work:home-")
    assert session.name.endswith(":s1")


def test_the_same_words_said_twice_are_two_turns_also_after_a_restart(begin: Begin, memory: Memory) -> None:
    first = begin()
    first.sync_turn("Go on", "I do.")
    first.sync_turn("Go on", "I do.")
    first.shutdown()
    begin().sync_turn("Go on", "I do.")
    assert turns(memory) == [("user", "Go on"), ("assistant", "I do.")] * 3


def test_what_was_recalled_and_the_marker_are_not_stored(begin: Begin, memory: Memory) -> None:
    provider = begin()
    marker = '<dkg-node-ui-context context_graph_id="atlas" source="dkg-node-ui" />'
    provider.sync_turn(f"Where is it?\n\n{marker}", f"It is here.\n{BLOCK}")
    provider.sync_turn(f"{BLOCK}\nAnd now? <hydramem-context project='atlas'/>", "Still.")
    unclosed = '<RECALLED-MEMORY x="1" data-source=hydramem>and the rest'
    provider.sync_turn("Once more", f"Yes. {unclosed}")
    frame = "<memory-context>\n[System note: The following is recalled memory context, NOT new user input."
    provider.sync_turn(f"Last\n\n{frame}]\n{BLOCK}\n</memory-context>", "Done.")
    other = "Kept: <recalled-memory data-source='other'>x</recalled-memory> and <memory-context> as a word"
    provider.sync_turn(other, "I see.")
    assert [text for _, text in turns(memory)] == [
        "Where is it?",
        "It is here.",
        "And now?",
        "Still.",
        "Once more",
        "Yes.",
        "Last",
        "Done.",
        other,
        "I see.",
    ]


def test_an_interrupted_turn_is_left_out(begin: Begin, memory: Memory) -> None:
    provider = begin()
    for user, assistant in (("Where?", ""), ("   ", "There."), (BLOCK, "There."), (None, "There.")):
        provider.sync_turn(user, assistant)
    provider.sync_turn("Where?", "<think>I wonder.</think>")
    provider.sync_turn("Where?", "There.", interrupted=True)
    assert turns(memory) == []


def test_cron_jobs_and_subagents_store_nothing(begin: Begin, memory: Memory) -> None:
    for number, options in enumerate(
        ({"agent_context": "cron"}, {"agent_context": "subagent"}, {"platform": "cron"})
    ):
        provider = begin(f"s{number}", **options)
        provider.sync_turn("Where?", "There.")
        provider.on_delegation("Count.", "12.")
        provider.on_memory_write("add", "memory", "A fact.")
        provider.on_session_end([])
        assert "error" in provider.handle_tool_call("hydramem_remember", {"text": "A fact."})
    assert not memory.memories(limit=10)
    assert not any(each.entries for each in memory.curated())


def test_reasoning_and_secrets_are_not_stored(begin: Begin, memory: Memory) -> None:
    key = "sk-proj-" + "a1B2c3D4" * 6
    begin().sync_turn(f"My key is {key}", "<think>So that is the key.</think>\nKept to myself.")
    stored = " ".join(text for _, text in turns(memory))
    assert key not in stored
    assert "So that is the key" not in stored
    assert "Kept to myself." in stored


def test_characters_that_no_store_holds_cost_no_turn(begin: Begin, memory: Memory) -> None:
    begin().sync_turn("a\x00b \ud800 \x0b \x7f 'quoted' \\ back", "fine " * 10_000)
    stored = turns(memory)
    assert stored[0][1] == "a b \ufffd \x0b \x7f 'quoted' \\ back"
    assert sum(len(text) for _, text in stored[1:]) < 21_000


def test_the_session_of_the_call_counts_and_else_the_current_one(begin: Begin, memory: Memory) -> None:
    provider = begin("s1")
    provider.on_session_switch("s2", parent_session_id="s1", reason="compression")
    provider.sync_turn("Here?", "In the second.")
    provider.sync_turn("Late?", "In the first.", session_id="s1")
    ends = {session.name.rpartition(":")[2] for session in memory.sessions()}
    assert ends == {"s1", "s2"}


def test_a_delegated_task_is_a_turn_of_the_session_that_asked(begin: Begin, memory: Memory) -> None:
    begin().on_delegation("Count the files.", "There are 12.", child_session_id="child", other=1)
    assert turns(memory) == [("assistant", "Count the files."), ("subagent", "There are 12.")]


class Flaky:
    """Passes operations on to a memory, but for those that it is told to fail."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.fails = 0
        self.fails_after = 0

    def __call__(self, operation: str, **arguments: object) -> object:
        if self.fails:
            self.fails -= 1
            raise StoreBusyError("held by another process")
        result = getattr(self.memory, operation)(**arguments)
        if operation == "capture" and self.fails_after:
            self.fails_after -= 1
            raise StoreBusyError("the answer was lost")
        return result


def test_what_cannot_be_stored_waits_and_is_stored_once_and_in_order(
    memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    call = Flaky(memory)
    log = TurnLog(call)
    call.fails = 1
    log.add("s", ("user", "one"), ("assistant", "first"))
    assert turns(memory) == []
    call.fails_after = 1
    log.add("s", ("user", "two"), ("assistant", "second"))  # stores the first one, and loses the answer
    assert log.flush()
    assert log.flush()
    assert [text for _, text in turns(memory)] == ["one", "first", "two", "second"]
    assert "wait to be stored" in caplog.text


def test_a_turn_that_is_refused_holds_up_no_other(memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    log = TurnLog(Flaky(memory))
    log.add("s", ("user", "x" * 200_000), ("assistant", "too long"))
    log.add("s", ("user", "short"), ("assistant", "fine"))
    assert [text for _, text in turns(memory)] == ["short", "fine"]
    assert "is not stored" in caplog.text


def test_turns_that_wait_are_bounded_and_a_loss_is_told(
    memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    call = Flaky(memory)
    call.fails = 60
    log = TurnLog(call)
    with caplog.at_level(logging.WARNING):
        for n in range(60):
            log.add("s", ("user", f"question {n}"), ("assistant", f"answer {n}"))
    assert caplog.text.count("is lost") == 10
    assert log.flush()
    assert len(turns(memory)) == 100
