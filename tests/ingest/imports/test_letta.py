"""Agent files of Letta: blocks and passages become notes, the rest is left out and counted."""

import hydramem
from hydramem import ImportCounts
from tests.ingest.imports.conftest import Put, content

AGENTS = {
    "agents": [
        {
            "name": "Harbour helper",
            "system": "You are a helper.",
            "messages": [{"role": "user", "content": "hello"}],
            "block_ids": ["block-1"],
        }
    ],
    "blocks": [
        {"id": "block-1", "label": "human", "value": "Ada prefers tea.", "limit": 2000},
        {"label": "persona", "value": ""},
        {"label": "broken", "value": 7},
        "broken",
    ],
    "tools": [{"name": "send"}],
}
OLD = {"messages": [{"role": "user"}], "core_memory": [{"label": "human", "value": "Birch works in Oslo."}]}


def test_blocks_come_in_once(memory: hydramem.Memory, put: Put) -> None:
    done = memory.import_memories(put("agent.af", AGENTS))
    assert done.format == "letta" and done.new == ImportCounts(memories=1)
    assert done.omitted == {"tools": 1, "empty block": 1, "message": 1}
    assert [each.place for each in done.skipped] == ["agent.af, blocks 3", "agent.af, blocks 4"]
    (note,) = memory.memories()
    assert (note.text, note.kind, note.scope) == ("Ada prefers tea.", "note", "/letta")
    assert note.categories == ("human",)
    before = content(memory)
    assert memory.import_memories(put("agent.af", AGENTS)).new == ImportCounts()
    assert content(memory) == before


def test_the_older_form_and_passages_are_read(memory: hydramem.Memory, put: Put) -> None:
    assert memory.import_memories(put("old.af", OLD)).format == "letta"
    agent = {"name": "ferry/desk", "passages": [{"text": "The ferry leaves at nine."}]}
    memory.import_memories(put("new.af", {"agents": [agent, "broken"], "blocks": []}), format="letta")
    assert {row.text: row.scope for row in memory.memories()} == {
        "Birch works in Oslo.": "/letta",
        "The ferry leaves at nine.": "/letta/ferry-desk",
    }


def test_a_file_that_is_none_is_named(memory: hydramem.Memory, put: Put) -> None:
    (skipped,) = memory.import_memories(put("broken.af", "{"), format="letta").skipped
    assert skipped.place == "broken.af"
