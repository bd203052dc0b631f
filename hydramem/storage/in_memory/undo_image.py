"""The image of a write on plain dictionaries; see `storage.undo.undo_images`."""

from collections.abc import Iterable, Mapping
from typing import Any

from hydramem.storage.row_codec import encode
from hydramem.storage.undo.undo_images import TABLES, ImageMaker
from hydramem.storage.write import Removal
from hydramem.storage.write_validation import PlannedWrite, removed_edges, removed_nodes

Rows = Mapping[Any, Any]


def undo_image(
    plan: PlannedWrite, held: Mapping[str, Rows], detached: Mapping[str, Iterable[Any]]
) -> str | None:
    """Return the image of a write that is about to be applied.

    Args:
        plan: What is written.
        held: What is stored, by table and key.
        detached: Keys of the edges that go with removed nodes, by table.
    """
    maker = ImageMaker()
    gone = _gone(plan.removed, held, detached)
    for name, table in TABLES.items():
        for key in gone[name]:
            maker.removed(table, encode(table, held[name][key]))
    for name, rows in _written(plan).items():
        for key, row in rows.items():
            values = encode(TABLES[name], row)
            if key in held[name] and key not in gone[name]:
                maker.changed(TABLES[name], encode(TABLES[name], held[name][key]), values)
            else:
                maker.made(TABLES[name], values)
    return maker.text()


def _gone(
    removed: Removal, held: Mapping[str, Rows], detached: Mapping[str, Iterable[Any]]
) -> dict[str, dict[Any, None]]:
    """Return the keys that are there and are taken out, by table."""
    named: Mapping[str, Iterable[Any]] = {**removed_nodes(removed), **removed_edges(removed)}
    return {
        name: dict.fromkeys(key for key in (*named[name], *detached.get(name, ())) if key in held[name])
        for name in TABLES
    }


def _written(plan: PlannedWrite) -> dict[str, Rows]:
    rows: dict[str, Rows] = {
        "Document": plan.documents,
        "Session": plan.sessions,
        "Entity": plan.entities,
        "Chunk": plan.chunks,
        "MENTIONS": plan.mentions,
        "RELATES": plan.relations,
        "LINKS": plan.links,
    }
    return rows
