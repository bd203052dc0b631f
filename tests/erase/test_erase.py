"""What is erased is in no file of the store, for no reader, and its neighbours are whole."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import hydramem
from hydramem.core.config import Config, EmbeddingConfig, MemoryConfig, StorageConfig
from hydramem.core.errors import InvalidInputError, NotFoundError, StoreBusyError
from hydramem.storage.exchange.manifest import PARTS
from hydramem.verification.grounding.model_replies import Kept
from tests.engines import DISK_ENGINE, ENGINE
from tests.erase.readers import traces

SECRET = "Ada Quillfeather keeps the vermilion ledger of Zorblax in cabinet nineteen."
WORDS = ("vermilion ledger", "cabinet nineteen", "Quillfeather", "Zorblax")
NEIGHBOUR = "Bob Marsh runs the billing service on MySQL with Carla Diaz."


def config(engine: str = DISK_ENGINE) -> Config:
    return Config(
        storage=StorageConfig(graph=engine, buffer_pool_mb=256, max_db_gb=8),  # type: ignore[arg-type]
        embedding=EmbeddingConfig(model="hash"),
        memory=MemoryConfig(cognitive=False),
    )


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[hydramem.Memory]:
    with hydramem.connect(tmp_path / "store", config=config(ENGINE)) as memory:
        yield memory


def left(memory: hydramem.Memory) -> set[str]:
    """Return the secret's words that any row of the graph has."""
    scan = memory._use().graph.scan
    text = "\n".join(repr(row) for part in PARTS for batch in scan(part.table) for row in batch).casefold()
    return {words for words in WORDS if words.casefold() in text}


@pytest.mark.costly
@pytest.mark.engine
def test_a_memory_is_gone_from_every_file(tmp_path: Path) -> None:
    memory = hydramem.connect(tmp_path / "store", config=config())
    kept = memory.remember(NEIGHBOUR)
    secret = memory.remember(SECRET, session="talk", keywords=["vermilion ledger"], summary=SECRET)
    with memory.during("talk"):
        memory.recall("what is in the vermilion ledger?")
        memory.recall("who runs the billing service?")
    memory.forget([secret.id])
    memory.revive([secret.id])
    backup = memory.backup().file
    store = memory._opened
    store.replies.put([Kept(key="k", reply=json.dumps({"quote": SECRET}), chunks=(secret.id,))])
    lost = memory.folder / "lost" / "lost-1.jsonl"
    lost.parent.mkdir()
    rows = ((secret.id, SECRET), ("c_other", NEIGHBOUR))
    lost.write_text("".join(json.dumps({"id": id, "text": text}) + "\n" for id, text in rows))
    (memory.folder / "graph" / "old.wal.torn-1").write_text(SECRET)
    (memory.folder / "vectors.damaged-1").mkdir()
    (memory.folder / "vectors.damaged-1" / "x").write_text(SECRET)
    curated = memory.folder / "curated" / "default" / "MEMORY.md"
    curated.parent.mkdir(parents=True)
    curated.write_text(SECRET)
    reports = memory.folder / "garden" / "0123456789abcdef"
    reports.mkdir(parents=True)
    (reports / "doubts.json").write_text(json.dumps([{"one": secret.id}, {"one": "c_other"}]))
    (reports / "20260101T000000.json").write_text(json.dumps({"notes": [SECRET]}))
    memory.close()
    before = traces(memory.folder, WORDS, DISK_ENGINE)
    expected = (
        *(f"rows of graph/{DISK_ENGINE}", "lost-1.jsonl", "torn-1", "damaged-1", "vog_replies.db"),
        *("MEMORY.md", "chunks.lance", ".json", " in backups/"),
    )
    assert all(any(name in place for place in before) for name in expected), before

    memory = hydramem.connect(tmp_path / "store", config=config())
    seen = memory.erase([secret.id], dry_run=True)
    assert seen.dry_run and seen.removed["chunks"] == 1 and memory.get(secret.id)
    receipt = memory.erase([secret.id])
    assert receipt.asked == (secret.id,) and receipt.actor == "python"
    assert receipt.removed["chunks"] == 1 and receipt.removed["entities"] >= 1
    assert [file.path for file in receipt.to_edit] == [str(curated)]
    assert not any(word.casefold() in str(receipt).casefold() for word in WORDS)
    assert memory.doctor().healthy
    with pytest.raises(NotFoundError):
        memory.get(secret.id)
    assert [row.id for row in memory.memories()] == [kept.id]
    assert memory.recall("who runs the billing service?").hits[0].id == kept.id
    assert memory.history(secret.id).entries[-1].operation == "erase"
    (session,) = [row for row in memory.sessions() if row.name == "talk"]
    assert "vermilion" not in str(session)
    memory.close()
    assert traces(memory.folder, WORDS, DISK_ENGINE) == {"bytes of curated/default/MEMORY.md"}
    # No row of a data file is hidden by a deletion, and no older version names another file.
    assert not list(memory.folder.rglob("_deletions/*"))
    assert json.loads((reports / "doubts.json").read_text()) == [{"one": "c_other"}]
    assert NEIGHBOUR in lost.read_text() and Path(backup).exists()


