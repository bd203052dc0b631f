"""The gardener's schedules in systemd, launchd or cron: put in, taken out and listed."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hydramem.cli.options import Invocation
from hydramem.core.errors import StorageError
from hydramem.core.ids import content_hash

if TYPE_CHECKING:
    from hydramem.garden.night.schedule import ScheduleTimes

Clock = Literal["systemd", "launchd", "cron"]
_TIMEOUT_SECONDS = 30
_OURS = "hydramem-garden-"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class GardenSchedule:
    """A schedule of the gardener that is installed on this machine.

    Attributes:
        name: Its name in the scheduler; unique for a store, project and list of phases.
        times: The cron expression.
        command: The command that is scheduled.
    """

    name: str
    times: str
    command: str


def install(expression: str, phases: Sequence[str], invocation: Invocation, *, only_print: bool) -> Scheduled:
    """Schedule the gardener at the times of a cron expression; replaces the schedule of the same phases.

    Args:
        expression: The cron expression.
        phases: The phases to run; none means those that the settings name.
        invocation: The store and the project.
        only_print: Show the files and write nothing.

    Raises:
        InvalidInputError: The text is not a cron expression.
        StorageError: The system's scheduler failed, or a file cannot be written; the message says which.
    """
    from hydramem.garden.night.schedule import parse, with_line

    times, clock, name = parse(expression), clock_of_system(), _schedule_name(invocation, phases)
    command = _scheduled_command(invocation, phases)
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


def uninstall(phases: Sequence[str], invocation: Invocation) -> Scheduled:
    """Remove the schedules of a store and project: that of these phases, or all where none are given.

    Raises:
        StorageError: The system's scheduler failed.
    """
    from hydramem.garden.night.schedule import with_line

    clock, name = clock_of_system(), _schedule_name(invocation, phases)
    names = [
        each.name
        for each in installed()
        if each.name == name or (not phases and each.name.startswith(f"{name}-"))
    ]
    files: list[str] = []
    for each in names:
        if clock == "cron":
            _write_crontab(with_line(_crontab(), None, name=each))
            files = ["crontab"]
            continue
        _activate(clock, each, on=False)
        for file in _schedule_files(clock, each):
            file.unlink(missing_ok=True)
            files.append(str(file))
    return Scheduled(clock=clock, command="", files=tuple(files), installed=False)


def installed() -> tuple[GardenSchedule, ...]:
    """Return the gardener's schedules on this machine, of every store, by name.

    Raises:
        StorageError: The system's scheduler failed.
    """
    from hydramem.garden.night.schedule import in_crontab, in_launchd_plist, in_systemd_units

    clock = clock_of_system()
    if clock == "cron":
        found = in_crontab(_crontab(), _OURS) if shutil.which("crontab") else {}  # no cron, no schedule
    elif clock == "launchd":
        agents = sorted(_schedule_folder(clock).glob(f"{_OURS}*.plist"))
        found = {file.stem: in_launchd_plist(file.read_bytes()) for file in agents}
    else:
        timers = sorted(_schedule_folder(clock).glob(f"{_OURS}*.timer"))
        texts = {file.stem: (file, file.with_suffix(".service")) for file in timers}
        found = {
            name: in_systemd_units(*(file.read_text("utf-8") if file.exists() else "" for file in files))
            for name, files in texts.items()
        }
    return tuple(
        GardenSchedule(name=name, times=times, command=command)
        for name, (times, command) in sorted(found.items())
    )


def clock_of_system() -> Clock:
    """Return the scheduler of this system."""
    if sys.platform == "darwin":
        return "launchd"
    return "systemd" if shutil.which("systemctl") and Path("/run/systemd/system").exists() else "cron"


def _schedule_name(invocation: Invocation, phases: Sequence[str]) -> str:
    """Return a name that is unique for a store, a project and phases: several can stand side by side."""
    whose = f"{invocation.folder} {invocation.project or ''}"
    return "-".join((f"{_OURS}{content_hash(whose)[:12]}", *dict.fromkeys(phases)))


def _scheduled_command(invocation: Invocation, phases: Sequence[str]) -> tuple[str, ...]:
    which = ("--all-projects",) if invocation.project is None else ()
    project = () if invocation.project is None else ("--project", invocation.project)
    config = () if invocation.config is None else ("--config", str(invocation.config.resolve()))
    chosen = tuple(word for phase in dict.fromkeys(phases) for word in ("--phases", phase))
    place = ("--store", str(invocation.folder), *project, *config)
    return (sys.executable, "-m", "hydramem", *place, "garden", "--wait", *which, *chosen)


def _schedule_folder(clock: Clock) -> Path:
    within = ("Library", "LaunchAgents") if clock == "launchd" else (".config", "systemd", "user")
    return Path.home().joinpath(*within)


def _schedule_files(clock: Clock, name: str) -> tuple[Path, ...]:
    endings = (".plist",) if clock == "launchd" else (".service", ".timer")
    return tuple(_schedule_folder(clock) / f"{name}{ending}" for ending in endings)


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
