"""Spans and metrics of OpenTelemetry, where the program that uses HydraMem has set a provider of them.

Nothing is imported here before that: a program with a provider has imported OpenTelemetry itself. Names are
those of the semantic conventions for databases (opentelemetry.io/docs/specs/semconv/database) where these
have one, else begin with `hydramem.`. No attribute holds a text, name, id or path, and no message of an
error.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from hydramem.core.stages import observing
from hydramem.core.version import __version__
from hydramem.telemetry.observed_results import Observed, estimated_tokens, surface_of

if TYPE_CHECKING:
    from opentelemetry.metrics import Counter, Histogram, MeterProvider
    from opentelemetry.trace import Tracer, TracerProvider

_SYSTEM = "hydramem"
_SECONDS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0)
"""Bounds of the latency histogram, as the conventions advise."""
Ended = Callable[[str, float, Observed], None]
"""Called at the end of an operation with its outcome, its milliseconds and what its result shows."""


def is_provided() -> bool:
    """Say whether this process has a provider of spans or of metrics."""
    traces, metrics = (sys.modules.get(f"opentelemetry.{name}") for name in ("trace", "metrics"))
    return (traces is not None and _is_set(traces.get_tracer_provider(), "trace")) or (
        metrics is not None and _is_set(metrics.get_meter_provider(), "metrics")
    )


def _is_set(provider: object, package: str) -> bool:
    """Say whether a provider is more than the place-holder of OpenTelemetry's own interface."""
    return not type(provider).__module__.startswith(f"opentelemetry.{package}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Instruments:
    """What spans and metrics are made with."""

    tracer: "Tracer"
    calls: "Counter"
    duration: "Histogram"
    hits: "Histogram"
    tokens: "Counter"


@lru_cache(maxsize=1)
def _instruments(traces: "TracerProvider", metrics: "MeterProvider") -> _Instruments:
    meter = metrics.get_meter(_SYSTEM, __version__)
    return _Instruments(
        tracer=traces.get_tracer(_SYSTEM, __version__),
        calls=meter.create_counter("hydramem.calls", unit="{call}", description="Calls of operations."),
        duration=meter.create_histogram(
            "db.client.operation.duration",
            unit="s",
            description="Duration of operations.",
            explicit_bucket_boundaries_advisory=_SECONDS,
        ),
        hits=meter.create_histogram("hydramem.hits", unit="{hit}", description="Hits of a question."),
        tokens=meter.create_counter(
            "hydramem.tokens.given", unit="{token}", description="Tokens given to agents, about."
        ),
    )


@contextmanager
def traced(operation: str, actor: str) -> Iterator[Ended]:
    """Surround an operation with a span, and its stages with spans within it; `is_provided` says so.

    Args:
        operation: Its name, which the span has.
        actor: Who calls it; names that are no surface are `other`.

    Yields:
        What is to be called when the operation has ended.
    """
    from opentelemetry import metrics, trace
    from opentelemetry.trace import SpanKind, StatusCode

    made = _instruments(trace.get_tracer_provider(), metrics.get_meter_provider())
    named = {"db.system.name": _SYSTEM, "db.operation.name": operation}
    attributes = {**named, "hydramem.surface": surface_of(actor)}
    # An exception's message can hold what a caller said: it is not recorded.
    begin = partial(made.tracer.start_as_current_span, record_exception=False, set_status_on_exception=False)
    with begin(operation, kind=SpanKind.INTERNAL, attributes=attributes) as span:
        # The stages of a recall run in several threads, which do not know the span.
        parent = trace.set_span_in_context(span)

        def ended(outcome: str, ms: float, seen: Observed) -> None:
            failed = {"error.type": outcome} if outcome else {}
            if outcome:
                span.set_status(StatusCode.ERROR)
            span.set_attributes({**failed, **_of_result(seen)})
            made.calls.add(1, {**attributes, **failed})
            made.duration.record(ms / 1000, {**named, **failed})
            if seen.hits is not None:
                made.hits.record(seen.hits, named)
                made.tokens.add(_tokens(seen), attributes)

        with observing(lambda stage: begin(f"{operation}.{stage}", context=parent)):
            yield ended


def _of_result(seen: Observed) -> dict[str, int | float | bool]:
    if seen.hits is None:
        return {}
    found: dict[str, int | float | bool] = {
        "db.response.returned_rows": seen.hits,
        "hydramem.tokens.given": _tokens(seen),
    }
    if seen.answered is not None:
        found["hydramem.answered"] = seen.answered
    if seen.relevance is not None:
        found["hydramem.relevance"] = seen.relevance
    return found


def _tokens(seen: Observed) -> int:
    """Return the tokens of an answer, estimated from characters where they were not counted."""
    if seen.tokens is not None:
        return seen.tokens
    return sum(estimated_tokens(text.characters) for text in seen.given)
