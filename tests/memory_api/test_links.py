"""Links on a whole store: from the queue or by a model, followed at recall, away and back with memories."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import hydramem
from hydramem.core.config import Config
from hydramem.core.row_types import Usage
from hydramem.core.settings.config_loading import load_config
from hydramem.ingest.pending_jobs import LINK
from hydramem.llm.scripted_generator import ScriptedGenerator, ScriptedPrompt
from hydramem.memory_api.job_handlers import JobHandlers
from hydramem.storage.jobs import job

ENGINE = os.environ.get("HYDRAMEM_TEST_ENGINE", "ladybug")

INVOICES = "The billing service stores its invoices in PostgreSQL 15."
DUMPS = "Nightly dumps of the invoices database go to the S3 bucket at 02:00."
KEY = "Karl has the only key to the S3 bucket."
QUESTION = "where does billing store its invoices"


@pytest.fixture(scope="module")
def config() -> Config:
    return load_config(environment={"HYDRAMEM_STORAGE_GRAPH": ENGINE, "HYDRAMEM_EMBEDDING_MODEL": "minilm"})


@pytest.fixture
def memory(tmp_path: Path, config: Config) -> Iterator[hydramem.Memory]:
    """A store with the embedder that comes with the install."""
    with hydramem.connect(tmp_path / "m", config=config) as opened:
        yield opened


def remembered(memory: hydramem.Memory, *texts: str) -> list[str]:
    ids = [memory.remember(text, source="chat").id for text in texts]
    assert memory.drain().failed == 0
    return ids


def others(memory: hydramem.Memory, id: str) -> set[str]:
    return {link.other for link in memory.get(id).links}


def test_links_are_made_from_the_queue_and_lead_to_what_shares_no_word(memory: hydramem.Memory):
    invoices, dumps, key = remembered(memory, INVOICES, DUMPS, KEY)
    assert others(memory, dumps) == {invoices, key}
    found = memory.recall(QUESTION, limit=3)
    hit = next(hit for hit in found.hits if hit.id == key)
    assert [step.label for step in hit.path] == ["relates_to"]
    assert "S3" in hit.why
    assert memory.doctor().healthy


def test_the_last_direct_hit_does_not_hide_what_the_first_is_linked_to(memory: hydramem.Memory):
    invoices, dumps, _ = remembered(memory, INVOICES, DUMPS, KEY)
    (hit,) = memory.recall(QUESTION, limit=1).hits
    assert hit.id == invoices
    assert [(link.other, link.type) for link in hit.links] == [(dumps, "relates_to")]


def test_links_go_with_a_memory_and_come_back_with_it(memory: hydramem.Memory):
    invoices, dumps, key = remembered(memory, INVOICES, DUMPS, KEY)
    memory.forget([dumps])
    assert others(memory, invoices) == others(memory, key) == set()
    assert all("links" not in hit.scores for hit in memory.recall(QUESTION).hits)
    memory.revive([dumps])
    assert others(memory, dumps) == {invoices, key}


def test_links_outlive_the_process(tmp_path: Path, config: Config):
    with hydramem.connect(tmp_path / "m", config=config) as opened:
        ids = remembered(opened, INVOICES, DUMPS)
    with hydramem.connect(tmp_path / "m", config=config) as opened:
        assert others(opened, ids[0]) == {ids[1]}
        assert opened.recall(QUESTION, limit=1).hits[0].links


def test_a_document_makes_no_links(memory: hydramem.Memory, tmp_path: Path):
    (tmp_path / "a.md").write_text(f"# A\n\n{INVOICES}\n\n# B\n\n{DUMPS}\n", encoding="utf-8")
    memory.ingest([str(tmp_path / "a.md")])
    assert memory.drain().done == 0
    assert memory.stats().counts.links == 0


def replies(prompt: ScriptedPrompt) -> dict[str, object]:
    """Classify, consolidate and link as a model would that looks at texts alone."""
    match prompt.shape.__name__:
        case "ClassifyReply":
            whole = {
                "scope": "/infra",
                "categories": ["storage"],
                "importance": 0.7,
                "keywords": [],
                "summary": "",
            }
            return {name: whole[name] for name in prompt.shape.__dataclass_fields__}
        case "LinkReply":
            shown = [line for line in prompt.text.splitlines() if line.startswith("<neighbour ")]
            ids = [line.split('"')[1] for line in reversed(shown) if "invoices in PostgreSQL" in line]
            told = [{"id": id, "keywords": ["backed up"], "summary": "Dumped every night."} for id in ids]
            links = [{"id": id, "type": "extends", "weight": 0.9, "reason": "says how"} for id in ids]
            return {"links": [*links, {"id": "1"}], "neighbours": told}
        case _:
            return {}


def test_memories_evolve_by_id_with_history(tmp_path: Path, config: Config):
    script = ScriptedGenerator(replies)
    with hydramem.connect(tmp_path / "m", config=config, generator=script) as opened:
        first = opened.remember(INVOICES, source="chat", author="Bo")
        last = opened.remember(DUMPS, source="chat")
        assert opened.drain().failed == 0
        row = opened.get(first.id)
        assert (row.summary, row.keywords, row.author, row.text) == (
            "Dumped every night.",
            ("backed up",),
            "Bo",
            INVOICES,
        )
        assert (first.scope, first.categories, first.importance) == ("/infra", ("storage",), 0.7)
        (link,) = row.links
        assert (link.type, link.reason, link.other, link.forward) == ("extends", "says how", last.id, False)
        entry = opened.history(first.id).entries[-1]
        assert (entry.operation, {field.field for field in entry.fields}) == ("link", {"keywords", "summary"})
        asked = [each.shape.__name__ for each in script.prompts if each.shape.__name__ != "LinkReply"]
        assert asked[:2] == ["ExtractionReply", "ClassifyReply"]
        assert (first.usage.calls, last.usage.calls) == (2, len(asked) - 2)


def test_what_a_model_cost_in_jobs_is_told(tmp_path: Path, config: Config):
    bare = replace(config, memory=replace(config.memory, link_neighbors=0))
    with hydramem.connect(tmp_path / "m", config=bare) as opened:
        _, last = remembered(opened, INVOICES, DUMPS)
    script = ScriptedGenerator(replies)
    with hydramem.connect(tmp_path / "m", config=config, generator=script) as opened:
        link = JobHandlers(opened._opened, "default", script).handlers()[LINK]
        assert link.run([job(LINK, project="default", chunk=last)]) == script.usage
        assert script.usage.calls == 1
        # Both are linked by now: nothing is asked.
        assert link.run([job(LINK, project="default", chunk=last)]) == Usage()
