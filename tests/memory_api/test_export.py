"""A project goes out as a vault and comes back the same; what a person edited in it stays."""

import json
from operator import attrgetter
from pathlib import Path

import networkx
import pytest

import hydramem
from hydramem import ImportCounts, InvalidInputError
from tests.ingest.imports.conftest import content
from tests.memory_api.conftest import settings

ODD = 'She said: "no"\n---\nkey: [[x]] \u2028 | # ]] \x85 Москва 東京 🐙 \\ end'


def fill(memory: hydramem.Memory) -> None:
    memory.remember_many(
        [
            hydramem.MemoryInput(
                text="Ada leads the billing team.",
                kind="fact",
                scope="/team",
                source="chat",
                author="Grace",
                categories=["people", 'a "quote": yes'],
                keywords=["billing"],
                summary="Who leads.",
                importance=0.9,
                confidence=0.25,
                valid_from="2024-05-01",
                expires_at="2999-01-01",
                metadata={"a": 1, "deep": {"x": [1.5, None, "1e-05"]}},
            ),
            hydramem.MemoryInput(
                text=ODD, scope="/", categories=[], keywords=["yes", "null", "1"], private=True
            ),
            hydramem.MemoryInput(
                text="MySQL 8.4 was installed.", kind="event", event_type="release", happened_at="2025-02-03"
            ),
        ]
    )
    memory.entity("Ada", type="person", aliases=["Countess"], description="Leads.\n\n## Relations\n\nmany")
    memory.entity("C/C++", type="language")
    memory.entity("c-c++", type="thing")
    memory.relate("Ada", "knows", "C/C++", valid_from="2019-01-01", confidence=0.5, bidirectional=True)
    memory.relate("Ada", "lives_in", "Oslo")
    memory.capture("monday", [hydramem.SaidTurn(author="user", text="A turn stays here.")])


FIELDS = """id text kind scope source author categories keywords summary importance confidence event_type
    happened_at expires_at private metadata times.valid_from"""


def kept(memory: hydramem.Memory) -> list[list[str]]:
    """Return what a vault holds of a project."""
    memories = memory.memories(kinds=["note", "fact", "event"])
    entities = [(row.name, row.type, row.aliases, row.description) for row in memory.entities()]
    relations = [
        (row.subject, row.type, row.object, row.confidence, row.valid_from) for row in memory.relations()
    ]
    return [
        sorted(map(str, rows)) for rows in (map(attrgetter(*FIELDS.split()), memories), entities, relations)
    ]


@pytest.fixture
def vault(memory: hydramem.Memory, tmp_path: Path) -> Path:
    """A vault of a memory, which is filled for it."""
    fill(memory)
    done = memory.export_memories(str(tmp_path / "vault"))
    assert (done.memories, done.kept, done.removed) == (3, (), 0)
    assert done.relations == len(memory.relations()) >= 2
    return tmp_path / "vault"


def test_a_vault_read_into_another_store_is_the_same_and_into_its_own_changes_nothing(
    memory: hydramem.Memory, vault: Path, tmp_path: Path
) -> None:
    before = content(memory)
    again = memory.import_memories(str(vault))
    assert (again.format, again.new, again.skipped) == ("hydramem", ImportCounts(), ())
    assert content(memory) == before
    with hydramem.connect(tmp_path / "other", config=settings()) as other:
        came = other.import_memories(str(vault))
        assert (came.new.memories, came.skipped) == (3, ())
        assert kept(other) == kept(memory)
        assert other.import_memories(str(vault)).new == ImportCounts()
        other.export_memories(str(tmp_path / "second"))
    first, second = (
        {file.name: file.read_text() for file in folder.glob("[me]*/*.md")}
        for folder in (vault, tmp_path / "second")
    )
    assert first == second
    notes = {file.stem: file.read_text() for file in (vault / "entities").iterdir()}
    assert len(notes) == len(memory.entities())
    assert "- lives_in [[Oslo]]" in notes["Ada"]
    assert "- knows [[C-C++ 2]]" in notes["Ada"] or "- knows [[C-C++]]" in notes["Ada"]
    (led,) = (vault / "memories").glob("Ada leads*.md")
    assert '"[[Ada]]"' in led.read_text()
    (row,) = [row for row in memory.memories() if row.text.startswith("MySQL")]
    memory.forget([row.id])
    done = memory.export_memories(str(vault))
    assert (done.removed, done.memories) == (1, 2)
    assert not list((vault / "memories").glob("MySQL*.md")), "notes of what is gone are removed"


