"""A graph that is older than its vectors, or gone, is refused; what only the vectors hold is kept aside."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import hydramem
from hydramem.cli.main import run
from hydramem.core.errors import StorageError
from hydramem.core.results.upkeep_results import Diagnosis
from tests.engines import DISK_ENGINE
from tests.faults.damage import flip, hashes, log_of
from tests.faults.stores import CONFIG, EARLIER, LATER, killed_store, sentence


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return killed_store(tmp_path_factory.mktemp("original"))


@pytest.fixture
def killed(original: Path, tmp_path: Path) -> Path:
    """A copy of a store whose process died."""
    return Path(shutil.copytree(original, tmp_path / "store"))


def texts_in(found: Diagnosis) -> set[str]:
    """Return the texts of the lost chunks in the file that a diagnosis names."""
    assert found.lost_file is not None
    lines = [json.loads(line) for line in Path(found.lost_file).read_text(encoding="utf-8").splitlines()]
    return {line["text"] for line in lines if line["table"] == "chunks"}


def vectors_of(store: Path) -> dict[str, str]:
    return {name: hash for name, hash in hashes(store).items() if name.startswith("vectors")}


def test_a_killed_store_opens_whole(killed: Path) -> None:
    with hydramem.connect(killed, config=CONFIG) as memory:
        assert len(memory.memories(limit=100)) == EARLIER + LATER
        assert memory.doctor().healthy


@pytest.mark.costly
@pytest.mark.parametrize("damage", ["deleted", "emptied"])
def test_a_store_whose_log_is_gone_is_refused_and_nothing_is_lost(killed: Path, damage: str) -> None:
    log = log_of(killed / "graph")
    log.unlink() if damage == "deleted" else log.write_bytes(b"")
    before = vectors_of(killed)
    with pytest.raises(StorageError, match=rf"the graph has lost writes: its vectors hold {LATER} chunks"):
        hydramem.connect(killed, config=CONFIG)
    assert vectors_of(killed) == before
    lost = {sentence(number) for number in range(EARLIER, EARLIER + LATER)}
    with hydramem.connect(killed, config=CONFIG, salvage=True) as memory:
        found = memory.doctor()
        assert (found.healthy, found.lost >= LATER, found.lost_file) == (False, True, None)
        fixed = memory.doctor(fix=True)
        assert not fixed.healthy and fixed.lost == found.lost
        assert texts_in(fixed) == lost
        again = memory.doctor(fix=True)
        assert again.lost_file == fixed.lost_file
        accepted = memory.doctor(salvage=True)
        assert accepted.healthy and texts_in(accepted) == lost
        assert len(memory.memories(limit=100)) == EARLIER
    with hydramem.connect(killed, config=CONFIG) as memory:
        assert memory.doctor().healthy


@pytest.mark.parametrize("damage", ["missing", "empty"])
def test_a_store_whose_graph_is_gone_is_refused_and_salvaged_into_a_file(killed: Path, damage: str) -> None:
    shutil.rmtree(killed / "graph")
    if damage == "empty":
        (killed / "graph").mkdir()
    before = hashes(killed)
    with pytest.raises(StorageError, match="the graph is gone or empty, but vectors holds"):
        hydramem.connect(killed, config=CONFIG)
    after = {name: hash for name, hash in hashes(killed).items() if not name.startswith("owner.")}
    assert after == before
    with hydramem.connect(killed, config=CONFIG, salvage=True) as memory:
        found = memory.doctor(salvage=True)
        assert found.healthy
        assert texts_in(found) == {sentence(number) for number in range(EARLIER + LATER)}
        assert memory.memories() == ()
    assert list(killed.glob("vectors.damaged-*"))


@pytest.mark.parametrize("salvage", [False, True])
def test_a_graph_of_the_other_engine_is_not_taken_for_a_lost_one(killed: Path, salvage: bool) -> None:
    other = "kuzu" if DISK_ENGINE == "ladybug" else "ladybug"
    before = hashes(killed)
    with pytest.raises(StorageError, match=f"was written by '{DISK_ENGINE}', and {other} cannot read it"):
        hydramem.connect(
            killed, config=replace(CONFIG, storage=replace(CONFIG.storage, graph=other)), salvage=salvage
        )
    after = {name: hash for name, hash in hashes(killed).items() if not name.startswith("owner.")}
    assert after == before, "the vectors stay where they are"


def test_a_command_says_that_the_graph_is_gone(killed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(killed / "graph")
    (killed / "config.yml").write_text(f"storage:\n  graph: {DISK_ENGINE}\n")
    assert run(["doctor", "--store", str(killed)]) == 1
    assert "the graph is gone or empty" in capsys.readouterr().err


@pytest.mark.costly
@pytest.mark.skipif(DISK_ENGINE != "ladybug", reason="Kuzu's log has no checksums")
def test_the_command_names_the_way_out_of_a_damaged_log_and_takes_it(
    killed: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HYDRAMEM_EMBEDDING_MODEL", "hash")
    log = log_of(killed / "graph")
    flip(log, log.read_bytes().index(sentence(8).encode()))
    assert run(["doctor", "--fix", "--store", str(killed)]) == 1
    said = capsys.readouterr().err
    assert "damaged at byte" in said and "hydramem doctor --salvage" in said
    assert run(["doctor", "--salvage", "--store", str(killed), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    kept = {json.loads(line)["text"] for line in Path(found["lost_file"]).read_text().splitlines()}
    assert {sentence(number) for number in range(8, EARLIER + LATER)} <= kept
    assert found["healthy"]
    with hydramem.connect(killed, config=CONFIG) as memory:
        assert 0 < len(memory.memories(limit=100)) <= 8
