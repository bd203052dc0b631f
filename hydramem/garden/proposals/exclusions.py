"""What the gardener does not change: protected rows, undone changes, and pairs that a person decides on."""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

from hydramem.core.errors import StorageError
from hydramem.core.row_types import Chunk, Entity, Metadata, Relation
from hydramem.ingest.knowledge.end_validity import is_version
from hydramem.ingest.knowledge.graph_rows import is_given
from hydramem.storage.changes import purges
from hydramem.storage.files.durable_files import write_whole
from hydramem.storage.store import GraphStore

REUSED = 2
"""A chunk counts as reused once this many distinct sessions recalled it."""

TOLD_APART = "told_apart"
"""Metadata key of an entity or a memory: ids of others that a person says are something else."""

_PAIRS_FILE = "doubts.json"
_MOST_PAIRS = 1000


def is_protected(row: Relation) -> bool:
    """Say whether a relation stays whatever the graph suggests, because of who stated or judged it."""
    return row.origin == "asserted" or row.layer == "verified" or is_given(row) or is_version(row)


def reused(chunks: Sequence[str], graph: GraphStore) -> frozenset[str]:
    """Return the ids of those chunks that several sessions recalled.

    Args:
        chunks: Ids.
        graph: Where recalls are stored.
    """
    sessions: dict[str, set[str]] = defaultdict(set)
    for recall in graph.recalled(chunks=chunks) if chunks else ():
        sessions[recall.chunk].add(recall.session)
    return frozenset(chunk for chunk, recalling in sessions.items() if len(recalling) >= REUSED)


def is_told_apart(one: Entity | Chunk, other: Entity | Chunk) -> bool:
    """Say whether a person said that two entities, or two memories, differ."""
    orders = ((one, other), (other, one))
    return any(second.id in strings_in(first.metadata, TOLD_APART) for first, second in orders)


def strings_in(metadata: Metadata, key: str) -> tuple[str, ...]:
    """Return a list of strings from metadata; empty where the key holds no list."""
    value = metadata.get(key)
    return tuple(map(str, value)) if isinstance(value, list | tuple) else ()


class UndoneRows:
    """The rows of a project of which a person undid what the gardener last did.

    Undo operations are few and read once; the full history is read only for the rows they name.

    Args:
        graph: Where the history is stored.
    """

    def __init__(self, graph: GraphStore, project: str) -> None:
        self._graph = graph
        self._undo_targets = {change.target for change in graph.changes(project=project, operation="undo")}
        gone = (purged for change, purged in purges(graph) if change.project == project)
        self._from_purged_history = frozenset(id for purged in gone for id in purged.taken_back)

    def __contains__(self, target: str) -> bool:
        """Say whether the gardener's last change of a row was undone, or its merge was split."""
        if target in self._from_purged_history:
            return True
        return target in self._undo_targets and was_undone(self._graph, target)


def was_undone(graph: GraphStore, target: str) -> bool:
    """Say whether an undo directly follows a change by the gardener; for many rows use `UndoneRows`."""
    operations = [change.operation for change in graph.changes(target=target)]
    return ("garden", "undo") in pairwise(operations)


@dataclass(frozen=True, slots=True, kw_only=True)
class UndecidedPair:
    """Two entities or two memories that may be the same, by their ids.

    Attributes:
        probability: That they are the same, where one was computed.
        why: What suggests it.
    """

    one: str
    other: str
    probability: float | None
    why: str
    of: Literal["entities", "memories"] = "entities"


def save_undecided_pairs(pairs: Iterable[UndecidedPair], folder: Path) -> None:
    """Replace the pairs of the last run by the most uncertain of these.

    Every run computes them anew from names, neighbours and words. They are saved with the gardener's
    reports, so that a review needs no run.

    Raises:
        StorageError: They cannot be written.
    """
    file = folder / _PAIRS_FILE
    kept = sorted(pairs, key=lambda pair: (_certainty(pair), pair.one, pair.other))[:_MOST_PAIRS]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(file, json.dumps([asdict(pair) for pair in kept], ensure_ascii=True))
    except OSError as error:
        raise StorageError(f"{file}: cannot be written: {error.strerror or error}") from error


def _certainty(pair: UndecidedPair) -> float:
    return 0.0 if pair.probability is None else abs(pair.probability - 0.5)


def undecided_pairs(folder: Path) -> tuple[UndecidedPair, ...]:
    """Return the pairs that the last run saved; none before the first run.

    Raises:
        StorageError: The file is damaged.
    """
    from pydantic import TypeAdapter, ValidationError

    file = folder / _PAIRS_FILE
    try:
        return TypeAdapter(tuple[UndecidedPair, ...]).validate_json(file.read_bytes())
    except FileNotFoundError:
        return ()
    except (ValidationError, OSError) as error:
        raise StorageError(f"{file}: holds no pairs any more; delete it") from error
