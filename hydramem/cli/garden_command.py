"""Put the gardener on the system's own clock, and take it off: systemd, launchd, or cron."""

import inspect
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from hydramem.cli.options import Invocation
from hydramem.cli.output import show
from hydramem.cli.terminal import plain
from hydramem.core.errors import HydraMemError, InvalidInputError, StorageError, StoreBusyError
from hydramem.core.ids import content_hash
from hydramem.core.results.garden_results import Gardened
from hydramem.garden.night.schedule import (
    ScheduleTimes,
    crontab_line,
    launchd_plist,
    parse,
    systemd_units,
    with_line,
)

Clock = Literal["systemd", "launchd", "cron"]

_SECONDS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduled:
    """Where the schedule stands.

    Attributes:
        clock: systemd, launchd or cron.
        command: What runs.
        files: What was written, or removed; with `--print`, its text follows each name.
        installed: Whether it runs from now on.
    """

    clock: Clock
    command: str
    files: tuple[str, ...]
    installed: bool


def install(expression: str, invocation: Invocation, *, only_print: bool) -> Scheduled:
    """Have the gardener come at the times of a cron expression.

    Raises:
        InvalidInputError: It is no cron expression.
        StorageError: The system's clock refused, or a file cannot be written; the message says which.
    """
    times, clock, name = parse(expression), clock_of_system(), _name(invocation)
    command = _command(invocation)
    texts = _texts(clock, times, command, name)
    if only_print:
        told = tuple(f"{file}\n{text}" for file, text in texts.items())
        return Scheduled(clock=clock, command=" ".join(command), files=told, installed=False)
    if clock == "cron":
        _write_crontab(with_line(_crontab(), next(iter(texts.values())), name=name))
    else:
        for file, text in texts.items():
            _write(Path(file), text)
        _switch(clock, name, on=True)
    return Scheduled(clock=clock, command=" ".join(command), files=tuple(texts), installed=True)


def uninstall(invocation: Invocation) -> Scheduled:
    """Take the gardener off the clock; harmless where it is not on it.

    Raises:
        StorageError: The system's clock refused.
    """
    clock, name = clock_of_system(), _name(invocation)
    if clock == "cron":
        before = _crontab() if shutil.which("crontab") else ""  # without cron there is nothing on its clock
        after = with_line(before, None, name=name)
        if after != before:
            _write_crontab(after)
        return Scheduled(clock=clock, command="", files=("crontab",) * (after != before), installed=False)
    files = [file for file in _files(clock, name) if file.exists()]
    if files:
        _switch(clock, name, on=False)
    for file in files:
        file.unlink()
    return Scheduled(clock=clock, command="", files=tuple(map(str, files)), installed=False)


def clock_of_system() -> Clock:
    """Return what starts things at a time on this system."""
    if sys.platform == "darwin":
        return "launchd"
    return "systemd" if shutil.which("systemctl") and Path("/run/systemd/system").exists() else "cron"


def _name(invocation: Invocation) -> str:
    """Name the schedule after its store and project, so that several stand side by side."""
    whose = f"{invocation.folder} {invocation.project or ''}"
    return f"hydramem-garden-{content_hash(whose)[:12]}"


def _command(invocation: Invocation) -> tuple[str, ...]:
    which = ("--all-projects",) if invocation.project is None else ()
    project = () if invocation.project is None else ("--project", invocation.project)
    config = () if invocation.config is None else ("--config", str(invocation.config.resolve()))
    place = ("--store", str(invocation.folder), *project, *config)
    return (sys.executable, "-m", "hydramem", *place, "garden", "--wait", *which)


def _files(clock: Clock, name: str) -> tuple[Path, ...]:
    if clock == "launchd":
        return (Path.home() / "Library" / "LaunchAgents" / f"{name}.plist",)
    units = Path.home() / ".config" / "systemd" / "user"
    return (units / f"{name}.service", units / f"{name}.timer")


def _texts(clock: Clock, times: ScheduleTimes, command: tuple[str, ...], name: str) -> dict[str, str]:
    if clock == "cron":
        return {"crontab": crontab_line(times, command, name=name)}
    if clock == "launchd":
        return {str(_files(clock, name)[0]): launchd_plist(times, command, name=name).decode()}
    units = systemd_units(times, command, name=name)
    return {str(file): units[file.name] for file in _files(clock, name)}


def _write(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StorageError(f"{file}: cannot be written: {error.strerror}") from error


def _switch(clock: Clock, name: str, *, on: bool) -> None:
    if clock == "launchd":
        _call("launchctl", "load" if on else "unload", "-w", str(_files(clock, name)[0]))
        return
    if on:
        _call("systemctl", "--user", "daemon-reload")
    _call("systemctl", "--user", "enable" if on else "disable", "--now", f"{name}.timer")


def _crontab() -> str:
    done = _ran("crontab", "-l")
    # Cron says so on standard error, and fails, where a user has no table yet.
    if done.returncode and "no crontab" not in done.stderr:
        raise StorageError(f"crontab -l: {done.stderr.strip() or 'failed'}")
    return done.stdout if done.returncode == 0 else ""


def _write_crontab(text: str) -> None:
    _call("crontab", "-", given=text)


def _call(*command: str, given: str | None = None) -> None:
    done = _ran(*command, given=given)
    if done.returncode:
        raise StorageError(f"{' '.join(command)}: {done.stderr.strip() or 'failed'}")


def _ran(*command: str, given: str | None = None) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(  # noqa: S603 - fixed programs; the arguments are never a shell's
            command, input=given, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except FileNotFoundError as error:
        raise StorageError(
            f"{command[0]}: is not on this system; see what to run with --print, and when, and add it to "
            "what starts programs here"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise StorageError(f"{' '.join(command)}: no answer in {_SECONDS} seconds") from error


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
            done = install(install_schedule, invocation, only_print=print_)
            show(done, as_json=invocation.json)
        elif uninstall_schedule:
            show(uninstall(invocation), as_json=invocation.json)
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
