"""The open engine where its memory runs out: nothing committed is lost, and the file stays whole."""

import random
import shutil
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from hydramem.core.config import StorageConfig
from hydramem.core.errors import StorageError
from hydramem.storage.cypher.checkpoints.generations import next_file
from hydramem.storage.cypher.engine import Engine
from hydramem.storage.cypher.schema_statements import MARKER, check_folder

ROWS = 40_000
TIMES = 250  # as many transactions as fill the smallest pool, and some more
Opener = Callable[[], Engine]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, engine: str) -> Path:
    """A graph file of forty thousand rows."""
    file = tmp_path_factory.mktemp("filled") / "graph.db"
    made = Engine(file, StorageConfig(graph=engine))  # type: ignore[arg-type]
    with made.writing() as query:
        query("CREATE NODE TABLE T(id INT64, text STRING, number INT64, PRIMARY KEY(id))", {})
    with made.writing() as query:
        query(f"UNWIND range(0, {ROWS - 1}) AS i CREATE (:T {{id: i, text: 'first', number: 0}})", {})
    made.checkpoint()
    made.close()
    return made.file


@pytest.fixture
def small(filled: Path, tmp_path: Path, settings: StorageConfig) -> Opener:
    """Opens a copy of it with the smallest pool."""
    shutil.copy(filled, tmp_path / "graph.db")
    return lambda: Engine(tmp_path / "graph.db", replace(settings, buffer_pool_mb=64))


class Setting:
    """Sets rows all over the table, a third of a megabyte for each time, and knows what they must be."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._draw = random.Random(5)
        self.numbers = dict.fromkeys(range(ROWS), 0)

    def once(self, *, counted: int = 0) -> None:
        """Write one transaction; `counted` is how many columns the engine is told of."""
        wanted = {self._draw.randrange(ROWS): self._draw.randrange(1, 1 << 40) for _ in range(20)}

        def work(query: Callable[..., object]) -> int:
            for id, number in wanted.items():
                given = {"id": id, "number": number, "text": f"set to {number}"}
                query("MATCH (t:T {id: $id}) SET t.number = $number, t.text = $text", given)
            return counted

        self._engine.transact(work)
        self.numbers.update(wanted)


def numbers(engine: Engine) -> dict[int, int]:
    with engine.reading() as query:
        rows = query("MATCH (t:T) RETURN t.id, t.number", {})
    return dict(map(tuple, rows))


def texts_agree(engine: Engine) -> bool:
    with engine.reading() as query:
        wrong = "MATCH (t:T) WHERE t.number > 0 AND t.text <> 'set to ' + string(t.number) RETURN count(*)"
        return query(wrong, {}) == [[0]]


@pytest.mark.slow  # fills the smallest pool twice
def test_writes_that_fill_the_memory_go_on_and_a_checkpoint_just_before_loses_nothing(
    small: Opener, filled: Path
) -> None:
    engine = small()
    setting, most = Setting(engine), -1
    for _ in range(TIMES):
        setting.once()
        most += engine.database.pool == 64 << 20
    assert most < TIMES - 1, "there is room for all of them"
    check_now_and_opened_again(engine, setting, small)

    shutil.rmtree(engine.file.parent)
    engine.file.parent.mkdir()
    shutil.copy(filled, engine.file.with_name("graph.db"))
    engine = small()
    setting = Setting(engine)
    for _ in range(most):
        setting.once()
    assert engine.database.pool == 64 << 20
    engine.checkpoint()
    assert engine.database.log_size() == 0
    assert numbers(engine) == setting.numbers
    setting.once()
    check_now_and_opened_again(engine, setting, small)


def check_now_and_opened_again(engine: Engine, setting: Setting, opener: Opener) -> None:
    assert numbers(engine) == setting.numbers
    engine.close()
    again = opener()
    assert numbers(again) == setting.numbers and texts_agree(again)
    again.close()


@pytest.mark.costly  # fills a part of the smallest pool
def test_writes_that_are_counted_are_checkpointed_before_they_fill_the_memory(small: Opener) -> None:
    engine = small()
    first = engine.file
    setting = Setting(engine)
    for _ in range(20):  # a sixth of the smallest pool
        setting.once(counted=80)
    engine.checkpoint()  # waits for the one that runs
    assert engine.database.pool == 64 << 20
    assert engine.file == next_file(next_file(first))
    assert numbers(engine) == setting.numbers
    engine.close()


@pytest.mark.slow
def test_reads_go_on_while_memory_runs_out(small: Opener) -> None:
    engine = small()
    setting = Setting(engine)
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            with engine.reading() as query:
                assert query("MATCH (t:T) RETURN count(t.text)", {}) == [[ROWS]]
            engine.arrow("MATCH (t:T) RETURN t.number", {})
            time.sleep(0.02)

    with ThreadPoolExecutor(1) as reader:
        reading = reader.submit(read)
        for _ in range(TIMES):
            setting.once()
        done.set()
        reading.result()
    assert engine.database.pool > 64 << 20
    check_now_and_opened_again(engine, setting, small)


@pytest.mark.costly  # fills the smallest pool
def test_a_log_that_needs_more_memory_than_the_settings_give_is_read(
    filled: Path, tmp_path: Path, settings: StorageConfig
) -> None:
    live, killed = tmp_path / "live", tmp_path / "killed"
    live.mkdir()
    shutil.copy(filled, live / "graph.db")
    engine = Engine(live / "graph.db", replace(settings, buffer_pool_mb=512))
    setting = Setting(engine)
    for _ in range(TIMES):
        setting.once()
    shutil.copytree(live, killed)  # as a kill leaves it
    engine.close()
    opened = Engine(killed / "graph.db", replace(settings, buffer_pool_mb=64))
    assert opened.database.pool > 64 << 20
    assert numbers(opened) == setting.numbers and texts_agree(opened)
    opened.close()


@pytest.mark.costly  # reads forty thousand rows several times
def test_closing_leaves_a_small_log_and_the_file_as_it_is(small: Opener) -> None:
    engine = small()
    before = engine.file.read_bytes()
    setting = Setting(engine)
    for _ in range(2):
        setting.once()
        engine.close()
        assert engine.file.read_bytes() == before
        assert engine.database.log_size() > 0
        engine = small()
        assert numbers(engine) == setting.numbers
        setting = Setting(engine)
        setting.numbers = numbers(engine)
    engine.close()


def test_a_damaged_marker_is_a_clear_error(tmp_path: Path) -> None:
    for mark in (b"\xff\xfe\x00broken", b"ladqbug 3\n", b"ladybug\0\0\0", b"lady", b""):
        (tmp_path / MARKER).write_bytes(mark)
        with pytest.raises(StorageError, match="is damaged"):
            check_folder(tmp_path, "ladybug")
