"""Which files a client of the server may name: those below `server.ingest_roots`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hydramem.core.config import ServerConfig
from hydramem.core.errors import InvalidInputError


def roots_of(settings: ServerConfig) -> list[Path]:
    """Return the folders that clients may name files in, links resolved."""
    return [Path(root).expanduser().resolve() for root in settings.ingest_roots or (".",)]


def with_checked_files(
    arguments: Mapping[str, Any], names: Sequence[str], roots: list[Path]
) -> dict[str, Any]:
    """Return the arguments with checked file paths, links resolved.

    Raises:
        InvalidInputError: One is outside the folders.
    """
    given = {name: arguments[name] for name in names if arguments.get(name) is not None}
    return {**arguments, **{name: str(checked_path(path, roots, name)) for name, path in given.items()}}


def checked_path(source: str, roots: list[Path], name: str) -> Path:
    """Return the real path of a file that a client may name.

    Raises:
        InvalidInputError: It is outside the folders, or no path at all.
    """
    try:
        real: Path | None = Path(source).expanduser().resolve()
    except ValueError as error:  # a NUL
        raise InvalidInputError(f"{name}: {source[:200]!r} cannot be a path") from error
    except (OSError, RuntimeError):  # a loop of links, an unknown user
        real = None
    # Checked before the disk is read: a refusal must not reveal which files, links and users exist.
    if real is None or not is_within(real, roots):
        raise InvalidInputError(
            f"{name}: {source[:200]!r} is outside the folders that this server may use; "
            "server.ingest_roots in its configuration names them"
        )
    return real


def is_within(path: Path, roots: list[Path]) -> bool:
    """Return whether a path is in one of the folders."""
    return any(path.is_relative_to(root) for root in roots)
