"""Reports of nights: the last ones of each project, as files that a person can read too."""

import json
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

from hydramem.core.errors import StorageError
from hydramem.core.results.garden_results import Gardened
from hydramem.storage.files.durable_files import write_whole

_KEPT = 30


def save_report(report: Gardened, folder: Path) -> None:
    """Write a report down; the oldest beyond a month of nights go.

    Raises:
        StorageError: It cannot be written.
    """
    name = f"{report.started_at:%Y%m%dT%H%M%S.%f}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / name, json.dumps(asdict(report), ensure_ascii=True, indent=1, default=_plain))
        for old in sorted(folder.glob("*.json"))[:-_KEPT]:
            old.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(f"{folder}: the report cannot be kept: {error.strerror or error}") from error


def last(folder: Path) -> Gardened | None:
    """Return the report of the last night; None before the first.

    Raises:
        StorageError: The file is not a report any more.
    """
    from pydantic import TypeAdapter, ValidationError

    newest = max(folder.glob("*.json"), default=None)
    if newest is None:
        return None
    try:
        return TypeAdapter(Gardened).validate_json(newest.read_bytes())
    except (ValidationError, OSError) as error:
        raise StorageError(f"{newest}: is no report of a night any more; delete it") from error


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no place in a report")
