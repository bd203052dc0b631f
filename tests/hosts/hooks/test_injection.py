"""What a session and its prompts are given."""

import json
from dataclasses import replace

import pytest

import hydramem
from hydramem.hosts.hooks.answer_event import HookPlace, answer_event
from hydramem.hosts.hooks.deadline import Deadline
from hydramem.hosts.hooks.said_text import said_text
from hydramem.hosts.hooks.session_states import SessionStates
from tests.hosts.hooks.conftest import Hook, context
from tests.hosts.hooks.events import SESSION, event

ASKED = "Which database does billing use?"
FACT = "Billing uses the database MySQL 8."
STARTS = {
    "claude-code": "SessionStart",
    "codex": "SessionStart",
    "gemini": "SessionStart",
    "opencode": "session.created",
}
PROMPTS = {
    "claude-code": "UserPromptSubmit",
    "codex": "UserPromptSubmit",
    "gemini": "BeforeAgent",
    "opencode": "chat.message",
}


def start(hook: Hook, host: str = "claude-code", source: str = "startup", **fields: object) -> str:
    return context(hook(host, event(host, STARTS[host], source=source, **fields)))


def ask(hook: Hook, prompt: str = ASKED, host: str = "claude-code", **fields: object) -> str:
    return context(hook(host, event(host, PROMPTS[host], prompt=prompt, **fields)))


@pytest.mark.parametrize("host", STARTS)
def test_each_host_is_given_the_block_in_its_form(hook: Hook, memory: hydramem.Memory, host: str) -> None:
    memory.remember(FACT, project="shop")
    written = hook(host, event(host, PROMPTS[host], prompt=ASKED))
    assert FACT in context(written)
    assert said_text(context(written)) == "", "it is known again wherever it turns up"
    if host != "opencode":
        assert json.loads(written)["hookSpecificOutput"]["hookEventName"] == PROMPTS[host]


def test_a_session_starts_with_its_project_and_the_default_one(hook: Hook, memory: hydramem.Memory) -> None:
    memory.remember("The shop is written in Rust.", project="shop")
    memory.remember("Ada likes short answers.")
    memory.remember("The harbour has a crane.", project="harbour")
    given = start(hook)
    assert "Rust" in given and "short answers" in given and "crane" not in given


def test_a_memory_is_shown_once_in_a_session(hook: Hook, memory: hydramem.Memory) -> None:
    memory.remember(FACT, project="shop")
    assert FACT in ask(hook)
    assert ask(hook) == "" and ask(hook, f"Again: {ASKED}") == ""
    assert FACT in ask(hook, session_id="another")


def test_what_the_start_showed_is_not_shown_again(hook: Hook, memory: hydramem.Memory) -> None:
    memory.remember(FACT, project="shop")
    assert FACT in start(hook)
    assert ask(hook) == ""


def test_a_new_context_is_given_it_again_and_a_resumed_one_not(hook: Hook, memory: hydramem.Memory) -> None:
    memory.remember(FACT, project="shop")
    assert FACT in start(hook)
    assert start(hook, source="resume") == ""
    assert FACT in start(hook, source="compact")
    assert FACT in start(hook, source="clear")


