"""One write inside its transaction: references checked, rows deleted, created or replaced."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hydramem.core.errors import InvalidInputError
from hydramem.core.row_types import Chunk
from hydramem.storage.cypher.engine import Query
from hydramem.storage.cypher.statements import (
    any_edge,
    create_edge,
    create_edges,
    create_nodes,
    edge_names,
    edges_between,
    edges_where,
    fetch_nodes,
    remove_edge,
    remove_nodes,
    set_edge,
    set_nodes,
)
from hydramem.storage.row_codec import Values, decode, encode
from hydramem.storage.schema import (
    CHANGE,
    CHUNK,
    DOCUMENT,
    ENTITY,
    HAS_CHUNK,
    IN_SESSION,
    ITEM,
    JOB,
    KEYED_TABLES,
    LINKS,
    MENTIONS,
    OUTBOX,
    RECALLED,
    RELATES,
    REQUEST,
    SESSION,
    Column,
    EdgeTable,
    NodeTable,
    Table,
)
from hydramem.storage.undo.row_images import Key, key_of
from hydramem.storage.undo.write_images import WriteImages
from hydramem.storage.write_validation import PlannedWrite, batches, check_references

Encoded = dict[str, list[Values]]
_ROWS_COMPARED = 1000
_ROWS_REMOVED = 500
_EDGES_SOUGHT = 1000
_EDGES_UNWOUND = 5000
_NODES = (DOCUMENT, SESSION, ENTITY, CHUNK, ITEM, JOB)
_EDGES = (MENTIONS, RELATES, LINKS)


def encode_write(plan: PlannedWrite) -> Encoded:
    """Turn every row of a write into values by table, before the writer lock is taken."""
    rows = {
        table.name: [encode(table, row) for row in plan.rows[table.name].values()]
        for table in (*KEYED_TABLES, OUTBOX, REQUEST)
    }
    return {**rows, RECALLED.name: [encode(RECALLED, row) for row in plan.recalled]}


class Transaction:
    """The steps of one write inside its transaction."""

    def __init__(self, query: Query, *, edges_singly: bool) -> None:
        """Work through a statement runner.

        Args:
            query: Runs statements in the open transaction.
            edges_singly: Create edges one by one (Kuzu) instead of by UNWIND (LadybugDB).
        """
        self._query = query
        self._edges_singly = edges_singly
        self._known: dict[str, set[str]] = {}
        self._columns_set = 0
        self._images: WriteImages

    def write(self, plan: PlannedWrite, rows: Encoded) -> int:
        """Write everything of a plan; return how many times a column was set.

        Raises:
            InvalidInputError: A row is referred to that is not there, or a change is there already.
        """
        self._images = WriteImages(plan)
        self._look_up(plan, rows)
        check_references(plan.references, lambda table, id: id in self._known[table])
        self._remove(plan.removed)
        chunks = plan.rows[CHUNK.name]
        moved = self._detach_moved(chunks)
        for table in _NODES:
            self._put_nodes(table, rows[table.name])
        self._mark_embedded(plan.embedded)
        self._append(OUTBOX, rows[OUTBOX.name])
        if plan.replicated:
            self._query(remove_nodes(OUTBOX), {"ids": list(plan.replicated)})
        self._put_requests(rows[REQUEST.name])
        self._attach([chunks[id] for id in chunks if id not in self._known[CHUNK.name] or id in moved])
        for edges in _EDGES:
            self._put_edges(edges, rows[edges.name])
        if plan.verbatim:
            known, self._known[CHANGE.name] = self._known[CHANGE.name], set()
            self._append(CHANGE, [row for row in rows[CHANGE.name] if row["id"] not in known])
            self._create_edges(RECALLED, self._not_recalled(rows[RECALLED.name]))
        else:
            self._append(CHANGE, self._with_images(rows[CHANGE.name]))
            self._recall(rows[RECALLED.name])
        return self._columns_set

    def _look_up(self, plan: PlannedWrite, rows: Encoded) -> None:
        """Find out which of the nodes that a write needs or replaces exist, and are not removed."""
        for table in (*_NODES, CHANGE):
            ids = dict.fromkeys(row["id"] for row in rows[table.name])
            ids.update(dict.fromkeys(plan.references.get(table.name, ())))
            self._known[table.name] = self._existing(table, tuple(ids)) - set(plan.removed[table.name])

    def _existing(self, table: NodeTable, ids: Sequence[str]) -> set[str]:
        if not ids:
            return set()
        statement = f"UNWIND $ids AS i MATCH (n:{table.name} {{id: i}}) RETURN n.id"
        return {id for (id,) in self._query(statement, {"ids": list(ids)})}

    def _with_images(self, changes: list[Values]) -> list[Values]:
        """Return the changes of a write with its image on the first, or one on the first of each part."""
        images = self._images.texts()
        return [{**row, "image": images.get(row["id"])} for row in changes]

    # Removing rows ------------------------------------------------------------------------------
    def _remove(self, removed: Mapping[str, tuple[Any, ...]]) -> None:
        """Delete rows and the edges that end in them, each noted whole before; unknown keys are ignored."""
        for edges in _EDGES:
            statement = remove_edge(edges)
            for key in removed[edges.name]:
                row = dict(zip(("_from", "_to", "id"), key, strict=False))
                self._note_removed(edges, self._edges_of_key(edges, row))
                self._query(statement, row)
        for nodes in (*_NODES, CHANGE):
            for ids in batches(removed[nodes.name], _ROWS_REMOVED):
                if nodes not in (JOB, CHANGE):  # no image holds these
                    self._note_removed(nodes, self._query(fetch_nodes(nodes), {"ids": ids}))
                    self._note_edges(nodes, ids)
                self._query(remove_nodes(nodes), {"ids": ids})

    def _edges_of_key(self, table: EdgeTable, row: Mapping[str, Any]) -> list[list[Any]]:
        """Return the stored edge of these ends and, where the table has ids, this id."""
        found = self._query(edges_between(table), {"_from": row["_from"], "_to": row["_to"]})
        place = edge_names(table).index("id") if table.has_id else 0
        return [values for values in found if not table.has_id or values[place] == row["id"]]

    def _note_edges(self, nodes: NodeTable, ids: Sequence[str]) -> None:
        """Note the edges that end in nodes, each once."""
        for edges in _EDGES:
            ends = [end for end, name in (("a", edges.source), ("b", edges.target)) if name == nodes.name]
            found = {
                key_of(edges, dict(zip(edge_names(edges), values, strict=True))): values
                for end in ends
                for id in ids
                for values in self._query(edges_where(edges, f"{end}.id = $id"), {"id": id})
            }
            self._note_removed(edges, found.values())

    def _note_removed(self, table: Table, rows: Iterable[Sequence[Any]]) -> None:
        for values in rows:
            self._images.removed(table, encode(table, decode(table, values)))

    # Writing rows -------------------------------------------------------------------------------
    def _put_nodes(self, table: NodeTable, rows: list[Values]) -> None:
        known = self._known[table.name]
        new = [row for row in rows if row["id"] not in known]
        old = [row for row in rows if row["id"] in known]
        if new:
            self._create(table, new)
        if table is not JOB:
            for row in new:
                self._images.put(table, None, row)
        for start in range(0, len(old), _ROWS_COMPARED):
            self._replace(table, old[start : start + _ROWS_COMPARED])

    def _create(self, table: NodeTable, rows: Sequence[Values]) -> None:
        """Create nodes; columns that are null in all of them are left out, which halves the time of one."""
        filled = tuple(each for each in table.columns if any(row[each.name] is not None for row in rows))
        given = [{each.name: row[each.name] for each in filled} for row in rows]
        self._query(create_nodes(table, filled), {"rows": given})

    def _replace(self, table: NodeTable, rows: list[Values]) -> None:
        """Set the columns that differ: an engine keeps every value that is set in memory until it commits."""
        ids = [row["id"] for row in rows]
        stored = {values[0]: values for values in self._query(fetch_nodes(table), {"ids": ids})}
        by_columns: dict[tuple[Column, ...], list[Values]] = defaultdict(list)
        for row in rows:
            changed = tuple(
                column
                for column, value in zip(table.columns, stored[row["id"]], strict=True)
                if value != row[column.name]
            )
            by_columns[changed].append({"id": row["id"], **{each.name: row[each.name] for each in changed}})
            if (changed or self._images.has_parts) and table is not JOB:
                before = zip((column.name for column in table.columns), stored[row["id"]], strict=True)
                self._images.put(table, dict(before), row)
        for columns, differing in by_columns.items():
            if columns:
                self._columns_set += len(columns)
                self._query(set_nodes(table, columns), {"rows": differing})

    def _mark_embedded(self, ids: Sequence[str]) -> None:
        if ids:
            self._columns_set += len(ids)
            self._query(
                "UNWIND $ids AS i MATCH (c:Chunk {id: i}) SET c.vector_state = 'ready'", {"ids": list(ids)}
            )

    def _append(self, table: NodeTable, rows: list[Values]) -> None:
        if repeated := self._known.get(table.name):
            raise InvalidInputError(f"write: {table.name.lower()} {min(repeated)!r} is recorded already")
        if rows:
            self._create(table, rows)

    def _put_requests(self, rows: list[Values]) -> None:
        known = self._existing(REQUEST, [row["id"] for row in rows])
        if new := [row for row in rows if row["id"] not in known]:
            self._create(REQUEST, new)
        if old := [row for row in rows if row["id"] in known]:
            self._query(set_nodes(REQUEST, REQUEST.columns[1:]), {"rows": old})

    def _detach_moved(self, chunks: Mapping[str, Chunk]) -> set[str]:
        """Detach known chunks whose document or session changes; return their ids."""
        known = [id for id in chunks if id in self._known[CHUNK.name]]
        if not known:
            return set()
        found = self._query(
            "UNWIND $ids AS i MATCH (c:Chunk {id: i}) RETURN c.id, c.document, c.session", {"ids": known}
        )
        moved = {
            id
            for id, document, session in found
            if (document, session) != (chunks[id].document, chunks[id].session)
        }
        for id in moved:
            self._query("MATCH (:Document)-[x:HAS_CHUNK]->(c:Chunk {id: $id}) DELETE x", {"id": id})
            self._query("MATCH (c:Chunk {id: $id})-[x:IN_SESSION]->(:Session) DELETE x", {"id": id})
        return moved

    def _attach(self, chunks: Sequence[Chunk]) -> None:
        """Attach chunks to their document and session."""
        for table, holder in ((HAS_CHUNK, "document"), (IN_SESSION, "session")):
            held = [row for row in chunks if getattr(row, holder) is not None]
            self._create_edges(table, [encode(table, row) for row in held])

    def _stored_edges(self, table: EdgeTable, rows: Sequence[Mapping[str, Any]]) -> dict[Key, Values]:
        """Return the stored edges that have the keys of rows, among others, by key."""
        if len(rows) < _EDGES_SOUGHT:
            found = [values for row in rows for values in self._edges_of_key(table, row)]
        elif not self._query(any_edge(table), {}):
            found = []
        else:
            # A look-up of each would take longer.
            sources = batches(dict.fromkeys(row["_from"] for row in rows), _EDGES_SOUGHT)
            found = [
                values
                for ids in sources
                for values in self._query(edges_where(table, "a.id IN $ids"), {"ids": ids})
            ]
        by_column = (dict(zip(edge_names(table), values, strict=True)) for values in found)
        return {key_of(table, values): values for values in by_column}

    def _put_edges(self, table: EdgeTable, rows: list[Values]) -> None:
        new: list[Values] = []
        sought = [row for row in rows if self._may_exist(table, row)]
        stored = self._stored_edges(table, sought)
        for row in rows:
            if (old := stored.get(key_of(table, row))) is not None:
                self._replace_edge(table, old, row)
            else:
                new.append(row)
                self._images.put(table, None, row)
        self._create_edges(table, new)

    def _replace_edge(self, table: EdgeTable, stored: Values, row: Values) -> None:
        """Set the columns that differ: each takes a fifth of a millisecond."""
        changed = tuple(column for column in table.columns if stored[column.name] != row[column.name])
        if changed or self._images.has_parts:
            self._images.put(table, stored, row)
        if changed:
            named = ("_from", "_to", *(("id",) if table.has_id else ()), *(each.name for each in changed))
            self._columns_set += len(changed)
            self._query(set_edge(table, changed), {name: row[name] for name in named})

    def _may_exist(self, table: EdgeTable, row: Values) -> bool:
        # Ends are looked up before nodes are written: an edge of a new node is new.
        return row["_from"] in self._known[table.source] and row["_to"] in self._known[table.target]

    def _create_edges(self, table: EdgeTable, rows: Sequence[Mapping[str, Any]]) -> None:
        if not self._edges_singly:
            for batch in batches(rows, _EDGES_UNWOUND):
                self._query(create_edges(table), {"rows": batch})
        else:
            # Kuzu copies many edges sooner by COPY, but then checkpoints at once, in the file that serves.
            statement = create_edge(table)
            for row in rows:
                self._query(statement, row)

    def _not_recalled(self, rows: list[Values]) -> list[Values]:
        """Return the recalls that are not there yet."""
        statement = (
            "MATCH (:Session {id: $_from})-[x:RECALLED]->(:Chunk {id: $_to}) "
            "WHERE x.`rank` = $rank AND x.at = $at RETURN x.`rank`"
        )
        return [row for row in rows if not self._query(statement, row)]

    def _recall(self, rows: list[Values]) -> None:
        if not rows:
            return
        self._create_edges(RECALLED, rows)
        times: dict[str, list[Any]] = defaultdict(list)
        for row in rows:
            times[row["_to"]].append(row["at"])
        counts = [{"id": id, "more": len(each), "at": max(each)} for id, each in times.items()]
        self._query(
            "UNWIND $rows AS r MATCH (c:Chunk {id: r.id}) SET c.recall_count = c.recall_count + r.more, "
            "c.last_recalled_at = CASE WHEN c.last_recalled_at > r.at THEN c.last_recalled_at ELSE r.at END",
            {"rows": counts},
        )
