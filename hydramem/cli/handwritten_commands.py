"""The commands that are no operations: demo, init, serve and models; and all of these together."""

import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Group, Parameter

import hydramem
from hydramem.cli.commands.completion_command import completion_command
from hydramem.cli.commands.config_command import config_app
from hydramem.cli.commands.hook_command import hook
from hydramem.cli.commands.host_commands import (
    DryRun,
    InProject,
    OfUser,
    add_host_commands,
    init_host,
    target_of,
)
from hydramem.cli.commands.serve_command import serve
from hydramem.cli.commands.sharing_commands import ps, stop
from hydramem.cli.commands.token_command import token_app
from hydramem.cli.commands.view_command import view
from hydramem.cli.options import Given
from hydramem.cli.output import show, write
from hydramem.cli.progress import reporting
from hydramem.cli.terminal import console, plain
from hydramem.core.errors import InvalidInputError, NotFoundError, StorageError
from hydramem.core.settings.config_reference import config_text
from hydramem.core.settings.environment import make_store_folder
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
    sources = [*(page for page in pages() if not _is_generated(page)), _PACKAGE / "data" / "sample"]
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
        "view",
        "serve",
    ):
        out.print(f"  {command} {words}", markup=False)


def pages(package: Path = _PACKAGE) -> Sequence[Path]:
    """Return the pages of the documentation: those in the package, else those of the checkout around it.

    Args:
        package: The folder of the package. An installed one carries the pages; what lies next to it belongs
            to other packages.

    Raises:
        NotFoundError: The installation lacks them.
    """
    found = sorted((package / "data" / "docs").rglob("*.md"))
    if not found and (package.parent / "pyproject.toml").is_file():
        found = sorted((package.parent / "docs").rglob("*.md"))
    if not found:
        raise NotFoundError("this installation lacks the documentation; install hydramem again")
    return found


def _is_generated(page: Path) -> bool:
    """Return whether a page lists what the code says: much text, and nothing that the demo asks for."""
    return "<!-- Made by docs/generate.py" in page.read_text(encoding="utf-8")[:500]


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
    app.command(view, group=group)
    app.command(ps, group=group)
    app.command(stop, group=group)
    app.command(hook, group=group)
    models = App(name="models", help="List the local models, and fetch one.", group=group)
    models.command(list_models, name="list")
    models.command(get_model, name="get")
    app.command(models)
    add_host_commands(app, group)
    config = config_app()
    config.group = group
    app.command(config)
    token = token_app()
    token.group = group
    app.command(token)
    app.command(completion_command(app), name="completion", group=group)


def init(
    *,
    host: str | None = None,
    remove: Annotated[
        bool, Parameter(help="Take the server out of the host's file again.", negative=(), show_default=False)
    ] = False,
    in_project: InProject = False,
    user: OfUser = False,
    dry_run: DryRun = False,
    invocation: Given,
) -> None:
    """Write a config.yml with every setting into the store's folder; with --host, the MCP server into a host.

    Args:
        host: claude-code, codex, gemini, opencode, cursor, vscode, windsurf or claude-desktop: write the MCP
            server into its file.
    """
    if host is not None:
        init_host(
            host, target_of(in_project=in_project, user=user, dry_run=dry_run), invocation, remove=remove
        )
        return
    if remove or in_project or user or dry_run:
        raise InvalidInputError("--remove, --project, --user and --dry-run need --host")
    folder = invocation.folder
    path = folder / "config.yml"
    if path.exists():
        raise InvalidInputError(f"{path}: exists; edit it, or remove it first")
    try:
        make_store_folder(folder)
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
