"""What nights in a row infer from a graph of which a tenth is hidden: whether they rest, and are right."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

import hydramem
from benchmarks.claims import GRAPHS, Triple, most_of, triples
from benchmarks.inferring import PARTS, decoys, ends_of
from benchmarks.results import table
from hydramem.core.row_types import Chunk, Entity, Mention, Relation, Times
from hydramem.core.settings.config_loading import load_config
from hydramem.storage.changes import record
from hydramem.storage.schema import RELATES
from hydramem.storage.write import Write

_THEN = datetime(2024, 1, 1, tzinfo=UTC)
_PROJECT = "default"
_SETTINGS = {
    "HYDRAMEM_STORAGE_GRAPH": "memory",
    "HYDRAMEM_EMBEDDING_MODEL": "hash",
    "HYDRAMEM_GARDEN_BACKUPS": "0",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class InferringNight:
    """One night: what it inferred, and of all that nights inferred so far the share that is so."""

    graph: str
    night: int
    inferred: int
    exact: float


def measure(data: Path, *, nights: int) -> list[InferringNight]:
    """Let nights infer, on every graph."""
    return [row for name in GRAPHS for row in _measured(name, data / "kg" / name, nights)]


def _measured(name: str, folder: Path, nights: int) -> list[InferringNight]:
    draw = np.random.default_rng(1)
    every = sorted(set(triples(folder / "train.txt")))
    true = {triple for part in PARTS for triple in triples(folder / f"{part}.txt")}
    hide = draw.random(len(every)) < 0.1
    known = [triple for triple, out in zip(every, hide, strict=True) if not out]
    names = {end for triple in known for end in ends_of(triple)}
    shown = {ends_of(triple) for triple in known}
    hidden = {ends_of(triple) for triple, out in zip(every, hide, strict=True) if out} - shown
    right = sorted(ends for ends in hidden if names.issuperset(ends))
    wrong = decoys(known, {ends_of(triple) for triple in true}, 9 * len(right), draw)
    found: list[InferringNight] = []
    with (
        tempfile.TemporaryDirectory() as store,
        hydramem.connect(store, config=load_config(environment=_SETTINGS)) as memory,
    ):
        memory._opened.mirror.commit(_rows(known, [*right, *wrong]))
        for night in range(1, nights + 1):
            (report,) = memory.garden(phases=("infer",))
            rows = [row for part in memory._opened.graph.scan(RELATES) for row in part]
            told = [(row.subject, row.type, row.object) in true for row in rows if row.origin == "inferred"]
            made = report.phases[0].applied
            exact = float(np.mean(told)) if told else 0.0
            found.append(InferringNight(graph=name, night=night, inferred=made, exact=exact))
    return found


def _rows(known: Sequence[Triple], pairs: Sequence[tuple[str, str]]) -> Write:
    """Return a graph as rows, and a passage for each pair that names both in a sentence and says nothing."""
    kinds, times = most_of(known), Times(recorded_at=_THEN)
    change = record("benchmark", project=_PROJECT, target="graph")
    seen = {"first_seen": _THEN, "last_seen": _THEN}
    return Write(
        changes=(change,),
        entities=tuple(
            Entity(id=name, project=_PROJECT, key=name, name=name, type=kinds[name], **seen)
            for name in sorted(kinds)
        ),
        relations=tuple(
            Relation(
                id=f"r{n}",
                project=_PROJECT,
                subject=subject,
                type=type,
                object=object,
                origin="extracted",
                verdict="accepted",
                times=times,
            )
            for n, (subject, type, object) in enumerate(known)
        ),
        chunks=tuple(
            Chunk(
                id=f"c{n}", project=_PROJECT, kind="note", text=f"{one} was seen with {other}.", times=times
            )
            for n, (one, other) in enumerate(pairs)
        ),
        mentions=tuple(Mention(chunk=f"c{n}", entity=end) for n, pair in enumerate(pairs) for end in pair),
    )


def shown(nights: Sequence[InferringNight]) -> str:
    """Return nights as text."""
    rows = [(one.graph, one.night, one.inferred, f"{one.exact:.0%}") for one in nights]
    return "\n".join(table(("graph", "night", "inferred", "of all so far exact"), rows))
