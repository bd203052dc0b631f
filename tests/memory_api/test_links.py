"""Links on a whole store: from the queue or by a model, followed at recall, away and back with memories."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import hydramem
from hydramem.core.config import Config
from hydramem.core.settings.config_loading import load_config
from hydramem.llm.scripted_generator import ScriptedGenerator, ScriptedPrompt
from tests.engines import DISK_ENGINE, ENGINE

INVOICES = "The billing service stores its invoices in PostgreSQL 15."
DUMPS = "Nightly dumps of the invoices database go to the S3 bucket at 02:00."
KEY = "Karl has the only key to the S3 bucket."
QUESTION = "where does billing store its invoices"


def settings(engine: str = ENGINE) -> Config:
    """Return settings with the embedder that comes with the install."""
    return load_config(environment={"HYDRAMEM_STORAGE_GRAPH": engine, "HYDRAMEM_EMBEDDING_MODEL": "minilm"})


def remembered(memory: hydramem.Memory, *texts: str) -> list[str]:
    ids = [memory.remember(text, source="chat").id for text in texts]
    assert memory.drain().failed == 0
    return ids


def others(memory: hydramem.Memory, id: str) -> set[str]:
    return {link.other for link in memory.get(id).links}


@dataclass(frozen=True, slots=True)
class Linked:
    """A memory of three texts."""

    memory: hydramem.Memory
    invoices: str
    dumps: str
    key: str


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Linked]:
    with hydramem.connect(tmp_path_factory.mktemp("m"), config=settings()) as memory:
        yield Linked(memory, *remembered(memory, INVOICES, DUMPS, KEY))


def test_links_are_made_from_the_queue_and_lead_to_what_shares_no_word(linked: Linked):
    assert others(linked.memory, linked.dumps) == {linked.invoices, linked.key}
    found = linked.memory.recall(QUESTION, limit=3)
    hit = next(hit for hit in found.hits if hit.id == linked.key)
    assert [step.label for step in hit.path] == ["relates_to"]
    assert "S3" in hit.why
    assert linked.memory.doctor().healthy
    (hit,) = linked.memory.recall(QUESTION, limit=1).hits
    assert hit.id == linked.invoices, "the last direct hit does not hide what the first is linked to"
    assert [(link.other, link.type) for link in hit.links] == [(linked.dumps, "relates_to")]


@pytest.mark.engine
@pytest.mark.costly
def test_links_go_with_a_memory_and_come_back_with_it_in_whatever_process(tmp_path: Path):
    with hydramem.connect(tmp_path / "m", config=settings(DISK_ENGINE)) as memory:
        invoices, dumps = remembered(memory, INVOICES, DUMPS)
        memory.forget([dumps])
        assert others(memory, invoices) == set()
        assert all("links" not in hit.scores for hit in memory.recall(QUESTION).hits)
        memory.revive([dumps])
    with hydramem.connect(tmp_path / "m", config=settings(DISK_ENGINE)) as memory:
        assert others(memory, dumps) == {invoices}
        assert memory.recall(QUESTION, limit=1).hits[0].links


def test_a_document_makes_no_links(linked: Linked, tmp_path: Path):
    (tmp_path / "a.md").write_text(f"# A\n\n{INVOICES}\n\n# B\n\n{DUMPS}\n", encoding="utf-8")
    before = linked.memory.stats().counts.links
    linked.memory.ingest([str(tmp_path / "a.md")], project="documents")
    assert linked.memory.drain().done == 0
    assert linked.memory.stats().counts.links == before > 0


def replies(prompt: ScriptedPrompt) -> dict[str, object]:
    """Classify, consolidate and link as a model would that looks at texts alone."""
    match prompt.shape.__name__:
        case "ClassifyReply":
            whole = {"scope": "/infra", "categories": ["storage"], "importance": 0.7}
            whole |= {"keywords": [], "summary": ""}
            return {name: whole[name] for name in prompt.shape.__dataclass_fields__}
        case "LinkReply":
            shown = [line for line in prompt.text.splitlines() if line.startswith("<neighbour ")]
            ids = [line.split('"')[1] for line in reversed(shown) if "invoices in PostgreSQL" in line]
            told = [{"id": id, "keywords": ["backed up"], "summary": "Dumped every night."} for id in ids]
            links = [{"id": id, "type": "extends", "weight": 0.9, "reason": "says how"} for id in ids]
            return {"links": [*links, {"id": "1"}], "neighbours": told}
        case _:
            return {}


@pytest.mark.costly  # the embedder that comes with the install
def test_memories_evolve_by_id_with_history(tmp_path: Path):
    script = ScriptedGenerator(replies)
    with hydramem.connect(tmp_path / "m", config=settings(), generator=script) as opened:
        first = opened.remember(INVOICES, source="chat", author="Bo")
        last = opened.remember(DUMPS, source="chat")
        assert opened.drain().failed == 0
        row = opened.get(first.id)
        assert (row.summary, row.keywords) == ("Dumped every night.", ("backed up",))
        assert (row.author, row.text) == ("Bo", INVOICES)
        assert (first.scope, first.categories, first.importance) == ("/infra", ("storage",), 0.7)
        (link,) = row.links
        assert (link.type, link.reason, link.other, link.forward) == ("extends", "says how", last.id, False)
        entry = opened.history(first.id).entries[-1]
        assert (entry.operation, {field.field for field in entry.fields}) == ("link", {"keywords", "summary"})
        asked = [each.shape.__name__ for each in script.prompts if each.shape.__name__ != "LinkReply"]
        assert asked[:2] == ["ExtractionReply", "ClassifyReply"]
        assert (first.usage.calls, last.usage.calls) == (2, len(asked) - 2)
