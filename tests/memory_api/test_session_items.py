"""The ordered items of a session: opaque texts in order, popped from the end, appended exactly once."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import hydramem
from hydramem.core.config import Config, EmbeddingConfig, StorageConfig
from hydramem.core.errors import InvalidInputError
from tests.engines import DISK_ENGINE, ENGINE


def settings(engine: str) -> Config:
    return Config(storage=StorageConfig(graph=engine), embedding=EmbeddingConfig(model="hash"))  # type: ignore[arg-type]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[hydramem.Memory]:
    with hydramem.connect(tmp_path, config=settings(ENGINE)) as memory:
        yield memory


def test_texts_come_back_byte_for_byte_in_order(memory: hydramem.Memory) -> None:
    odd = (
        '{"b":1,  "a":1.0}',
        '{"a":"\\u00e9 é \\ud83d"}',
        '"\\u0000"',
        "[1e400, -0.0]",
        ' {"x":\n1} ',
        "null",
    )
    memory.append_session_items("s", odd[:2])
    memory.append_session_items("s", odd[2:])
    assert memory.session_items("s").items == odd and memory.session_items("other").items == ()
    assert (
        memory.session_items("s", limit=2).items == odd[-2:]
        and memory.session_items("s", limit=0).items == ()
    )
    assert memory.recall("é").hits == ()


def test_pop_takes_the_newest_and_clear_takes_all(memory: hydramem.Memory) -> None:
    memory.append_session_items("s", ["1", "2", "3", "4"])
    memory.append_session_items("t", ["9"])
    assert memory.pop_session_items("s").items == ("4",)
    assert memory.pop_session_items("s", limit=2).items == ("2", "3")
    memory.append_session_items("s", ["5"])
    assert memory.pop_session_items("s", clear=True).items == ("1", "5")
    assert memory.pop_session_items("s").items == () and memory.session_items("t").items == ("9",)


def test_undo_of_a_clear_puts_items_before_what_was_said_since(memory: hydramem.Memory) -> None:
    memory.append_session_items("s", ["1", "2"])
    cleared = memory.pop_session_items("s", clear=True)
    memory.append_session_items("s", ["3"])
    memory.undo(cleared.run)
    assert memory.session_items("s").items == ("1", "2", "3")


def test_what_is_no_json_text_is_refused_and_nothing_is_written(memory: hydramem.Memory) -> None:
    for wrong in ("{", ""):
        with pytest.raises(InvalidInputError, match="items"):
            memory.append_session_items("s", ["1", wrong])
    for wrong in (None, {"a": 1}, b"1", bytearray(b"1"), 1):
        with pytest.raises(InvalidInputError, match=r"items\[1\]: expected a JSON text"):
            memory.append_session_items("s", ["1", wrong])  # type: ignore[list-item]
    with pytest.raises(InvalidInputError, match="items"):
        memory.append_session_items("s", "[]")
    assert memory.session_items("s").items == ()


def test_appends_of_many_threads_are_each_in_one_piece(memory: hydramem.Memory) -> None:
    def append(name: int) -> None:
        for turn in range(5):
            memory.append_session_items("s", [json.dumps([name, turn, part]) for part in range(3)])

    threads = [threading.Thread(target=append, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    said = [json.loads(text) for text in memory.session_items("s").items]
    assert len(said) == 60
    for start in range(0, 60, 3):
        name, turn, _ = said[start]
        assert said[start : start + 3] == [[name, turn, part] for part in range(3)]
    for name in range(4):
        assert [turn for one, turn, part in said if one == name and part == 0] == list(range(5))


@pytest.mark.costly
@pytest.mark.engine
def test_they_are_there_after_a_restart(tmp_path: Path) -> None:
    for number in range(2):
        with hydramem.connect(tmp_path, config=settings(DISK_ENGINE)) as memory:
            memory.append_session_items("s", [str(number)])
            assert memory.session_items("s").items == tuple(map(str, range(number + 1)))
