"""What a dump consists of: one file of sorted JSON lines for each table, vectors where asked for."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from hydramem.storage.planned import edge_order
from hydramem.storage.schema import (
    CHANGE,
    CHUNK,
    DOCUMENT,
    ENTITY,
    JOB,
    LINKS,
    MENTIONS,
    RECALLED,
    RELATES,
    SESSION,
    EdgeTable,
    NodeTable,
)

FORMAT = "hydramem-dump"

VERSION = 1
"""Of the format; the rows have the schema's own version."""

MANIFEST = "manifest.json"

Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One file of a dump: the rows of one table.

    Attributes:
        name: The file's name without `.jsonl`, and what the rows are called in results.
        refers: Fields that hold the id of a row in a node table, which must be in the dump.
    """

    name: str
    table: NodeTable | EdgeTable
    refers: Mapping[str, str] = field(default_factory=dict)

    @property
    def file(self) -> str:
        """The file's name."""
        return f"{self.name}.jsonl"

    @property
    def is_node(self) -> bool:
        """Whether its rows stand for themselves, and others may refer to them."""
        return isinstance(self.table, NodeTable)

    @property
    def order(self) -> Callable[[Any], Key]:
        """The key that rows are sorted by, and that addresses them: edges by their ends first."""
        if isinstance(self.table, EdgeTable):
            by_ends = edge_order(self.table)
            # What was recalled at one moment is told apart by its rank.
            return (lambda row: (*by_ends(row), row.rank)) if self.table is RECALLED else by_ends
        by_id = attrgetter("id")
        return lambda row: (by_id(row),)

    def referred(self, row: Any) -> Iterator[tuple[str, str, str]]:
        """Yield the field, table and id of every row that a row refers to."""
        for name, table in self.refers.items():
            if (id := getattr(row, name)) is not None:
                yield name, table, id


PARTS = (
    Part(name="documents", table=DOCUMENT),
    Part(name="sessions", table=SESSION),
    Part(name="entities", table=ENTITY),
    Part(name="chunks", table=CHUNK, refers={"document": "Document", "session": "Session"}),
    Part(name="mentions", table=MENTIONS, refers={"chunk": "Chunk", "entity": "Entity"}),
    Part(name="relations", table=RELATES, refers={"subject": "Entity", "object": "Entity"}),
    Part(name="links", table=LINKS, refers={"source": "Chunk", "target": "Chunk"}),
    Part(name="recalled", table=RECALLED, refers={"session": "Session", "chunk": "Chunk"}),
    Part(name="changes", table=CHANGE),
    Part(name="jobs", table=JOB),
)
"""Every table but the outbox, which only says what the vectors have not heard; each after what it names."""

VECTORS = {"Chunk": "chunk_vectors", "Entity": "entity_vectors"}
"""Names of the files of vectors, by the table whose rows they belong to."""
