"""What was compared is kept by ids, and lost without harm."""

from pathlib import Path

from hydramem.garden.proposals.compared_memories import (
    ComparedMemories,
    DoubtfulPair,
    read_compared,
    save_compared,
)

COMPARED = ComparedMemories(
    ids=frozenset({"c_1", "c_2"}), doubtful=(DoubtfulPair(newer="c_2", older="c_1", probability=0.125),)
)


def test_it_is_read_as_saved_and_a_damaged_file_means_that_nothing_was_compared(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "garden"
    assert read_compared(folder) == ComparedMemories()
    save_compared(COMPARED, folder)
    assert read_compared(folder) == COMPARED
    (file,) = folder.iterdir()
    for content in ("", "{", "[]", '{"classifier": 1}', "null", '{"memories": []}'):
        file.write_text(content)
        assert read_compared(folder) == ComparedMemories()
