"""Reads of any table: by id, by an edge's end, by conditions with paging, and scans in batches."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from hydramem.core.row_types import Chunk, Relation
from hydramem.storage.chunk_filter import ChunkFilter, RowFilter
from hydramem.storage.cypher.engine import Engine, Parameters, Query
from hydramem.storage.cypher.filters import Conditions, chunk_conditions, row_conditions
from hydramem.storage.cypher.statements import edge_values, edges_between, edges_where, node_values
from hydramem.storage.row_codec import decode
from hydramem.storage.schema import CHUNK, RELATES, EdgeTable, NodeTable, Table
from hydramem.storage.store import End, GraphStore, Listing, Stretch, newest_recorded
from hydramem.storage.write_validation import check_page, edge_order

# Up to so many ids, a look-up of each is faster than one statement for all, which scans the table.
_NODES_SINGLY = {"ladybug": 0, "kuzu": 16}
_EDGES_SINGLY = {"ladybug": 400, "kuzu": 20}
_PAIRS_SINGLY = 400
_MOST_ROWS = 2**31
_BETWEEN = "c.position >= $first AND c.position <= $last RETURN c.id ORDER BY c.position, c.id"
_BETWEEN_IN_DOCUMENT = f"MATCH (d:Document {{id: $holder}})-[:HAS_CHUNK]->(c:Chunk) WHERE {_BETWEEN}"
_BETWEEN_IN_SESSION = f"MATCH (c:Chunk)-[:IN_SESSION]->(s:Session {{id: $holder}}) WHERE {_BETWEEN}"


class CypherReads(GraphStore):
    """Those methods of `GraphStore` that read rows, through an engine's connections."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def _rows(self, statement: str, parameters: Parameters) -> list[list[Any]]:
        """Run one read."""
        with self._engine.reading() as query:
            return query(statement, parameters)

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

    def relations_between(self, pairs: Sequence[tuple[str, str]]) -> tuple[Relation, ...]:
        """Return every relation from the first to the second of each pair; others of either are not read."""
        wanted = dict.fromkeys(pairs)
        with self._engine.reading() as query:
            if len(wanted) <= _PAIRS_SINGLY:
                statement = edges_between(RELATES)
                found = [
                    values
                    for source, target in wanted
                    for values in query(statement, {"_from": source, "_to": target})
                ]
            else:
                ends = {"sources": sorted({a for a, _ in wanted}), "targets": sorted({b for _, b in wanted})}
                statement = edges_where(RELATES, "a.id IN $sources AND b.id IN $targets")
                found = [values for values in query(statement, ends) if (values[0], values[1]) in wanted]
        return newest_recorded(RELATES, (decode(RELATES, values) for values in found))

    def select(
        self,
        table: Table,
        where: RowFilter,
        page: Listing | None = None,
        *,
        order: Sequence[str],
        newest: bool = False,
    ) -> tuple[Any, ...]:
        """Return rows of a table that a filter admits."""
        conditions = row_conditions(where)
        moment = ", ".join(f"c.`{column}`" for column in order)
        by = f"{moment if len(order) == 1 else f'coalesce({moment})'}{' DESC' if newest else ''}, c.id"
        if isinstance(table, EdgeTable):
            return self._edge_page(table, conditions, page or Listing(limit=_MOST_ROWS), order=by)
        pattern = f"(c:{table.name})"
        if page is not None:
            return self._page(table, pattern, conditions, page, order=by)
        statement = f"MATCH {pattern}{conditions.where} RETURN {node_values(table, 'c')} ORDER BY {by}"
        return tuple(decode(table, values) for values in self._rows(statement, conditions.parameters))

    def list_chunks(
        self,
        where: ChunkFilter,
        page: Listing,
        *,
        event_type: str | None = None,
        mentioning: str | None = None,
        expired_by: datetime | None = None,
        by_time: bool = False,
    ) -> tuple[Chunk, ...]:
        """Return a page of chunks: by time, of one document or session by position, else newest first."""
        conditions = chunk_conditions(where)
        pattern, order = "(c:Chunk)", "c.recorded_at DESC, c.position, c.id"
        if len(where.documents) == 1 or len(where.sessions) == 1:
            order = "c.position, c.id"
            pattern = _held_by_one(where, conditions)
        if event_type is not None:
            conditions.add("c.event_type = $event_type", event_type=event_type)
        if expired_by is not None:
            conditions.add("c.expires_at <= $expired_by", expired_by=expired_by)
        if mentioning is not None:
            conditions.add("e.id = $mentioning", mentioning=mentioning)
            pattern += ", (c)-[:MENTIONS]->(e:Entity)"
        if by_time:
            conditions.add("c.happened_at IS NOT NULL")
            order = "c.happened_at, c.position, c.id"
        return self._page(CHUNK, pattern, conditions, page, order=order)

    def _page(
        self, table: NodeTable, pattern: str, conditions: Conditions, page: Listing, *, order: str
    ) -> tuple[Any, ...]:
        """Return a page of the rows `c` of a pattern that meet conditions."""
        check_page(page)
        if page.limit == 0:
            return ()
        # Both engines crash on a SKIP past the last row, so the ids before the page are read too.
        statement = f"MATCH {pattern}{conditions.where} RETURN c.id ORDER BY {order} LIMIT $most"
        parameters = {**conditions.parameters, "most": min(page.offset + page.limit, _MOST_ROWS)}
        ids = [id for (id,) in self._rows(statement, parameters)]
        return self.nodes(table, ids[page.offset :])

    def between(self, stretches: Sequence[Stretch]) -> tuple[Chunk, ...]:
        """Return the chunks of stretches, each once: in order of stretch, position and id."""
        ids: list[str] = []
        with self._engine.reading() as query:
            # One by one: neither engine starts a join from a list of ids.
            for one in stretches:
                holder = one.document if one.session is None else one.session
                bounds = {"holder": holder, "first": one.first, "last": one.last}
                statement = _BETWEEN_IN_DOCUMENT if one.session is None else _BETWEEN_IN_SESSION
                ids.extend(id for (id,) in query(statement, bounds))
        return self.nodes(CHUNK, ids)

    def _edge_page(
        self, table: EdgeTable, conditions: Conditions, page: Listing, *, order: str
    ) -> tuple[Any, ...]:
        """Return a page of the edges `c` that meet conditions."""
        check_page(page)
        if page.limit == 0:
            return ()
        values = edge_values(table).replace("x.", "c.")
        statement = (
            f"MATCH (a:{table.source})-[c:{table.name}]->(b:{table.target}){conditions.where} "
            f"RETURN {values} ORDER BY {order}, a.id, b.id LIMIT $most"
        )
        parameters = {**conditions.parameters, "most": min(page.offset + page.limit, _MOST_ROWS)}
        rows = self._rows(statement, parameters)
        return tuple(decode(table, values) for values in rows[page.offset :])

    def _edges_within(self, table: EdgeTable, first: str, last: str) -> list[Any]:
        """Return the edges whose source id is in a range: the engines test a range faster than a list."""
        statement = edges_where(table, "a.id >= $first AND a.id <= $last")
        found = self._rows(statement, {"first": first, "last": last})
        return [decode(table, values) for values in found]

    def scan(self, table: Table, batch: int = 1000) -> Iterator[tuple[Any, ...]]:
        """Yield every row in the order of its key; no connection is held between two batches."""
        source = table.source if isinstance(table, EdgeTable) else table.name
        ids = sorted(id for (id,) in self._rows(f"MATCH (n:{source}) RETURN n.id", {}))
        for start in range(0, len(ids), batch):
            part = ids[start : start + batch]
            if isinstance(table, EdgeTable):
                rows = tuple(sorted(self._edges_within(table, part[0], part[-1]), key=edge_order(table)))
            else:
                rows = self.nodes(table, part)
            if rows:
                yield rows


def _held_by_one(where: ChunkFilter, conditions: Conditions) -> str:
    """Return the pattern that starts at the one document or session that a filter names."""
    if len(where.documents) == 1:
        conditions.add("d.id = $holder", holder=where.documents[0])
        return "(d:Document)-[:HAS_CHUNK]->(c:Chunk)"
    conditions.add("s.id = $holder", holder=where.sessions[0])
    return "(c:Chunk)-[:IN_SESSION]->(s:Session)"
