"""An erase that stops anywhere leaves a store as it was, or as it becomes; tests of faults kill it, too."""

import shutil
from pathlib import Path

import pytest

import hydramem
from hydramem.erase import switch
from tests.engines import DISK_ENGINE
from tests.erase.readers import traces
from tests.erase.test_erase import NEIGHBOUR, SECRET, config


@pytest.mark.parametrize("place", range(6))
def test_a_switch_that_stops_anywhere_is_finished(
    place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (("graph/a", "old"), ("vectors/b", "old"), ("lost/c", "old"), ("d", "stays")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    staged = switch.new_staged_folder(tmp_path)
    for name in ("graph/a", "vectors/b"):
        (staged / name).parent.mkdir()
        (staged / name).write_text("new")
    wanted = switch.Switch(staged=staged.name, replaced=("graph", "vectors"), deleted=("lost",))
    steps = 0

    def stop_at(step: object) -> None:
        nonlocal steps
        steps += 1
        if steps > place:
            raise KeyboardInterrupt

    remove = shutil.rmtree
    monkeypatch.setattr(switch.shutil, "rmtree", lambda path: (stop_at(path), remove(path)))
    monkeypatch.setattr(switch, "sync_folder", stop_at)
    stopped = False
    try:
        switch.switch(tmp_path, wanted)
    except KeyboardInterrupt:
        stopped = True
    monkeypatch.undo()
    assert stopped == (steps > place)
    switch.finish(tmp_path)
    left = {
        path.relative_to(tmp_path).as_posix(): path.read_text()
        for path in tmp_path.rglob("*")
        if path.is_file()
    }
    assert left == {"graph/a": "new", "vectors/b": "new", "d": "stays"}


@pytest.mark.costly
def test_what_an_erase_left_before_its_note_is_removed(tmp_path: Path) -> None:
    with hydramem.connect(tmp_path, config=config()) as memory:
        kept, secret = memory.remember(NEIGHBOUR).id, memory.remember(SECRET).id
    (switch.new_staged_folder(tmp_path) / "graph").mkdir()
    with hydramem.connect(tmp_path, config=config()) as memory:
        assert {row.id for row in memory.memories()} == {kept, secret}
        assert memory.doctor().healthy
    assert not list(tmp_path.glob(".erasing-*")) and not (tmp_path / "erasing.json").exists()
    assert traces(tmp_path, "vermilion ledger", DISK_ENGINE), "the readers find what is there"
