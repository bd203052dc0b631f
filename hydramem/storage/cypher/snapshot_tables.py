"""A project's nodes and edges as Arrow tables, straight from the engine's columns."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hydramem.core.row_types import DOUBTED
from hydramem.storage.cypher.engine import Engine
from hydramem.storage.schema import QUESTION_MARKS, edge_columns, node_columns

if TYPE_CHECKING:
    import pyarrow as pa

_ASKS = " OR ".join(f"n.text ENDS WITH '{mark}'" for mark in QUESTION_MARKS)

_NODES = (
    "MATCH (n:Entity) WHERE n.project = $project RETURN n.id AS id, false AS is_chunk, n.type AS type, "
    "n.name AS name, n.key AS key, n.aliases AS aliases",
    "MATCH (n:Chunk) WHERE n.project = $project RETURN n.id AS id, true AS is_chunk, n.kind AS type, "
    "n.layer AS layer, n.state AS state, n.document AS document, n.session AS session, "
    f"n.position AS position, n.author AS author, n.tokens AS tokens, ({_ASKS}) AS asks",
)

_TIMES = (
    "x.valid_from AS valid_from, x.valid_to AS valid_to, "
    "x.recorded_at AS recorded_at, x.retired_at AS retired_at"
)

# Making Arrow columns of a result holds up every other thread: of half a million edges for a third of a
# second. So it is made in parts, by where their first node is stored.
_ROWS_AT_ONCE = 50_000
_PART = "offset(id({first})) >= $low AND offset(id({first})) < $high AND "
_NO_PLACE = 2**62
"""Beyond where any node is stored; no place is ever used again."""

# Where the second node is stored instead of its id: to look that up takes the engine all of the nodes again
# for every part.
_ENDS = "WHERE a.project = $project RETURN a.id AS source, offset(id(b)) AS target"

# As `Relation.weight` has it.
_WEIGHT = (
    "CASE WHEN x.probability IS NULL OR x.origin = 'asserted' OR (x.verdict = 'accepted' AND "
    "(x.verifier STARTS WITH 'person:' OR x.verifier STARTS WITH 'vog:')) THEN x.confidence "
    f"WHEN x.probability < {DOUBTED} THEN 0.0 ELSE x.confidence * x.probability END"
)

# As `Relation.supposed` has it.
_SUPPOSED = "(x.origin = 'inferred' AND x.quote IS NULL AND x.layer <> 'verified')"

_EDGES = (
    (
        f"MATCH (a:Entity)-[x:RELATES]->(b:Entity) {_ENDS}, 'relation' AS kind, x.id AS id, x.type AS type, "
        f"{_WEIGHT} AS weight, x.bidirectional AS bidirectional, {_SUPPOSED} AS supposed, "
        f"x.layer AS layer, x.state AS state, {_TIMES}",
        "Entity",
    ),
    (
        f"MATCH (a:Chunk)-[x:MENTIONS]->(b:Entity) {_ENDS}, 'mention' AS kind, x.`count` AS weight",
        "Entity",
    ),
    (
        f"MATCH (a:Chunk)-[x:LINKS]->(b:Chunk) {_ENDS}, 'link' AS kind, x.id AS id, x.type AS type, "
        f"x.weight AS weight, x.state AS state, {_TIMES}",
        "Chunk",
    ),
)


def nodes(engine: Engine, project: str, *, at_once: int = _ROWS_AT_ONCE) -> "pa.Table":
    """Return a project's entities and chunks, as `schema.node_columns` describes them."""
    found = (part for each in _NODES for part in _in_parts(engine, each, project, at_once))
    return _gathered(found, node_columns())


def edges(engine: Engine, project: str, *, at_once: int = _ROWS_AT_ONCE) -> "pa.Table":
    """Return the relations, mentions and links within a project, as `schema.edge_columns` describes them."""
    found = [(target, part) for each, target in _EDGES for part in _in_parts(engine, each, project, at_once)]
    # Read after the edges: an end that was added meanwhile is among them.
    ids = {target: _ids(engine, target, project) for _, target in _EDGES}
    return _gathered((_named(part, *ids[target]) for target, part in found), edge_columns())


def _gathered(parts: "Iterable[pa.Table]", schema: "pa.Schema") -> "pa.Table":
    import pyarrow as pa

    return pa.concat_tables([_shaped(part, schema) for part in parts])


def _in_parts(engine: Engine, statement: str, project: str, at_once: int) -> "Iterator[pa.Table]":
    """Yield the rows of a statement; a row that is written meanwhile is in one part at most."""
    pattern, _, rest = statement.partition(" WHERE ")
    first = "n" if "(n:" in pattern else "a"
    cut = f"{pattern} WHERE {_PART.format(first=first)}{rest}"
    places = np.sort(_column(engine.arrow(f"{pattern} RETURN offset(id({first})) AS place", {}), "place"))
    inner = np.unique(places[at_once::at_once]).tolist()
    for low, high in pairwise([0, *inner, _NO_PLACE]):
        yield engine.arrow(cut, {"project": project, "low": low, "high": high})


def _ids(engine: Engine, table: str, project: str) -> "tuple[NDArray[np.int64], pa.Array]":
    """Return a project's ids, and which of them is of the node at each place; -1 where there is none."""
    statement = f"MATCH (n:{table}) WHERE n.project = $project RETURN offset(id(n)) AS place, n.id AS id"
    found = engine.arrow(statement, {"project": project})
    places = _column(found, "place")
    rows = np.full(places.max(initial=-1) + 2, -1)
    rows[places] = np.arange(len(places))
    return rows, found["id"].combine_chunks()


def _named(edges: "pa.Table", rows: NDArray[np.int64], ids: "pa.Array") -> "pa.Table":
    """Put ids in the place of where their second nodes are stored; what leads nowhere is left out."""
    found = rows[np.minimum(_column(edges, "target"), len(rows) - 1)]
    if (found < 0).any():
        edges, found = edges.filter(found >= 0), found[found >= 0]
    return edges.set_column(edges.column_names.index("target"), "target", ids.take(found))


def _column(table: "pa.Table", name: str) -> NDArray[np.int64]:
    values: NDArray[np.int64] = table[name].to_numpy().astype(np.int64)
    return values


def _shaped(found: "pa.Table", schema: "pa.Schema") -> "pa.Table":
    """Bring columns into the schema's order and types, those that the statement has not as nulls."""
    import pyarrow as pa

    present = set(found.column_names)
    arrays = [
        _cast(found.column(field.name), field.type)
        if field.name in present
        else pa.nulls(found.num_rows, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def _cast(values: "pa.ChunkedArray", type: "pa.DataType") -> "pa.ChunkedArray":
    import pyarrow as pa

    # Counts and confidences may not fit float32 exactly; the walk does not mind.
    return values.cast(type, safe=type != pa.float32())
