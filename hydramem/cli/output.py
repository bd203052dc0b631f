"""The results of operations as text and as JSON."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hydramem.cli import doctor_output, garden_output
from hydramem.cli.terminal import console, plain
from hydramem.core.results.garden_results import Gardened, Question
from hydramem.core.results.graph_views import Path, ReachedChunk
from hydramem.core.results.hits import Explanation, LinkView, Prompt, Recall, RecalledMemory
from hydramem.core.results.knowledge_results import ScopeView
from hydramem.core.results.upkeep_results import Diagnosis, RunOfChanges, Stats
from hydramem.core.results.verdicts import Calibrated, Conflict, HistoryEntry, VerifiedRelation
from hydramem.core.results.write_results import Curated, DocumentView, RelationView, Remembered
from hydramem.core.row_types import Chunk, Entity, Job
from hydramem.sharing.owners import Owner
from hydramem.text.shown_text import one_line

if TYPE_CHECKING:
    from rich.console import Console

_MOST_LINKS = 2
"""Most links of a hit that are shown."""

_CELL_WIDTH = 200

# The columns of a list; any other dataclass shows every field.
_COLUMNS: Mapping[type[Any], str] = {
    Chunk: "id kind layer happened_at source text",
    Entity: "name type mention_count aliases id",
    ReachedChunk: "id kind score distance source text via",
    Conflict: "score kind older newer explanation judged_by",
    Question: "text reason probability id",
    Job: "kind state attempts created_at error id",
    RunOfChanges: "run at actors operations changes about reason undone",
    RecalledMemory: "at session query rank text kind state id",
    HistoryEntry: "at actor operation reason fields through run",
    VerifiedRelation: "subject type object decision score stage explanation",
    ScopeView: "path memories own categories newest",
    Owner: "pid folder program since clients calls idle_seconds memory_mb",
    RelationView: "subject type object confidence verdict valid_from valid_to quote id",
}


def show(result: object, *, as_json: bool, nothing: str = "nothing", verbose: bool = False) -> None:
    """Print a result to standard output; `nothing` is printed for an empty list."""
    if as_json:
        from pydantic_core import to_json

        print(to_json(result, indent=2).decode())
        return
    write(nothing if result == () else result, console(), verbose=verbose)


def write(result: object, out: "Console", *, verbose: bool = False) -> None:
    """Write a result to a console for a person to read."""
    match result:
        case Recall():
            _write_hits(result, out)
        case Remembered():
            _write_remembered(result, out)
        case Calibrated():
            _write_calibrated(result, out)
        case Gardened():
            _write_lines(garden_output.lines(result, verbose=verbose), out)
        case Stats() if result.telemetry is not None:
            _write_fields(dataclasses.replace(result, telemetry=None), out)
            out.print()
            _write_fields(result.telemetry, out)
        case Diagnosis():
            _write_lines(doctor_output.lines(result), out)
        case (Remembered() | Gardened(), *_):
            for each in result:
                write(each, out, verbose=verbose)
        case Path():
            _write_path(result, out)
        case Prompt():
            if result.text:  # an empty block adds nothing to a prompt
                _write_line(result.text, out)
        case Curated() | (Curated(), *_):
            for file in result if isinstance(result, tuple) else (result,):
                _write_curated(file, out)
        case DocumentView():
            _write_fields(result.document, out)
            for chunk in result.chunks:
                _write_line(f"\n{plain(chunk.text)}", out)
        case tuple():
            _write_rows(result, out)
        case _ if dataclasses.is_dataclass(result):
            _write_fields(result, out)
        case _:
            _write_line(result, out)


def _write_line(value: object, out: "Console", style: str | None = None) -> None:
    """Write one value on a line, without markup."""
    out.print(plain(value), markup=False, style=style)


def _write_lines(lines: Iterable[tuple[object, str | None]], out: "Console") -> None:
    for line, style in lines:
        _write_line(line, out, style)


def _write_hits(found: Recall, out: "Console") -> None:
    if not found.hits:
        out.print("nothing found", style="dim")
    elif not found.answered:
        out.print("nothing here seems to bear on this; the nearest:", style="yellow")
    for hit in found.hits:
        place = " > ".join(filter(None, (hit.source, *hit.heading_path)))
        when = "" if hit.happened_at is None else f"{hit.happened_at:%Y-%m-%d %H:%M}"
        origin = ", ".join(filter(None, (hit.author, when)))
        place = f"{place} ({origin})" if origin else place
        out.print(f"[bold green]{_share(hit.relevance)}[/] {_markup(hit.context or hit.text)}")
        out.print(f"     [cyan]{_markup(place)}[/]  [dim]{hit.kind} {hit.id}[/]")
        out.print(f"     [dim]{_markup(hit.why)}[/]")
        if hit.also:
            out.print(f"     [dim]also said by {', '.join(hit.also)}[/]")
        for link in hit.links[:_MOST_LINKS]:
            out.print(f"     [dim]{_markup(_link_line(link))}[/]")
    if found.relations:
        _write_rows(found.relations, out)
    for reason in found.skipped:
        out.print(f"skipped {_markup(reason)}", style="yellow")
    if found.explanation is not None:
        _write_explanation(found, found.explanation, out)


def _share(relevance: float | None) -> str:
    """Return a relevance in two digits; one that is there is never shown as none."""
    if relevance is None:
        return "   -"
    return "<.01" if relevance < 0.005 else f"{relevance:.2f}"


def _markup(value: object) -> str:
    """Return a value as plain text in which rich finds no markup."""
    from rich.markup import escape

    return escape(plain(value))


def _link_line(link: LinkView) -> str:
    """Return a link as one line: `-[extends]-> text of the other memory (reason)`."""
    arrow = f"-[{link.type}]->" if link.forward else f"<-[{link.type}]-"
    return f"{arrow} {one_line(link.text, 80)}{f' ({link.reason})' if link.reason else ''}"


_ACTIONS = {
    "stored": "stored",
    "duplicate": "known already",
    "superseding": "stored, replacing an older one",
    "extending": "stored, adding to another one",
    "updated": "revised",
}


def _write_remembered(done: Remembered, out: "Console") -> None:
    _write_line(f"{_ACTIONS[done.action]}: {done.id}", out)
    lines = (
        ("superseded", done.superseded),
        ("linked", tuple(id for id in done.linked if id not in done.superseded)),
        ("entities", done.entities),
        ("scope", () if done.scope == "/" else (done.scope,)),
        ("categories", done.categories),
        ("pending", done.pending),
    )
    for name, values in lines:
        if values:
            _write_line(f"     {name}: {plain(values)}", out, "dim")
    for one in done.near:
        said = f"{one.relation.replace('_', ' ')} ({one.probability:.0%}) {one.id}: {one.text}"
        _write_line(f"     near: {said}", out, "dim")
    if any(one.relation == "may_supersede" for one in done.near):
        _write_line("     if one of these holds no longer: the same again with --replaces ID", out, "dim")
    if done.usage.calls:
        _write_line(f"     model: {plain(done.usage)}", out, "dim")
    if done.state != "active":
        _write_line(f"{done.state}: {plain(done.reasons)}", out, "yellow")
    elif done.reasons:
        masked = f" ({done.masked} masked)" if done.masked else ""
        _write_line(f"{plain(done.reasons)}{masked}", out, "yellow")
    for note in done.notes:
        _write_line(note, out, "yellow")


def _write_calibrated(done: Calibrated, out: "Console") -> None:
    if done.imported:
        out.print(f"reviews stored: {done.imported}")
    _write_line(done.explanation, out)
    if done.measures:
        _write_rows(done.measures, out)
    accepts = "nothing is accepted" if done.accept_at is None else f"accepts from {done.accept_at:.3g}"
    _write_line(f"serving: weights {done.weights}; {accepts}, rejects below {done.reject_below:.3g}", out)
    if done.true or done.false:
        who = f"{done.people} of people, {done.models} of models"
        out.print(f"labels: {who}; {done.true} true, {done.false} false")
    for note in done.notes:
        _write_line(note, out, "yellow")


def _write_curated(file: Curated, out: "Console") -> None:
    """Write how full a curated file is, its entries, and the results of a change."""
    out.print(
        f"[bold]{file.target}[/] {file.chars:,}/{file.limit:,} characters  [dim]{_markup(file.path)}[/]"
    )
    for place, entry in enumerate(file.entries, 1):
        out.print(f"[cyan]{place}[/] {_markup(entry)}")
    for what, ids in (("remembered", file.remembered), ("forgotten", file.forgotten)):
        if ids:
            _write_line(f"{what}: {', '.join(ids)}", out)
    for note in (*file.problems, *(f"no room for: {text}" for text in file.left_out)):
        _write_line(note, out, "yellow")


def _write_explanation(found: Recall, explanation: Explanation, out: "Console") -> None:
    tables: tuple[tuple[str, tuple[object, ...]], ...] = (
        *((("dates", explanation.dates),) if explanation.dates else ()),
        ("entities", explanation.entities),
        (f"arms (traversal {explanation.traversal})", explanation.arms),
        (f"candidates (best of {explanation.fused})", explanation.candidates),
        ("milliseconds", tuple(_StageTime(*stage) for stage in found.milliseconds.items())),
    )
    out.print(f"\n[bold]shape[/] {explanation.shape}")
    for title, rows in tables:
        out.print(f"\n[bold]{title}[/]")
        _write_rows(rows, out)


@dataclasses.dataclass(frozen=True, slots=True)
class _StageTime:
    """One row of the table of times."""

    stage: str
    milliseconds: float


def _write_path(path: Path, out: "Console") -> None:
    if not path.found:
        _write_line(f"no path from {path.start} to {path.end}", out)
    for place, steps in enumerate((path.steps, *path.others)):
        if place:
            out.print()
        for step in steps:
            _write_line(step, out)


def _write_fields(row: Any, out: "Console") -> None:
    for item in dataclasses.fields(row):
        value = getattr(row, item.name)
        if value is None or value in ((), "", {}):
            continue  # an empty field takes no line
        if _are_rows(value):
            out.print(f"[bold]{item.name}[/]")
            _write_rows(value, out)
        else:
            out.print(f"[bold]{item.name}[/] {_markup(value)}")


def _write_rows(rows: tuple[object, ...], out: "Console") -> None:
    if not rows:
        out.print("nothing", style="dim")
    elif not _are_rows(rows):
        for line in rows:
            _write_line(line, out)
    elif out.is_terminal:
        _write_table(rows, out)
    else:
        _write_tab_separated(rows, out)


def _are_rows(value: object) -> bool:
    return isinstance(value, tuple) and bool(value) and all(map(dataclasses.is_dataclass, value))


def _columns(row: Any) -> Sequence[str]:
    named = _COLUMNS.get(type(row))
    return named.split() if named else [item.name for item in dataclasses.fields(row)]


def _write_table(rows: Sequence[Any], out: "Console") -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold")
    # An empty column is left out here, not in a pipe: there columns keep their places.
    names = [name for name in _columns(rows[0]) if any(plain(getattr(row, name)) for row in rows)]
    for name in names:
        table.add_column(name.replace("_", " "), overflow="fold", max_width=60)
    for row in rows:
        table.add_row(*(Text(one_line(plain(getattr(row, name)), _CELL_WIDTH)) for name in names))
    out.print(table, soft_wrap=False)


def _write_tab_separated(rows: Sequence[Any], out: "Console") -> None:
    print("\t".join(_columns(rows[0])), file=out.file)  # a console would turn tabs into spaces
    for row in rows:
        # A program reads a pipe by lines: one row is one line.
        cells = (" ".join(plain(getattr(row, name)).split()) for name in _columns(row))
        print("\t".join(cells), file=out.file)
