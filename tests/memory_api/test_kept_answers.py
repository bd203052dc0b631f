"""What compares a whole project is found once as long as nothing is written."""

import pytest

import hydramem
from hydramem.memory_api.open.kept_answers import KeptAnswers


def test_an_answer_is_kept_until_something_is_written() -> None:
    writes: list[int | None] = [1]
    found = iter(range(100))
    kept = KeptAnswers(lambda: writes[-1])
    assert [kept.of("a", lambda: next(found)) for _ in range(3)] == [0, 0, 0]
    assert kept.of("b", lambda: next(found)) == 1 and kept.of("a", lambda: next(found)) == 0
    writes.append(2)
    assert kept.of("a", lambda: next(found)) == kept.of("a", lambda: next(found)) == 2
    writes.append(None)  # vectors are still to come
    assert [kept.of("a", lambda: next(found)) for _ in range(2)] == [3, 4]


def test_what_is_written_while_it_is_found_counts() -> None:
    writes = [1]
    kept = KeptAnswers(lambda: writes[-1])

    def find() -> int:
        writes.append(writes[-1] + 1)
        return writes[-1]

    assert kept.of("a", find) == 2 and kept.of("a", find) == 3, "neither is current"


def test_a_failure_is_not_kept() -> None:
    kept = KeptAnswers(lambda: 1)
    with pytest.raises(ZeroDivisionError):
        kept.of("a", lambda: 1 // 0)
    assert kept.of("a", lambda: 5) == 5


def test_conflicts_are_found_once_and_again_after_a_write(memory: hydramem.Memory) -> None:
    memory.remember("The crane lifts 40 tons.", kind="fact")
    assert memory.conflicts().conflicts == () and memory.conflicts() is memory.conflicts()
    assert memory.conflicts(limit=5) is not memory.conflicts()
    newer = memory.remember("The crane lifts 60 tons.", kind="fact")
    memory.drain()
    (conflict,) = memory.conflicts().conflicts
    assert conflict.newer.id == newer.id or newer.id in conflict.newer.evidence
    memory.forget([newer.id])
    assert memory.conflicts().conflicts == ()
    assert memory.conflicts(project="elsewhere").chunks == 0
