"""How long readers and writers wait while the log of a large graph is checkpointed.

A graph of made-up entities and relations is loaded in bulk. Then threads read relations and write new ones,
first without a checkpoint, then during some. What counts is the longest time that one read or write took.
"""

import os
import random
import resource
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from time import perf_counter, sleep
from typing import Any, Literal

import pyarrow as pa

from hydramem.core.config import StorageConfig
from hydramem.core.row_types import Entity, Relation, Times
from hydramem.core.time import now
from hydramem.storage.changes import record
from hydramem.storage.cypher.graph import CypherGraph, open_graph
from hydramem.storage.cypher.open_database import load_engine, open_database
from hydramem.storage.cypher.schema_statements import graph_file
from hydramem.storage.row_codec import encode
from hydramem.storage.schema import ENTITY, RELATES, ColumnKind, Table
from hydramem.storage.write import Write

PROJECT = "checkpoints"
Engine = Literal["ladybug", "kuzu"]
_TYPES = ("knows", "uses", "makes", "visits")
_PAUSE = 0.02
_READERS = 2
_KINDS: dict[ColumnKind, pa.DataType] = {
    "text": pa.string(),
    "texts": pa.list_(pa.string()),
    "json": pa.string(),
    "time": pa.timestamp("us"),
    "number": pa.float64(),
    "integer": pa.int64(),
    "flag": pa.bool_(),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """What was measured on one engine; waits in milliseconds.

    Attributes:
        file_mb: Bytes of the graph's folder, in MB.
        reads, writes: How many there were during checkpoints.
        quiet_read, quiet_write: The longest without a checkpoint.
        read, write: The longest during a checkpoint.
        seconds: What each checkpoint took.
        child_cpu: CPU seconds of child processes for each checkpoint, at a low priority.
        load: Load of the machine, over a minute, when it was over.
    """

    engine: str
    entities: int
    relations: int
    file_mb: float
    reads: int
    writes: int
    quiet_read: float
    quiet_write: float
    read: float
    write: float
    seconds: float
    child_cpu: float
    load: float


def measure(engine: Engine, *, entities: int, relations: int, checkpoints: int) -> Waits:
    """Fill a graph and checkpoint it under readers and writers."""
    with tempfile.TemporaryDirectory() as scratch:
        folder, settings = Path(scratch) / "graph", StorageConfig(graph=engine)
        open_graph(folder, settings).close()
        ids = _fill(graph_file(folder, engine), settings, entities, relations)
        graph = open_graph(folder, settings)
        quiet = _Traffic(graph, ids)
        quiet.during(lambda: sleep(5))
        busy = _Traffic(graph, ids)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        started = perf_counter()
        for _ in range(checkpoints):
            busy.during(graph.checkpoint)
        seconds = (perf_counter() - started) / checkpoints
        now_used = resource.getrusage(resource.RUSAGE_CHILDREN)
        size = sum(file.stat().st_size for file in (Path(scratch) / "graph").iterdir() if file.is_file())
        graph.close()
    return Waits(
        engine=engine,
        entities=entities,
        relations=relations,
        file_mb=size / 1e6,
        reads=len(busy.reads),
        writes=len(busy.writes),
        quiet_read=max(quiet.reads),
        quiet_write=max(quiet.writes),
        read=max(busy.reads),
        write=max(busy.writes),
        seconds=seconds,
        child_cpu=(now_used.ru_utime + now_used.ru_stime - used.ru_utime - used.ru_stime) / checkpoints,
        load=os.getloadavg()[0],
    )


def shown(rows: Sequence[Waits]) -> str:
    """Return the rows as a table of Markdown."""
    head = (
        *("engine", "entities", "relations", "graph MB", "longest read, ms", "longest write, ms"),
        *(
            "the same without a checkpoint, ms",
            "checkpoint, s",
            "CPU of the child, s",
            "load",
        ),
    )
    lines = [head, ("---",) * len(head)]
    lines += [
        (
            *(row.engine, f"{row.entities:,}", f"{row.relations:,}", f"{row.file_mb:,.0f}"),
            *(f"{row.read:,.0f} of {row.reads:,}", f"{row.write:,.0f} of {row.writes:,}"),
            *(f"{row.quiet_read:,.0f} and {row.quiet_write:,.0f}", f"{row.seconds:.1f}"),
            *(f"{row.child_cpu:.1f}", f"{row.load:.1f}"),
        )
        for row in rows
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


class _Traffic:
    """Readers and a writer; the milliseconds of each of their calls."""

    def __init__(self, graph: CypherGraph, ids: Sequence[str]) -> None:
        self._graph = graph
        self._ids = ids
        self._done = threading.Event()
        self.reads: list[float] = []
        self.writes: list[float] = []

    def during(self, work: Callable[[], object]) -> None:
        """Read and write until some work is done."""
        self._done.clear()
        readers = [threading.Thread(target=self._read, args=(seed,)) for seed in range(_READERS)]
        threads = [*readers, threading.Thread(target=self._write)]
        for thread in threads:
            thread.start()
        sleep(0.5)  # so that there is something to checkpoint
        work()
        sleep(0.5)
        self._done.set()
        for thread in threads:
            thread.join()

    def _read(self, seed: int) -> None:
        draw = random.Random(seed)
        while not self._done.is_set():
            started = perf_counter()
            self._graph.relations([draw.choice(self._ids)])
            self.reads.append((perf_counter() - started) * 1000)
            sleep(_PAUSE)

    def _write(self) -> None:
        draw = random.Random()
        while not self._done.is_set():
            row = _relation(f"r_new_{draw.getrandbits(48):012x}", self._ids, draw, now())
            change = record("benchmark", project=PROJECT, target=row.id)
            started = perf_counter()
            self._graph.write(Write(changes=(change,), relations=(row,)))
            self.writes.append((perf_counter() - started) * 1000)
            sleep(_PAUSE)


def _fill(file: Path, settings: StorageConfig, entities: int, relations: int) -> list[str]:
    """Load entities and relations in bulk into a closed graph file; return the ids of the entities."""
    draw, at = random.Random(0), now()
    nodes = [_entity(number, at) for number in range(entities)]
    ids = [row.id for row in nodes]
    edges = [_relation(f"r_{number:012x}", ids, draw, at) for number in range(relations)]
    library = load_engine(settings.graph)
    database, _ = open_database(library, file, settings)
    connection = library.Connection(database)
    connection.execute("COPY Entity FROM $rows", {"rows": _table(ENTITY, nodes, ())})
    connection.execute("COPY RELATES FROM $rows", {"rows": _table(RELATES, edges, ("_from", "_to"))})
    connection.execute("CHECKPOINT")
    connection.close()
    database.close()
    return ids


def _table(table: Table, rows: Sequence[Any], ends: Sequence[str]) -> pa.Table:
    """Return rows as COPY reads them: by place, first the ends, then the columns."""
    values = [encode(table, row) for row in rows]
    named = {**dict.fromkeys(ends, pa.string()), **{each.name: _KINDS[each.kind] for each in table.columns}}
    return pa.table({name: pa.array([row[name] for row in values], kind) for name, kind in named.items()})


def _entity(number: int, at: datetime) -> Entity:
    name = f"Thing number {number}"
    return Entity(
        id=f"e_{number:08x}", project=PROJECT, key=name.lower(), name=name, first_seen=at, last_seen=at
    )


def _relation(id: str, ids: Sequence[str], draw: random.Random, at: datetime) -> Relation:
    subject, object = draw.sample(ids, 2)
    return Relation(
        id=id,
        project=PROJECT,
        subject=subject,
        type=draw.choice(_TYPES),
        object=object,
        origin="extracted",
        verdict="accepted",
        probability=draw.random(),
        verifier="srmkg:default",
        verified_at=at,
        evidence=(f"c_{draw.getrandbits(40):010x}",),
        quote=f"{subject} and {object}",
        times=Times(recorded_at=at - timedelta(days=draw.uniform(0, 400))),
    )
