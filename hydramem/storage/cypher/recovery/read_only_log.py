"""Checks the log of a graph in a folder that cannot be written: it is read as it is, or refused."""

import subprocess
import sys
from pathlib import Path

from hydramem.core.config import StorageConfig
from hydramem.core.errors import StorageError
from hydramem.storage.cypher.open_database import log_file
from hydramem.storage.cypher.recovery.log_records import read_checked_log
from hydramem.storage.files.durable_files import storage_errors

_SECONDS = 120.0

# Kuzu's log has no checksums, and a damaged one may end the process that reads it.
_TRIAL = """
import importlib, sys
engine, file, size = sys.argv[1:]
library = importlib.import_module(engine)
database = library.Database(file, read_only=True, buffer_pool_size=int(size), max_db_size=int(size))
library.Connection(database).execute("CALL show_tables() RETURN count(*)")
"""


def require_readable_log(file: Path, settings: StorageConfig) -> None:
    """Raise StorageError where the log cannot be read as it is: it would have to be mended, and changed."""
    wal = log_file(file)
    unfinished = wal.with_name(f"{wal.name}.checkpoint")
    remedy = "make the folder writable, or copy it, and connect again"
    with storage_errors(wal, "cannot be read"):
        if unfinished.exists():
            raise StorageError(f"{unfinished}: a checkpoint was interrupted and must be finished; {remedy}")
        if not wal.exists() or not wal.stat().st_size:
            return
        checked = settings.graph == "ladybug"
        whole = read_checked_log(wal.read_bytes()).whole if checked else _opens(file, settings)
    if not whole:
        raise StorageError(f"{wal}: is torn or damaged and cannot be mended here; {remedy}")


def _opens(file: Path, settings: StorageConfig) -> bool:
    """Say whether a child process can open a file with its log."""
    # -P: the working folder is no place to import from.
    command = [sys.executable, "-P", "-c", _TRIAL, settings.graph, str(file), str(settings.max_db_gb << 30)]
    try:
        return not subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False).returncode  # noqa: S603 -- our own
    except subprocess.TimeoutExpired:
        return False
