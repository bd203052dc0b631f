"""MEMORY.md and USER.md of Hermes in the memory's own curated files, so that other hosts see what they say.

Hermes puts its files into its own prompts. What it writes into them is repeated here, and an entry that is
only here stays.
"""

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

from hydramem.core.errors import HydraMemError, InvalidInputError, NotFoundError
from hydramem.core.inputs import CuratedAction, CuratedChange
from hydramem.storage.files.curated_files import FILES, CuratedTarget, read_curated

log = logging.getLogger(__name__)
_MOST_CHARS = 100_000

Call = Callable[..., Any]
"""Runs an operation of the memory by its name, with its arguments by name."""


def mirror_write(call: Call, action: str, target: str, content: str, metadata: Mapping[str, Any]) -> None:
    """Repeat one write of Hermes's own memory tool; what fails is logged, for Hermes has written its file.

    What is not here to be replaced is added, and what is not here to be removed is gone already.

    Args:
        action: add, replace or remove; anything else changes nothing.
        target: memory or user.
        metadata: Of a `replace` or `remove`, `old_text` holds words of the entry.
    """
    if action not in get_args(CuratedAction) or target not in get_args(CuratedTarget):
        return
    old = str(metadata.get("old_text") or "")
    try:
        try:
            call("curate", target=target, changes=[_change(action, content, old)])
        except NotFoundError:
            if action == "replace":
                call("curate", target=target, changes=[_change("add", content, "")])
    except HydraMemError as error:
        log.warning("a change of Hermes's file %s is not repeated: %s", target, error)


def _change(action: str, content: str, old: str) -> CuratedChange:
    match action:
        case "add":
            return CuratedChange(action="add", content=content)
        case "replace":
            return CuratedChange(action="replace", content=content, old_text=old)
        case _:
            return CuratedChange(action="remove", old_text=old or content)


def import_files(call: Call, home: Path) -> int:
    """Add the entries of Hermes's files where the memory's own file is empty, and return how many.

    An entry that is refused, since it gives orders or has no room, is logged and left out.

    Args:
        home: The home folder of Hermes.

    Raises:
        HydraMemError: A file cannot be read or written.
    """
    added = 0
    for target, name in FILES.items():
        path = home / "memories" / name
        if not path.is_file() or call("curated", target=target)[0].entries:
            continue
        for entry in read_curated(path, limit=_MOST_CHARS).entries:
            try:
                call("curate", target=target, changes=[CuratedChange(action="add", content=entry)])
                added += 1
            except InvalidInputError as error:
                log.warning("an entry of %s is not taken: %s", path, error)
    return added
