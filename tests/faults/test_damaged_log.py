"""A log that a killed process left: whole, torn at its end, damaged in the middle, deleted, deadly, held."""

import contextlib
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from hydramem.core.errors import StorageError, StoreBusyError
from hydramem.storage.cypher.graph import open_graph
from hydramem.storage.cypher.recovery.check_log import check_log
from hydramem.storage.cypher.recovery.log_records import checksum, read_checked_log
from hydramem.storage.cypher.schema_statements import graph_file
from tests.engines import DISK_ENGINE
from tests.faults.damage import ROWS, SETTINGS, flip, hashes, killed_graph, log_of, places, rows_in
from tests.faults.results import rounds

LADYBUG = pytest.mark.skipif(DISK_ENGINE != "ladybug", reason="Kuzu's log has neither lengths nor checksums")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return killed_graph(tmp_path_factory.mktemp("original"))


@pytest.fixture
def killed(original: Path, tmp_path: Path) -> Path:
    """A copy of the folder of a graph whose process died."""
    return Path(shutil.copytree(original, tmp_path / "graph"))


def middle(folder: Path) -> int:
    """Return a byte in the middle of the log, in the text of a chunk."""
    return log_of(folder).read_bytes().index(b"Crate 9 stands")


def structure(folder: Path) -> int:
    """Return a byte in the middle of the log whose change makes the engine stop reading, whichever it is."""
    return log_of(folder).read_bytes().rindex(b"\x1e", 0, middle(folder))


def test_a_whole_log_is_read(killed: Path) -> None:
    store = open_graph(killed, SETTINGS)
    assert rows_in(store) == ROWS
    store.close()


def test_a_log_damaged_in_the_middle_is_refused_and_every_file_left_as_it_is(killed: Path) -> None:
    place, size = structure(killed), log_of(killed).stat().st_size
    flip(log_of(killed), place, 6)
    before = hashes(killed)
    with pytest.raises(StorageError) as caught:
        open_graph(killed, SETTINGS)
    message = str(caught.value)
    assert str(log_of(killed)) in message and "hydramem doctor --salvage" in message
    assert "hydramem restore" in message
    if DISK_ENGINE == "ladybug":
        bad = read_checked_log(log_of(killed).read_bytes()).bad
        assert bad <= place
        assert f"damaged at byte {bad:,} of {size:,}; the {size - bad:,} bytes from there on" in message
    assert hashes(killed) == before


def test_salvage_opens_what_comes_before_the_damage_and_keeps_the_log(killed: Path) -> None:
    flip(log_of(killed), structure(killed), 6)
    damaged = log_of(killed).read_bytes()
    store = open_graph(killed, SETTINGS, salvage=True)
    assert rows_in(store) == 9
    store.close()
    (aside,) = killed.glob("*.damaged-*")
    assert aside.read_bytes() == damaged
    again = open_graph(killed, SETTINGS)
    assert rows_in(again) == 9
    again.close()


@LADYBUG
def test_a_letter_changed_in_the_log_is_damage(killed: Path) -> None:
    flip(log_of(killed), middle(killed))
    with pytest.raises(StorageError, match="damaged at byte"):
        open_graph(killed, SETTINGS)


@pytest.mark.parametrize("cut", [1, 7, 26, 60])
def test_a_torn_end_is_left_out_and_kept_aside(killed: Path, cut: int) -> None:
    log = log_of(killed)
    log.write_bytes(log.read_bytes()[:-cut])
    torn = log.read_bytes()
    store = open_graph(killed, SETTINGS)
    assert rows_in(store) == ROWS - 1
    store.close()
    (aside,) = killed.glob("*.torn-*")
    assert aside.read_bytes() == torn


@LADYBUG
def test_blocks_that_were_never_written_are_a_torn_end(killed: Path) -> None:
    log = log_of(killed)
    log.write_bytes(log.read_bytes()[:-40] + bytes(4096))
    store = open_graph(killed, SETTINGS)
    assert rows_in(store) == ROWS - 1
    store.close()


