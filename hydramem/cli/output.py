"""Results on a terminal, in a pipe and as JSON."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hydramem.cli.garden_output import show_night
from hydramem.cli.terminal import console, plain
from hydramem.core.results.garden_results import Gardened, Question
from hydramem.core.results.graph_views import Path, ReachedChunk
from hydramem.core.results.hits import Explanation, LinkView, Prompt, Recall
from hydramem.core.results.knowledge_results import ScopeView
from hydramem.core.results.verdicts import Calibrated, Conflict, HistoryEntry, VerifiedRelation
from hydramem.core.results.write_results import Curated, DocumentView, RelationView, Remembered
from hydramem.core.row_types import Chunk, Entity, Job
from hydramem.text.shown_text import one_line

if TYPE_CHECKING:
    from rich.console import Console

# Stored text is not trusted: control characters (colours, cursor moves, titles) must not reach a terminal.
# Links of one hit that are told of.
_LINKS = 2

_CELL = 200

# Columns of a list; any other dataclass shows every field.
_COLUMNS: Mapping[type[Any], tuple[str, ...]] = {
    Chunk: ("id", "kind", "layer", "happened_at", "source", "text"),
    Entity: ("name", "type", "mention_count", "aliases", "id"),
    ReachedChunk: ("id", "kind", "score", "distance", "source", "text", "via"),
    Conflict: ("score", "kind", "older", "newer", "explanation", "judged_by"),
    Question: ("text", "reason", "probability", "id"),
    Job: ("kind", "state", "attempts", "created_at", "error", "id"),
    HistoryEntry: ("at", "actor", "operation", "reason", "fields", "through", "run"),
    VerifiedRelation: ("subject", "type", "object", "decision", "score", "stage", "explanation"),
    ScopeView: ("path", "memories", "own", "categories", "newest"),
    RelationView: (
        "subject",
        "type",
        "object",
        "confidence",
        "verdict",
        "valid_from",
        "valid_to",
        "quote",
        "id",
    ),
}


def show(result: object, *, as_json: bool, nothing: str = "nothing") -> None:
    """Print a result to standard output; `nothing` stands for an empty list."""
    if as_json:
        from pydantic_core import to_json

        print(to_json(result, indent=2).decode())
        return
    write(nothing if result == () else result, console())


def write(result: object, out: "Console") -> None:
    """Write a result to a console as a person reads it."""
    match result:
        case Recall():
            _hits(result, out)
        case Remembered():
            _remembered(result, out)
        case Calibrated():
            _calibrated(result, out)
        case Gardened():
            show_night(result, out)
        case (Remembered() | Gardened(), *_):
            for each in result:
                write(each, out)
        case Path():
            _way(result, out)
        case Prompt():
            if result.text:  # it goes into a prompt: nothing found adds nothing
                out.print(plain(result.text), markup=False)
        case Curated() | (Curated(), *_):
            for file in result if isinstance(result, tuple) else (result,):
                _curated(file, out)
        case DocumentView():
            _fields(result.document, out)
            for chunk in result.chunks:
                out.print(f"\n{plain(chunk.text)}", markup=False)
        case tuple():
            _rows(result, out)
        case _ if dataclasses.is_dataclass(result):
            _fields(result, out)
        case _:
            out.print(plain(result), markup=False)


def _hits(found: Recall, out: "Console") -> None:
    from rich.markup import escape

    if not found.hits:
        out.print("nothing found", style="dim")
    for hit in found.hits:
        place = " > ".join(filter(None, (hit.source, *hit.heading_path)))
        when = "" if hit.happened_at is None else f"{hit.happened_at:%Y-%m-%d %H:%M}"
        said = ", ".join(filter(None, (hit.author, when)))
        place = f"{place} ({said})" if said else place
        out.print(f"[bold green]{hit.score:.2f}[/] {escape(plain(hit.context or hit.text))}")
        out.print(f"     [cyan]{escape(plain(place))}[/]  [dim]{hit.kind} {hit.id}[/]")
        out.print(f"     [dim]{escape(plain(hit.why))}[/]")
        for link in hit.links[:_LINKS]:
            out.print(f"     [dim]{escape(plain(_link(link)))}[/]")
    if found.relations:
        _rows(found.relations, out)
    for reason in found.skipped:
        out.print(f"skipped {escape(plain(reason))}", style="yellow")
    if found.explanation is not None:
        _explained(found, found.explanation, out)


def _link(link: LinkView) -> str:
    """Write a link on one line: `-[extends]-> the other's text (reason)`."""
    arrow = f"-[{link.type}]->" if link.forward else f"<-[{link.type}]-"
    return f"{arrow} {one_line(link.text, 80)}{f' ({link.reason})' if link.reason else ''}"


_BECAME = {
    "stored": "stored",
    "duplicate": "known already",
    "superseding": "stored, in place of what it ends",
    "extending": "stored, beside what it adds to",
    "updated": "put right",
}


def _remembered(done: Remembered, out: "Console") -> None:
    out.print(f"{_BECAME[done.action]}: {done.id}", markup=False)
    lines = (
        ("superseded", done.superseded),
        ("linked", tuple(id for id in done.linked if id not in done.superseded)),
        ("entities", done.entities),
        ("scope", () if done.scope == "/" else (done.scope,)),
        ("categories", done.categories),
        ("follows", done.pending),
    )
    for name, values in lines:
        if values:
            out.print(f"     {name}: {plain(values)}", style="dim", markup=False)
    if done.usage.calls:
        out.print(f"     model: {plain(done.usage)}", style="dim", markup=False)
    if done.state != "active":
        out.print(f"{done.state}: {plain(done.reasons)}", style="yellow", markup=False)
    elif done.reasons:
        masked = f" ({done.masked} masked)" if done.masked else ""
        out.print(f"{plain(done.reasons)}{masked}", style="yellow", markup=False)
    for note in done.notes:
        out.print(plain(note), style="yellow", markup=False)


def _calibrated(done: Calibrated, out: "Console") -> None:
    if done.imported:
        out.print(f"reviews stored: {done.imported}")
    out.print(plain(done.explanation), markup=False)
    if done.measures:
        _rows(done.measures, out)
    accepts = "nothing is accepted" if done.accept_at is None else f"accepts from {done.accept_at:.3g}"
    out.print(
        f"serving: weights {done.weights}; {accepts}, rejects below {done.reject_below:.3g}", markup=False
    )
    if done.true or done.false:
        who = f"{done.people} of people, {done.models} of models"
        out.print(f"labels: {who}; {done.true} true, {done.false} false")
    for note in done.notes:
        out.print(plain(note), style="yellow", markup=False)


def _curated(file: Curated, out: "Console") -> None:
    """Write a curated file as it reads: how full it is, its entries, and what became of a change."""
    from rich.markup import escape

    out.print(
        f"[bold]{file.target}[/] {file.chars:,}/{file.limit:,} characters  [dim]{escape(plain(file.path))}[/]"
    )
    for place, entry in enumerate(file.entries, 1):
        out.print(f"[cyan]{place}[/] {escape(plain(entry))}")
    for what, ids in (("remembered", file.remembered), ("forgotten", file.forgotten)):
        if ids:
            out.print(f"{what}: {', '.join(ids)}", markup=False)
    for note in (*file.problems, *(f"no room for: {text}" for text in file.left_out)):
        out.print(plain(note), style="yellow", markup=False)


def _explained(found: Recall, told: Explanation, out: "Console") -> None:
    tables: tuple[tuple[str, tuple[object, ...]], ...] = (
        *((("dates", told.dates),) if told.dates else ()),
        ("entities", told.entities),
        (f"arms (traversal {told.traversal})", told.arms),
        (f"candidates (best of {told.fused})", told.candidates),
        ("milliseconds", tuple(_Stage(*stage) for stage in found.milliseconds.items())),
    )
    out.print(f"\n[bold]shape[/] {told.shape}")
    for title, rows in tables:
        out.print(f"\n[bold]{title}[/]")
        _rows(rows, out)


@dataclasses.dataclass(frozen=True, slots=True)
class _Stage:
    """One row of the table of times."""

    stage: str
    milliseconds: float


def _way(path: Path, out: "Console") -> None:
    if not path.found:
        out.print(plain(f"no way from {path.start} to {path.end}"), markup=False)
    for place, steps in enumerate((path.steps, *path.others)):
        if place:
            out.print()
        for step in steps:
            out.print(plain(step), markup=False)


def _fields(row: Any, out: "Console") -> None:
    from rich.markup import escape

    for item in dataclasses.fields(row):
        value = getattr(row, item.name)
        if value is None or value in ((), "", {}):
            continue  # what is not there takes no line
        if _are_rows(value):
            out.print(f"[bold]{item.name}[/]")
            _rows(value, out)
        else:
            out.print(f"[bold]{item.name}[/] {escape(plain(value))}")


def _rows(rows: tuple[object, ...], out: "Console") -> None:
    if not rows:
        out.print("nothing", style="dim")
    elif not _are_rows(rows):
        for line in rows:
            out.print(plain(line), markup=False)
    elif out.is_terminal:
        _table(rows, out)
    else:
        _tabbed(rows, out)


def _are_rows(value: object) -> bool:
    return isinstance(value, tuple) and bool(value) and all(map(dataclasses.is_dataclass, value))


def _columns(row: Any) -> Sequence[str]:
    return _COLUMNS.get(type(row)) or [item.name for item in dataclasses.fields(row)]


def _table(rows: Sequence[Any], out: "Console") -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold")
    # A person has no use for a column of nothing; a pipe has, for its columns stay where they are.
    names = [name for name in _columns(rows[0]) if any(plain(getattr(row, name)) for row in rows)]
    for name in names:
        table.add_column(name.replace("_", " "), overflow="fold", max_width=60)
    for row in rows:
        table.add_row(*(Text(one_line(plain(getattr(row, name)), _CELL)) for name in names))
    out.print(table, soft_wrap=False)


def _tabbed(rows: Sequence[Any], out: "Console") -> None:
    print("\t".join(_columns(rows[0])), file=out.file)  # a console would turn tabs into spaces
    for row in rows:
        # One row, one line: what a pipe is read by.
        cells = (" ".join(plain(getattr(row, name)).split()) for name in _columns(row))
        print("\t".join(cells), file=out.file)
