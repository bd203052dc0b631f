"""The statements that write and fetch rows of any table, built from the schema's columns alone.

Measured per row: LadybugDB creates edges fastest by UNWIND with two MATCH clauses (a comma between them is a
cartesian product); Kuzu scans the table for every UNWIND, and creates edges faster one by one.
"""

from hydramem.storage.cypher.schema_statements import CYPHER_TYPES
from hydramem.storage.schema import Column, EdgeTable, NodeTable


def _cast(column: Column, prefix: str) -> str:
    # A column that is null in every row of a batch would be typed STRING.
    name = f"${column.name}" if prefix == "$" else f"{prefix}`{column.name}`"
    return f"CAST({name} AS {CYPHER_TYPES[column.kind]})"


def _properties(columns: tuple[Column, ...], prefix: str) -> str:
    inside = ", ".join(f"`{column.name}`: {_cast(column, prefix)}" for column in columns)
    return f"{{{inside}}}" if inside else ""


def _assignments(name: str, columns: tuple[Column, ...], prefix: str) -> str:
    return ", ".join(f"{name}.`{column.name}` = {_cast(column, prefix)}" for column in columns)


def create_nodes(table: NodeTable, columns: tuple[Column, ...]) -> str:
    """Create `$rows` with values in some columns; the others are null."""
    return f"UNWIND $rows AS r CREATE (:{table.name} {_properties(columns, 'r.')})"


def set_nodes(table: NodeTable, columns: tuple[Column, ...]) -> str:
    """Set some columns of `$rows` by key."""
    changed = _assignments("n", columns, "r.")
    return f"UNWIND $rows AS r MATCH (n:{table.name} {{id: r.id}}) SET {changed}"


def create_edges(table: EdgeTable) -> str:
    """Create the edges `$rows`."""
    return (
        f"UNWIND $rows AS r MATCH (a:{table.source} {{id: r._from}}) MATCH (b:{table.target} {{id: r._to}}) "
        f"CREATE (a)-[:{table.name} {_properties(table.columns, 'r.')}]->(b)"
    )


def create_edge(table: EdgeTable) -> str:
    """Create one edge from parameters named as its columns."""
    return (
        f"MATCH (a:{table.source} {{id: $_from}}) MATCH (b:{table.target} {{id: $_to}}) "
        f"CREATE (a)-[:{table.name} {_properties(table.columns, '$')}]->(b)"
    )


def set_edge(table: EdgeTable, columns: tuple[Column, ...]) -> str:
    """Set some columns of one edge, found by its ends and, where it has one, its id.

    One at a time: for a list, LadybugDB and Kuzu read all edges of the table.
    """
    return (
        f"MATCH (a:{table.source} {{id: $_from}})-[x:{table.name}]->(b:{table.target} {{id: $_to}}) "
        f"{'WHERE x.id = $id ' if table.has_id else ''}SET {_assignments('x', columns, '$')}"
    )


def remove_nodes(table: NodeTable) -> str:
    """Take out `$ids` with every edge that ends in them."""
    return f"UNWIND $ids AS i MATCH (n:{table.name} {{id: i}}) DETACH DELETE n"


def remove_edge(table: EdgeTable) -> str:
    """Take out one edge, found by its ends and, where it has one, its id; one at a time, as `set_edge`."""
    by_id = "WHERE x.id = $id " if table.has_id else ""
    return (
        f"MATCH (a:{table.source} {{id: $_from}})-[x:{table.name}]->(b:{table.target} {{id: $_to}}) "
        f"{by_id}DELETE x"
    )


def fetch_nodes(table: NodeTable) -> str:
    """Return the columns of the nodes `$ids`."""
    return f"UNWIND $ids AS i MATCH (n:{table.name} {{id: i}}) RETURN {node_values(table, 'n')}"


def edges_between(table: EdgeTable) -> str:
    """Return ends and columns of the edges from `$_from` to `$_to`."""
    source, target = f"(a:{table.source} {{id: $_from}})", f"(b:{table.target} {{id: $_to}})"
    return f"MATCH {source}-[x:{table.name}]->{target} RETURN {edge_values(table)}"


def edges_where(table: EdgeTable, condition: str) -> str:
    """Return ends and columns of the edges `(a)-[x]->(b)` that meet a condition."""
    pattern = f"MATCH (a:{table.source})-[x:{table.name}]->(b:{table.target})"
    return f"{pattern} WHERE {condition} RETURN {edge_values(table)}"


def node_values(table: NodeTable, name: str) -> str:
    """Return the columns of a node in the order that `row_codec.decode` reads."""
    return ", ".join(f"{name}.`{column.name}`" for column in table.columns)


def edge_values(table: EdgeTable) -> str:
    """Return ends and columns of an edge `(a)-[x]->(b)` in the order that `row_codec.decode` reads."""
    return ", ".join(("a.id", "b.id", *(f"x.`{column.name}`" for column in table.columns)))


def edge_names(table: EdgeTable) -> tuple[str, ...]:
    """Return the names of what `edge_values` returns, as `row_codec.encode` has them."""
    return ("_from", "_to", *(column.name for column in table.columns))


def any_edge(table: EdgeTable) -> str:
    """Return a row where the table has an edge."""
    return f"MATCH (:{table.source})-[x:{table.name}]->(:{table.target}) RETURN 1 LIMIT 1"
