"""A configured model extracts from memories and captured turns, on a whole store."""

from pathlib import Path

import hydramem
from hydramem.core.errors import ModelUnavailableError
from hydramem.core.settings.config_loading import load_config
from hydramem.ingest.extraction.extraction_prompt import ExtractionReply
from hydramem.ingest.memories.sessions import SaidTurn
from hydramem.llm.scripted_generator import ScriptedGenerator, ScriptedPrompt
from tests.engines import ENGINE

CONFIG = {"HYDRAMEM_STORAGE_GRAPH": ENGINE, "HYDRAMEM_EMBEDDING_MODEL": "hash"}
REMEMBERED = "the tall one at quillon handles payroll for the harbour office."
SAID = "Well, the harbour office rents its rooms from Zorvane Labs."


def extracts(prompt: ScriptedPrompt) -> object:
    """Extract what a model would from the two texts; no other role answers."""
    if prompt.shape is not ExtractionReply:
        return ModelUnavailableError("no other role")
    payroll = {"subject": "quillon", "type": "handles payroll for", "object": "harbour office"}
    rooms = {"subject": "harbour office", "type": "rents_rooms_from", "object": "Zorvane Labs"}
    stated = {REMEMBERED: payroll | {"quote": REMEMBERED}, SAID: rooms | {"quote": "rents its rooms from"}}
    found = [relation for text, relation in stated.items() if text in prompt.text]
    return {"chunks": [{"number": 1, "relations": found}]}


def test_what_a_model_finds_in_memories_and_turns_is_recalled_and_undone(tmp_path: Path) -> None:
    script = ScriptedGenerator(extracts)
    with hydramem.connect(tmp_path, config=load_config(environment=CONFIG), generator=script) as memory:
        done = memory.remember(REMEMBERED)
        assert {"quillon", "harbour office"} <= set(done.entities) and done.usage.calls == 1
        captured = memory.capture("chat", [SaidTurn(author="user", text=SAID)])
        assert "harbour office" in captured.entities and captured.usage.calls == 1
        rows = {(row.subject, row.type, row.object): row for row in memory.relations("harbour office")}
        assert set(rows) == {
            ("quillon", "handles_payroll_for", "harbour office"),
            ("harbour office", "rents_rooms_from", "Zorvane Labs"),
        }
        assert {row.layer for row in rows.values()} == {"working"}, "one source, and nobody verified it"
        (entity,) = [row for row in memory.entities() if row.name == "harbour office"]
        assert entity.mention_count == 2
        memory.undo(captured.run)
        assert {row.type for row in memory.relations("harbour office")} == {"handles_payroll_for"}
