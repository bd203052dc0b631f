"""The open engine where its memory runs out: nothing committed is lost, and the file stays whole."""

import random
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hydramem.core.config import StorageConfig
from hydramem.core.errors import StorageError
from hydramem.storage.cypher.checkpoints.generations import next_file
from hydramem.storage.cypher.engine import Engine
from hydramem.storage.cypher.schema_statements import MARKER, check_folder
from tests import ROOT

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


def test_writes_that_fill_the_memory_go_on_in_more_of_it(small: Opener) -> None:
    engine = small()
    setting = Setting(engine)
    for _ in range(TIMES):
        setting.once()
    assert engine.database.pool > 64 << 20
    assert numbers(engine) == setting.numbers
    engine.close()
    engine = small()
    assert numbers(engine) == setting.numbers and texts_agree(engine)
    engine.close()


def test_writes_that_are_counted_are_checkpointed_before_they_fill_the_memory(small: Opener) -> None:
    engine = small()
    first = engine.file
    setting = Setting(engine)
    for _ in range(40):  # a third of the smallest pool
        setting.once(counted=40)
    engine.checkpoint()  # waits for the one that runs
    assert engine.database.pool == 64 << 20
    assert engine.file == next_file(next_file(first))
    assert numbers(engine) == setting.numbers
    engine.close()


def test_a_checkpoint_while_the_memory_is_full_loses_nothing(small: Opener, filled: Path) -> None:
    engine = small()
    most = _writes_that_fit(engine)
    engine.close()
    for left in engine.file.parent.glob("graph*"):
        left.unlink()
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
    engine.close()
    engine = small()
    assert numbers(engine) == setting.numbers and texts_agree(engine)
    engine.close()


def _writes_that_fit(engine: Engine) -> int:
    """Return how many transactions there is room for."""
    setting = Setting(engine)
    for number in range(TIMES):
        setting.once()
        if engine.database.pool > 64 << 20:
            return number
    raise AssertionError("there is room for all of them")


@pytest.mark.slow
def test_reads_go_on_while_memory_runs_out(small: Opener) -> None:
    engine = small()
    setting = Setting(engine)
    done = threading.Event()
    failed: list[str] = []

    def read() -> None:
        while not done.is_set():
            try:
                with engine.reading() as query:
                    assert query("MATCH (t:T) RETURN count(t.text)", {}) == [[ROWS]]
                engine.arrow("MATCH (t:T) RETURN t.number", {})
                time.sleep(0.02)
            except StorageError as error:
                failed.append(str(error))

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(TIMES):
        setting.once()
    done.set()
    reader.join()
    assert failed == []
    assert engine.database.pool > 64 << 20
    assert numbers(engine) == setting.numbers and texts_agree(engine)
    engine.close()


def test_a_log_that_needs_more_memory_than_the_settings_give_is_read(
    small: Opener, tmp_path: Path, engine: str
) -> None:
    script = f"""
        import sys
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        from test_engine import *
        held = Engine(Path({str(tmp_path / "graph.db")!r}), StorageConfig(graph={engine!r}))
        setting = Setting(held)
        for n in range(TIMES):
            setting.once()
        print(sum(setting.numbers.values()), flush=True)
        sys.stdin.read()
    """
    small().close()
    command = [sys.executable, "-c", textwrap.dedent(script)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        total = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
    opened = small()
    assert opened.database.pool > 64 << 20
    assert sum(numbers(opened).values()) == total and texts_agree(opened)
    opened.close()


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


@pytest.mark.parametrize("mark", [b"\xff\xfe\x00broken", b"ladqbug 3\n", b"ladybug\0\0\0", b"lady", b""])
def test_a_damaged_marker_is_a_clear_error(tmp_path, mark):
    (tmp_path / MARKER).write_bytes(mark)
    with pytest.raises(StorageError, match="is damaged"):
        check_folder(tmp_path, "ladybug")
