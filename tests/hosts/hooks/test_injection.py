"""What a session and its prompts are given."""

import json

import pytest

import hydramem
from hydramem.hosts.hooks.answer_event import HookPlace
from hydramem.hosts.hooks.said_text import said_text
from hydramem.hosts.hooks.session_states import SessionStates
from tests.hosts.hooks.conftest import Hook, context, hook_at
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
    memory.remember(FACT)
    written = hook(host, event(host, PROMPTS[host], prompt=ASKED))
    assert FACT in context(written)
    assert said_text(context(written)) == "", "it is known again wherever it turns up"
    if host != "opencode":
        assert json.loads(written)["hookSpecificOutput"]["hookEventName"] == PROMPTS[host]


def test_a_session_starts_with_the_project_of_its_folder_and_the_default_one(
    memory: hydramem.Memory, place: HookPlace
) -> None:
    hook = hook_at(HookPlace(store=place.store))
    memory.remember("The shop is written in Rust.", project="shop")
    shared = memory.remember("Ada likes short answers.", project="default").id
    memory.remember("The harbour has a crane.", project="harbour")
    given = start(hook)
    assert "Rust" in given and "short answers" in given and "crane" not in given
    memory.forget([shared], project="default")


def test_a_memory_is_shown_once_in_a_session(hook: Hook, memory: hydramem.Memory) -> None:
    memory.remember(FACT)
    assert FACT in ask(hook)
    assert ask(hook) == "" and ask(hook, f"Again: {ASKED}") == ""
    assert FACT in start(hook, session_id="another")
    assert ask(hook, session_id="another") == "" == start(hook, session_id="another", source="resume")
    for source in ("compact", "clear"):
        assert FACT in start(hook, session_id="another", source=source), "it is a new context"


@pytest.mark.costly  # the real model of meanings
def test_nothing_is_given_where_nothing_bears_on_the_prompt(
    free_place: HookPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HYDRAMEM_EMBEDDING_MODEL", "auto")
    monkeypatch.setenv("HYDRAMEM_HOOKS_SESSION_START", "false")
    other = event("claude-code", "UserPromptSubmit", prompt="Rename the variable in the parser, then lint it")
    hook = hook_at(free_place)
    with hydramem.connect(free_place.store, project="shop") as memory:
        memory.remember(FACT)
        memory.remember("The team has lunch at noon.")
        assert hook("claude-code", other) == ""
        given = ask(hook)
        assert "MySQL" in given and "lunch" not in given
        monkeypatch.setenv("HYDRAMEM_HOOKS_MIN_RELEVANCE", "0.0")
        assert "lunch" in hook("claude-code", other), "the floor is what held it back"


def test_what_asks_nothing_recalls_nothing(hook: Hook, memory: hydramem.Memory) -> None:
    memory.remember(FACT)
    for prompt in ("/billing", "billing", "thanks!", "", f"<hook_context>{ASKED}</hook_context>\n\nok"):
        assert ask(hook, prompt) == "" == ask(hook, prompt, "gemini")


def test_own_turns_of_a_session_are_not_told_to_it(hook: Hook, memory: hydramem.Memory) -> None:
    start(hook)
    said = [hydramem.SaidTurn(author="user", text="Billing moves to the database PostgreSQL.")]
    memory.capture(f"claude-code:{SESSION}", said)
    assert ask(hook) == ""
    assert "PostgreSQL" in ask(hook, session_id="another")


def test_an_answer_has_2000_characters_at_most_and_only_what_is_in_it_counts_as_shown(
    hook: Hook, memory: hydramem.Memory, place: HookPlace
) -> None:
    texts = (f'Billing "database" {number} of 北京 \\ uses <MySQL> & ' + "very " * 130 for number in range(4))
    memory.remember_many([hydramem.MemoryInput(text=text) for text in texts])
    for name, fields in (("UserPromptSubmit", {"prompt": ASKED}), ("SessionStart", {"source": "startup"})):
        session = f"of {name}"
        written = hook("claude-code", event("claude-code", name, session_id=session, **fields))
        assert 500 < len(written) <= 2000
        assert said_text(context(written)) == ""
        shown = SessionStates(place.store).shown("claude-code", session)
        assert 0 < context(written).count("<snippet ") == len(shown) < 4


def test_the_first_prompt_brings_the_start_that_no_owner_answered(
    hook: Hook, memory: hydramem.Memory
) -> None:
    memory.remember(FACT)
    shared = memory.remember("Ada likes short answers.", project="default").id
    given = ask(hook)
    assert FACT in given and "short answers" in given
    assert given.count(FACT) == 1
    memory.forget([shared], project="default")


def test_settings_are_read_from_the_store(hook: Hook, memory: hydramem.Memory, place: HookPlace) -> None:
    start(hook)
    memory.remember(FACT)
    settings = place.store / "config.yml"
    for nothing in ("max_chars: 0", "session_start: false\n  prompt: false"):
        settings.write_text(f"hooks:\n  {nothing}\n")
        assert ask(hook) == "" and start(hook) == ""
    settings.write_text("hooks:\n  surprise: 1\n")
    with pytest.raises(hydramem.ConfigError, match=r"hooks\.surprise: no such key"):
        ask(hook)
