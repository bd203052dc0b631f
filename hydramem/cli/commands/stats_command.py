"""The stats command: its further options, which write what telemetry recorded as CSV, Markdown or JSON."""

import csv
import dataclasses
import inspect
import io
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal, assert_never, cast

from cyclopts import Parameter

from hydramem.cli.options import Invocation
from hydramem.cli.terminal import plain
from hydramem.core.errors import InvalidInputError
from hydramem.core.results.telemetry_results import TelemetryReport
from hydramem.core.results.upkeep_results import Stats
from hydramem.sharing.connect import call
from hydramem.sharing.operation_specs import Spec, present
from hydramem.storage.files.durable_files import storage_errors, write_whole

Run = Callable[..., None]
ExportFormat = Literal["csv", "md", "json"]
_LABELS = ("day", "operation", "surface", "error", "kind")
"""Fields that say what the numbers of a row are of."""
_CSV_HEADER = ("table", "day", "of", "measure", "value")


def with_export(run: Run, spec: Spec) -> Run:
    """Add the options of the command line to the stats command: --export and --out."""

    def stats(
        *args: object,
        export: Annotated[
            ExportFormat | None,
            Parameter(
                help="With --days: print what telemetry recorded as csv, md or json, and nothing else."
            ),
        ] = None,
        out: Annotated[Path | None, Parameter(help="With --export: a new file to write it to.")] = None,
        invocation: Invocation,
        **options: object,
    ) -> None:
        if export is None:
            if out is not None:
                raise InvalidInputError("stats: --out goes with --export")
            run(*args, invocation=invocation, **options)
            return
        if options.get("days") is None:
            raise InvalidInputError("stats: --export goes with --days")
        if out is not None and out.exists():
            raise InvalidInputError(f"out: {out} is there already; name a new file")
        with invocation.open(make=False) as memory:
            found = cast(Stats, call(memory, spec.name, {"days": options["days"]}, actor="cli"))
        text = as_text(cast(TelemetryReport, found.telemetry), export)
        if out is None:
            print(text, end="")
            return
        with storage_errors(out, "cannot be written"):
            write_whole(out, text)

    signature = inspect.signature(run)
    *others, handed = signature.parameters.values()
    own = inspect.signature(stats).parameters
    parameters = [*others, own["export"], own["out"], handed]
    present(stats, run.__name__, run.__doc__, signature.replace(parameters=parameters))
    return stats


def as_text(report: TelemetryReport, form: ExportFormat) -> str:
    """Return a report as a text that ends with a new line.

    Args:
        report: What telemetry recorded.
        form: `json` has the fields of the report, `md` a table for each of its lists, and `csv` one line for
            each number: its table, day, what it is of, its measure and its value.
    """
    match form:
        case "json":
            from pydantic_core import to_json

            return f"{to_json(report, indent=2).decode()}\n"
        case "md":
            return "".join(_markdown(report))
        case "csv":
            lines = io.StringIO()
            writer = csv.writer(lines, lineterminator="\n")
            writer.writerow(_CSV_HEADER)
            writer.writerows(_numbers(report))
            return lines.getvalue()
        case _:
            assert_never(form)


def _tables(report: TelemetryReport) -> Iterator[tuple[str, tuple[object, ...]]]:
    for item in dataclasses.fields(report):
        rows = getattr(report, item.name)
        if isinstance(rows, tuple) and rows:
            yield item.name, rows


def _numbers(report: TelemetryReport) -> Iterator[tuple[str, str, str, str, object]]:
    for table, rows in _tables(report):
        for row in rows:
            values = {item.name: getattr(row, item.name) for item in dataclasses.fields(row)}  # type: ignore[arg-type]
            labels = [values[name] for name in _LABELS[1:] if name in values]
            for name, value in values.items():
                measured: Mapping[str, object] = value if isinstance(value, Mapping) else {name: value}
                for measure, number in measured.items():
                    if name not in _LABELS and number is not None:
                        yield table, values.get("day") or "", " ".join(labels), measure, number


def _markdown(report: TelemetryReport) -> Iterator[str]:
    yield f"# Telemetry, {report.since} to {report.until}\n\nTelemetry is {report.state}.\n"
    for table, rows in _tables(report):
        names = [item.name for item in dataclasses.fields(rows[0])]  # type: ignore[arg-type]
        # A column that is empty in all rows says nothing.
        names = [name for name in names if any(plain(getattr(row, name)) for row in rows)]
        yield f"\n## {table}\n\n| {' | '.join(names)} |\n|{'---|' * len(names)}\n"
        for row in rows:
            yield f"| {' | '.join(plain(getattr(row, name)) for name in names)} |\n"
