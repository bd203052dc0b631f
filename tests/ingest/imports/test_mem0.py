"""Memories of mem0 come in as facts, each in the scope of its owner."""

from datetime import UTC, datetime

import hydramem
from hydramem import ImportCounts
from tests.ingest.imports.conftest import Put, content

FILE = {
    "results": [
        {
            "id": "m1",
            "memory": "Prefers tea",
            "hash": "h1",
            "created_at": "2025-03-01T09:00:00-07:00",
            "user_id": "ada",
            "agent_id": "../helper",
            "expiration_date": "2999-01-01",
            "metadata": {"mood": "calm"},
        },
        {"id": "m2", "memory": "Works in Oslo", "user_id": "bob"},
        {"id": "m3", "memory": 7},
        "broken",
    ],
    "relations": [{"source": "ada", "relationship": "lives_in", "target": "oslo"}, {"source": "ada"}],
}


def test_memories_and_relations_come_in_once(memory: hydramem.Memory, put: Put) -> None:
    done = memory.import_memories(put("mem0.json", FILE))
    assert (done.format, done.notes) == ("mem0", ())
    assert done.new == ImportCounts(memories=2, relations=1)
    places = [each.place.removeprefix("mem0.json, ") for each in done.skipped]
    assert places == ["record 3", "record 4", "relation 2"]
    rows = {row.text: row for row in memory.memories()}
    tea = rows["Prefers tea"]
    assert (tea.kind, tea.scope, tea.source) == ("fact", "/mem0/ada/-helper", "import:mem0:mem0.json")
    assert tea.happened_at == datetime(2025, 3, 1, 16, tzinfo=UTC)
    assert tea.expires_at == datetime(2999, 1, 1, tzinfo=UTC)
    assert tea.metadata["mem0"] == {"id": "m1", "hash": "h1", "metadata": {"mood": "calm"}}
    before = content(memory)
    assert memory.import_memories(put("mem0.json", FILE)).new == ImportCounts()
    assert content(memory) == before


def test_forgetting_by_scope_takes_one_owner_back(memory: hydramem.Memory, put: Put) -> None:
    memory.import_memories(put("mem0.json", FILE), scope="/old")
    memory.forget(scope="/old/ada", expect=1)
    assert [row.text for row in memory.memories()] == ["Works in Oslo"]


def test_a_file_of_one_page_may_be_cut_off_and_says_so(memory: hydramem.Memory, put: Put) -> None:
    done = memory.import_memories(put("mem0.json", [{"memory": f"Fact number {n}"} for n in range(20)]))
    assert done.new.memories == 20
    assert "top_k" in done.notes[0]
    assert "expected a list" in memory.import_memories(put("x.json", {}), format="mem0").skipped[0].reason
    assert "cannot be read" in memory.import_memories(put("y.json", "{"), format="mem0").skipped[0].reason
