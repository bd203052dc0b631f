"""Writes to graph files while calls fail: `python -m tests.faults.failed_write_child ENGINE FOLDER CASES`.

CASES is a JSON list of [case, rule]. Each runs in a process of its own, forked from this one, and prints one
JSON line for each step that it took, so that the parent knows how far it came.
"""

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from hydramem.core.config import StorageConfig
from hydramem.core.errors import StorageError
from hydramem.storage.cypher.engine import Engine
from tests.faults.failing_calls import failing
from tests.faults.forking import forked, load

BEFORE = 20


def say(**step: object) -> None:
    """Tell the parent, at once."""
    sys.stdout.write(json.dumps(step) + "\n")
    sys.stdout.flush()


def opened(folder: Path, name: str) -> Engine:
    """Open the graph file of a test."""
    settings = StorageConfig(graph=name, buffer_pool_mb=64, max_db_gb=1, min_free_mb=0)  # type: ignore[arg-type]
    return Engine(folder / "graph.db", settings)


def fill(engine: Engine) -> None:
    """Create the table and some rows, half of them checkpointed."""
    with engine.writing() as query:
        query("CREATE NODE TABLE T(id STRING, text STRING, PRIMARY KEY(id))", {})
        query("CREATE REL TABLE R(FROM T TO T, text STRING)", {})
    for number in range(BEFORE):
        add(engine, f"row {number}")
        if number == BEFORE // 2:
            engine.checkpoint()


def add(engine: Engine, id: str) -> None:
    """Write one row with an edge to the first, in one transaction."""
    with engine.writing() as query:
        query("CREATE (:T {id: $id, text: $text})", {"id": id, "text": id * 60})
        edge = "MATCH (a:T {id: $id}), (b:T {id: 'row 0'}) CREATE (a)-[:R {text: $id}]->(b)"
        query(edge, {"id": id})


def rows(engine: Engine) -> list[str]:
    """Return every id, each found by its key and with its edge too."""
    with engine.reading() as query:
        ids = [id for (id,) in query("MATCH (t:T) RETURN t.id", {})]
        edges = {id for (id,) in query("MATCH (t:T)-[:R]->(:T {id: 'row 0'}) RETURN t.id", {})}
        by_key = [id for id in ids if query("MATCH (t:T {id: $id}) RETURN t.text", {"id": id}) == [[id * 60]]]
    assert sorted(ids) == sorted(by_key), "a row is not found by its key"
    assert edges == set(ids), "a row has lost its edge"
    return sorted(ids)


def attempt(step: str, work: Callable[[], object]) -> None:
    """Do something that may be refused, and tell how it ended."""
    try:
        found = work()
    except StorageError as error:
        say(step=step, refused=type(error).__name__, text=str(error))
    else:
        say(step=step, done=True, rows=found)


def fail_write(engine: Engine, rule: Mapping[str, int]) -> None:
    """Write while calls on the log fail, then twice more."""
    with failing("*/graph*.db.wal", **rule) as calls:  # type: ignore[arg-type]
        attempt("write", lambda: add(engine, "unsure"))
        say(step="calls", seen=calls.seen(), failed=calls.failed())
        attempt("read", lambda: rows(engine))
    attempt("write again", lambda: add(engine, "unsure"))
    attempt("later write", lambda: add(engine, "later"))


def fail_first_write(engine: Engine, rule: Mapping[str, int]) -> None:
    """The same while there is no log yet."""
    engine.checkpoint()
    fail_write(engine, rule)


def fail_checkpoint(engine: Engine, rule: Mapping[str, int]) -> None:
    """Checkpoint while calls of this process on the graph's files fail, then write and checkpoint again."""
    with failing(f"{engine.file.parent}/*", **rule) as calls:  # type: ignore[arg-type]
        attempt("checkpoint", engine.checkpoint)
        say(step="calls", seen=calls.seen(), failed=calls.failed())
    attempt("read", lambda: rows(engine))
    attempt("later write", lambda: add(engine, "later"))
    attempt("checkpoint again", engine.checkpoint)


CASES = {"write": fail_write, "first write": fail_first_write, "checkpoint": fail_checkpoint}


def work(name: str, folder: Path, case: str, rule: Mapping[str, int]) -> None:
    """Fill a file, do a case, and say what is there, before and after the file is closed and opened again."""
    engine = opened(folder, name)
    fill(engine)
    CASES[case](engine, rule)
    say(step="rows", rows=rows(engine))
    engine.close()
    engine = opened(folder, name)
    say(step="opened", rows=rows(engine))
    engine.close()


def main(name: str, folder: Path, cases: list[tuple[str, Mapping[str, int]]]) -> None:
    """Do each case in a folder of its own."""
    load([name])
    for number, (case, rule) in enumerate(cases):
        place = folder / f"{number}"
        place.mkdir(parents=True)
        say(step="begin")
        code, failure = forked(lambda: work(name, place, case, rule))  # noqa: B023 -- it runs at once
        say(step="end", code=code, failure=failure)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3]))
