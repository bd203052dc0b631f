"""Opens a graph file in a process of its own, to try its log, or to write the log into the file.

A log that kills or stops its reader ends this process alone, and a checkpoint holds nobody else up. It is a
script and imports nothing of HydraMem. Arguments: the engine, the file, the greatest size of the file and of
the pool of pages in bytes, and `checkpoint` where one is to be made. Writes `{"log": bytes}`, what is left of
the log, or `{"error": text}`, to standard output. It ends when its standard input does, which is when its
parent has died.
"""

import importlib
import json
import os
import shutil
import sys
import threading
from collections.abc import Callable
from typing import Any

_NICENESS = 10


def main() -> None:
    """Open the file, do what is asked, and leave without closing it, which might checkpoint."""
    engine, file, size, pool, *wish = sys.argv[1:]
    _dump_no_core()
    if wish and hasattr(os, "nice"):
        os.nice(_NICENESS)  # before the engine starts its threads, which inherit it
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        library = importlib.import_module(engine)

        def connected(name: str, threads: int) -> Any:
            limits = {"buffer_pool_size": int(pool), "max_db_size": int(size), "auto_checkpoint": False}
            return library.Connection(library.Database(name, max_num_threads=threads, **limits))

        connection = connected(file, 1 if wish else 0)
        connection.execute("CALL show_tables() RETURN count(*)").close()
        if wish:
            _rewrite(connection, file, connected) if engine == "kuzu" else connection.execute("CHECKPOINT")
            _sync(file)
    except Exception as error:  # noqa: BLE001 -- whatever it is, the parent reports it
        found: dict[str, object] = {"error": str(error)}
    else:
        log = f"{file}.wal"
        found = {"log": os.path.getsize(log) if os.path.exists(log) else 0}  # noqa: PTH202, PTH110
    sys.stdout.write(json.dumps(found))
    sys.stdout.flush()
    os._exit(0)


def _rewrite(connection: Any, file: str, connected: Callable[[str, int], Any]) -> None:
    """Write everything into a fresh file, which takes the place of the old one and its log.

    A checkpoint of Kuzu takes time that grows with the square of a table of edges, and one that fails may
    leave a file that does not open. Rows keep their order, since one thread exports them and one of two
    imports them: the other waits for it.
    """
    os.chdir(os.path.dirname(file))  # noqa: PTH120 -- so that no path stands in a statement
    _clear()  # of a trial with less memory
    connection.execute("EXPORT DATABASE 'exported' (format='parquet')")
    fresh = connected("fresh.db", 2)
    fresh.execute("IMPORT DATABASE 'exported'")
    fresh.execute("CHECKPOINT")
    os.replace("fresh.db", file)  # noqa: PTH105
    os.unlink(f"{file}.wal")  # noqa: PTH108
    _clear()


def _clear() -> None:
    shutil.rmtree("exported", ignore_errors=True)
    for name in ("fresh.db", "fresh.db.wal"):
        if os.path.exists(name):  # noqa: PTH110
            os.unlink(name)  # noqa: PTH108


def _sync(file: str) -> None:
    handle = os.open(file, os.O_RDWR)
    os.fsync(handle)
    os.close(handle)


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


def _dump_no_core() -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
