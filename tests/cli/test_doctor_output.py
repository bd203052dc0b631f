"""What the doctor says to a person."""

import pytest

from hydramem.cli.doctor_output import lines
from hydramem.core.results.upkeep_results import Diagnosis


def told(**counts: object) -> str:
    given = {"healthy": not counts, "chunks_in_graph": 1, "chunks_in_vectors": 1}
    found = Diagnosis(**given, entities_in_graph=2, entities_in_vectors=0, **counts)  # type: ignore[arg-type]
    return "\n".join(line for line, _ in lines(found))


def test_a_whole_memory_is_one_line() -> None:
    assert told().splitlines() == [told()]
    assert told().startswith("The memory is whole: it holds 1 passage or memory and 2 entities")


@pytest.mark.parametrize(
    ("count", "says"),
    [
        ("missing", "Nothing is lost"),
        ("stale", "the old words"),
        ("lost", "has lost"),
        ("damaged", "Back up"),
    ],
)
def test_a_problem_comes_with_what_it_means(count: str, says: str) -> None:
    text = told(**{count: 3}, problems=("3 chunks; `hydramem doctor --fix` rebuilds them",))
    assert "Something is wrong" in text and "- 3 chunks; `hydramem doctor --fix`" in text and says in text


def test_files_warnings_and_an_unfinished_move_are_named() -> None:
    text = told(
        lost_file="/store/lost/1.jsonl", warnings=("The clock is behind.",), unfinished_reindex="m/384"
    )
    assert "/store/lost/1.jsonl" in text and "Note: The clock is behind." in text and "m/384" in text
