"""Spans and metrics of OpenTelemetry, collected in memory by its own exporters; skipped without the extra."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("opentelemetry.sdk", reason="needs the extra otel")

from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import hydramem
from hydramem.core.settings.config_loading import load_config
from hydramem.memory_api.memory import Memory
from hydramem.operations import BY_NAME, call

_ENVIRONMENT = {"HYDRAMEM_STORAGE_GRAPH": "memory", "HYDRAMEM_EMBEDDING_MODEL": "hash"}
_EXPORTER, _READER = InMemorySpanExporter(), InMemoryMetricReader()


@pytest.fixture(scope="module", autouse=True)
def providers() -> None:
    """A process sets its providers once."""
    traces = TracerProvider()
    traces.add_span_processor(SimpleSpanProcessor(_EXPORTER))
    trace.set_tracer_provider(traces)
    metrics.set_meter_provider(MeterProvider([_READER]))


@pytest.fixture(params=["true", "false"])
def memory(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Memory]:
    """A memory whose own telemetry is on, and one where it is off: OpenTelemetry does not depend on it."""
    settings = load_config(environment={**_ENVIRONMENT, "HYDRAMEM_TELEMETRY_ENABLED": request.param})
    with hydramem.connect(tmp_path, config=settings) as opened:
        _EXPORTER.clear()
        yield opened


def points(name: str) -> list[Any]:
    data = _READER.get_metrics_data()
    assert data is not None
    scopes = [scope for resource in data.resource_metrics for scope in resource.scope_metrics]
    found = [metric for scope in scopes for metric in scope.metrics if metric.name == name]
    return [point for metric in found for point in metric.data.data_points]


def test_an_operation_is_a_span_and_its_stages_are_spans_within_it(memory: Memory) -> None:
    memory.remember("Ada leads billing.")
    found = call(memory, BY_NAME["recall"], {"query": "who leads billing?"}, actor="mcp")
    spans = {span.name: span for span in _EXPORTER.get_finished_spans()}
    whole = spans["recall"]
    assert whole.attributes is not None
    assert dict(whole.attributes).items() >= {
        ("db.system.name", "hydramem"),
        ("db.operation.name", "recall"),
        ("hydramem.surface", "mcp"),
        ("db.response.returned_rows", 1),
        ("hydramem.answered", True),
    }
    stages = [span for name, span in spans.items() if name.startswith("recall.")]
    assert {span.name for span in stages} == {f"recall.{name}" for name in found.milliseconds}  # type: ignore[attr-defined]
    for stage in stages:
        assert stage.parent is not None
        assert whole.context is not None
        assert stage.parent.span_id == whole.context.span_id
        assert whole.start_time <= stage.start_time <= stage.end_time <= whole.end_time
    assert "remember.commit" in spans


def test_an_error_is_its_class_and_nothing_of_its_message(memory: Memory) -> None:
    with pytest.raises(hydramem.NotFoundError, match="Topinambur"):
        memory.neighbors("Topinambur")
    (span,) = (span for span in _EXPORTER.get_finished_spans() if span.name == "neighbors")
    assert span.attributes is not None
    assert span.attributes["error.type"] == "NotFoundError"
    assert span.status.status_code is trace.StatusCode.ERROR
    assert not span.events


def test_calls_latency_hits_and_tokens_are_metrics(memory: Memory) -> None:
    def counted() -> list[int]:
        names = ("hydramem.calls", "hydramem.tokens.given")
        return [sum(point.value for point in points(name)) for name in names]

    calls, tokens = counted()
    memory.remember("Ada leads billing.")
    memory.recall("who leads billing?")
    assert counted()[0] == calls + 2 and counted()[1] > tokens
    timed = {point.attributes["db.operation.name"] for point in points("db.client.operation.duration")}
    assert "recall" in timed
    assert points("hydramem.hits")[0].max >= 1


def test_no_text_name_or_id_is_in_what_is_exported(memory: Memory) -> None:
    id = memory.remember("Ada Topinambur leads billing.", source="Rucola").id
    memory.recall("Kohlrabi of Topinambur")
    memory.prime("Schwarzwurzel", project="Mangold")
    data = _READER.get_metrics_data()
    assert data is not None
    shown = data.to_json() + "".join(span.to_json() for span in _EXPORTER.get_finished_spans())
    assert "recall" in shown
    for text in ("Topinambur", "Rucola", "Kohlrabi", "Schwarzwurzel", "Mangold", id):
        assert text.lower() not in shown.lower()


@pytest.mark.costly  # a process
def test_nothing_is_imported_where_no_provider_is_set(tmp_path: Path) -> None:
    program = (
        "import sys, hydramem\n"
        f"with hydramem.connect({str(tmp_path)!r}) as memory:\n"
        "    memory.remember('Ada leads billing.')\n"
        "    memory.recall('who?')\n"
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **_ENVIRONMENT},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout.strip() == "[]"
