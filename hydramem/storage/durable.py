"""Names of files that last: what a power cut must not take back."""

import os
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, where the system can: a renamed file lasts once its folder does."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
