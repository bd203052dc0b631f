"""Files of JSON lines that people fill in: written once, read whole or refused by line."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from hydramem.core.errors import InvalidInputError

_MOST_BYTES = 64 * 2**20
_MOST_LISTED = 10


def write_form(path: Path, rows: Iterable[Mapping[str, object]], *, holds: str) -> None:
    """Write rows to a new file, one a line.

    Args:
        rows: The objects, one a line.
        holds: What people fill in, for the message where the file exists.

    Raises:
        InvalidInputError: The file exists, or cannot be written.
    """
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    try:
        with path.open("x", encoding="utf-8", errors="backslashreplace") as file:
            file.writelines(f"{line}\n" for line in lines)
    except FileExistsError:
        raise InvalidInputError(f"export: {path} exists, and may hold {holds}; name another file") from None
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"export: {str(path)[:200]!r} cannot be written: {error}") from error


def form_lines(path: Path, *, name: str) -> list[bytes]:
    """Return the lines of a file.

    Args:
        name: The argument that names it, for messages.

    Raises:
        InvalidInputError: The file cannot be read, or is larger than any that people fill in.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"{name}: {str(path)[:200]!r} cannot be read: {error}") from error
    if len(data) > _MOST_BYTES:
        raise InvalidInputError(f"{name}: {path}: more than {_MOST_BYTES // 2**20} MiB")
    return data.removeprefix(b"\xef\xbb\xbf").split(b"\n")


def refuse(path: Path, problems: Sequence[str], *, name: str) -> None:
    """Raise InvalidInputError where there are problems with a file; it names the first of them."""
    if problems:
        more = len(problems) - _MOST_LISTED
        listed = "; ".join([*problems[:_MOST_LISTED], *([f"and {more} more"] if more > 0 else [])])
        raise InvalidInputError(f"{name}: {path}: {listed}. Nothing was taken")
