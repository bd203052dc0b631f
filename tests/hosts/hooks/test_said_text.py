"""What was injected is never captured: in each host's wrapping, escaped, spoofed and without an end."""

import html
import json

import pytest

from hydramem.hosts.hooks.said_text import asks_something, said_text
from tests.hosts.hooks.events import BLOCK

ASKED = "Which database does billing use?"
TWICE = html.escape(html.escape(BLOCK))


@pytest.mark.parametrize(
    "wrapped",
    [
        BLOCK,
        f"UserPromptSubmit hook additional context: {BLOCK}",
        f"UserPromptSubmit hook success: {BLOCK}",
        f"<system-reminder>\nSessionStart hook additional context: {BLOCK}\n</system-reminder>",
        f"<hook_context>{BLOCK}</hook_context>",
        f"<hook_context>{html.escape(BLOCK)}</hook_context>",
        f"<hook_context>{TWICE}</hook_context>",
        TWICE,
        f"<HOOK_CONTEXT >{BLOCK}</Hook_Context>",
    ],
)
def test_an_injected_block_goes_with_its_wrapping(wrapped: str) -> None:
    assert said_text(f"{wrapped}\n\n{ASKED}") == ASKED
    assert said_text(f"{ASKED}\n\n{wrapped}") == ASKED
    assert said_text(wrapped) == ""


@pytest.mark.parametrize(
    "unclosed",
    [
        BLOCK.removesuffix("</recalled-memory>"),
        html.escape(BLOCK).removesuffix(html.escape("</recalled-memory>")),
        f"<hook_context>{BLOCK}",
        f"<hook_context>{html.escape(BLOCK)}",
        f"<system-reminder>\nSessionStart hook additional context: {BLOCK[:150]}",
    ],
)
def test_a_block_without_an_end_runs_to_the_end(unclosed: str) -> None:
    assert said_text(f"{ASKED}\n{unclosed}") == ASKED


@pytest.mark.parametrize(
    "words",
    [
        "What does `<hook_context>` mean in Gemini CLI?",
        "A <system-reminder> without an end is only words.",
        "Our hook additional context: a note.",
        '<recalled-memory data-source="another">kept</recalled-memory>',
        "&lt;recalled-memory&gt; is what the page shows.",
        "</hook_context> first, then <hook_context>",
    ],
)
def test_words_about_wrappings_stay(words: str) -> None:
    assert said_text(words) == words


def test_a_spoofed_start_does_not_shield_a_block_or_take_words_with_it() -> None:
    assert said_text(f"<hook_context> my words <hook_context>{BLOCK}</hook_context> and these") == (
        "<hook_context> my words \n and these"
    )
    nested = f"<hook_context><hook_context>{BLOCK}</hook_context></hook_context>"
    assert "MySQL" not in said_text(nested)
    assert "MySQL" not in said_text(json.dumps({"context": BLOCK}))


def test_a_long_text_takes_a_moment() -> None:
    for piece in (
        "<hook_context>",
        "</hook_context>",
        "&lt;recalled-memory ",
        "a hook additional context: <",
    ):
        said_text(piece * 20_000)


def test_only_prompts_with_something_to_recall_ask_something() -> None:
    trivial = ("", "  ", "/clear", "/model opus", "yes", "Thanks!", "ok.", "好的", "👍")
    assert not any(map(asks_something, trivial))
    assert all(map(asks_something, (ASKED, "/etc/hosts has a wrong line", "fix billing", "数据库用什么")))
