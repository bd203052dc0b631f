"""The commands that are no operations: demo, init, serve and models; and all of these together."""

import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Group, Parameter

import hydramem
from hydramem.cli.options import Given
from hydramem.cli.output import show, write
from hydramem.cli.progress import reporting
from hydramem.cli.serve_command import serve
from hydramem.cli.sharing_commands import ps, stop
from hydramem.cli.terminal import console, plain
from hydramem.core.config_reference import config_text
from hydramem.core.errors import InvalidInputError, NotFoundError, StorageError
from hydramem.llm import catalogue, listed_model
from hydramem.sharing.connect import call
from hydramem.sharing.operation_specs import SPECS
from hydramem.text.shown_text import one_line

if TYPE_CHECKING:
    from rich.console import Console

    from hydramem import Memory

_DEMO_FOLDER = "hydramem-demo"
_PACKAGE = Path(hydramem.__file__).parent

_DEMO_QUESTIONS = (
    ("Why is Kuzu not the default graph engine?", "answered by a page of the documentation"),
    (
        "Where does the berth service keep its assignments now?",
        "answered by the conversation, which changed its mind",
    ),
    (
        "Who leads the team that owns Kestrel?",
        "no single text says it: the graph joins Kestrel, the team and its lead",
    ),
)

_PATH_ENDS = ("Kestrel", "Priya Raman")
_MOST_CHARACTERS = 220  # of a hit; `hydramem recall` shows all


def demo(*, invocation: Given) -> None:
    """Ingest HydraMem's documentation and a sample conversation, and answer three questions from them."""
    folder = (invocation.store or Path(_DEMO_FOLDER)).expanduser().resolve()
    out = console(quiet=invocation.json)
    with invocation.open(make=True, folder=folder) as memory:
        answers = [_ingest(memory, out), *(_ask(memory, *question, out) for question in _DEMO_QUESTIONS)]
        out.print(f"\n[bold]How {_PATH_ENDS[0]} and {_PATH_ENDS[1]} are connected[/]")
        answers.append(memory.path(*_PATH_ENDS))
        write(answers[-1], out)
        embedder = memory.stats().embedder
    _print_next_steps(folder, embedder, out)
    if invocation.json:
        show(tuple(answers), as_json=True)


def _ingest(memory: "Memory", out: "Console") -> object:
    sources = [*pages(), _PACKAGE / "data" / "sample"]
    with reporting(SPECS["ingest"]) as report:
        done = call(memory, "ingest", {"sources": list(map(str, sources))}, actor="cli", progress=report)
    out.print("[bold]Ingested this project's pages and a sample conversation[/]")
    write(done, out)
    return done


def _ask(memory: "Memory", question: str, about: str, out: "Console") -> object:
    found = memory.recall(question, limit=5)
    out.print(f"\n[bold]{question}[/] [dim]({about})[/]")
    shown = tuple(replace(hit, text=one_line(hit.text, _MOST_CHARACTERS)) for hit in found.hits)
    write(replace(found, hits=shown), out)
    return found


def _print_next_steps(folder: Path, embedder: str, out: "Console") -> None:
    # The path of this program where its name is not on the search path.
    name = "hydramem" if shutil.which("hydramem") else sys.argv[0]
    command = f"{shlex.quote(name)} --store {shlex.quote(str(folder))}"
    out.print(f"\n[bold]The memory is in[/] {plain(str(folder))} [dim]({embedder})[/]")
    out.print("Try:")
    for words in (
        'recall "what must Ferrywatch not use?"',
        'path "board service" "Priya Raman"',
        "neighbors Kestrel --depth 2",
        "entities --limit 10",
        "stats",
        "garden --plan",
        "serve",
    ):
        out.print(f"  {command} {words}", markup=False)


def pages() -> Sequence[Path]:
    """Return the files of the documentation: of the checkout, or of the installed wheel.

    Raises:
        NotFoundError: The installation lacks them.
    """
    checkout = _PACKAGE.parent / "docs"
    if (checkout / "tutorial.md").is_file():
        return sorted(checkout.rglob("*.md"))
    installed = metadata.files("hydramem") or ()
    found = [file.locate() for file in installed if "share/hydramem/docs" in file.parent.as_posix()]
    if not found:
        raise NotFoundError("this installation lacks the documentation; install hydramem again")
    return sorted(Path(str(page)) for page in found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The folders and files of a store, as `init` prints them."""

    store: str
    settings: str
    models: str
    project: str


def add_commands(app: App) -> None:
    """Add the commands of this module to an app."""
    group = Group("Set up", sort_key=10)
    app.command(demo, group=group)
    app.command(init, group=group)
    app.command(serve, group=group)
    app.command(ps, group=group)
    app.command(stop, group=group)
    models = App(name="models", help="List the local models, and fetch one.", group=group)
    models.command(list_models, name="list")
    models.command(get_model, name="get")
    app.command(models)


def init(*, invocation: Given) -> None:
    """Write a config.yml with every setting into the store's folder, and print the folders in use."""
    folder = invocation.folder
    path = folder / "config.yml"
    if path.exists():
        raise InvalidInputError(f"{path}: exists; edit it, or remove it first")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(config_text(), encoding="utf-8")
    except OSError as error:
        raise StorageError(f"{path}: cannot be written: {error.strerror}") from error
    places = Places(
        store=str(folder),
        settings=str(path),
        models=str(catalogue.models_folder()),
        project=invocation.namespace,
    )
    show(places, as_json=invocation.json)


def list_models(*, invocation: Given) -> None:
    """List the embedding models that HydraMem knows, and what was fetched beside them."""
    show((*catalogue.list_models(), *listed_model.list_fetched()), as_json=invocation.json)


def get_model(
    name: str,
    *,
    from_: Annotated[Path | None, Parameter(name="--from", help="Take it from this file or folder.")] = None,
    invocation: Given,
) -> None:
    """Fetch a model into the user's cache and check its hashes.

    Args:
        name: A name that `hydramem models list` shows, or an embedder or cross-encoder that fastembed lists.
    """
    from hydramem.llm.fetching import fetch_model

    err = console(errors=True)
    fetched = fetch_model.get_model(
        name, source=from_, progress=lambda step: err.print(plain(step), style="dim")
    )
    show(fetched, as_json=invocation.json)
