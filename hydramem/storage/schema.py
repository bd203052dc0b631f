"""The schema: its version, its tables, and the columns that a snapshot is built from."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from hydramem.core.row_types import (
    Change,
    Chunk,
    Document,
    Entity,
    Item,
    Job,
    Link,
    Mention,
    Recalled,
    Relation,
    Session,
)
from hydramem.storage.write import OutboxRow, RequestRow

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA_VERSION = 5
"""Of the tables of a store."""
ROWS_VERSION = 4
"""Of the rows that dumps and plans hold: tables of the store's own, such as `Request`, are not among them."""
ColumnKind = Literal["text", "texts", "json", "time", "number", "integer", "flag"]


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name and the kind of its values. All may be null but a node table's first, its key."""

    name: str
    kind: ColumnKind


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTable:
    """A table of rows that exist by themselves; the first column is the key.

    Attributes:
        plural: What its rows are called in a `Write`, a `Removal`, a dump and results.
        references: Columns that hold the id of another row, with the name of that row's table.
    """

    name: str
    plural: str
    row: type
    columns: tuple[Column, ...]
    references: tuple[tuple[str, str], ...] = ()

    @property
    def key_fields(self) -> tuple[str, ...]:
        """The row's fields that identify it."""
        return ("id",)

    def key_of(self, row: Any) -> str:
        """Return what identifies a row: its id."""
        return str(row.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeTable:
    """A table of edges.

    Attributes:
        plural: As in `NodeTable`.
        source, target: The node tables that it joins.
        ends: The row's fields that name the ends; the graph keeps them as the edge itself.
        columns: The other fields. An edge with an `id` is identified by its ends and id, another by its ends.
    """

    name: str
    plural: str = ""
    row: type
    source: str
    target: str
    ends: tuple[str, str]
    columns: tuple[Column, ...] = ()

    @property
    def has_id(self) -> bool:
        """Whether its edges have an id besides their ends."""
        return any(column.name == "id" for column in self.columns)

    @property
    def key_fields(self) -> tuple[str, ...]:
        """The row's fields that identify it."""
        return (*self.ends, "id") if self.has_id else self.ends

    @property
    def references(self) -> tuple[tuple[str, str], ...]:
        """Fields that hold the id of a node, with the name of that node's table."""
        return (self.ends[0], self.source), (self.ends[1], self.target)

    def key_of(self, row: Any) -> Any:
        """Return what identifies an edge: its ends and, where it has one, its id."""
        return tuple(getattr(row, name) for name in self.key_fields)


Table = NodeTable | EdgeTable


def _columns(**kinds: str) -> tuple[Column, ...]:
    """Read columns written as `kind="name name"`; the order of kinds is the order of columns."""
    ordered: tuple[ColumnKind, ...] = ("text", "texts", "integer", "number", "flag", "time", "json")
    return tuple(Column(name, kind) for kind in ordered for name in kinds.get(kind, "").split())


_TIMES = "recorded_at retired_at valid_from valid_to"

DOCUMENT = NodeTable(
    name="Document",
    plural="documents",
    row=Document,
    columns=_columns(
        text="id project source source_type title content_hash state", time=_TIMES, json="metadata"
    ),
)

CHUNK = NodeTable(
    name="Chunk",
    plural="chunks",
    row=Chunk,
    columns=_columns(
        text="id project text kind document session source source_type author scope summary layer state "
        "event_type vector_state",
        texts="heading_path categories keywords",
        integer="position tokens recall_count",
        number="importance confidence",
        flag="private",
        time=f"happened_at expires_at last_recalled_at {_TIMES}",
        json="metadata",
    ),
    references=(("document", "Document"), ("session", "Session")),
)

ENTITY = NodeTable(
    name="Entity",
    plural="entities",
    row=Entity,
    columns=_columns(
        text="id project key name type description",
        texts="aliases",
        integer="mention_count",
        time="first_seen last_seen",
        json="metadata",
    ),
)

SESSION = NodeTable(
    name="Session",
    plural="sessions",
    row=Session,
    columns=_columns(text="id project name", time="started_at last_at", json="metadata"),
)

ITEM = NodeTable(
    name="Item",
    plural="items",
    row=Item,
    columns=_columns(
        text="id project key session value",
        texts="namespace chunks",
        integer="position",
        number="ttl",
        time="created_at updated_at expires_at",
    ),
)

CHANGE = NodeTable(
    name="Change",
    plural="changes",
    row=Change,
    columns=_columns(
        text="id project actor operation target before after reason run request image", time="at"
    ),
)

JOB = NodeTable(
    name="Job",
    plural="jobs",
    row=Job,
    columns=_columns(
        text="id project kind payload state error", integer="attempts", time="created_at updated_at"
    ),
)

OUTBOX = NodeTable(
    name="Outbox",
    plural="outbox",
    row=OutboxRow,
    columns=_columns(text="id", texts="chunks entities", time="at"),
)

REQUEST = NodeTable(
    name="Request",
    plural="requests",
    row=RequestRow,
    columns=_columns(text="id operation answer", time="at"),
)

NODE_TABLES = (DOCUMENT, CHUNK, ENTITY, SESSION, CHANGE, JOB, OUTBOX, REQUEST, ITEM)

MENTIONS = EdgeTable(
    name="MENTIONS",
    plural="mentions",
    row=Mention,
    source="Chunk",
    target="Entity",
    ends=("chunk", "entity"),
    columns=_columns(integer="count"),
)

RELATES = EdgeTable(
    name="RELATES",
    plural="relations",
    row=Relation,
    source="Entity",
    target="Entity",
    ends=("subject", "object"),
    columns=_columns(
        text="id project type origin quote verdict verifier layer state",
        texts="evidence",
        number="confidence probability",
        flag="bidirectional",
        time=f"verified_at {_TIMES}",
        json="scores metadata",
    ),
)

LINKS = EdgeTable(
    name="LINKS",
    plural="links",
    row=Link,
    source="Chunk",
    target="Chunk",
    ends=("source", "target"),
    columns=_columns(text="id type reason state", number="weight", time=_TIMES),
)

RECALLED = EdgeTable(
    name="RECALLED",
    plural="recalled",
    row=Recalled,
    source="Session",
    target="Chunk",
    ends=("session", "chunk"),
    columns=_columns(integer="rank", time="at"),
)

EDGE_TABLES = (MENTIONS, RELATES, LINKS, RECALLED)
HAS_CHUNK = EdgeTable(name="HAS_CHUNK", row=Chunk, source="Document", target="Chunk", ends=("document", "id"))
IN_SESSION = EdgeTable(name="IN_SESSION", row=Chunk, source="Chunk", target="Session", ends=("id", "session"))
CHUNK_EDGE_TABLES = (HAS_CHUNK, IN_SESSION)
"""Edges that the engines derive from a chunk's fields."""
KEYED_TABLES = (DOCUMENT, SESSION, ENTITY, CHUNK, ITEM, JOB, CHANGE, MENTIONS, RELATES, LINKS)
"""The tables whose rows are written and removed by key, nodes before the edges between them."""
QUESTION_MARKS = ("?", "？", "؟")
"""What a question ends with, in scripts from Latin to Han and Arabic."""


def node_columns() -> "pa.Schema":
    """Return the columns of a project's nodes: entities and chunks, of every state.

    `name`, `key` and `aliases` are null for chunks, what follows `state` for entities. `type` is the
    entity's type or the chunk's kind; `asks` says whether the chunk's text ends with one of `QUESTION_MARKS`.
    """
    import pyarrow as pa

    return pa.schema(
        [
            ("id", pa.string()),
            ("is_chunk", pa.bool_()),
            ("type", pa.string()),
            ("name", pa.string()),
            ("key", pa.string()),
            ("aliases", pa.list_(pa.string())),
            ("layer", pa.string()),
            ("state", pa.string()),
            ("document", pa.string()),
            ("session", pa.string()),
            ("position", pa.int64()),
            ("author", pa.string()),
            ("tokens", pa.int64()),
            ("asks", pa.bool_()),
        ]
    )


def edge_columns() -> "pa.Schema":
    """Return the columns of a project's edges: relations, mentions and links, of every state.

    `kind` is `relation`, `mention` or `link`; a mention goes from chunk to entity. `weight` is as
    `Relation.weight` has it, the mention's count or the link's weight; `supposed` is as `Relation.supposed`
    has it. Mentions have no id, layer, state or times.
    """
    import pyarrow as pa

    time = pa.timestamp("us", tz="UTC")
    return pa.schema(
        [
            ("source", pa.string()),
            ("target", pa.string()),
            ("kind", pa.string()),
            ("id", pa.string()),
            ("type", pa.string()),
            ("weight", pa.float32()),
            ("bidirectional", pa.bool_()),
            ("supposed", pa.bool_()),
            ("layer", pa.string()),
            ("state", pa.string()),
            ("valid_from", time),
            ("valid_to", time),
            ("recorded_at", time),
            ("retired_at", time),
        ]
    )
