"""Taking rows out inside a write's transaction, each noted whole before it goes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hydramem.storage.cypher.engine import Query
from hydramem.storage.cypher.statements import (
    edge_names,
    edges_at,
    edges_between,
    fetch_nodes,
    has_id,
    remove_edge,
    remove_nodes,
)
from hydramem.storage.row_codec import decode, encode
from hydramem.storage.schema import (
    CHANGE,
    CHUNK,
    DOCUMENT,
    ENTITY,
    JOB,
    LINKS,
    MENTIONS,
    RELATES,
    SESSION,
    EdgeTable,
    NodeTable,
)
from hydramem.storage.undo.undo_images import ImageMaker, key_of
from hydramem.storage.write import Removal
from hydramem.storage.write_validation import batches, removed_edges, removed_nodes

_AT_ONCE = 500


def remove(query: Query, removed: Removal, image: ImageMaker) -> None:
    """Take rows out, with the edges that end in them.

    Args:
        query: Runs statements in the open transaction.
        removed: What goes; what is not there is no error.
        image: Takes down what went; jobs and changes are no part of it.
    """
    for edges in (MENTIONS, RELATES, LINKS):
        statement = remove_edge(edges)
        for key in removed_edges(removed)[edges.name]:
            row = dict(zip(("_from", "_to", "id"), key, strict=False))
            _note(image, edges, between(query, edges, row))
            query(statement, row)
    for nodes in (DOCUMENT, SESSION, ENTITY, CHUNK, JOB, CHANGE):
        for ids in batches(removed_nodes(removed)[nodes.name], _AT_ONCE):
            if nodes not in (JOB, CHANGE):
                _note(image, nodes, query(fetch_nodes(nodes), {"ids": ids}))
                _note_edges(query, image, nodes, ids)
            query(remove_nodes(nodes), {"ids": ids})


def between(query: Query, table: EdgeTable, row: Mapping[str, Any]) -> list[list[Any]]:
    """Return the stored edge of these ends and, where it has one, this id."""
    found = query(edges_between(table), {"_from": row["_from"], "_to": row["_to"]})
    place = edge_names(table).index("id") if has_id(table) else 0
    return [values for values in found if not has_id(table) or values[place] == row["id"]]


def _note_edges(query: Query, image: ImageMaker, nodes: NodeTable, ids: Sequence[str]) -> None:
    """Note the edges that end in nodes, each once."""
    for edges in (MENTIONS, RELATES, LINKS):
        sides = [end for end, side in (("a", edges.source), ("b", edges.target)) if side == nodes.name]
        found = {
            key_of(edges, dict(zip(edge_names(edges), values, strict=True))): values
            for end in sides
            for id in ids
            for values in query(edges_at(edges, end), {"id": id})
        }
        _note(image, edges, found.values())


def _note(image: ImageMaker, table: NodeTable | EdgeTable, rows: Iterable[Sequence[Any]]) -> None:
    for values in rows:
        image.removed(table, encode(table, decode(table, values)))
