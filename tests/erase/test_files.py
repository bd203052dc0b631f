"""The files of a store that hold more than one thing: what was erased goes, the rest stays."""

import json
from pathlib import Path

import pytest

import hydramem
from hydramem.core.errors import StorageError
from hydramem.erase import switch
from hydramem.operations import OPERATIONS, call
from hydramem.storage.schema import REQUEST
from tests.engines import DISK_ENGINE, ENGINE
from tests.erase.readers import traces
from tests.erase.test_erase import NEIGHBOUR, SECRET, config


@pytest.mark.slow
def test_backups_and_kept_stores_are_rewritten_or_left_alone(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with hydramem.connect(store, config=config()) as memory:
        kept = memory.remember(NEIGHBOUR)
        older = Path(memory.backup().file)
        untouched = older.read_bytes()
        secret = memory.remember(SECRET)
        newer = memory.backup().file
        memory.remember("The office is in Ghent.")
        memory.restore(newer)
        (store / "backups" / "odd.bin").write_bytes(b"odd")
        (store / "vectors.txt").write_text("They are in another castle.")
        (store / "notes.txt").write_text(f"They say: {SECRET}")
        receipt = memory.erase([secret.id])
        assert [Path(file.path).name for file in receipt.to_edit] == ["notes.txt", "odd.bin"]
        assert any(path.startswith("replaced-") and path.endswith("/graph") for path in receipt.rewritten)
        assert older.read_bytes() == untouched
    assert (store / "vectors.txt").exists()
    assert traces(store, "vermilion ledger", DISK_ENGINE) == {"bytes of notes.txt"}
    with hydramem.connect(tmp_path / "again", config=config()) as memory:
        memory.restore(newer)
        assert [row.id for row in memory.memories()] == [kept.id] and memory.doctor().healthy


@pytest.mark.costly
def test_answers_of_requests_go_from_store_and_backups(tmp_path: Path) -> None:
    operation = next(row for row in OPERATIONS if row.name == "remember")

    def ask(memory: hydramem.Memory, request: str, text: str) -> str:
        return call(memory, operation, {"text": text}, actor="cli", request=request).id  # type: ignore[attr-defined]

    with hydramem.connect(tmp_path / "store", config=config()) as memory:
        ask(memory, "r1", NEIGHBOUR)
        older = memory.backup().file
        secret = ask(memory, "r2", SECRET)
        ask(memory, "r3", f"{SECRET} They like it.")
        newer = memory.backup().file
        receipt = memory.erase([secret])
        assert {f"backups/{Path(file).name}" for file in (older, newer)} <= set(receipt.rewritten)
        assert not any(memory._opened.graph.scan(REQUEST))
        for file in (older, newer):
            memory.restore(file)
            assert not any(memory._opened.graph.scan(REQUEST)), file


def test_the_gardeners_files(tmp_path: Path) -> None:
    with hydramem.connect(tmp_path, config=config(ENGINE)) as memory:
        kept, secret = memory.remember(NEIGHBOUR), memory.remember(SECRET)
        bob = next(row for row in memory.entities(containing="Bob Marsh") if row.name == "Bob Marsh")
        folder = memory._garden_folder("default")
        folder.mkdir(parents=True)
        lines = [{"text": f"about {secret.id}"}, {"text": f"about {kept.id}"}]
        (folder / "plans").mkdir()
        plans = (folder / "plan.jsonl", folder / "plans" / "w_kept.jsonl")
        for plan in plans:
            plan.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        groups = [
            {"id": "g_1", "name": "Zorblax, Quillfeather", "members": ["e_1"]},
            {"id": "g_2", "name": "Billing", "summary": "Who pays.", "members": [bob.id]},
        ]
        (folder / "communities.json").write_text(json.dumps(groups))
        (folder / "odd.json").write_text(f"{{{SECRET}")
        (folder / "seal.key").write_bytes(b"key")
        (folder / "edges.pt").write_bytes(b"model")
        receipt = memory.erase([secret.id])
        for plan in plans:
            assert [json.loads(line) for line in plan.read_text().splitlines()] == lines[1:]
        assert json.loads((folder / "communities.json").read_text()) == groups[1:]
        left = {path.name for path in folder.iterdir()}
        assert left == {"plan.jsonl", "plans", "communities.json", "seal.key"}
        assert len(receipt.deleted) == 2 and len(receipt.rewritten) == 3


def test_a_note_that_no_erase_wrote_is_refused(tmp_path: Path) -> None:
    for staged, replaced in (("other", "graph"), (".erasing-x", "../graph"), (".erasing-x", "/graph")):
        values = {"staged": staged, "replaced": [replaced], "deleted": []}
        (tmp_path / "erasing.json").write_text(json.dumps(values))
        with pytest.raises(StorageError, match="was not written by an erase"):
            switch.finish(tmp_path)
    (tmp_path / "erasing.json").write_text("{")
    with pytest.raises(StorageError, match="cannot be read"):
        hydramem.connect(tmp_path, config=config())


@pytest.mark.costly
def test_a_part_that_is_a_link_is_refused_and_nothing_changes(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with hydramem.connect(store, config=config()) as memory:
        secret = memory.remember(SECRET)
    (store / "graph").rename(tmp_path / "elsewhere")
    (store / "graph").symlink_to(tmp_path / "elsewhere")
    with hydramem.connect(store, config=config()) as memory:
        with pytest.raises(StorageError, match="is a link"):
            memory.erase([secret.id])
        assert [row.id for row in memory.memories()] == [secret.id]
    assert not list(store.glob(".erasing-*"))


@pytest.mark.costly
def test_turns_that_wait_for_the_memory_go(tmp_path: Path) -> None:
    store = tmp_path / "store"
    waiting, sessions = store / "hooks" / "waiting", store / "hooks" / "sessions"
    with hydramem.connect(store, config=config()) as memory:
        secret = memory.remember(SECRET)
        memory.remember(NEIGHBOUR)
        for folder in (waiting, sessions):
            folder.mkdir(parents=True)
        for name, text in (("secret", f"They say: {SECRET}"), ("other", NEIGHBOUR)):
            turns = [{"author": "user", "text": text, "key": "1", "at": None}]
            kept = {"project": "default", "session": "chat", "turns": turns}
            (waiting / f"{name}.json").write_text(json.dumps(kept))
        (waiting / "torn.json").write_text("{")
        (sessions / "a.shown").write_text(f"{secret.id}\n")
        receipt = memory.erase([secret.id])
        assert receipt.to_edit == ()
    assert [file.name for file in waiting.iterdir()] == ["other.json"]
    assert (sessions / "a.shown").exists()
