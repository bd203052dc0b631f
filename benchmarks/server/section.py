"""The figures of a memory on PostgreSQL as text, and their section of the results page."""

from benchmarks.results import table, where, with_section
from benchmarks.server.measure import PROCESSES, Compared, Pair

TITLE = "## On PostgreSQL"
_INTRODUCTION = (
    "A memory on PostgreSQL beside the embedded folder, the same rows in both, in one run",
    "(`python -m benchmarks server`). Times are p50 / p95 in milliseconds; recalls of both alternate.",
    "The load is of rows whose vectors are made, in writes of 2,000 chunks. Writers and readers of the",
    "server are processes that share no folder; writers of the embedded folder are threads of the process",
    "that holds it, its readers processes that ask that one.",
)


def shown(found: Compared) -> str:
    """Return the figures as Markdown."""
    server, embedded = found.server, found.embedded
    rows = [
        ("load, seconds", f"{server.load_seconds:.1f}", f"{embedded.load_seconds:.1f}",
         _ratio(server.load_seconds, embedded.load_seconds)),
        ("one commit", _pair(server.commit), _pair(embedded.commit),
         _ratio(server.commit[0], embedded.commit[0])),
        ("whole recall", _pair(server.recall), _pair(embedded.recall),
         _ratio(server.recall[0], embedded.recall[0])),
        ("recall@5 of known chunks, %", f"{server.found:.1f}", f"{embedded.found:.1f}",
         f"{server.found - embedded.found:+.1f}"),
    ]  # fmt: skip
    rates = [
        (n, *(f"{rate.per_second:.1f} ({rate.ms[0]:.1f})" for rate in (
            server.writers[n], embedded.writers[n], server.readers[n], embedded.readers[n])))
        for n in PROCESSES
    ]  # fmt: skip
    stages = [
        (name, f"{server.stages[name]:.1f}", f"{embedded.stages.get(name, 0.0):.1f}")
        for name in server.stages
    ]
    return "\n".join(
        [
            *table(("", "PostgreSQL", "embedded", "ratio"), rows),
            "",
            *table(
                ("at once", "commits a second (p50 ms)", "embedded", "recalls a second (p50 ms)", "embedded"),
                rates,
            ),
            "",
            *table(("stage of recall, p50", "PostgreSQL", "embedded"), stages),
            "",
            f"Of the first five hits {found.same:.1f} % are the same in both. With pgvector's index (HNSW) a",
            f"search behind a filter finds {100 * found.index_recall:.1f} % of the exact 20 nearest in "
            f"{_pair(found.index_ms)} ms; up to `storage.index_rows` rows search is exact.",
        ]
    )


def placed(page: str, found: Compared) -> str:
    """Return a results page with the figures in their section."""
    about = where()
    made = (
        f"{found.entities:,} entities, {found.relations:,} relations, {found.chunks:,} chunks, "
        f"{found.questions} questions, embedder {found.embedder}. "
        f"Measured {about['date']} on {about['machine']}."
    )
    return with_section(page, TITLE, ["", *_INTRODUCTION, "", shown(found), "", made])


def _pair(times: Pair) -> str:
    return f"{times[0]:.1f} / {times[1]:.1f}"


def _ratio(one: float, other: float) -> str:
    return f"{one / other:.2f}"
