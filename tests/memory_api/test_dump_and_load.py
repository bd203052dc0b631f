"""A memory moved whole: out of one engine and into the other, killed on the way, over every surface."""

import filecmp
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hydramem
from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.storage.write import Write
from tests import ROOT
from tests.engines import DISK_ENGINE
from tests.memory_api.conftest import settings
from tests.storage.exchange.stores import Store
from tests.storage.rows import chunk, entity, mention

OTHER = "kuzu" if DISK_ENGINE == "ladybug" else "ladybug"
CONFIG = settings(DISK_ENGINE)
TEXT = "# Billing\n\nAda Lovelace leads the billing team in Hall 3.\n\n## History\n\nIt had none before.\n"


def fill(memory: hydramem.Memory, folder: Path) -> None:
    (folder / "billing.md").write_text(TEXT)
    memory.ingest([str(folder / "billing.md")])
    memory.remember("The billing service runs on PostgreSQL.", valid_from="2020-01-01")
    gone = memory.remember("Crate 1001 is in hall 3.").id
    memory.relate("Ada Lovelace", "leads", "billing team", valid_from="2019-06-01")
    memory.relate("Ada Lovelace", "leads", "data team", valid_from="2024-06-01")
    memory.forget([gone])
    with memory.session("talk"):
        memory.recall("who leads billing?")
    memory.drain()


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[hydramem.Memory]:
    with hydramem.connect(tmp_path / "store", config=CONFIG) as memory:
        fill(memory, tmp_path)
        yield memory


def equal(first: Path, second: Path) -> bool:
    names = sorted(file.name for file in first.iterdir())
    assert names == sorted(file.name for file in second.iterdir())
    return filecmp.cmpfiles(first, second, names, shallow=False)[0] == names


def shell(store: Path, *words: str, graph: str = OTHER) -> dict[str, Any]:
    """Run a command on a store of the other engine, in a process of its own: both crash in one."""
    told = subprocess.run(
        [sys.executable, "-m", "hydramem", "--store", str(store), *words, "--json"],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "HYDRAMEM_STORAGE_GRAPH": graph, "HYDRAMEM_EMBEDDING_MODEL": "hash"},
    )
    assert told.returncode == 0, told.stderr
    answer: dict[str, Any] = json.loads(told.stdout)
    return answer


@pytest.mark.slow
def test_the_other_engine_holds_the_same_and_gives_it_back(filled: hydramem.Memory, tmp_path: Path) -> None:
    memory = filled
    done = memory.dump(str(tmp_path / "first"), vectors=True)
    assert min(done.rows[name] for name in ("chunks", "relations", "recalled", "changes")) > 0

    loaded = shell(tmp_path / "other", "load", str(tmp_path / "first"))
    assert loaded["embedded"] == 0
    shell(tmp_path / "other", "dump", str(tmp_path / "second"), "--vectors")
    assert equal(tmp_path / "first", tmp_path / "second")

    with hydramem.connect(tmp_path / "back", config=CONFIG) as back:
        back.load(str(tmp_path / "second"))
        for moment in ("2020-01-01", "2025-01-01"):
            assert back.relations(as_of=moment) == memory.relations(as_of=moment)
        ids = [row.id for row in memory.memories(states=("archived",))]
        assert ids and [back.history(id) for id in ids] == [memory.history(id) for id in ids]
        assert back.doctor().healthy
        back.dump(str(tmp_path / "third"), vectors=True)
        again = back.load(str(tmp_path / "first"))
        assert not any(again.written.values()) and not any(again.differing.values())
        query = "who leads the billing team?"
        assert [hit.text for hit in back.recall(query).hits] == [
            hit.text for hit in memory.recall(query).hits
        ]
    assert equal(tmp_path / "first", tmp_path / "third")


@pytest.mark.engine
@pytest.mark.costly
def test_what_was_done_can_be_taken_back_where_it_was_loaded(filled: hydramem.Memory, tmp_path: Path) -> None:
    (gone,) = filled.memories(states=("archived",))
    told = filled.remember("The parrot is called Ivan.")
    filled.dump(str(tmp_path / "dump"))
    with hydramem.connect(tmp_path / "other", config=CONFIG) as other:
        other.load(str(tmp_path / "dump"))
        other.revive([gone.id])
        assert "Crate 1001 is in hall 3." in [hit.text for hit in other.recall("crate 1001").hits]
        assert told.run is not None
        other.undo(told.run)
        with pytest.raises(NotFoundError):
            other.get(told.id)


@pytest.mark.slow
@pytest.mark.parametrize("reports", [0, 2])
def test_a_killed_load_is_finished_by_the_next(tmp_path: Path, reports: int) -> None:
    store, numbers = Store(dimension=384), range(4500)
    store.put(
        Write(
            changes=(),
            entities=tuple(entity(f"e{n}", f"crate {n}", mention_count=1) for n in numbers),
            chunks=tuple(chunk(f"c{n}", f"Crate {n} is in hall {n % 7}.") for n in numbers),
            mentions=tuple(mention(f"c{n}", f"e{n}") for n in numbers),
            verbatim=True,
        )
    )
    store.dump(tmp_path / "first", vectors=True, created_by=f"hydramem {hydramem.__version__}")
    script = (
        "import sys, hydramem; from tests.memory_api.test_dump_and_load import CONFIG\n"
        "with hydramem.connect(sys.argv[1], config=CONFIG) as memory:\n"
        "    print('open', flush=True)\n"
        "    memory.load(sys.argv[2], progress=lambda *told: print(told, flush=True))"
    )
    words = [sys.executable, "-c", script, str(tmp_path / "other"), str(tmp_path / "first")]
    child = subprocess.Popen(words, stdout=subprocess.PIPE, cwd=ROOT)
    assert child.stdout is not None
    assert all(child.stdout.readline() for _ in range(reports + 1))
    child.send_signal(signal.SIGKILL)
    child.communicate()
    with hydramem.connect(tmp_path / "other", config=CONFIG) as other:
        other.load(str(tmp_path / "first"))
        other.dump(str(tmp_path / "second"), vectors=True)
        assert other.doctor().healthy
    assert equal(tmp_path / "first", tmp_path / "second")


def test_a_folder_that_is_no_path_or_in_the_store_is_refused(memory: hydramem.Memory) -> None:
    for folder in ("", "x\0y", "~nobody-of-this-name/x", "a" * 5000):
        for operation in (memory.dump, memory.load):
            with pytest.raises(InvalidInputError, match="folder: "):
                operation(folder)
    with pytest.raises(InvalidInputError, match="is in the store"):
        memory.dump(str(memory.folder / "dump"))


def test_the_key_is_read_from_the_variable(
    memory: hydramem.Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InvalidInputError, match="'DUMP_KEY' is not set"):
        memory.dump(str(tmp_path / "dump"), sign_key_env="DUMP_KEY")
    assert not (tmp_path / "dump").exists()
    monkeypatch.setenv("DUMP_KEY", "secret")
    assert memory.dump(str(tmp_path / "dump"), sign_key_env="DUMP_KEY").signed
    assert not any(memory.load(str(tmp_path / "dump"), sign_key_env="DUMP_KEY").written.values())
    monkeypatch.setenv("DUMP_KEY", "other")
    with pytest.raises(InvalidInputError, match="signature does not fit"):
        memory.load(str(tmp_path / "dump"), sign_key_env="DUMP_KEY")