def test_what_a_person_edited_stays_and_comes_in(memory: hydramem.Memory, vault: Path) -> None:
    (note,) = (vault / "memories").glob("Ada leads*.md")
    note.write_text(note.read_text().replace("leads the billing team", "leads the payments team"))
    (vault / ".obsidian").mkdir()
    done = memory.export_memories(str(vault))
    assert done.kept == (f"memories/{note.name}",)
    assert "payments" in note.read_text()
    came = memory.import_memories(str(vault))
    assert came.new == ImportCounts(memories=1)
    texts = {row.text for row in memory.memories()}
    assert "Ada leads the payments team." in texts
    assert "Ada leads the billing team." not in texts
    assert memory.import_memories(str(vault)).new == ImportCounts()


def test_front_matter_that_an_editor_wrote_anew_is_read(memory: hydramem.Memory, vault: Path) -> None:
    (note,) = (vault / "memories").glob("MySQL*.md")
    head, _, body = note.read_text().removeprefix("---\n").partition("---\n")
    fields = {line.partition(": ")[0]: json.loads(line.partition(": ")[2]) for line in head.splitlines()}
    fields["happened_at"] = "2025-02-03T00:00:00"
    lines = [
        f"{key}:\n  - {value[0]!r}" if isinstance(value, list) else f"{key}: {value}"
        for key, value in fields.items()
    ]
    note.write_bytes("\r\n".join(["---", *lines, "---", body]).encode())
    done = memory.import_memories(str(vault))
    assert (done.new, done.skipped) == (ImportCounts(), ())
    note.write_text("no front matter")
    assert [each.place for each in memory.import_memories(str(vault)).skipped] == [f"memories/{note.name}"]


def test_a_folder_that_is_not_ours_is_refused_and_left(memory: hydramem.Memory, tmp_path: Path) -> None:
    fill(memory)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "note.md").write_text("mine")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / ".hydramem-vault.json").write_text("{}")
    (tmp_path / "linked" / "memories").symlink_to(tmp_path / "mine")
    for place in ("mine", "linked", "store/vault", "mine/note.md"):
        with pytest.raises(InvalidInputError):
            memory.export_memories(str(tmp_path / place))
    assert [file.name for file in (tmp_path / "mine").iterdir()] == ["note.md"]


def test_graphml_has_types_and_times(memory: hydramem.Memory, tmp_path: Path) -> None:
    fill(memory)
    memory.remember("A bell \x07 and <tags> & more.")
    done = memory.export_memories(str(tmp_path / "graph.graphml"), format="graphml")
    graph = networkx.read_graphml(tmp_path / "graph.graphml", force_multigraph=True)
    what = [data["what"] for _, data in graph.nodes(data=True)]
    assert (
        (what.count("memory"), what.count("entity"))
        == (done.memories, done.entities)
        == (4, len(memory.entities()))
    )
    edges = {data["type"]: data for _, _, data in graph.edges(data=True)}
    assert edges["knows"]["confidence"] == 0.5
    assert edges["knows"]["valid_from"] == "2019-01-01T00:00:00+00:00"
    assert "mentions" in edges
    with pytest.raises(InvalidInputError, match="exists"):
        memory.export_memories(str(tmp_path / "graph.graphml"), format="graphml")


def test_a_later_relation_of_a_vault_ends_the_one_that_is_stored(
    memory: hydramem.Memory, tmp_path: Path
) -> None:
    memory.relate("Ada", "works_for", "Acme", valid_from="2024-05-01")
    memory.relate("Grace", "works_for", "Navy", valid_from="2024-05-01")
    memory.export_memories(str(tmp_path / "vault"))
    with hydramem.connect(tmp_path / "other", config=settings()) as other:
        other.relate("Ada", "works_for", "Initech", valid_from="2019-01-01")
        done = other.import_memories(str(tmp_path / "vault"))
        assert (done.new.relations, done.skipped) == (2, ())
        assert {row.object for row in other.relations()} == {"Acme", "Navy"}
        (before,) = other.relations(as_of="2020-01-01")
        assert (before.object, str(before.valid_to)) == ("Initech", "2024-05-01 00:00:00+00:00")
        assert other.import_memories(str(tmp_path / "vault")).new == ImportCounts()


def test_a_vault_leads_nowhere_else(memory: hydramem.Memory, vault: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("---\nhydramem: memory\n---\nOutside of the vault.\n")
    (vault / "memories" / "link.md").symlink_to(tmp_path / "secret.md")
    done = memory.import_memories(str(vault))
    assert [each.place for each in done.skipped] == ["memories/link.md"]
    memories = tmp_path / "vault" / "memories"
    memories.rename(tmp_path / "moved")
    memories.symlink_to(tmp_path / "moved")
    assert memory.import_memories(str(vault)).unchanged.memories == 0
