"""Reads of any table: by id, by an edge's end, by conditions with paging, and scans in batches."""

from collections.abc import Iterator, Sequence
from typing import Any

from hydramem.storage.cypher.engine import Engine, Query
from hydramem.storage.cypher.filters import Conditions
from hydramem.storage.cypher.statements import edge_values, edges_between, edges_where, node_values
from hydramem.storage.row_codec import decode
from hydramem.storage.schema import EdgeTable, NodeTable, Table
from hydramem.storage.store import End, Listing, Stretch
from hydramem.storage.write_validation import check_page, edge_order

# Up to so many ids, a look-up of each is faster than one statement for all, which scans the table.
_NODES_SINGLY = {"ladybug": 0, "kuzu": 16}

_EDGES_SINGLY = {"ladybug": 400, "kuzu": 20}

_PAIRS_SINGLY = 400

_MOST_ROWS = 2**31

_BETWEEN = "c.position >= $first AND c.position <= $last RETURN c.id ORDER BY c.position, c.id"

_BETWEEN_IN_DOCUMENT = f"MATCH (d:Document {{id: $holder}})-[:HAS_CHUNK]->(c:Chunk) WHERE {_BETWEEN}"

_BETWEEN_IN_SESSION = f"MATCH (c:Chunk)-[:IN_SESSION]->(s:Session {{id: $holder}}) WHERE {_BETWEEN}"


class Reader:
    """Reads rows through an engine's connections."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def nodes(self, table: NodeTable, ids: Sequence[str]) -> tuple[Any, ...]:
        """Return rows in the order of the ids, ids that are not there left out."""
        wanted = tuple(dict.fromkeys(ids))
        if not wanted:
            return ()
        with self._engine.reading() as query:
            found = self._nodes(query, table, wanted)
        by_id = {values[0]: decode(table, values) for values in found}
        return tuple(by_id[id] for id in wanted if id in by_id)

    def _nodes(self, query: Query, table: NodeTable, ids: Sequence[str]) -> list[list[Any]]:
        columns = node_values(table, "n")
        if len(ids) <= _NODES_SINGLY[self._engine.name]:
            statement = f"MATCH (n:{table.name} {{id: $id}}) RETURN {columns}"
            return [values for id in ids for values in query(statement, {"id": id})]
        statement = f"UNWIND $ids AS i MATCH (n:{table.name} {{id: i}}) RETURN {columns}"
        return query(statement, {"ids": list(ids)})

    def edges(self, table: EdgeTable, ids: Sequence[str], *, end: End) -> list[Any]:
        """Return the edges that have one of these nodes at one end."""
        wanted = list(dict.fromkeys(ids))
        node = "a" if end == "source" else "b"
        with self._engine.reading() as query:
            if len(wanted) <= _EDGES_SINGLY[self._engine.name]:
                statement = edges_where(table, f"{node}.id = $id")
                found = [values for id in wanted for values in query(statement, {"id": id})]
            else:
                found = query(edges_where(table, f"{node}.id IN $ids"), {"ids": wanted})
        return [decode(table, values) for values in found]

    def edges_joining(self, table: EdgeTable, pairs: Sequence[tuple[str, str]]) -> list[Any]:
        """Return the edges from one node to another, for each pair; their other edges are not read."""
        wanted = dict.fromkeys(pairs)
        with self._engine.reading() as query:
            if len(wanted) <= _PAIRS_SINGLY:
                statement = edges_between(table)
                found = [
                    values
                    for source, target in wanted
                    for values in query(statement, {"_from": source, "_to": target})
                ]
            else:
                ends = {"sources": sorted({a for a, _ in wanted}), "targets": sorted({b for _, b in wanted})}
                statement = edges_where(table, "a.id IN $sources AND b.id IN $targets")
                found = [values for values in query(statement, ends) if (values[0], values[1]) in wanted]
        return [decode(table, values) for values in found]

    def select(
        self, table: NodeTable, pattern: str, conditions: Conditions, *, order: str
    ) -> tuple[Any, ...]:
        """Return every row `c` of a pattern that meets conditions."""
        statement = f"MATCH {pattern}{conditions.where} RETURN {node_values(table, 'c')} ORDER BY {order}"
        with self._engine.reading() as query:
            return tuple(decode(table, values) for values in query(statement, conditions.parameters))

    def page(
        self, table: NodeTable, pattern: str, conditions: Conditions, page: Listing, *, order: str
    ) -> tuple[Any, ...]:
        """Return a page of the rows `c` of a pattern that meet conditions."""
        check_page(page)
        if page.limit == 0:
            return ()
        # Both engines crash on a SKIP past the last row, so the ids before the page are read too.
        statement = f"MATCH {pattern}{conditions.where} RETURN c.id ORDER BY {order} LIMIT $most"
        parameters = {**conditions.parameters, "most": min(page.offset + page.limit, _MOST_ROWS)}
        with self._engine.reading() as query:
            ids = [id for (id,) in query(statement, parameters)]
        return self.nodes(table, ids[page.offset :])

    def between(self, table: NodeTable, stretches: Sequence[Stretch]) -> tuple[Any, ...]:
        """Return the chunks of stretches, each once: in order of stretch, position and id."""
        ids: list[str] = []
        with self._engine.reading() as query:
            # Singly: neither engine starts a join from a list of ids.
            for one in stretches:
                holder = one.document if one.session is None else one.session
                bounds = {"holder": holder, "first": one.first, "last": one.last}
                statement = _BETWEEN_IN_DOCUMENT if one.session is None else _BETWEEN_IN_SESSION
                ids.extend(id for (id,) in query(statement, bounds))
        return self.nodes(table, ids)

    def edge_page(
        self, table: EdgeTable, conditions: Conditions, page: Listing, *, order: str
    ) -> tuple[Any, ...]:
        """Return a page of the edges `c` that meet conditions; ties by id."""
        check_page(page)
        if page.limit == 0:
            return ()
        values = edge_values(table).replace("x.", "c.")
        statement = (
            f"MATCH (a:{table.source})-[c:{table.name}]->(b:{table.target}){conditions.where} "
            f"RETURN {values} ORDER BY {order}, c.id, a.id, b.id LIMIT $most"
        )
        parameters = {**conditions.parameters, "most": min(page.offset + page.limit, _MOST_ROWS)}
        with self._engine.reading() as query:
            rows = query(statement, parameters)
        return tuple(decode(table, values) for values in rows[page.offset :])

    def _edges_within(self, table: EdgeTable, first: str, last: str) -> list[Any]:
        """Return the edges whose source id lies in a range: the engines test a range faster than a list."""
        statement = edges_where(table, "a.id >= $first AND a.id <= $last")
        with self._engine.reading() as query:
            return [decode(table, values) for values in query(statement, {"first": first, "last": last})]

    def scan(self, table: Table, batch: int) -> Iterator[tuple[Any, ...]]:
        """Yield every row in the order of its key; no connection is held between two batches."""
        source = table.source if isinstance(table, EdgeTable) else table.name
        with self._engine.reading() as query:
            ids = sorted(id for (id,) in query(f"MATCH (n:{source}) RETURN n.id", {}))
        for start in range(0, len(ids), batch):
            part = ids[start : start + batch]
            if isinstance(table, EdgeTable):
                rows = tuple(sorted(self._edges_within(table, part[0], part[-1]), key=edge_order(table)))
            else:
                rows = self.nodes(table, part)
            if rows:
                yield rows
