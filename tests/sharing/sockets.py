"""What an owner leaves outside its folder: the name of its socket."""

import hashlib
import os
import tempfile
from pathlib import Path


def sockets_of(store: Path) -> list[Path]:
    """Return the names of sockets that lead to a store."""
    digest = hashlib.sha256(os.fsencode(store.resolve())).hexdigest()[:16]
    parent = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    return sorted(Path(parent).glob(f"hydramem-*/{digest}-*.sock"))