def test_nothing_is_given_where_nothing_bears_on_the_prompt(
    place: HookPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HYDRAMEM_EMBEDDING_MODEL", "auto")
    monkeypatch.setenv("HYDRAMEM_HOOKS_SESSION_START", "false")
    other = event("claude-code", "UserPromptSubmit", prompt="Rename the variable in the parser, then lint it")
    with hydramem.connect(place.store) as memory:
        memory.remember(FACT, project="shop")
        memory.remember("The team has lunch at noon.", project="shop")
        written: list[str] = []
        answer_event(other, "claude-code", place, Deadline(30.0), written.append)
        assert written == []
        asked = event("claude-code", "UserPromptSubmit", prompt=ASKED)
        answer_event(asked, "claude-code", place, Deadline(30.0), written.append)
        assert "MySQL" in written[0] and "lunch" not in written[0]
        monkeypatch.setenv("HYDRAMEM_HOOKS_MIN_RELEVANCE", "0.0")
        answer_event(other, "claude-code", place, Deadline(30.0), written.append)
        assert "lunch" in written[1], "the floor is what held it back"


def test_trivial_prompts_recall_nothing(hook: Hook, memory: hydramem.Memory) -> None:
    memory.remember(FACT, project="shop")
    for prompt in ("/billing", "billing", "thanks!", ""):
        assert ask(hook, prompt) == ""


def test_own_turns_of_a_session_are_not_told_to_it(hook: Hook, memory: hydramem.Memory) -> None:
    start(hook)
    said = [hydramem.SaidTurn(author="user", text="Billing moves to the database PostgreSQL.")]
    memory.capture(f"claude-code:{SESSION}", said, project="shop")
    assert ask(hook) == ""
    assert "PostgreSQL" in ask(hook, session_id="another")


def test_the_context_of_hooks_is_no_part_of_the_question(hook: Hook, memory: hydramem.Memory) -> None:
    start(hook, "gemini")
    memory.remember(FACT, project="shop")
    prompt = "<hook_context>Which database does billing use?</hook_context>\n\nok"
    assert ask(hook, prompt, "gemini") == ""


def test_an_answer_has_2000_characters_at_most(hook: Hook, memory: hydramem.Memory) -> None:
    for number in range(30):
        memory.remember(
            f'Billing "database" {number} of 北京 \\ uses <MySQL> & ' + "very " * 60, project="shop"
        )
    for written in (
        hook("claude-code", event("claude-code", "UserPromptSubmit", prompt=ASKED)),
        hook("claude-code", event("claude-code", "SessionStart", source="startup")),
    ):
        assert 500 < len(written) <= 2000
        assert said_text(context(written)) == ""


def test_only_what_was_given_counts_as_shown(hook: Hook, memory: hydramem.Memory, place: HookPlace) -> None:
    for number in range(30):
        memory.remember(f"Billing has a database of year {number} " + "very " * 60, project="shop")
    given = ask(hook)
    shown = SessionStates(place.store).shown("claude-code", SESSION)
    assert 0 < given.count("<snippet ") == len(shown)


def test_the_first_prompt_brings_the_start_that_no_owner_answered(
    hook: Hook, memory: hydramem.Memory
) -> None:
    memory.remember(FACT, project="shop")
    memory.remember("Ada likes short answers.")
    given = ask(hook)
    assert FACT in given and "short answers" in given
    assert given.count(FACT) == 1


@pytest.mark.parametrize("setting", ["SESSION_START", "PROMPT"])
def test_an_event_can_be_turned_off(
    hook: Hook, memory: hydramem.Memory, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    memory.remember(FACT, project="shop")
    monkeypatch.setenv(f"HYDRAMEM_HOOKS_{setting}", "false")
    assert (start(hook) if setting == "SESSION_START" else ask(hook)) == ""


def test_settings_are_read_from_the_store(hook: Hook, memory: hydramem.Memory, place: HookPlace) -> None:
    start(hook)
    memory.remember(FACT, project="shop")
    settings = place.store / "config.yml"
    settings.write_text("hooks:\n  max_chars: 0\n")
    assert ask(hook) == "" and start(hook) == ""
    settings.write_text("hooks:\n  surprise: 1\n")
    with pytest.raises(hydramem.ConfigError, match=r"hooks\.surprise: no such key"):
        ask(hook)


def test_the_project_can_be_given(memory: hydramem.Memory, place: HookPlace) -> None:
    memory.remember(FACT, project="work")
    written: list[str] = []
    answer_event(
        event("codex", "SessionStart", source="startup"),
        "codex",
        replace(place, project="work"),
        Deadline(30.0),
        written.append,
    )
    assert FACT in context(written[0])
