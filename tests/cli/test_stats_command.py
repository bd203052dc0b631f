"""`hydramem stats --days`: what telemetry recorded, as text, CSV, Markdown and JSON."""

import csv
import json
from pathlib import Path

import pytest

from hydramem.cli.commands.stats_command import as_text
from hydramem.core.results.telemetry_results import NightDay, OperationUse, TelemetryReport
from tests.cli.conftest import in_own_project

REPORT = TelemetryReport(
    since="2026-11-17",
    until="2026-11-23",
    state="on",
    operations=(
        OperationUse(day="2026-11-22", operation="recall", calls=3, p50_ms=21.5, relevance=0.75),
        OperationUse(day="2026-11-23", operation="ingest", calls=1, errors=1),
    ),
    nights=(NightDay(day="2026-11-23", runs=1, effects={"merge": 2}, auc=0.91),),
)


def test_csv_has_a_line_for_each_number() -> None:
    rows = list(csv.DictReader(as_text(REPORT, "csv").splitlines()))
    values = {(row["table"], row["day"], row["of"], row["measure"]): float(row["value"]) for row in rows}
    assert values["operations", "2026-11-22", "recall", "p50_ms"] == 21.5
    assert values["operations", "2026-11-23", "ingest", "errors"] == 1
    assert values["nights", "2026-11-23", "", "merge"] == 2
    assert values["nights", "2026-11-23", "", "auc"] == 0.91
    assert ("operations", "2026-11-23", "ingest", "p50_ms") not in values  # none returned


def test_markdown_has_a_table_for_each_list() -> None:
    text = as_text(REPORT, "md")
    assert "## operations" in text
    assert "## nights" in text
    assert "## verdicts" not in text
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in tables[:4]}) == 1
    assert "| 2026-11-22 | recall | 3 |" in text


@pytest.mark.costly  # a store on disk that each command opens
def test_the_command_shows_and_exports_the_last_days(shell, tmp_path: Path) -> None:
    shell.ok("remember", "Ada leads billing.")
    shell.ok("recall", "who leads billing?")
    shown = shell.ok("stats", "--days", "7")
    assert "recall" in shown
    assert "remember" in shown
    out = tmp_path / "week.json"
    assert shell.ok("stats", "--days", "7", "--export", "json", "--out", str(out)) == ""
    calls = {use["operation"]: use["calls"] for use in json.loads(out.read_text())["totals"]}
    assert calls["recall"] == calls["remember"] == 1
    assert shell.ok("stats", "--days", "7", "--export", "csv").startswith("table,day,of,measure,value\n")


@in_own_project
def test_what_does_not_go_together_is_refused(shell) -> None:
    for options, said, code in (
        (["--export", "csv"], "--days", 1),
        (["--days", "7", "--out", "x"], "--export", 1),
        (["--days", "0"], "days", 1),
        (["--days", "7", "--export", "xml"], "xml", 2),
    ):
        assert said in shell.wrong("stats", *options, code=code)
