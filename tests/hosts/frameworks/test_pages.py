"""The pages on frameworks: each is listed, and what it shows runs against the real package."""

import asyncio
import re

import pytest

from tests import ROOT

FOLDER = ROOT / "docs" / "frameworks"
PACKAGES = {
    "agent-framework": "agent_framework",
    "autogen": "autogen_core",
    "crewai": "crewai",
    "google-adk": "google.adk",
    "haystack": "haystack",
    "langchain": "langchain_core",
    "langgraph": "langgraph",
    "llama-index": "llama_index.core",
    "openai-agents": "agents",
    "pydantic-ai": "pydantic_ai",
}


def shown(name, folder, monkeypatch):
    """Run the blocks of a page in one session, in an empty folder; return its names."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HYDRAMEM_MODELS", str(folder / "models"))
    monkeypatch.setenv("CREWAI_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    scope: dict[str, object] = {"__name__": name}
    page = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    for block in re.findall(r"^```python\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL):
        exec(compile(block, f"{name}.md", "exec"), scope)
    return scope


PAGES = sorted(page.stem for page in FOLDER.glob("*.md") if page.stem != "index")


def test_every_page_is_listed_and_has_a_package():
    listed = re.findall(r"\]\((\S+)\.md\)", (FOLDER / "index.md").read_text(encoding="utf-8"))
    assert sorted(listed) == PAGES
    assert set(PAGES) <= set(PACKAGES)


def page_case(name):
    """A page that is all that there is for its framework is its smoke test."""
    return pytest.param(name, marks=[pytest.mark.smoke] if name in ("agent-framework", "autogen") else [])


@pytest.mark.costly  # the real engine and model
@pytest.mark.parametrize("name", [page_case(name) for name in PAGES])
def test_what_a_page_shows_runs(name, tmp_path, monkeypatch):
    pytest.importorskip(PACKAGES[name], reason="tests of frameworks run in an environment of their own")
    # Where a package runs a coroutine by itself, it takes the thread's loop, or makes one and leaves it open.
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        shown(name, tmp_path, monkeypatch)
    finally:
        asyncio.set_event_loop(None)
        loop.close()
