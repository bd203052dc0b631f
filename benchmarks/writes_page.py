"""The page of the cost of writes."""

from collections.abc import Sequence

from benchmarks.writes import Asked, Endurance, Latency, Pair, where

_HEAD = """# Writes

What a write costs, and how large the store becomes. Written by `python -m benchmarks writes`; the texts are
sentences of the evaluation sets, each used once.
"""


def page(latencies: Sequence[Latency], asked: Sequence[Asked], endured: Sequence[Endurance]) -> str:
    """Return the page as Markdown."""
    parts = [_HEAD, f"Measured on {where()}.\n"]
    if latencies:
        parts += [_LATENCY, _table(_LATENCY_COLUMNS, [_latency(row) for row in latencies])]
    if asked:
        parts += [_ASKED, _table(_ASKED_COLUMNS, [_asked(row) for row in asked])]
    if endured:
        parts += [_ENDURED, _table(_ENDURED_COLUMNS, [_endured(row) for row in endured])]
        parts += [_PARTS, _table(_PARTS_COLUMNS, [part for row in endured for part in _parts(row)])]
    return "\n".join(parts)


_LATENCY = """## One memory

`remember` in sequence without an LLM, in milliseconds (p50 / p95), and the embedder alone on the same texts.
With `wait=False` the memory is stored and found by its words when the call returns. Jobs in the queue, which
runs meanwhile, add its vector, consolidation and links.
"""
_LATENCY_COLUMNS = (
    "stored memories",
    "embedder",
    "embedding",
    "remember",
    "remember minus embedding (p50)",
    "wait=False",
    "pending work per memory",
)


def _latency(row: Latency) -> tuple[str, ...]:
    over = row.waited[0] - row.embed[0]
    later = 1000 * row.drained / row.count
    return (
        f"{row.held:,}",
        row.embedder,
        _pair(row.embed),
        _pair(row.waited),
        f"{over:.1f}",
        _pair(row.soon),
        f"{later:.1f} ms",
    )


_ASKED = """## Model calls

Calls and tokens for one memory on average, with a scripted model. Links are made by jobs in the queue.
"""
_ASKED_COLUMNS = ("what the caller gives", "memories", "calls", "prompt tokens", "reply tokens")


def _asked(row: Asked) -> tuple[str, ...]:
    figures = (row.calls, row.prompt_tokens, row.reply_tokens)
    return (row.case, f"{row.count:,}", *(f"{figure:.1f}" for figure in figures))


_ENDURED = """## Many single writes

The same texts stored one by one, and in bulk (`remember_many`): the size of the folder, and recall after the
store was reopened. Both stores have an empty queue.
"""
_ENDURED_COLUMNS = (
    "memories",
    "embedder",
    "one by one",
    "in bulk",
    "ratio",
    "recall, one by one (ms)",
    "recall, in bulk (ms)",
    "ratio",
    "time per write, one by one / in bulk (ms)",
)


def _endured(row: Endurance) -> tuple[str, ...]:
    return (
        f"{row.count:,}",
        row.embedder,
        _mb(sum(row.bytes.values())),
        _mb(sum(row.bulk_bytes.values())),
        f"{row.size_ratio:.2f}",
        _pair(row.recall),
        _pair(row.bulk_recall),
        f"{row.recall_ratio:.2f}",
        f"{row.per_write:.1f} / {row.bulk_per_write:.1f}",
    )


_PARTS = "\nSize by part of the folder:\n"
_PARTS_COLUMNS = ("memories", "part", "one by one", "in bulk")


def _parts(row: Endurance) -> list[tuple[str, ...]]:
    names = sorted({*row.bytes, *row.bulk_bytes})
    sizes = [(name, row.bytes.get(name, 0), row.bulk_bytes.get(name, 0)) for name in names]
    return [
        (f"{row.count:,}", name, _mb(one), _mb(bulk)) for name, one, bulk in sizes if max(one, bulk) > 1e5
    ]


def _mb(size: float) -> str:
    return f"{size / 1e6:,.1f} MB"


def _pair(milliseconds: Pair) -> str:
    return f"{milliseconds[0]:.1f} / {milliseconds[1]:.1f}"


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
