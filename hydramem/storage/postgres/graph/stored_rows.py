"""The rows that a write replaces, removes or refers to, read at once before it writes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hydramem.storage.postgres.graph.reads import row_columns
from hydramem.storage.postgres.parameters import as_parameters
from hydramem.storage.postgres.pipelines import Statement, run_together
from hydramem.storage.postgres.schema_statements import columns_of, table_name
from hydramem.storage.row_codec import Values
from hydramem.storage.schema import (
    CHANGE,
    CHUNK,
    DOCUMENT,
    ENTITY,
    ITEM,
    JOB,
    LINKS,
    MENTIONS,
    RELATES,
    SESSION,
    EdgeTable,
    NodeTable,
    Table,
)
from hydramem.storage.undo.row_images import Key, key_of
from hydramem.storage.write_validation import PlannedWrite

NODES = (DOCUMENT, SESSION, ENTITY, CHUNK, ITEM, JOB)
EDGES = (MENTIONS, RELATES, LINKS)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRows:
    """What is stored of the rows that a write concerns.

    Attributes:
        rows: By table and key, as `row_codec.encode` has them: rows that it replaces or removes, and edges
            that end in a node that it removes.
        removed: Keys, by table, of the rows that it removes, edges of removed nodes with them.
        ids: Ids, by node table, of what exists of the rows that it replaces or refers to, and is not removed.
    """

    rows: Mapping[str, Mapping[Key, Values]]
    removed: Mapping[str, set[Key]]
    ids: Mapping[str, set[str]]

    def replaced(self, table: Table, key: Key) -> Values | None:
        """Return the stored row that a row of this key replaces; None where there is none."""
        return None if key in self.removed[table.name] else self.rows[table.name].get(key)


def read_stored_rows(connection: Any, plan: PlannedWrite, first: Sequence[Statement] = ()) -> StoredRows:
    """Read what a write meets, in one round trip, and hold those rows until the transaction ends.

    Args:
        first: Statements that run before these reads, in the same round trip.
    """
    tables: tuple[Table, ...] = (*NODES, CHANGE, *EDGES)
    statements = [
        *(_nodes_by_id(table, plan) for table in (*NODES, CHANGE)),
        *(_edges_by_key(table, plan) for table in EDGES),
        *(_edges_of_removed(table, plan) for table in EDGES),
    ]
    found = run_together(connection, statements, first)
    rows: dict[str, dict[Key, Values]] = {}
    for table, values in zip((*tables, *EDGES), found, strict=True):
        rows.setdefault(table.name, {}).update(_by_key(table, values))
    removed: dict[str, set[Key]] = {}
    for nodes in (*NODES, CHANGE):
        gone = set(plan.removed[nodes.name])
        removed[nodes.name] = {key for key in rows[nodes.name] if key[0] in gone}
    for table, values in zip(EDGES, found[len(tables) :], strict=True):
        by_key = {tuple(key) for key in plan.removed[table.name]} & rows[table.name].keys()
        removed[table.name] = by_key | _by_key(table, values).keys()
    ids = {
        table.name: {key[0] for key in rows[table.name].keys() - removed[table.name]}
        for table in (*NODES, CHANGE)
    }
    return StoredRows(rows=rows, removed=removed, ids=ids)


def _by_key(table: Table, values: Sequence[Sequence[Any]]) -> dict[Key, Values]:
    names = columns_of(table)
    encoded = ("_from", "_to", *names[2:]) if isinstance(table, EdgeTable) else names
    if table is CHANGE or table is JOB:
        return {(row[0],): {"id": row[0]} for row in values}
    rows = (dict(zip(encoded, row, strict=True)) for row in values)
    return {key_of(table, row): row for row in rows}


def _nodes_by_id(table: NodeTable, plan: PlannedWrite) -> Statement | None:
    """Return the statement that reads the nodes of a table that a write names.

    Of changes and jobs no image is made, so their ids are enough. Rows are held in the order of their ids, so
    that two writes of the same rows do not wait for each other.
    """
    ids = [*plan.rows[table.name], *plan.references.get(table.name, ()), *plan.removed[table.name]]
    if table is CHUNK:
        ids += [*plan.embedded]
    if not ids:
        return None
    columns = "c.id" if table is CHANGE or table is JOB else row_columns(table)
    held = "" if table is CHANGE else " ORDER BY c.id FOR UPDATE"
    return (
        f"SELECT {columns} FROM {table_name(table)} c WHERE c.id = ANY(%(ids)s::text[]){held}",
        as_parameters({"ids": sorted(set(ids))}),
    )


def _edges_by_key(table: EdgeTable, plan: PlannedWrite) -> Statement | None:
    keys = [*plan.rows[table.name], *plan.removed[table.name]]
    if not keys:
        return None
    condition, parameters = among_keys(table, keys)
    return f"SELECT {row_columns(table)} FROM {table_name(table)} c WHERE {condition}", parameters


def _edges_of_removed(table: EdgeTable, plan: PlannedWrite) -> Statement | None:
    conditions, parameters = removed_ends(table, plan.removed)
    if not conditions:
        return None
    return f"SELECT {row_columns(table)} FROM {table_name(table)} c WHERE {conditions}", parameters


def among_keys(table: EdgeTable, keys: Sequence[Key]) -> tuple[str, dict[str, Any]]:
    """Return the condition that an edge `c` has one of some keys, with its parameters."""
    columns = ", ".join(f'c."{name}"' for name in table.key_fields)
    lists = ", ".join(f"%(key_{place})s::text[]" for place in range(len(table.key_fields)))
    parameters = {f"key_{place}": list(part) for place, part in enumerate(zip(*keys, strict=True))}
    return f"({columns}) IN (SELECT * FROM unnest({lists}))", as_parameters(parameters)


def removed_ends(table: EdgeTable, removed: Mapping[str, Sequence[str]]) -> tuple[str, dict[str, Any]]:
    """Return the condition that an edge `c` ends in a removed node; an empty one where none can."""
    parts: list[str] = []
    parameters: dict[str, object] = {}
    for end, name in zip(table.ends, (table.source, table.target), strict=True):
        if removed.get(name):
            parts.append(f'c."{end}" = ANY(%(gone_{end})s::text[])')
            parameters[f"gone_{end}"] = list(removed[name])
    return " OR ".join(parts), as_parameters(parameters)
