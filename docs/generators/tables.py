"""Read the tables of pages that benchmarks wrote, so that plots show committed numbers and nothing else."""

import re
from collections.abc import Mapping, Sequence

Row = Mapping[str, str]


def table(page: str, title: str, count: int = 0) -> Sequence[Row]:
    """Return the rows of a table under a heading of the second level, by the names of its columns.

    Args:
        page: A page in Markdown.
        title: The heading, without its signs.
        count: Which of the section's tables, from 0.

    Raises:
        LookupError: The page has no such section, or that has no such table.
    """
    _, found, rest = f"\n{page}".partition(f"\n## {title}\n")
    if not found:
        raise LookupError(f"no section {title}")
    tables = re.findall(r"(?:^\|.*\|\n)+", rest.partition("\n## ")[0] + "\n", flags=re.MULTILINE)
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in tables[count].splitlines()]
    head, _, *rows = lines
    return [dict(zip(head, row, strict=True)) for row in rows]


def first_number(cell: str) -> float:
    """Return the number that a cell begins with; thousands may be separated by commas."""
    return float(cell.split()[0].replace(",", "").rstrip("%"))
