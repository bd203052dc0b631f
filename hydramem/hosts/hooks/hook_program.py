"""The program `hydramem hook HOST`: it never fails the host that calls it.

Whatever happens, it ends in time with exit code 0, writes either one whole answer or nothing to standard
output, and nothing to standard error. Some hosts erase the user's prompt at another exit code.
"""

import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from hydramem.hosts.hooks.deadline import Deadline

_READ_BYTES = 1 << 20
_MOST_BYTES = 64 << 20
"""A longer event is not read to its end."""

_SHARED_OPTIONS = ("--store", "--project", "--config")
_ENDING = ("SIGTERM", "SIGINT", "SIGHUP")


def main(words: Sequence[str]) -> NoReturn:
    """Answer one event from standard input and end this process.

    Args:
        words: The command line after the program's name: shared options, `hook` and the host.
    """
    deadline = Deadline()
    given = hook_words(words)
    deadline.end_process(lambda: _note(given, TimeoutError("the time is over; what is left is for later")))
    for name in _ENDING:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_: os._exit(0))
    try:
        output = _own_output()
        answer(_input(), given, deadline, lambda text: _write(output, text))
    except BaseException:  # noqa: BLE001, S110 -- there is nobody to tell
        pass
    os._exit(0)


@dataclass(frozen=True, slots=True)
class HookWords:
    """What the command line of a hook says."""

    host: str = ""
    options: dict[str, str] = field(default_factory=dict)

    @property
    def store(self) -> Path:
        """The store's folder."""
        from hydramem.core.settings.environment import store_folder

        return store_folder(self.options.get("--store"))


def answer(raw: bytes, given: HookWords, deadline: Deadline, write: Callable[[str], None]) -> None:
    """Answer an event; what goes wrong is a line in the log of the store.

    Args:
        raw: What the host wrote.
        given: The host, and where the memory is.
        deadline: When it must be done.
        write: Writes the answer.
    """
    try:
        from hydramem.hosts.hooks.answer_event import HookPlace, answer_event

        config = given.options.get("--config")
        place = HookPlace(
            store=given.store,
            config=None if config is None else Path(config).expanduser(),
            project=given.options.get("--project"),
        )
        answer_event(raw, given.host, place, deadline, write)
    except BaseException as error:  # noqa: BLE001 -- a hook never fails its host
        _note(given, error)


def _note(given: "HookWords", error: BaseException) -> None:
    from hydramem.hosts.hooks.trouble_log import note_trouble

    with suppress(Exception):  # there is nobody to tell
        note_trouble(given.store, given.host, error)


def hook_words(words: Sequence[str]) -> HookWords:
    """Read a command line; the last of a repeated option counts, and what is not known is left out.

    Args:
        words: The words after the program's name.
    """
    options: dict[str, str] = {}
    names: list[str] = []
    left = iter(words)
    for word in left:
        option, _, value = word.partition("=")
        if option in _SHARED_OPTIONS:
            options[option] = value or next(left, "")
        elif not word.startswith("-"):
            names.append(word)
    return HookWords(host=names[1] if len(names) > 1 else "", options=options)


def _input() -> bytes:
    parts: list[bytes] = []
    size = 0
    while size < _MOST_BYTES and (part := os.read(0, _READ_BYTES)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def _own_output() -> int:
    """Take standard output for the answer: what libraries print to it or to standard error is dropped."""
    output, nothing = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    return output


def _write(output: int, text: str) -> None:
    """Write an answer; it is shorter than what a pipe takes at once, so a host reads all of it or nothing."""
    os.write(output, text.encode())
    os.close(output)
