"""Plans that the store keeps by their run ids, for surfaces that hand over no files, as the local page."""

import re
from pathlib import Path

from hydramem.core.errors import NotFoundError, StorageError
from hydramem.garden.proposals.plan_file import GardenPlan, write_plan

_FOLDER = "plans"
_KEPT = 5
_ID = re.compile(r"w_[0-9A-Za-z]{1,64}")


def keep_plan(plan: GardenPlan, folder: Path, *, key: bytes) -> None:
    """Keep a plan in the gardener's folder of a project; the last five stay.

    Raises:
        StorageError: It cannot be written.
    """
    place = folder / _FOLDER
    try:
        place.mkdir(parents=True, exist_ok=True)
        write_plan(plan, place / f"{plan.run}.jsonl", key=key)
        for old in sorted(place.glob("*.jsonl"), key=lambda file: file.stat().st_mtime_ns)[:-_KEPT]:
            old.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(f"{place}: the plan cannot be kept: {error.strerror or error}") from error


def kept_plan_file(id: str, folder: Path) -> Path:
    """Return the file of a kept plan.

    Args:
        id: The run id that `plan` returned.
        folder: The gardener's folder of the project.

    Raises:
        NotFoundError: The project keeps no such plan: it never did, or newer ones took its place.
    """
    file = folder / _FOLDER / f"{id}.jsonl"
    if not _ID.fullmatch(id) or not file.is_file():
        raise NotFoundError(f"apply_kept: the project keeps no plan {id[:80]!r}; the last {_KEPT} are kept")
    return file