@pytest.mark.costly
def test_a_document_goes_and_can_come_again(tmp_path: Path) -> None:
    memory = hydramem.connect(tmp_path / "store", config=config())
    page, other = tmp_path / "secret.md", tmp_path / "other.md"
    page.write_text(f"# Ledger\n\n{SECRET} Bob Marsh knows of it.\n")
    other.write_text(f"# Billing\n\n{NEIGHBOUR}\n")
    done = memory.ingest([str(page), str(other)])
    rows = {row.source: row for row in memory.documents()}
    bob = next(row for row in memory.entities(containing="Bob Marsh") if row.name == "Bob Marsh")
    receipt = memory.erase([next(row.id for source, row in rows.items() if source.endswith("secret.md"))])
    assert receipt.removed["documents"] == 1
    (left,) = memory.documents()
    assert left.source.endswith("other.md")
    again = next(row for row in memory.entities(containing="Bob Marsh") if row.name == "Bob Marsh")
    assert again.id == bob.id and again.mention_count == bob.mention_count - 1 == 1
    assert memory.doctor().healthy and done.documents == 2
    assert memory.ingest([str(page)]).documents == 1
    assert "vermilion" in memory.recall("who keeps the vermilion ledger?").hits[0].text
    ids = [row.id for row in memory.documents() if row.source.endswith("secret.md")]
    memory.erase(ids)
    memory.close()
    assert traces(memory.folder, WORDS, DISK_ENGINE) == set()


def test_an_entity_goes_with_what_names_it(memory: hydramem.Memory) -> None:
    kept = memory.remember(NEIGHBOUR)
    secret = memory.remember(SECRET)
    memory.entity("Zorblax", description="A vermilion ledger.")
    (entity,) = [row for row in memory.entities(containing="Zorblax") if row.name == "Zorblax"]
    seen = memory.erase([entity.id], dry_run=True)
    assert seen.remaining == (secret.id,)
    memory.erase([entity.id], with_mentions=True)
    assert [row.id for row in memory.memories()] == [kept.id]
    assert memory.doctor().healthy and not left(memory)


def test_a_project_goes_and_no_other(memory: hydramem.Memory) -> None:
    memory.remember(NEIGHBOUR)
    memory.remember(SECRET, project="secret")
    memory.relate("Ada Quillfeather", "owns", "Zorblax", project="secret")
    receipt = memory.erase(whole_project=True, project="secret")
    assert receipt.asked == ("secret",) and receipt.removed["chunks"] == 1
    assert [row.name for row in memory.projects()] == ["default"]
    assert memory.doctor().healthy and not left(memory)


def test_a_relation_that_others_state_stays(memory: hydramem.Memory) -> None:
    one = memory.remember("Bob Marsh works for Initech.")
    two = memory.remember("Everybody knows that Bob Marsh works for Initech.")
    (before,) = [row for row in memory.relations() if {row.subject, row.object} == {"Bob Marsh", "Initech"}]
    memory.erase([one.id])
    (after,) = [row for row in memory.relations() if {row.subject, row.object} == {"Bob Marsh", "Initech"}]
    assert after.id == before.id and after.evidence == (two.id,)
    assert memory.doctor().healthy


def test_earlier_versions_and_wrong_wordings_go_too(memory: hydramem.Memory) -> None:
    first = memory.remember(SECRET)
    second = memory.revise(first.id, text="Ada Quillfeather keeps the vermilion ledger in cabinet twenty.")
    memory.erase([second.id])
    assert memory.doctor().healthy and not left(memory)


def test_undo_says_why_it_brings_nothing_back(memory: hydramem.Memory) -> None:
    with_it = memory.remember_many([hydramem.MemoryInput(text=SECRET), hydramem.MemoryInput(text=NEIGHBOUR)])
    run = next(entry.run for entry in memory.history(with_it[1].id).entries if entry.run)
    alone = memory.remember("The vermilion ledger of Zorblax has forty pages.")
    own = next(entry.run for entry in memory.history(alone.id).entries if entry.run)
    memory.erase([with_it[0].id, alone.id])
    with pytest.raises(InvalidInputError, match="erased things do not come back"):
        memory.undo(own)
    done = memory.undo(run)
    assert any("does not come back" in note for note in done.notes)
    assert not memory.memories() and not left(memory)


def test_what_cannot_be_erased(memory: hydramem.Memory) -> None:
    kept = memory.remember(NEIGHBOUR)
    for odd in ("c_0", "nothing", "x" * 300):
        with pytest.raises(NotFoundError):
            memory.erase([odd])
    with pytest.raises(InvalidInputError):
        memory.erase()
    with pytest.raises(InvalidInputError):
        memory.erase([kept.id], whole_project=True)
    with pytest.raises(NotFoundError):
        memory.erase(whole_project=True, project="none")
    memory.erase([kept.id])
    with pytest.raises(NotFoundError, match="was erased at"):
        memory.erase([kept.id])
    memory.remember(NEIGHBOUR)  # it can come again
    assert [row.text for row in memory.memories()] == [NEIGHBOUR]


def test_a_store_of_two_handles_is_not_erased_from(tmp_path: Path) -> None:
    with hydramem.connect(tmp_path, config=config()) as memory:
        kept = memory.remember(NEIGHBOUR).id
        with hydramem.connect(tmp_path, config=config()), pytest.raises(StoreBusyError, match="2 handles"):
            memory.erase([kept])
