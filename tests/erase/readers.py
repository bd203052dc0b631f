"""Reads every byte and every row of a store's folder with the files' own readers, deleted rows included."""

import gzip
import sqlite3
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import lancedb

READ_GRAPH = """
import sys
engine = __import__(sys.argv[1])
connection = engine.Connection(engine.Database(sys.argv[2], read_only=True, max_db_size=1 << 33))
tables = connection.execute("CALL show_tables() RETURN name, type").get_all()
for name, kind in tables:
    pattern = f"(n:{name})" if kind == "NODE" else f"()-[n:{name}]->()"
    result = connection.execute(f"MATCH {pattern} RETURN n")
    while result.has_next():
        sys.stdout.write(repr(result.get_next()) + chr(10))
"""
"""Reads every row of every table with Cypher, in a process of its own: two handles on a file are not safe."""


def traces(store: Path, words: str | tuple[str, ...], engine: str) -> set[str]:
    """Return where a folder has any of some words: files, rows of the graph, versions of vectors, SQLite."""
    sought = [each.casefold() for each in ((words,) if isinstance(words, str) else words)]
    return {
        place for place, text in _everything(store, engine) if any(each in text.casefold() for each in sought)
    }


def _everything(store: Path, engine: str) -> Iterator[tuple[str, str]]:
    for file in sorted(path for path in store.rglob("*") if path.is_file()):
        name, data = file.relative_to(store).as_posix(), file.read_bytes()
        yield f"bytes of {name}", data.decode("utf-8", "replace")
        yield f"bytes of {name} in UTF-16", data.decode("utf-16-le", "replace")
        if name.endswith(".db") and data.startswith(b"SQLite"):
            with sqlite3.connect(file) as database:
                yield f"rows of {name}", "\n".join(database.iterdump())
            database.close()
        elif file.parent.name == "graph" and file.match(f"{engine}*.db"):
            done = subprocess.run(
                [sys.executable, "-c", READ_GRAPH, engine, str(file)],
                capture_output=True,
                text=True,
                check=True,
            )
            yield f"rows of {name}", done.stdout
        elif name.endswith(".tar.gz"):
            with tarfile.open(file) as archive:
                for member in archive.getmembers():
                    inner = archive.extractfile(member)
                    assert inner is not None
                    yield f"{member.name} in {name}", inner.read().decode("utf-8", "replace")
            yield f"unpacked {name}", gzip.decompress(data).decode("utf-8", "replace")
    for folder in sorted(store.rglob("*.lance")):
        if folder.is_dir():
            yield from _vectors(folder, folder.relative_to(store).as_posix())


def _vectors(folder: Path, name: str) -> Iterator[tuple[str, str]]:
    """Yield every version of a table, and every data file with its deleted rows."""
    table = lancedb.connect(folder.parent).open_table(folder.stem)
    for version in table.list_versions():
        table.checkout(version["version"])
        columns = [each for each in table.schema.names if each != "vector"]
        rows = table.search().select(columns).to_arrow().to_pylist()
        yield f"version {version['version']} of {name}", str(rows)
