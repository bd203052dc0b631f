"""How much disk a passage takes, by part of the store, beside a store that is written anew from a dump.

The texts are the visible set of Wikipedia passages. The embedder is the one without a model: a vector takes
the same room, whatever made it.
"""

import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import hydramem
from benchmarks.results import table, with_section
from benchmarks.retrieval import by_case, ingest_case
from hydramem.core.config import Config, EmbeddingConfig

TITLE = "## Disk"
_PASSAGES = 1_500
"""A small store: what takes room however little it holds is not shared by many passages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """Bytes on disk of a store that is closed.

    Attributes:
        passages: How many were ingested.
        parts: Bytes by part of the store: the graph, each table of vectors, its indices, and the rest.
        backups: Bytes of the backup that maintenance made, which is none of the parts.
        rewritten: Bytes of a store that `load` made from this one's dump.
    """

    passages: int
    parts: Mapping[str, int]
    backups: int
    rewritten: int

    @property
    def kilobytes(self) -> float:
        """Kilobytes a passage."""
        return sum(self.parts.values()) / self.passages / 1000

    @property
    def ratio(self) -> float:
        """Times what the rewritten store takes."""
        return sum(self.parts.values()) / self.rewritten


def measure(data: Path) -> Disk:
    """Ingest the passages of the first set, close, maintain, close again, and count bytes."""
    rows = [row for case in by_case(data / "2wiki" / "docs.jsonl").values() for row in case][:_PASSAGES]
    config = Config(embedding=EmbeddingConfig(model="hash"))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with hydramem.connect(folder / "store", config=config) as memory:
            ingest_case(memory, "wiki", rows, folder / "sources")
            memory.drain()
        with hydramem.connect(folder / "store", config=config) as memory:
            memory.garden(phases=["maintain"])
        with hydramem.connect(folder / "store", config=config) as memory:
            memory.dump(str(folder / "dump"))
        with hydramem.connect(folder / "new", config=config) as memory:
            memory.load(str(folder / "dump"))
            memory.drain()
        parts, rewritten = (_parts(folder / name) for name in ("store", "new"))
        backups = parts.pop("backups", 0)
        return Disk(passages=len(rows), parts=parts, backups=backups, rewritten=sum(rewritten.values()))


def _parts(store: Path) -> dict[str, int]:
    """Return the bytes of the files of a store by part."""
    sizes: Counter[str] = Counter()
    for path in store.rglob("*"):
        if path.is_file():
            sizes[_part(path.relative_to(store).parts)] += path.stat().st_size
    return dict(sizes.most_common())


def _part(parts: tuple[str, ...]) -> str:
    match parts:
        case ("vectors", lance, "_indices", *_):
            return f"{lance} indices"
        case ("vectors", lance, *_):
            return lance
        case (first, *_):
            return first
        case _:
            return ""


def placed(page: str, disk: Disk, made: Mapping[str, str]) -> str:
    """Return the results page with these figures, in the place of older ones.

    Args:
        page: As it was.
        disk: What was measured.
        made: When and where (`results.where`).
    """
    lines = [
        "",
        "Written by `python -m benchmarks disk --out`. The store is closed after ingest and maintenance. Of",
        "the graph, 8 kB a passage are the engine's indices of primary keys: each takes some 3 MB with 1,500",
        f"rows and with 11,000, so a larger store takes less a passage. {made['date']}, {made['machine']}.",
        "",
        *_lines(disk),
    ]
    return with_section(page, TITLE, lines)


def shown(disk: Disk) -> str:
    """Return a table of the parts, and the two figures."""
    return "\n".join(_lines(disk))


def _lines(disk: Disk) -> list[str]:
    rows = [(name, f"{size / disk.passages / 1000:.2f}") for name, size in disk.parts.items()]
    figures = (
        f"{disk.passages} passages: {disk.kilobytes:.1f} kB each, {disk.ratio:.2f} times a rewrite; backups"
        f" take {disk.backups / disk.passages / 1000:.1f} kB a passage besides."
    )
    return [*table(("part", "kB a passage"), rows), "", figures]
