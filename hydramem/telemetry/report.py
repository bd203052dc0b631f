"""The report of telemetry: totals and measures as what a person and the page read."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import cast

from hydramem.core.results.telemetry_results import (
    ErrorCount,
    IngestDay,
    MemoryDay,
    NightDay,
    OperationUse,
    SurfaceUse,
    TelemetryReport,
    TokenDay,
    VerdictDay,
)
from hydramem.core.row_types import ChunkKind
from hydramem.telemetry.latency_histogram import quantile
from hydramem.telemetry.totals import Key, Measures, Totals, summed

_Parts = Mapping[Key, Totals]


def report(
    totals: _Parts, measures: Measures, *, since: str, until: str, state: str, size: int
) -> TelemetryReport:
    """Build the report of some days.

    Args:
        totals: Of the calls in these days.
        measures: Of these days.
        since, until: First and last day.
        state: Whether telemetry is on.
        size: Bytes on disk.
    """
    by_name: dict[str, dict[str, tuple[int, float]]] = defaultdict(dict)
    for (day, name), value in measures.items():
        by_name[name][day] = value
    uses = sorted(_uses(totals, lambda key: key), key=lambda use: (use.day or "", use.operation))
    whole = _uses(totals, lambda key: key._replace(day=""))
    dropped = by_name.pop("dropped", {})
    return TelemetryReport(
        since=since,
        until=until,
        state=state,
        operations=tuple(uses),
        totals=tuple(sorted(whole, key=lambda use: (-use.calls, use.operation))),
        surfaces=tuple(_surfaces(totals)),
        errors=tuple(_errors(totals)),
        tokens=tuple(_tokens(totals)),
        memories=tuple(_memories(by_name)),
        verdicts=tuple(VerdictDay(day=day, **counts) for day, counts in _by_day(by_name, "verdict")),
        nights=tuple(_nights(by_name)),
        ingested=tuple(IngestDay(day=day, **counts) for day, counts in _by_day(by_name, "ingest")),
        bytes=size,
        dropped=int(sum(total for _, total in dropped.values())),
    )


def _uses(totals: _Parts, group: Callable[[Key], Key]) -> Iterator[OperationUse]:
    """Yield one line for each group of days and operation; calls that raised count as errors there."""
    parts = [(group(key)._replace(surface=""), part) for key, part in totals.items()]
    every = summed((key._replace(outcome=""), part) for key, part in parts)
    returned = summed((key, part) for key, part in parts if not key.outcome)
    for key, all_calls in every.items():
        good = returned.get(key, Totals())
        yield OperationUse(
            day=key.day or None,
            operation=key.operation,
            calls=all_calls.calls,
            errors=all_calls.calls - good.calls,
            p50_ms=quantile(good.latency, 0.5),
            p95_ms=quantile(good.latency, 0.95),
            hits=good.hits,
            asked=good.asked,
            answered=good.answered,
            answered_share=round(good.answered / good.asked, 4) if good.asked else None,
            relevance=round(good.relevance / good.rated, 4) if good.rated else None,
            tokens=good.tokens,
            baseline=good.baseline,
        )


def _surfaces(totals: _Parts) -> Iterator[SurfaceUse]:
    found = summed(
        (Key("", "", key.surface, "error" if key.outcome else ""), part) for key, part in totals.items()
    )
    for surface in sorted({key.surface for key in found}):
        good, bad = (found.get(Key("", "", surface, each), Totals()).calls for each in ("", "error"))
        yield SurfaceUse(surface=surface, calls=good + bad, errors=bad)


def _errors(totals: _Parts) -> Iterator[ErrorCount]:
    found = summed(
        (Key("", key.operation, "", key.outcome), part) for key, part in totals.items() if key.outcome
    )
    for key, part in sorted(found.items()):
        yield ErrorCount(operation=key.operation, error=key.outcome, calls=part.calls)


def _tokens(totals: _Parts) -> Iterator[TokenDay]:
    found = summed((Key(key.day, "", "", ""), part) for key, part in totals.items())
    for key, part in sorted(found.items(), key=lambda each: each[0]):
        if part.tokens or part.baseline:
            saved = part.baseline - part.compared
            yield TokenDay(day=key.day, given=part.tokens, baseline=part.baseline, saved=saved)


def _memories(by_name: Mapping[str, Mapping[str, tuple[int, float]]]) -> Iterator[MemoryDay]:
    for day, counts in _by_day(by_name, "memory"):
        for kind, stored in sorted(counts.items()):
            yield MemoryDay(day=day, kind=cast(ChunkKind, kind), stored=stored)


def _nights(by_name: Mapping[str, Mapping[str, tuple[int, float]]]) -> Iterator[NightDay]:
    nights, measured = dict(_by_day(by_name, "night")), by_name.get("auc", {})
    for day in sorted({*nights, *measured}):
        effects = dict(nights.get(day, {}))
        count, total = measured.get(day, (0, 0.0))
        yield NightDay(
            day=day,
            runs=effects.pop("runs", 0),
            effects=dict(sorted(effects.items())),
            auc=round(total / count, 4) if count else None,
        )


def _by_day(
    by_name: Mapping[str, Mapping[str, tuple[int, float]]], group: str
) -> Iterable[tuple[str, dict[str, int]]]:
    """Return the sums of the measures `group.name` by day, oldest first, each by name."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for name, days in by_name.items():
        if name.startswith(f"{group}."):
            for day, (_, total) in days.items():
                found[day][name.removeprefix(f"{group}.")] = int(total)
    return sorted(found.items())
