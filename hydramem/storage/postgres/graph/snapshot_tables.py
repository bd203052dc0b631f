"""A project's nodes and edges as Arrow tables, a statement for each kind of row."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hydramem.core.row_types import DOUBTED
from hydramem.storage.postgres.parameters import as_parameters
from hydramem.storage.schema import QUESTION_MARKS, edge_columns, node_columns

if TYPE_CHECKING:
    import pyarrow as pa

    from hydramem.storage.postgres.connection import Connection, Database

Kind = tuple[str, tuple[str, ...], Mapping[str, object]]
"""A statement, the names of what it returns, and what is the same in each of its rows."""

_ASKS = " OR ".join(f"right(n.text, 1) = '{mark}'" for mark in QUESTION_MARKS)

# In the order in which entities were made, in which names lead to the first of several.
_ENTITIES = (
    "SELECT n.id, n.type, n.name, n.key, n.aliases FROM entity n "
    "WHERE n.project = %(project)s ORDER BY n.place"
)
_CHUNKS = (
    "SELECT n.id, n.kind, n.layer, n.state, n.document, n.session, n.position, n.author, n.tokens, "
    f"({_ASKS}) FROM chunk n WHERE n.project = %(project)s ORDER BY n.id"
)

_TIMES = "x.valid_from, x.valid_to, x.recorded_at, x.retired_at"

# As `Relation.weight` has it.
_WEIGHT = (
    "CASE WHEN x.probability IS NULL OR x.origin = 'asserted' OR (x.verdict = 'accepted' AND "
    "(starts_with(x.verifier, 'person:') OR starts_with(x.verifier, 'vog:'))) THEN x.confidence "
    f"WHEN x.probability < {DOUBTED} THEN 0.0 ELSE x.confidence * x.probability END"
)

# As `Relation.supposed` has it.
_SUPPOSED = "(x.origin = 'inferred' AND x.quote IS NULL AND x.layer <> 'verified')"

# Both ends must be of the project: an edge may lead into another one.
_RELATIONS = (
    f"SELECT x.subject, x.object, x.id, x.type, {_WEIGHT}, x.bidirectional, {_SUPPOSED}, x.layer, x.state, "
    f"{_TIMES} FROM relates x JOIN entity a ON a.id = x.subject JOIN entity b ON b.id = x.object "
    "WHERE a.project = %(project)s AND b.project = %(project)s"
)
_MENTIONS = (
    "SELECT x.chunk, x.entity, x.count FROM mentions x JOIN chunk a ON a.id = x.chunk "
    "JOIN entity b ON b.id = x.entity WHERE a.project = %(project)s AND b.project = %(project)s"
)
_LINKS = (
    f"SELECT x.source, x.target, x.id, x.type, x.weight, x.state, {_TIMES} FROM links x "
    "JOIN chunk a ON a.id = x.source JOIN chunk b ON b.id = x.target "
    "WHERE a.project = %(project)s AND b.project = %(project)s"
)
_NODES: tuple[Kind, ...] = (
    (_ENTITIES, ("id", "type", "name", "key", "aliases"), {"is_chunk": False}),
    (
        _CHUNKS,
        ("id", "type", "layer", "state", "document", "session", "position", "author", "tokens", "asks"),
        {"is_chunk": True},
    ),
)
_SPAN = ("valid_from", "valid_to", "recorded_at", "retired_at")
_EDGES: tuple[Kind, ...] = (
    (
        _RELATIONS,
        ("source", "target", "id", "type", "weight", "bidirectional", "supposed", "layer", "state", *_SPAN),
        {"kind": "relation"},
    ),
    (_MENTIONS, ("source", "target", "weight"), {"kind": "mention"}),
    (_LINKS, ("source", "target", "id", "type", "weight", "state", *_SPAN), {"kind": "link"}),
)


def project_tables(database: "Database", project: str) -> "tuple[pa.Table, pa.Table]":
    """Return a project's nodes and edges, as `schema` describes them."""
    with database.transaction() as connection:
        # Edges first: an end that is added meanwhile is among the nodes.
        edges = _read(connection, _EDGES, project, edge_columns())
        return _read(connection, _NODES, project, node_columns()), edges


def _read(connection: "Connection", kinds: tuple[Kind, ...], project: str, schema: "pa.Schema") -> "pa.Table":
    import pyarrow as pa

    parameters = as_parameters({"project": project})
    return pa.concat_tables(
        _arrow(connection.execute(statement.encode(), parameters).fetchall(), names, fixed, schema)
        for statement, names, fixed in kinds
    )


def _arrow(
    rows: list[tuple[Any, ...]], names: tuple[str, ...], fixed: Mapping[str, object], schema: "pa.Schema"
) -> "pa.Table":
    """Return rows as a table; columns that the statement has not are the same in all rows, or null."""
    import pyarrow as pa

    values = dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(names, ())
    arrays = []
    for field in schema:
        if field.name in values:
            arrays.append(pa.array(values[field.name], type=field.type))
        elif field.name in fixed:
            arrays.append(pa.array([fixed[field.name]] * len(rows), type=field.type))
        else:
            arrays.append(pa.nulls(len(rows), field.type))
    return pa.Table.from_arrays(arrays, schema=schema)
