"""The benchmark of a memory on PostgreSQL: its section."""

from benchmarks.server import section
from benchmarks.server.measure import PROCESSES, Compared, Rate, Side


def side(commit: float, recall: float, found: float) -> Side:
    return Side(
        load_seconds=10 * commit,
        commit=(commit, 2 * commit),
        writers={n: Rate(per_second=100.0 * n, ms=(commit, 9.0)) for n in PROCESSES},
        readers={n: Rate(per_second=10.0 * n, ms=(recall, 9.0)) for n in PROCESSES},
        recall=(recall, 3 * recall),
        stages={"vector": 1.5, "text": recall / 2},
        found=found,
    )


FOUND = Compared(
    chunks=20_000,
    entities=20_000,
    relations=100_000,
    embedder="hash/384",
    questions=40,
    server=side(6.0, 30.0, 97.5),
    embedded=side(12.0, 20.0, 97.0),
    same=98.5,
    index_recall=0.961,
    index_ms=(8.5, 18.0),
)


def test_the_section_has_every_figure() -> None:
    page = section.placed("# Results\n\n## Other\n\ntext\n", FOUND)
    for figure in (
        "| load, seconds | 60.0 | 120.0 | 0.50 |",
        "| one commit | 6.0 / 12.0 | 12.0 / 24.0 | 0.50 |",
        "| whole recall | 30.0 / 90.0 | 20.0 / 60.0 | 1.50 |",
        "| recall@5 of known chunks, % | 97.5 | 97.0 | +0.5 |",
        "| 8 | 800.0 (6.0) | 800.0 (12.0) | 80.0 (30.0) | 80.0 (20.0) |",
        "| text | 15.0 | 10.0 |",
        "98.5 % are the same in both",
        "96.1 % of the exact 20 nearest",
    ):
        assert figure in page
    assert section.placed(page, FOUND).count(section.TITLE) == 1
