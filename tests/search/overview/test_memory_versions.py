"""The history of a memory has the texts that it replaced, and those that replaced it."""

import hydramem


def versions(memory: hydramem.Memory, id: str) -> list[tuple[str, str]]:
    return [(each.text, each.state) for each in memory.history(id).versions]


def test_corrections_and_what_took_its_place_are_versions_from_either_end(memory: hydramem.Memory) -> None:
    first = memory.remember("Bo keeps bees.").id
    second = memory.revise(first, text="Bo keeps twelve bees.").id
    third = memory.remember("Bo keeps no bees any more.", replaces=[second]).id
    expected = [
        ("Bo keeps bees.", "archived"),
        ("Bo keeps twelve bees.", "superseded"),
        ("Bo keeps no bees any more.", "active"),
    ]
    assert [versions(memory, id) for id in (first, second, third)] == [expected] * 3
    ended = [each.ended_at is not None for each in memory.history(first).versions]
    assert ended == [True, True, False]


def test_a_memory_with_one_text_has_no_versions_and_undo_takes_one_back(memory: hydramem.Memory) -> None:
    first = memory.remember("Bo keeps bees.").id
    assert versions(memory, first) == []
    revised = memory.revise(first, text="Bo keeps twelve bees.")
    memory.undo(revised.run or "")
    assert versions(memory, first) == []
