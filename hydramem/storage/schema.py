"""The schema: its version, and the columns of the tables that a snapshot is built from."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA_VERSION = 1


def node_columns() -> "pa.Schema":
    """Return the columns of a project's nodes: entities and chunks, of every state.

    `name`, `key` and `aliases` are null for chunks; `document`, `session` and `position` for entities.
    `type` is the entity's type or the chunk's kind.
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
        ]
    )


def edge_columns() -> "pa.Schema":
    """Return the columns of a project's edges: relations, mentions and links, of every state.

    `kind` is `relation`, `mention` or `link`; a mention goes from chunk to entity. `weight` is the
    relation's confidence, the mention's count or the link's weight. Mentions have no id, layer, state
    or times.
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
            ("layer", pa.string()),
            ("state", pa.string()),
            ("valid_from", time),
            ("valid_to", time),
            ("recorded_at", time),
            ("retired_at", time),
        ]
    )
