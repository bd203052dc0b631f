"""The entry point: options that every command shares, exit codes, and errors as one clear line."""

import os
import sys
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from hydramem.core.errors import HydraMemError
from hydramem.core.version import __version__

if TYPE_CHECKING:
    from cyclopts import App

FAILED, MISUSED, INTERRUPTED = 1, 2, 130

HELP = ("data", "help.txt")
"""The first page of help within the package, as `overview` makes it."""


def main() -> None:
    """Run the command line of this process."""
    sys.exit(run(sys.argv[1:]))


def run(tokens: Sequence[str]) -> int:
    """Run one command line; return its exit code."""
    if tuple(tokens) in ((), ("-h",), ("--help",)):
        # The page that is asked for most needs none of the code that it lists.
        return _print_help()
    if tuple(tokens) == ("--version",):
        print(__version__)
        return 0
    from cyclopts import CycloptsError

    try:
        build().meta(tokens)
    except CycloptsError:
        return MISUSED  # said by Cyclopts
    except HydraMemError as error:
        print(f"hydramem: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("hydramem: interrupted; what was reported as stored is stored", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader (`| head`) has enough; the interpreter must not complain when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    return 0


def _print_help() -> int:
    try:
        print(files("hydramem").joinpath(*HELP).read_text(encoding="utf-8"), end="")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    return 0


def overview() -> str:
    """Return the first page of help: what there is, a line each."""
    import io

    from rich.console import Console

    page = io.StringIO()
    build().meta.help_print([], console=Console(file=page, width=100, color_system=None))
    return "".join(f"{line.rstrip()}\n" for line in page.getvalue().splitlines())


def build() -> "App":
    """Build the app: commands of the table, those beside it, and the options that all of them share."""
    from cyclopts import App, Group, Parameter

    from hydramem.cli import own_commands
    from hydramem.cli.options import Invocation
    from hydramem.cli.table_commands import add_operations

    app = App(
        name="hydramem",
        help="Embedded, graph-native memory for AI agents.",
        version=__version__,
        result_action="return_value",
        exit_on_error=False,
    )
    add_operations(app)
    own_commands.add_commands(app)
    app.suppress_keyboard_interrupt = app.meta.suppress_keyboard_interrupt = False  # `run` says it
    app.meta.group_parameters = Group("Options of every command", sort_key=99)

    @app.meta.default
    def launch(
        *tokens: Annotated[str, Parameter(show=False, allow_leading_hyphen=True)],
        store: Annotated[
            Path | None, Parameter(help="Store folder [default: $HYDRAMEM_HOME, ~/.hydramem].")
        ] = None,
        project: Annotated[
            str | None, Parameter(help="Namespace to read and write [default: default].")
        ] = None,
        config: Annotated[Path | None, Parameter(help="Settings [default: config.yml in the store].")] = None,
        json: Annotated[bool, Parameter(help="Answer in JSON.", negative=())] = False,
    ) -> None:
        invocation = Invocation(store=store, project=project, config=config, json=json)
        command, bound, handed = app.parse_args(tokens)
        extra = {"invocation": invocation} if "invocation" in handed else {}
        command(*bound.args, **bound.kwargs, **extra)

    return app
