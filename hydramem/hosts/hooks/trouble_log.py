"""The log of what hooks could not do: one line each, in the store's folder, and never what was said."""

import re
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from hydramem.core.errors import HydraMemError, InvalidInputError

LOG = "hooks.log"
"""The file in the store; `hooks.log.1` is the one before."""

MOST_BYTES = 200_000
_MOST_CHARACTERS = 300
_QUOTED = re.compile(r"'.*'|\".*\"", re.DOTALL)


def note_trouble(store: Path, host: str, error: BaseException, *, during: str = "") -> None:
    """Write one line about an error; where that fails too, nothing.

    Args:
        store: The store's folder; where it is missing, nothing is written.
        host: The host that called.
        error: What happened.
        during: What was done.
    """
    with suppress(OSError):
        path = store / LOG
        if path.exists() and path.stat().st_size > MOST_BYTES:
            path.replace(store / f"{LOG}.1")
        with path.open("a", encoding="utf-8", errors="replace") as file:
            at = datetime.now(UTC).isoformat(timespec="seconds")
            file.write(f"{at} {_one_line(host, 40)} {during or 'event'}: {_described(error)}\n")


def _described(error: BaseException) -> str:
    # Only messages that are written here are known to hold nothing but what they quote.
    if not isinstance(error, HydraMemError | OSError):
        return type(error).__name__
    text = _QUOTED.sub("...", str(error)) if isinstance(error, InvalidInputError) else str(error)
    return f"{type(error).__name__}: {_one_line(text, _MOST_CHARACTERS)}"


def _one_line(text: str, most: int) -> str:
    return " ".join(text.split())[:most]
