"""Claims whose truth is known: triples of knowledge graphs, and claims that rest on passages."""

import json
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hydramem.core.row_types import Chunk, Entity, Relation, RelationCandidate, Times
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.graph.snapshot.snapshot_writer import load
from hydramem.storage.schema import edge_columns, node_columns

GRAPHS = ("codex-s", "umls")
PASSAGES = "relverify"

Triple = tuple[str, str, str]
_THEN = datetime(2024, 1, 1, tzinfo=UTC)
_TRIES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelled:
    """Claims and whether they are true.

    Attributes:
        snapshot: The graph around them, which holds none of them.
        true: Shape (candidates,).
        kinds: What kind of claim each is: `gold`, or how it is wrong.
        groups: Claims of one group speak of the same things.
    """

    name: str
    snapshot: Snapshot
    candidates: tuple[RelationCandidate, ...]
    true: NDArray[np.bool_]
    kinds: tuple[str, ...]
    groups: tuple[str, ...]


def graph(triples: Iterable[Triple], *, kinds: Callable[[str], str] = lambda _: "thing") -> Snapshot:
    """Return a snapshot of some triples, their names as ids.

    Args:
        triples: Subject, type and object.
        kinds: Gives an entity's type.
    """
    import pyarrow as pa

    triples = sorted(set(triples))
    names = sorted({end for triple in triples for end in (triple[0], triple[2])})
    nodes = [
        {"id": name, "is_chunk": False, "type": kinds(name), "name": name, "key": name} for name in names
    ]
    edges = [
        {"source": subject, "target": object, "kind": "relation", "id": str(place), "type": type}
        | {"weight": 1.0, "bidirectional": False, "layer": "working", "state": "active"}
        for place, (subject, type, object) in enumerate(triples)
    ]
    return load(
        "default", pa.Table.from_pylist(nodes, node_columns()), pa.Table.from_pylist(edges, edge_columns())
    )


def candidate(triple: Triple, *passages: Chunk) -> RelationCandidate:
    """Return a triple as a candidate, its names as ids."""
    subject, type, object = triple
    return RelationCandidate(
        relation=Relation(
            id="\t".join(triple),
            project="default",
            subject=subject,
            type=type,
            object=object,
            origin="extracted",
            times=Times(recorded_at=_THEN),
        ),
        subject=_entity(subject),
        object=_entity(object),
        passages=passages,
    )


def _entity(name: str) -> Entity:
    return Entity(id=name, project="default", key=name, name=name, first_seen=_THEN, last_seen=_THEN)


def triples(file: Path) -> list[Triple]:
    """Read triples, one a line, tabs between."""
    rows = (line.split("\t") for line in file.read_text(encoding="utf-8").splitlines())
    return [(subject, type, object) for subject, type, object in rows]


def of_graph(
    folder: Path, part: Literal["valid", "test"], *, keep: float = 1.0, kinds: bool = False
) -> Labelled:
    """Return a knowledge graph's held-out triples, and as many that do not hold.

    Those that do not are read from `PART_negatives.txt` where people checked some, else made by giving a
    triple another end that is seen with its type.

    Args:
        folder: Of the set.
        part: Which held-out triples.
        keep: Share of the graph's triples to keep around them.
        kinds: Whether to type entities, by the type of relation that each has most.
    """
    known, held = triples(folder / "train.txt"), triples(folder / f"{part}.txt")
    checked = folder / f"{part}_negatives.txt"
    wrong = triples(checked) if checked.is_file() else _made(folder, held)
    draw = np.random.default_rng(0)
    kept = [triple for triple in known if keep >= 1 or draw.random() < keep]
    return Labelled(
        name=folder.name,
        snapshot=graph(kept, kinds=most_of(kept).__getitem__) if kinds else graph(kept),
        candidates=tuple(candidate(triple) for triple in (*held, *wrong)),
        true=np.arange(len(held) + len(wrong)) < len(held),
        kinds=("gold",) * len(held) + ("wrong",) * len(wrong),
        groups=tuple(triple[0] for triple in (*held, *wrong)),
    )


def _made(folder: Path, held: Sequence[Triple]) -> list[Triple]:
    true = {triple for part in ("train", "valid", "test") for triple in triples(folder / f"{part}.txt")}
    ends: dict[tuple[str, int], list[str]] = defaultdict(list)
    for triple in sorted(true):
        for side in (0, 2):
            ends[triple[1], side].append(triple[side])
    drawn_from = {place: sorted(set(names)) for place, names in ends.items()}
    draw, made = np.random.default_rng(0), []
    for subject, type, object in held:
        for _ in range(_TRIES):
            side = int(draw.integers(2)) * 2
            other = drawn_from[type, side][int(draw.integers(len(drawn_from[type, side])))]
            wrong = (other, type, object) if side == 0 else (subject, type, other)
            if wrong not in true:
                made.append(wrong)
                break
    return made


def most_of(known: Iterable[Triple]) -> dict[str, str]:
    """Return, for each name, the type and side that it has most often."""
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for subject, type, object in known:
        counts[subject][f"{type} of"] += 1
        counts[object][type] += 1
    return {name: max(seen, key=lambda side: (seen[side], side)) for name, seen in counts.items()}


def of_passages(data: Path, part: Literal["fit", "test"]) -> Labelled:
    """Return claims that rest on passages; no claim of one part speaks of what the other speaks of.

    Args:
        data: Folder of the sets.
        part: Which half.
    """
    passages = _passages(data / "2wiki" / "docs.jsonl")
    lines = (data / PASSAGES / "triples.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    groups = _joined([(row["qid"], row["s"]) for row in rows])
    wanted = 0 if part == "fit" else 1
    mine = [(row, group) for row, group in zip(rows, groups, strict=True) if _half(group) == wanted]
    return Labelled(
        name=PASSAGES,
        snapshot=graph([]),
        candidates=tuple(candidate((row["s"], row["r"], row["o"]), passages[row["doc"]]) for row, _ in mine),
        true=np.array([row["label"] == 1 for row, _ in mine]),
        kinds=tuple(row["kind"] for row, _ in mine),
        groups=tuple(group for _, group in mine),
    )


def _half(group: str) -> int:
    return zlib.crc32(group.encode()) % 2


def _joined(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Return for each pair a name of the group of all that share an end with it, directly or not."""
    above: dict[str, str] = {}

    def root(name: str) -> str:
        while above.setdefault(name, name) != name:
            name = above[name]
        return name

    for one, other in pairs:
        above[root("q:" + one)] = root("s:" + other)
    return [root("q:" + one) for one, _ in pairs]


def _passages(file: Path) -> dict[str, Chunk]:
    rows = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return {
        row["id"]: Chunk(
            id=row["id"],
            project="default",
            text=row["text"],
            kind="passage",
            document=row["id"],
            times=Times(recorded_at=_THEN),
        )
        for row in rows
    }


def with_text(chunk: Chunk, text: str) -> Chunk:
    """Return a passage that says something else."""
    return replace(chunk, text=text)
