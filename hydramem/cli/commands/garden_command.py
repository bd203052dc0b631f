"""The garden command: its further options, and what it does when the store is busy or a phase fails."""

import inspect
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Annotated

from cyclopts import Parameter

from hydramem.cli.options import Invocation
from hydramem.cli.output import show
from hydramem.cli.terminal import plain
from hydramem.core.errors import HydraMemError, InvalidInputError, StoreBusyError
from hydramem.core.results.garden_results import Gardened
from hydramem.sharing.operation_specs import present

_ADDED = ("wait", "install_schedule", "uninstall_schedule", "schedules", "print_", "verbose")
_KEPT_BY_SCHEDULE = ("phases", "all_projects")
Run = Callable[..., None]
_RETRY_SECONDS = 1.0
_INTERRUPTED = "`hydramem garden --status` lists the changes that are left; the next run makes them"


def _flag(help: str, *, name: str | None = None) -> Parameter:
    return Parameter(name=name, help=help, negative="", show_default=False)


def with_schedule(run: Run) -> Run:
    """Add the options of the command line to the garden command: --wait, and those of a schedule."""

    def garden(
        *args: object,
        wait: Annotated[bool, _flag("Wait while another process has the store open, and name it.")] = False,
        install_schedule: Annotated[
            str | None,
            Parameter(
                help='Cron expression, such as "0 3 * * *": run then, for all projects or --project, all '
                "phases or --phases."
            ),
        ] = None,
        uninstall_schedule: Annotated[
            bool, _flag("Remove the schedules of this store and project, or the one of --phases.")
        ] = False,
        schedules: Annotated[bool, _flag("List the schedules of the gardener on this machine.")] = False,
        print_: Annotated[
            bool, _flag("With --install-schedule: show the files and write nothing.", name="--print")
        ] = False,
        verbose: Annotated[bool, _flag("Show what each phase did, and single changes.")] = False,
        invocation: Invocation,
        **options: object,
    ) -> None:
        if verbose:
            invocation = replace(invocation, verbose=True)
        asked = [install_schedule is not None, uninstall_schedule, schedules]
        if print_ and install_schedule is None:
            raise InvalidInputError("garden: --print goes with --install-schedule")
        if any(asked):
            _check_alone(asked, options)
        phases: Sequence[str] = options.get("phases") or ()  # type: ignore[assignment]
        if install_schedule is not None:
            from hydramem.cli.commands.garden_schedule import install

            done = install(install_schedule, phases, invocation, only_print=print_)
            show(done, as_json=invocation.json)
        elif uninstall_schedule:
            from hydramem.cli.commands.garden_schedule import uninstall

            show(uninstall(phases, invocation), as_json=invocation.json)
        elif schedules:
            from hydramem.cli.commands.garden_schedule import installed

            show(installed(), as_json=invocation.json, nothing="no schedule")
        else:
            try:
                _run_when_free(lambda: run(*args, invocation=invocation, **options), wait=wait)
            except KeyboardInterrupt:
                if not (options.get("plan") or options.get("status")):
                    print(f"hydramem: {_INTERRUPTED}", file=sys.stderr)
                raise

    signature = inspect.signature(run)
    *others, handed = signature.parameters.values()
    own = inspect.signature(garden).parameters
    added = [own[name] for name in _ADDED]
    present(garden, run.__name__, run.__doc__, signature.replace(parameters=[*others, *added, handed]))
    return garden


def _check_alone(asked: Sequence[bool], options: Mapping[str, object]) -> None:
    """Refuse two questions about schedules at once, and options that a schedule does not keep."""
    if sum(asked) > 1:
        raise InvalidInputError(
            "garden: one of --install-schedule, --uninstall-schedule and --schedules at a time"
        )
    if other := sorted(name for name, value in options.items() if value and name not in _KEPT_BY_SCHEDULE):
        raise InvalidInputError(
            f"garden: --{other[0].replace('_', '-')} is not kept by a schedule; --project and --phases are"
        )


def check_phases(reports: Sequence[Gardened]) -> None:
    """Fail the command where a phase failed, so that its scheduler notices.

    Raises:
        HydraMemError: A phase failed; the report, which is printed before, says why.
    """
    failed = [
        f"{each.phase} (project {report.project})"
        for report in reports
        for each in report.phases
        if each.state == "failed"
    ]
    if failed:
        raise HydraMemError(f"garden: failed: {', '.join(failed)}; the report says why, the rest was done")


def _run_when_free(run: Callable[[], None], *, wait: bool) -> None:
    """Run a command; with `wait`, try again while another process has the store open."""
    message = ""
    while True:
        try:
            return run()
        except StoreBusyError as error:
            if not wait:
                raise StoreBusyError(f"{error}; `hydramem garden --wait` waits for it") from error
            if str(error) != message:
                message = str(error)
                print(f"hydramem: waiting: {plain(message)}", file=sys.stderr)
            time.sleep(_RETRY_SECONDS)
