"""The list of owners: each leaves a file that names its folder where those of the same user find it."""

import json
import os
from contextlib import suppress
from pathlib import Path

from hydramem.sharing.wire.address import remove_name, runtime_folder, runtime_folders, short_name
from hydramem.storage.files.owner_note import OwnerNote, process_start

_SUFFIX = ".owner"


def add_entry(folder: Path, address: str) -> Path | None:
    """Add this process as the owner of a folder that listens at an address.

    Returns:
        The entry's file; None where there is no list.
    """
    place = runtime_folder()
    if place is None:
        return None
    file = place / f"{short_name(folder)}-{os.getpid()}{_SUFFIX}"
    own = {"pid": os.getpid(), "started": process_start(os.getpid())}
    try:
        file.write_text(json.dumps({"folder": str(folder), "address": address, **own}), encoding="utf-8")
    except OSError:  # as on a full disk; the owner works all the same
        return None
    return file


def owned_folders() -> list[Path]:
    """Return the folders whose owners are in the list; what is left of dead processes is removed."""
    found: dict[Path, None] = {}
    for place in runtime_folders():
        for file in sorted(place.glob(f"*{_SUFFIX}")):
            with suppress(OSError, ValueError, KeyError, TypeError):  # it is just being written, or removed
                known = json.loads(file.read_text(encoding="utf-8"))
                if OwnerNote(pid=known["pid"], started=known["started"]).is_alive:
                    found[Path(known["folder"])] = None
                else:
                    remove_name(known["address"])
                    file.unlink()
    return list(found)
