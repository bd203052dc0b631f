"""Whole operations take time in proportion to the text that they are given, whatever it holds."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import hydramem
from hydramem.core.config import Config, EmbeddingConfig, StorageConfig
from hydramem.core.errors import InvalidInputError
from hydramem.core.time import clock
from hydramem.ingest.extraction.extract import Passage, extract
from hydramem.ingest.screening.quarantine import screen
from hydramem.text.chunking import chunk
from hydramem.text.dates.dates_in_text import dates_in

SETTINGS = Config(storage=StorageConfig(graph="memory"), embedding=EmbeddingConfig(model="hash"))
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


def text_of(body: str, length: int) -> str:
    return (body * (length // len(body) + 1))[:length]


def growth(run: Callable[[str], object], body: str) -> tuple[float, list[float]]:
    """Return how many times longer the longest text takes than the shortest, the best of up to three runs."""
    best = [float("inf")] * len(LENGTHS)
    for _ in range(3):
        for place, length in enumerate(LENGTHS):
            started = time.process_time()
            try:
                run(text_of(body, length))
            except InvalidInputError:  # blank, or over the limit of this argument
                return 1.0, best
            best[place] = min(best[place], time.process_time() - started)
        if best[-1] < UNMEASURED or best[-1] < MOST * best[0]:
            return 1.0, best
    return best[-1] / best[0], best


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[hydramem.Memory]:
    with hydramem.connect(tmp_path / "store", config=SETTINGS) as memory:
        memory.remember("Ada Lovelace leads billing.")
        yield memory


def slow(run: Callable[[str], object]) -> list[str]:
    """Return the texts that an operation takes more than linear time for."""
    measured = {body: growth(run, body) for body in BODIES}
    return [f"{body!r}: {times}" for body, (ratio, times) in measured.items() if ratio >= MOST]


@pytest.mark.slow
@pytest.mark.parametrize("operation", ["remember", "recall", "prime", "ingest"])
def test_an_operation_takes_linear_time(memory: hydramem.Memory, tmp_path: Path, operation: str) -> None:
    def ingest(text: str) -> object:
        (tmp_path / "text.md").write_text(text, encoding="utf-8")
        return memory.ingest([str(tmp_path / "text.md")])

    run: Callable[[str], object] = ingest if operation == "ingest" else getattr(memory, operation)
    assert slow(run) == []


@pytest.mark.slow
@pytest.mark.parametrize("step", ["screen", "extract", "dates", "markdown", "text", "code"])
def test_a_step_takes_linear_time(step: str) -> None:
    runs: dict[str, Callable[[str], object]] = {
        "screen": lambda text: screen(text, SETTINGS.memory, most=100_000),
        "extract": lambda text: extract([Passage(text=text, author="Ada")], title="Ada Hale"),
        "dates": lambda text: dates_in(text, clock()),
    }
    default = lambda text: chunk(text, kind=step, max_tokens=256, overlap_tokens=20)  # noqa: E731
    assert slow(runs.get(step, default)) == []
