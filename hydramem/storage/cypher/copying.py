"""Many edges at once: COPY from columns, within the open transaction."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hydramem.storage.schema import ColumnKind, EdgeTable

if TYPE_CHECKING:
    import pyarrow as pa


def any_edge(table: EdgeTable) -> str:
    """Return a row where the table has an edge."""
    return f"MATCH (:{table.source})-[x:{table.name}]->(:{table.target}) RETURN 1 LIMIT 1"


def copy_edges(table: EdgeTable) -> str:
    """Create the edges of the Arrow table `$rows`; every end is there."""
    return f"COPY {table.name} FROM $rows"


def edge_rows(table: EdgeTable, rows: Sequence[Mapping[str, Any]]) -> "pa.Table":
    """Return edges as COPY reads them: by place, first the ends, then the columns."""
    import pyarrow as pa

    kinds: dict[ColumnKind, pa.DataType] = {
        "text": pa.string(),
        "texts": pa.list_(pa.string()),
        "json": pa.string(),
        "time": pa.timestamp("us"),
        "number": pa.float64(),
        "integer": pa.int64(),
        "flag": pa.bool_(),
    }
    named = {
        "_from": pa.string(),
        "_to": pa.string(),
        **{each.name: kinds[each.kind] for each in table.columns},
    }
    return pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in named.items()})
