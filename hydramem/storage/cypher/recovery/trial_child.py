"""Opens a graph file in a process of its own: a log that kills or stops its reader ends this process alone.

It runs as a script and imports nothing of HydraMem. Arguments: the engine, the file, and the greatest size of
the file in bytes. Writes `{"log": bytes}`, the size that the engine left of the log, or `{"error": text}`, to
standard output.
"""

import importlib
import json
import os
import sys


def main() -> None:
    """Open the file, read its tables, and leave without closing it, which might checkpoint."""
    engine, file, size = sys.argv[1], sys.argv[2], int(sys.argv[3])
    _dump_no_core()
    try:
        library = importlib.import_module(engine)
        # The pool is as large as allowed, so that no log is too large for it.
        database = library.Database(file, buffer_pool_size=size, max_db_size=size, auto_checkpoint=False)
        connection = library.Connection(database)
        connection.execute("CALL show_tables() RETURN count(*)").close()
    except Exception as error:  # noqa: BLE001 -- whatever it is, the parent reports it
        found: dict[str, object] = {"error": str(error)}
    else:
        log = f"{file}.wal"
        found = {"log": os.path.getsize(log) if os.path.exists(log) else 0}  # noqa: PTH202, PTH110
    sys.stdout.write(json.dumps(found))
    sys.stdout.flush()
    os._exit(0)


def _dump_no_core() -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
