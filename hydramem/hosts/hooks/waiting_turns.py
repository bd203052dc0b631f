"""Turns that an event itself tells, kept in the store's folder until the memory has them.

The event comes once: where the owner of the store does not answer in time, the next event hands them on. A
file holds the turns of one event and has a name of its content, so the same event twice is one file.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from hydramem.core.errors import StorageError
from hydramem.core.inputs import SaidTurn
from hydramem.core.settings.environment import make_store_folder
from hydramem.hosts.hooks.session_states import write_private
from hydramem.hosts.hooks.turn_values import digest

FOLDER = Path("hooks") / "waiting"
_MOST_FILES = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingTurns:
    """Turns of one event, and the file that holds them."""

    file: Path
    project: str
    session: str
    turns: tuple[SaidTurn, ...]

    def remove(self) -> None:
        """Delete the file: the memory has the turns."""
        self.file.unlink(missing_ok=True)


def keep(store: Path, *, project: str, session: str, turns: Sequence[SaidTurn]) -> None:
    """Keep the turns of an event.

    Raises:
        OSError: They cannot be written.
        StorageError: Too many wait already.
    """
    folder = store / FOLDER
    make_store_folder(store)
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{digest(project, session)}-{digest(*(turn.key or '' for turn in turns))}.json"
    if not (folder / name).exists() and sum(1 for _ in folder.iterdir()) >= _MOST_FILES:
        raise StorageError(f"{folder}: {_MOST_FILES} events wait already; these turns are lost")
    said = [
        {"author": turn.author, "text": turn.text, "key": turn.key, "at": _written(turn.happened_at)}
        for turn in turns
    ]
    write_private(folder / name, json.dumps({"project": project, "session": session, "turns": said}))


def waiting(store: Path) -> Iterator[WaitingTurns]:
    """Yield what waits, oldest first; a file that holds no turns is deleted."""
    found: list[tuple[int, Path]] = []
    for file in (store / FOLDER).glob("*.json"):
        with suppress(OSError):  # another event has handed it on
            found.append((file.stat().st_mtime_ns, file))
    for _, file in sorted(found):
        if (turns := _read(file)) is not None:
            yield turns


def _written(at: object) -> str | None:
    return at.isoformat() if isinstance(at, datetime) else None


def _read(file: Path) -> WaitingTurns | None:
    try:
        values: Any = json.loads(file.read_text(encoding="utf-8"))
        turns = tuple(
            SaidTurn(
                author=each["author"],
                text=each["text"],
                key=each["key"],
                happened_at=datetime.fromisoformat(each["at"]) if each["at"] else None,
            )
            for each in values["turns"]
        )
        return WaitingTurns(file=file, project=values["project"], session=values["session"], turns=turns)
    except OSError:  # another event has handed it on, or it can be read later
        return None
    except (ValueError, TypeError, KeyError):
        with suppress(OSError):
            file.unlink()
        return None
