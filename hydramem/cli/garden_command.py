"""The garden command: its further options, and its schedule in systemd, launchd or cron."""

import inspect
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from hydramem.cli.options import Invocation
from hydramem.cli.output import show
from hydramem.cli.terminal import plain
from hydramem.core.errors import HydraMemError, InvalidInputError, StorageError, StoreBusyError
from hydramem.core.ids import content_hash
from hydramem.core.results.garden_results import Gardened
from hydramem.sharing.operation_specs import present

if TYPE_CHECKING:
    from hydramem.garden.night.schedule import ScheduleTimes

Clock = Literal["systemd", "launchd", "cron"]
Run = Callable[..., None]
_TIMEOUT_SECONDS = 30
_RETRY_SECONDS = 1.0
_INTERRUPTED = "`hydramem garden --status` lists the changes that are left; the next run makes them"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduled:
    """What installing or removing a schedule did.

    Attributes:
        clock: systemd, launchd or cron.
        command: The command that is scheduled.
        files: Files that were written or removed; with `--print`, each with its text.
        installed: Whether the schedule is active.
    """

    clock: Clock
    command: str
    files: tuple[str, ...]
    installed: bool


def install(expression: str, invocation: Invocation, *, only_print: bool) -> Scheduled:
    """Schedule the gardener at the times of a cron expression.

    Raises:
        InvalidInputError: The text is not a cron expression.
        StorageError: The system's scheduler failed, or a file cannot be written; the message says which.
    """
    from hydramem.garden.night.schedule import parse, with_line

    times, clock, name = parse(expression), clock_of_system(), _schedule_name(invocation)
    command = _scheduled_command(invocation)
    texts = _file_texts(clock, times, command, name)
    if only_print:
        shown = tuple(f"{file}\n{text}" for file, text in texts.items())
        return Scheduled(clock=clock, command=" ".join(command), files=shown, installed=False)
    if clock == "cron":
        _write_crontab(with_line(_crontab(), next(iter(texts.values())), name=name))
    else:
        for file, text in texts.items():
            _write_file(Path(file), text)
        _activate(clock, name, on=True)
    return Scheduled(clock=clock, command=" ".join(command), files=tuple(texts), installed=True)


def uninstall(invocation: Invocation) -> Scheduled:
    """Remove the gardener's schedule, if there is one.

    Raises:
        StorageError: The system's scheduler failed.
    """
    from hydramem.garden.night.schedule import with_line

    clock, name = clock_of_system(), _schedule_name(invocation)
    if clock == "cron":
        before = _crontab() if shutil.which("crontab") else ""  # no cron, no schedule
        after = with_line(before, None, name=name)
        if after != before:
            _write_crontab(after)
        return Scheduled(clock=clock, command="", files=("crontab",) * (after != before), installed=False)
    files = [file for file in _schedule_files(clock, name) if file.exists()]
    if files:
        _activate(clock, name, on=False)
    for file in files:
        file.unlink()
    return Scheduled(clock=clock, command="", files=tuple(map(str, files)), installed=False)


def clock_of_system() -> Clock:
    """Return the scheduler of this system."""
    if sys.platform == "darwin":
        return "launchd"
    return "systemd" if shutil.which("systemctl") and Path("/run/systemd/system").exists() else "cron"


def _schedule_name(invocation: Invocation) -> str:
    """Return a name that is unique for a store and project, so that several schedules can be installed."""
    whose = f"{invocation.folder} {invocation.project or ''}"
    return f"hydramem-garden-{content_hash(whose)[:12]}"


def _scheduled_command(invocation: Invocation) -> tuple[str, ...]:
    which = ("--all-projects",) if invocation.project is None else ()
    project = () if invocation.project is None else ("--project", invocation.project)
    config = () if invocation.config is None else ("--config", str(invocation.config.resolve()))
    place = ("--store", str(invocation.folder), *project, *config)
    return (sys.executable, "-m", "hydramem", *place, "garden", "--wait", *which)


