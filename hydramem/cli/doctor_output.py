"""What the doctor found, in words: what it means, whether anything is lost, and what to do."""

from collections.abc import Iterator

from hydramem.core.results.upkeep_results import Diagnosis
from hydramem.text.shown_text import amount

Line = tuple[str, str | None]
"""A line and its style."""

_MEANINGS = (
    (
        "missing",
        "Nothing is lost: the graph holds these rows. Until they are rebuilt, recall by meaning and by words "
        "does not find them.",
    ),
    (
        "stale",
        "Nothing is lost: the graph holds the newer rows. Until they are rebuilt, recall looks for the old "
        "words and shows the new ones.",
    ),
    (
        "lost",
        "The graph has lost these rows, as a deleted or damaged log does, and recall does not return them. "
        "What the vectors hold of them is kept.",
    ),
    (
        "damaged",
        "Words of these rows changed on the disk. Back up the folder before anything else, and check the "
        "disk.",
    ),
    ("pending", "Nothing is lost: these rows are stored, and wait for the vectors."),
)
"""What a count above zero means."""


def lines(found: Diagnosis) -> Iterator[Line]:
    """Yield the lines that tell a person of a diagnosis."""
    held = f"{amount(found.chunks_in_graph, 'passage or memory', 'passages and memories')}"
    held = f"{held} and {amount(found.entities_in_graph, 'entity', 'entities')}"
    if found.healthy:
        yield f"The memory is whole: it holds {held}, and the vectors agree with the graph.", "green"
    else:
        yield f"Something is wrong with this memory; it holds {held}.", "yellow"
    if found.repaired:
        yield f"{amount(found.repaired, 'row')} of the vectors were rebuilt.", None
    for problem in found.problems:
        yield f"- {problem}", None
    for name, meaning in _MEANINGS:
        if getattr(found, name):
            yield f"  {meaning}", "dim"
    if found.lost_file is not None:
        yield f"Rows that the graph has lost are in {found.lost_file}, one a line.", None
    if found.unfinished_reindex is not None:
        target = found.unfinished_reindex
        yield (
            f"A move to the embedder {target} was cut short; the old vectors are in use, and `hydramem "
            "reindex` with that model goes on.",
            None,
        )
    for warning in found.warnings:
        yield f"Note: {warning}", "yellow"
    if found.telemetry:
        yield f"Telemetry is {found.telemetry}.", "dim"
