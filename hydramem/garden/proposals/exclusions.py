"""Doubts: pairs of entities or memories of which the last night could not say whether they are one.

They follow from names, neighbours and words, and every night finds them anew: they are kept beside the
gardener's reports, not in the store, so that asking a person does not take a night.
"""

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

_FILE = "doubts.json"

_MOST = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class UndecidedPair:
    """Two entities or two memories that may be one, by their ids.

    Attributes:
        probability: That they are, where something computed it.
        why: What speaks for it.
    """

    one: str
    other: str
    probability: float | None
    why: str
    of: Literal["entities", "memories"] = "entities"


def save_undecided_pairs(doubts: Iterable[UndecidedPair], folder: Path) -> None:
    """Write down the most uncertain pairs, in place of those of the night before.

    Raises:
        StorageError: They cannot be written.
    """
    chosen = sorted(doubts, key=lambda each: (_certainty(each), each.one, each.other))[:_MOST]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / _FILE, json.dumps([asdict(each) for each in chosen], ensure_ascii=True))
    except OSError as error:
        raise StorageError(f"{folder / _FILE}: cannot be written: {error.strerror or error}") from error


def _certainty(doubt: UndecidedPair) -> float:
    return 0.0 if doubt.probability is None else abs(doubt.probability - 0.5)


def undecided_pairs(folder: Path) -> tuple[UndecidedPair, ...]:
    """Return the pairs that were written down; none before the first night.

    Raises:
        StorageError: The file is not such a list any more.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(tuple[UndecidedPair, ...]).validate_json((folder / _FILE).read_bytes())
    except FileNotFoundError:
        return ()
    except (ValidationError, OSError) as error:
        raise StorageError(f"{folder / _FILE}: holds no pairs any more; delete it") from error


REUSED = 2
"""Distinct sessions in which something was recalled from which it counts as reused."""


def is_protected(row: Relation) -> bool:
    """Say whether a relation stands whatever the graph says: by who stated it, or by who decided on it."""
    return row.origin == "asserted" or row.layer == "verified" or is_given(row) or is_version(row)


def reused(chunks: Sequence[str], graph: GraphStore) -> frozenset[str]:
    """Return which of these chunks were recalled in several sessions.

    Args:
        chunks: Ids.
        graph: Where recalls are.
    """
    sessions: dict[str, set[str]] = defaultdict(set)
    for recall in graph.recalled(chunks=chunks) if chunks else ():
        sessions[recall.chunk].add(recall.session)
    return frozenset(chunk for chunk, seen in sessions.items() if len(seen) >= REUSED)


TOLD_APART = "told_apart"
"""In an entity's or a memory's metadata: ids of others that a person says are something else."""


def is_told_apart(one: Entity | Chunk, other: Entity | Chunk) -> bool:
    """Say whether a person said that two entities, or two memories, are two."""
    return other.id in _strings(one.metadata, TOLD_APART) or one.id in _strings(other.metadata, TOLD_APART)


def _strings(metadata: Metadata, name: str) -> tuple[str, ...]:
    held = metadata.get(name)
    return tuple(map(str, held)) if isinstance(held, list | tuple) else ()


class UndoneRows:
    """Knows which rows the gardener touched and a person put back.

    The history is asked once for what was undone, which is little; the rest of it only for such rows.

    Args:
        graph: Where the history is.
        project: Whose rows are meant.
    """

    def __init__(self, graph: GraphStore, project: str) -> None:
        self._graph = graph
        self._put_back = {change.target for change in graph.changes(project=project, operation="undo")}
        gone = (purged for change, purged in purges(graph) if change.project == project)
        self._only_remembered = frozenset(id for purged in gone for id in purged.taken_back)

    def __contains__(self, target: str) -> bool:
        """Say whether what the gardener last did to a row was undone, or a merge of it split."""
        if target in self._only_remembered:
            return True
        if target not in self._put_back:
            return False
        return was_undone(self._graph, target)


def was_undone(graph: GraphStore, target: str) -> bool:
    """Say of one row whether what the gardener did to it was undone next; of many, ask `Undone`."""
    operations = [change.operation for change in graph.changes(target=target)]
    return ("garden", "undo") in pairwise(operations)
