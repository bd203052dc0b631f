"""The command `completion`: the script by which a shell completes commands and options."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import App, Parameter

from hydramem.cli.options import Given
from hydramem.cli.output import show
from hydramem.core.errors import InvalidInputError, StorageError

Shell = Literal["bash", "zsh", "fish", "powershell"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionInstalled:
    """What `completion --install` wrote.

    Attributes:
        file: The script; the shell's own file of settings may load it now too.
    """

    file: str


def completion_command(app: App) -> Callable[..., None]:
    """Return the command for an app, whose commands it completes."""

    def completion(
        shell: Shell | None = None,
        *,
        install: Annotated[bool, Parameter(negative="", show_default=False)] = False,
        invocation: Given,
    ) -> None:
        """Print the script that completes commands and options in a shell, or install it.

        Args:
            shell: bash, zsh, fish or powershell; the one that runs by default.
            install: Write it where the shell finds it, and load it from the shell's file of settings where
                that is needed.
        """
        from cyclopts.completion import ShellDetectionError

        try:
            if not install:
                print(app.generate_completion(shell=shell))
                return
            file = app.install_completion(shell=shell)
        except OSError as error:
            raise StorageError(f"{error.filename}: cannot be written: {error.strerror}") from error
        except ShellDetectionError as error:
            raise InvalidInputError(f"completion: name the shell, such as bash ({error})") from error
        show(CompletionInstalled(file=str(file)), as_json=invocation.json)

    return completion
