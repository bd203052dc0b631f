"""The commands that stand beside the table: init, serve, models and demo."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Group, Parameter

from hydramem.cli.invocation import Given
from hydramem.cli.show import console, plain, show
from hydramem.core.config_reference import config_text
from hydramem.core.errors import InvalidInputError, StorageError
from hydramem.llm import catalogue


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where things are."""

    store: str
    settings: str
    models: str
    project: str


def add_commands(app: App) -> None:
    """Give an app the commands of this module."""
    group = Group("Set up and serve", sort_key=-1)
    app.command(demo, group=group)
    app.command(init, group=group)
    app.command(serve, group=group)
    models = App(name="models", help="Say which embedding models there are, and fetch one.", group=group)
    models.command(list_models, name="list")
    models.command(get_model, name="get")
    app.command(models)


def demo(*, invocation: Given) -> None:
    """Ingest this project's own pages and a sample conversation, and answer three questions from them."""
    from hydramem.cli.demo import run

    run(invocation)


def init(*, invocation: Given) -> None:
    """Write a config.yml with every setting into the store's folder, and say where things are."""
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


def serve(
    *,
    transport: Annotated[Literal["stdio", "http"], Parameter(help="How clients reach it.")] = "stdio",
    host: Annotated[str | None, Parameter(help="Address for HTTP [default: server.host].")] = None,
    port: Annotated[int | None, Parameter(help="Port for HTTP [default: server.port].")] = None,
    tools: Annotated[
        Literal["agent", "all"] | None,
        Parameter(help="The everyday tools, or every operation [default: server.tools]."),
    ] = None,
    invocation: Given,
) -> None:
    """Serve the memory to MCP clients."""
    from hydramem import server

    with invocation.open(make=True) as memory:
        server.serve(
            memory, transport=transport, host=host, port=port, tools=tools, settings=memory.config.server
        )


def list_models(*, invocation: Given) -> None:
    """List the embedding models by name, and whether each is on this machine."""
    show(catalogue.list_models(), as_json=invocation.json)


def get_model(
    name: str,
    *,
    from_: Annotated[Path | None, Parameter(name="--from", help="Take it from this file or folder.")] = None,
    invocation: Given,
) -> None:
    """Fetch a model into the user's cache, and check it against the hashes in the source.

    Args:
        name: A name of `hydramem models list`.
    """
    from hydramem.llm import fetch_model

    say = console(errors=True)
    fetched = fetch_model.get_model(
        name, source=from_, progress=lambda step: say.print(plain(step), style="dim")
    )
    show(fetched, as_json=invocation.json)
