"""Whole operations take time in proportion to the text that they are given, whatever it holds."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

import hydramem
from hydramem.core.errors import InvalidInputError

LENGTHS = (10_000, 40_000)
# Linear is 4 from the one length to the other, quadratic 16.
MOST = 9.0
# What takes less than this at the longest length is no burden, and too little to compare.
UNMEASURED = 0.05

BODIES = [
    *'[<.- \n"(`#|1aA{中é\u200b',
    *("a-", "a.", "A.", "() ", "(a", "[a](", "| a |\n", "|a|b|\n|-|-|\n", "# a\n\n", "```\n", "- a\n"),
    *("    a\n", "> ", "1. a\n", "2024-01-01 ", "May 2024 ", "Ada Hale. ", "Ada was directed by Bo and "),
    *("a_", "http://a.b/c ", "x:\t"),
]


def growth(run: Callable[[str], object], body: str) -> tuple[float, list[float]]:
    """Return how many times longer the longest text takes than the shortest, the best of up to three runs."""
    best = [float("inf")] * len(LENGTHS)
    for _ in range(3):
        for place, length in enumerate(LENGTHS):
            started = time.process_time()
            try:
                run((body * length)[:length])
            except InvalidInputError:  # blank, or over the limit of this argument
                return 1.0, best
            best[place] = min(best[place], time.process_time() - started)
        if best[-1] < UNMEASURED or best[-1] < MOST * best[0]:
            return 1.0, best
    return best[-1] / best[0], best


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("operation", ["remember", "recall", "prime", "text.md", "text.txt", "text.py"])
def test_an_operation_takes_linear_time(memory: hydramem.Memory, tmp_path: Path, operation: str) -> None:
    def ingest(text: str) -> object:
        (tmp_path / operation).write_text(text, encoding="utf-8")
        return memory.ingest([str(tmp_path / operation)])

    run: Callable[[str], object] = getattr(memory, operation, ingest)
    measured = {body: growth(run, body) for body in BODIES}
    assert [f"{body!r}: {times}" for body, (ratio, times) in measured.items() if ratio >= MOST] == []
