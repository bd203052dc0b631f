"""The garden command: the operation, and what only a terminal has: waiting for a folder, and a schedule."""

import inspect
import sys
import time
from collections.abc import Callable, Sequence
from typing import Annotated

from cyclopts import Parameter

from hydramem.cli import timer
from hydramem.cli.invocation import Invocation
from hydramem.cli.show import plain, show
from hydramem.core.errors import HydraMemError, InvalidInputError, StoreBusyError
from hydramem.core.results.garden_results import Gardened

_EVERY = 1.0

_CUT_SHORT = "`hydramem garden --status` tells what a night that was begun has left; the next night makes it"

Run = Callable[..., None]


def with_schedule(run: Run) -> Run:
    """Give the garden command its further options: --wait, and those of a schedule."""

    def garden(
        *args: object,
        wait: bool = False,
        install_schedule: str | None = None,
        uninstall_schedule: bool = False,
        print_: bool = False,
        invocation: Invocation,
        **options: object,
    ) -> None:
        if install_schedule is not None and uninstall_schedule:
            raise InvalidInputError("garden: install a schedule or uninstall it")
        if print_ and install_schedule is None:
            raise InvalidInputError("garden: --print goes with --install-schedule")
        if install_schedule is not None:
            done = timer.install(install_schedule, invocation, only_print=print_)
            show(done, as_json=invocation.json)
        elif uninstall_schedule:
            show(timer.uninstall(invocation), as_json=invocation.json)
        else:
            try:
                _patiently(lambda: run(*args, invocation=invocation, **options), wait=wait)
            except KeyboardInterrupt:
                if not (options.get("plan") or options.get("status")):
                    print(f"hydramem: {_CUT_SHORT}", file=sys.stderr)
                raise

    signature = inspect.signature(run)
    *others, handed = signature.parameters.values()
    garden.__signature__ = signature.replace(  # type: ignore[attr-defined]  # read by inspect
        parameters=[*others, *_options(), handed]
    )
    garden.__annotations__ = {each.name: each.annotation for each in (*others, *_options(), handed)}
    garden.__doc__, garden.__name__ = run.__doc__, run.__name__
    return garden


def check_night(nights: Sequence[Gardened]) -> None:
    """Make a night with a phase that failed a failure of the command, so that what schedules it hears of it.

    Raises:
        HydraMemError: One failed; the report, shown before, says why.
    """
    failed = [
        f"{each.phase} (project {night.project})"
        for night in nights
        for each in night.phases
        if each.state == "failed"
    ]
    if failed:
        raise HydraMemError(f"garden: failed: {', '.join(failed)}; the report says why, the rest was done")


def _options() -> tuple[inspect.Parameter, ...]:
    def option(name: str, kind: object, default: object, words: str, spelled: str = "") -> inspect.Parameter:
        shown = Parameter(
            name=spelled or None, help=words, negative="" if kind is bool else None, show_default=False
        )
        hint = Annotated[kind, shown]  # type: ignore[valid-type]  # kinds are given above
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)

    return (
        option("wait", bool, False, "Wait for the folder where another process holds it, and say who does."),
        option(
            "install_schedule",
            str | None,
            None,
            'Come at these times, a cron expression such as "0 3 * * *": to every project, or --project.',
        ),
        option("uninstall_schedule", bool, False, "Come no more."),
        option(
            "print_",
            bool,
            False,
            "With --install-schedule: show what would be written, write nothing.",
            "--print",
        ),
    )


def _patiently(run: Callable[[], None], *, wait: bool) -> None:
    told = ""
    while True:
        try:
            return run()
        except StoreBusyError as error:
            if not wait:
                raise StoreBusyError(f"{error}; `hydramem garden --wait` waits for it") from error
            if str(error) != told:
                told = str(error)
                print(f"hydramem: waiting: {plain(told)}", file=sys.stderr)
            time.sleep(_EVERY)
