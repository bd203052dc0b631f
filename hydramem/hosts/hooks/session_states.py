"""What hooks know of the sessions of hosts: how far a transcript is captured, and what was shown.

Each event is a process of its own, so this lies in files of the store, `hooks/sessions`: numbers, hashes and
ids, never what was said. Events of one session can overlap: a state that is written over by an older one only
leads to reading turns again, which the memory stores once.
"""

import json
import os
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from hydramem.core.settings.environment import make_store_folder
from hydramem.hosts.hooks.turn_values import digest

FOLDER = Path("hooks") / "sessions"
KEPT_SECONDS = 30 * 86_400.0
"""A session without events for so long is forgotten here."""

_MOST_SESSIONS = 2_000
_MOST_SHOWN = 1_000
_MOST_HASHES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """What is known of a session.

    Attributes:
        project: Where its turns go.
        transcript: The host's log; empty where it has none.
        offset: Bytes of it that are captured.
        said: Hashes of the last texts of the assistant.
        early: Hash of a text of the assistant that was captured before the transcript held it.
        early_key: Its key.
        is_primed: Whether the start of the session was shown.
        is_ended: Whether its end was noted after its last turn.
    """

    host: str
    session_id: str
    project: str
    transcript: str = ""
    offset: int = 0
    said: tuple[str, ...] = ()
    early: str = ""
    early_key: str = ""
    is_primed: bool = False
    is_ended: bool = False

    @property
    def session(self) -> str:
        """The name of the session in the memory."""
        return session_name(self.host, self.session_id)

    def with_said(self, text: str) -> "SessionState":
        """Note a text of the assistant."""
        return replace(self, said=(*self.said, text_hash(text))[-_MOST_HASHES:])


def session_name(host: str, session_id: str) -> str:
    """Return the name in the memory of a session of a host."""
    return f"{host}:{session_id}"


_TYPES = {"offset": int, "said": list, "is_primed": bool, "is_ended": bool}


def text_hash(text: str) -> str:
    """Return a hash of a text that does not depend on its spaces."""
    return digest(" ".join(text.split()))


class SessionStates:
    """The states in one store.

    Args:
        store: The store's folder.
    """

    def __init__(self, store: Path) -> None:
        self._folder = store / FOLDER

    def load(self, host: str, session_id: str, *, project: str) -> SessionState:
        """Return the state of a session; a new one where there is none that can be read.

        Args:
            project: The project that the event names; a session stays in the one that it began in.
        """
        found = _read(self._file(host, session_id))
        return found or SessionState(host=host, session_id=session_id, project=project)

    def save(self, state: SessionState) -> None:
        """Write a state in place of the former one.

        Raises:
            OSError: It cannot be written.
        """
        make_store_folder(self._folder.parent)
        self._folder.mkdir(exist_ok=True)
        write_private(self._file(state.host, state.session_id), json.dumps(asdict(state)))

    def shown(self, host: str, session_id: str) -> tuple[str, ...]:
        """Return the ids of the memories that a session was shown."""
        try:
            text = self._file(host, session_id, "shown").read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return ()
        return tuple(dict.fromkeys(text.split()))[-_MOST_SHOWN:]

    def add_shown(self, host: str, session_id: str, ids: tuple[str, ...]) -> None:
        """Note that memories were shown; events at the same time add to one file.

        Raises:
            OSError: It cannot be written.
        """
        make_store_folder(self._folder.parent)
        self._folder.mkdir(exist_ok=True)
        with self._file(host, session_id, "shown").open("a", encoding="utf-8") as file:
            file.write("".join(f"{id}\n" for id in ids))

    def forget_shown(self, host: str, session_id: str) -> None:
        """Forget what was shown, as the session's context begins anew."""
        self._file(host, session_id, "shown").unlink(missing_ok=True)

    def latest(self, count: int) -> tuple[SessionState, ...]:
        """Return the states that changed last."""
        files = sorted(self._files("*.json"), reverse=True)[:count]
        return tuple(state for _, file in files if (state := _read(file)) is not None)

    def tidy(self) -> None:
        """Delete the states of sessions long ago, and the oldest of too many."""
        files = sorted(self._files("*"), reverse=True)
        oldest = time.time() - KEPT_SECONDS
        for place, (changed, file) in enumerate(files):
            if changed < oldest or place >= 2 * _MOST_SESSIONS:
                with suppress(OSError):
                    file.unlink()

    def _files(self, pattern: str) -> list[tuple[float, Path]]:
        found = []
        for file in self._folder.glob(pattern):
            with suppress(OSError):  # another event deletes it
                found.append((file.stat().st_mtime, file))
        return found

    def _file(self, host: str, session_id: str, suffix: str = "json") -> Path:
        return self._folder / f"{digest(host, session_id)}.{suffix}"


def write_private(path: Path, text: str) -> None:
    """Write a file that this user alone can read, whole or not at all.

    Raises:
        OSError: It cannot be written.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}-{time.monotonic_ns()}")
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _read(path: Path) -> SessionState | None:
    try:
        values: Any = json.loads(path.read_text(encoding="utf-8"))
        known = {item.name: values[item.name] for item in fields(SessionState) if item.name in values}
        if any(type(value) is not _TYPES.get(name, str) for name, value in known.items()):
            return None
        return SessionState(**{**known, "said": tuple(map(str, known.get("said", ())))})
    except (OSError, ValueError, TypeError):
        return None