@LADYBUG
def test_a_log_that_goes_on_after_what_cannot_be_read_is_damaged_however_long_the_record_claims_to_be() -> (
    None
):
    record = struct.pack("<QB8x", 9, 2)
    commit = record + struct.pack("<Q", checksum(record))
    header = bytes(17)
    log = header + struct.pack("<Q", checksum(header)) + commit * 3
    assert read_checked_log(log).whole
    for place in range(25, 50):
        for bit in range(8):
            changed = bytearray(log)
            changed[place] ^= 1 << bit
            state = read_checked_log(bytes(changed))
            assert (state.bad, state.damaged, state.whole) == (25, True, False)
    torn = read_checked_log(log[:-1])
    assert (torn.bad, torn.end, torn.damaged) == (75, 75, False)


@pytest.mark.parametrize("damage", ["deleted", "emptied"])
def test_a_first_log_that_is_gone_is_not_a_new_store(tmp_path: Path, damage: str) -> None:
    """The process died before its first checkpoint, so the log held all there was."""
    killed = killed_graph(tmp_path, first=True)
    if graph_file(killed, DISK_ENGINE).stat().st_size == 0:
        pytest.skip("the file is empty, which is refused before")
    log_of(killed).unlink() if damage == "deleted" else log_of(killed).write_bytes(b"")
    with pytest.raises(StorageError, match="its log is gone or empty"):
        open_graph(killed, SETTINGS)
    store = open_graph(killed, SETTINGS, salvage=True)
    assert rows_in(store) == 0
    store.close()


def test_a_log_that_takes_too_long_is_named(killed: Path) -> None:
    log = log_of(killed)
    log.write_bytes(log.read_bytes()[:-3])
    before = hashes(killed)
    with pytest.raises(StorageError, match=rf"{log.name}: {DISK_ENGINE} did not finish reading it in 0 s"):
        check_log(graph_file(killed, DISK_ENGINE), SETTINGS, seconds=0.001)
    assert hashes(killed) == before


def test_a_log_that_another_process_is_writing_is_not_cut(killed: Path) -> None:
    log = log_of(killed)
    log.write_bytes(log.read_bytes()[:-3])
    holder = (
        "import fcntl, sys, time\nfile = open(sys.argv[1], 'r+b')\nfcntl.lockf(file, fcntl.LOCK_EX)\n"
        "print('held', flush=True)\ntime.sleep(60)"
    )
    command = [sys.executable, "-c", holder, str(graph_file(killed, DISK_ENGINE))]
    before = hashes(killed)
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"held\n"
        with pytest.raises(StoreBusyError, match="another process holds it"):
            open_graph(killed, SETTINGS)
        process.kill()
    assert hashes(killed) == before


def test_a_store_that_was_closed_is_opened_without_a_child_process(killed: Path) -> None:
    open_graph(killed, SETTINGS).close()
    started: list[str] = []
    sys.addaudithook(lambda event, _: started.append(event) if event == "subprocess.Popen" else None)
    open_graph(killed, SETTINGS).close()
    assert started == []


def opened_or_refused(folder: Path) -> int:
    """Open a damaged graph: its first rows are there as they were, or it is refused; return how many."""
    before = hashes(folder)
    try:
        store = open_graph(folder, SETTINGS)
    except StorageError as error:
        assert log_of(folder).name in str(error)
        assert hashes(folder) == before
        return -1
    try:
        return rows_in(store)
    finally:
        store.close()


def cut_at(original: Path, folder: Path, place: int) -> None:
    shutil.copytree(original, folder)
    log = log_of(folder)
    log.write_bytes(log.read_bytes()[:place])


@pytest.mark.costly
def test_a_few_cuts_leave_every_commit_before_them(original: Path, tmp_path: Path) -> None:
    for place in places(log_of(original), 7, 2):
        cut_at(original, tmp_path / f"{place}", place)
        assert opened_or_refused(tmp_path / f"{place}") >= 0


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_no_cut_and_no_flip_kills_the_opening_or_loses_writes_in_silence(
    original: Path, tmp_path: Path
) -> None:
    for place in places(log_of(original), 11, rounds(8, full=30)):
        cut_at(original, tmp_path / f"cut{place}", place)
        assert opened_or_refused(tmp_path / f"cut{place}") >= 0
    for place in places(log_of(original), 13, rounds(8, full=30)):
        folder = Path(shutil.copytree(original, tmp_path / f"flip{place}"))
        flip(log_of(folder), place, place % 8)
        if DISK_ENGINE == "ladybug":
            assert opened_or_refused(folder) in (-1, ROWS - 1)
            continue
        # Kuzu cannot know that a letter is another one, but this process must survive.
        with contextlib.suppress(StorageError):
            open_graph(folder, SETTINGS).close()