def _schedule_files(clock: Clock, name: str) -> tuple[Path, ...]:
    if clock == "launchd":
        return (Path.home() / "Library" / "LaunchAgents" / f"{name}.plist",)
    units = Path.home() / ".config" / "systemd" / "user"
    return (units / f"{name}.service", units / f"{name}.timer")


def _file_texts(clock: Clock, times: "ScheduleTimes", command: tuple[str, ...], name: str) -> dict[str, str]:
    from hydramem.garden.night.schedule import crontab_line, launchd_plist, systemd_units

    if clock == "cron":
        return {"crontab": crontab_line(times, command, name=name)}
    if clock == "launchd":
        return {str(_schedule_files(clock, name)[0]): launchd_plist(times, command, name=name).decode()}
    units = systemd_units(times, command, name=name)
    return {str(file): units[file.name] for file in _schedule_files(clock, name)}


def _write_file(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StorageError(f"{file}: cannot be written: {error.strerror}") from error


def _activate(clock: Clock, name: str, *, on: bool) -> None:
    if clock == "launchd":
        _run_checked("launchctl", "load" if on else "unload", "-w", str(_schedule_files(clock, name)[0]))
        return
    if on:
        _run_checked("systemctl", "--user", "daemon-reload")
    _run_checked("systemctl", "--user", "enable" if on else "disable", "--now", f"{name}.timer")


def _crontab() -> str:
    done = _completed_process("crontab", "-l")
    # Where a user has no table yet, cron fails and says so on standard error.
    if done.returncode and "no crontab" not in done.stderr:
        raise StorageError(f"crontab -l: {done.stderr.strip() or 'failed'}")
    return done.stdout if done.returncode == 0 else ""


def _write_crontab(text: str) -> None:
    _run_checked("crontab", "-", stdin=text)


def _run_checked(*command: str, stdin: str | None = None) -> None:
    done = _completed_process(*command, stdin=stdin)
    if done.returncode:
        raise StorageError(f"{' '.join(command)}: {done.stderr.strip() or 'failed'}")


def _completed_process(*command: str, stdin: str | None = None) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(  # noqa: S603 - fixed programs; the arguments are never a shell's
            command, input=stdin, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS, check=False
        )
    except FileNotFoundError as error:
        raise StorageError(
            f"{command[0]}: is not installed here; --print shows the command and the times, so that you can "
            "schedule it yourself"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise StorageError(f"{' '.join(command)}: no answer in {_TIMEOUT_SECONDS} seconds") from error


def _flag(help: str, *, name: str | None = None) -> Parameter:
    return Parameter(name=name, help=help, negative="", show_default=False)


def with_schedule(run: Run) -> Run:
    """Add the options of the command line to the garden command: --wait, and those of a schedule."""

    def garden(
        *args: object,
        wait: Annotated[bool, _flag("Wait while another process has the store open, and name it.")] = False,
        install_schedule: Annotated[
            str | None,
            Parameter(help='Cron expression, such as "0 3 * * *": run then, for all projects or --project.'),
        ] = None,
        uninstall_schedule: Annotated[bool, _flag("Remove the schedule.")] = False,
        print_: Annotated[
            bool, _flag("With --install-schedule: show the files and write nothing.", name="--print")
        ] = False,
        invocation: Invocation,
        **options: object,
    ) -> None:
        if install_schedule is not None and uninstall_schedule:
            raise InvalidInputError("garden: install a schedule or uninstall it")
        if print_ and install_schedule is None:
            raise InvalidInputError("garden: --print goes with --install-schedule")
        if install_schedule is not None:
            show(install(install_schedule, invocation, only_print=print_), as_json=invocation.json)
        elif uninstall_schedule:
            show(uninstall(invocation), as_json=invocation.json)
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
    added = [own[name] for name in ("wait", "install_schedule", "uninstall_schedule", "print_")]
    present(garden, run.__name__, run.__doc__, signature.replace(parameters=[*others, *added, handed]))
    return garden


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
