"""The page of what writing costs."""

from collections.abc import Sequence

from benchmarks.writes import Asked, Endurance, Latency, Pair, where

_HEAD = """# Writes

What it costs to remember, and what it leaves behind. Written by `python -m benchmarks writes`; the texts are
sentences of the sets, no two alike.
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

`remember` one after the other without an LLM, in milliseconds (p50 / p95), beside the embedder alone on the
same texts. With `wait=False` the memory is stored and found by its words when the call returns; its vector,
its consolidation and its links follow from the queue, which works meanwhile.
"""
_LATENCY_COLUMNS = (
    "memories held",
    "embedder",
    "embedding",
    "remember",
    "over embedding (p50)",
    "wait=False",
    "left for later, each",
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


_ASKED = """## What a model is asked

With a scripted model: calls, and tokens of prompts and replies, for one memory on average. Links follow from
the queue.
"""
_ASKED_COLUMNS = ("what the caller gives", "memories", "calls", "prompt tokens", "reply tokens")


def _asked(row: Asked) -> tuple[str, ...]:
    figures = (row.calls, row.prompt_tokens, row.reply_tokens)
    return (row.case, f"{row.count:,}", *(f"{figure:.1f}" for figure in figures))


_ENDURED = """## Many single writes

The same texts remembered one by one, and in bulk (`remember_many`): the folder's size, and recalls in the
store opened anew. Both stores are complete: the queue is empty.
"""
_ENDURED_COLUMNS = (
    "memories",
    "embedder",
    "one by one",
    "in bulk",
    "ratio",
    "recall after (ms)",
    "after bulk (ms)",
    "ratio",
    "a write, single / bulk (ms)",
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


_PARTS = "\nBy part of the folder:\n"
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
