"""The entry point: options that every command shares, exit codes, and errors as one clear line."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import App, CycloptsError, Group, Parameter

from hydramem import __version__
from hydramem.cli import beside
from hydramem.cli.commands import add_operations
from hydramem.cli.invocation import Invocation
from hydramem.core.errors import HydraMemError

FAILED, MISUSED, INTERRUPTED = 1, 2, 130


def main() -> None:
    """Run the command line of this process."""
    sys.exit(run(sys.argv[1:]))


def run(tokens: Sequence[str]) -> int:
    """Run one command line; return its exit code."""
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


def build() -> App:
    """Build the app: commands of the table, those beside it, and the options that all of them share."""
    app = App(
        name="hydramem",
        help="Embedded, graph-native memory for AI agents.",
        version=__version__,
        result_action="return_value",
        exit_on_error=False,
    )
    add_operations(app)
    beside.add_commands(app)
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
