"""What compares a whole project is found once as long as nothing is written."""

import hydramem
from hydramem.memory_api.open.kept_answers import KeptAnswers


def test_what_is_written_while_it_is_found_counts() -> None:
    writes = [1]
    kept = KeptAnswers(lambda: writes[-1])

    def find() -> int:
        writes.append(writes[-1] + 1)
        return writes[-1]

    assert kept.of("a", find) == 2 and kept.of("a", find) == 3, "neither is current"


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
