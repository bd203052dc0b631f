"""One write inside its transaction: projects locked, references checked, rows deleted and put."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from hydramem.core.errors import InvalidInputError
from hydramem.storage.postgres.graph.stored_rows import (
    EDGES,
    NODES,
    StoredRows,
    among_keys,
    read_stored_rows,
    removed_ends,
)
from hydramem.storage.postgres.parameters import as_parameters
from hydramem.storage.postgres.pipelines import Statement, send_together
from hydramem.storage.postgres.schema_statements import columns_of, key_columns, table_name
from hydramem.storage.row_codec import Values, encode
from hydramem.storage.schema import (
    CHANGE,
    CHUNK,
    KEYED_TABLES,
    LINKS,
    MENTIONS,
    OUTBOX,
    RECALLED,
    REQUEST,
    Table,
)
from hydramem.storage.undo.row_images import TABLES, key_of
from hydramem.storage.undo.write_images import WriteImages
from hydramem.storage.write_validation import PlannedWrite, check_references

Encoded = dict[str, list[Values]]
_ENCODER = msgspec.json.Encoder()
_PUT: dict[str, str] = {}  # statements by name of the table
_BYTES_AT_ONCE = 16 << 20
"""About how many bytes of rows one statement carries."""
_HAVE_PROJECT = ("Document", "Chunk", "Entity", "Session", "Item", "RELATES", "Job", "Change")

# Of an edge or a recall, its project is that of the chunk that it begins or ends in.
_CHUNK_OF = {MENTIONS.name: "chunk", LINKS.name: "source", RECALLED.name: "chunk"}


def encode_write(plan: PlannedWrite) -> Encoded:
    """Turn every row of a write into values by table, before a connection is taken.

    Raises:
        InvalidInputError: A value cannot be stored.
    """
    rows = {
        table.name: [encode(table, row) for row in plan.rows[table.name].values()]
        for table in (*KEYED_TABLES, OUTBOX, REQUEST)
    }
    recalled = dict.fromkeys(plan.recalled) if plan.verbatim else plan.recalled
    return {**rows, RECALLED.name: [encode(RECALLED, row) for row in recalled]}


def projects_of(rows: Encoded) -> list[str]:
    """Return the projects that the rows of a write name, in order."""
    named = {row["project"] for name in _HAVE_PROJECT for row in rows[name]}
    return sorted(project for project in named if project is not None)


def apply_write(
    connection: Any,
    plan: PlannedWrite,
    rows: Encoded,
    *,
    projects: Sequence[str],
    first: Sequence[Statement] = (),
    also: Iterable[Statement] = (),
) -> None:
    """Write everything of a plan, inside a transaction; two round trips, of which a pipeline saves one.

    Args:
        connection: In the transaction, or `first` begins it.
        plan, rows: The write.
        projects: Whose rows the outbox and the answers of requests are.
        first: Statements that run before anything is read.
        also: Statements that run after those of the write.

    Raises:
        InvalidInputError: A row is referred to that is not there, or a change is there already.
    """
    stored = read_stored_rows(connection, plan, first)
    check_references(plan.references, lambda table, id: id in stored.ids[table])
    repeated = stored.ids[CHANGE.name] & plan.rows[CHANGE.name].keys()
    if repeated and not plan.verbatim:
        raise InvalidInputError(f"write: change {min(repeated)!r} is recorded already")
    if not plan.verbatim:
        images = _images(plan, rows, stored)
        rows = {**rows, CHANGE.name: [{**row, "image": images.get(row["id"])} for row in rows[CHANGE.name]]}
    send_together(connection, (*_statements(plan, rows, stored, projects), *also))


def _images(plan: PlannedWrite, rows: Encoded, stored: StoredRows) -> dict[str, str | None]:
    images = WriteImages(plan)
    for name, table in TABLES.items():
        for key in stored.removed[name]:
            images.removed(table, stored.rows[name][key])
        for row in rows[name]:
            images.put(table, stored.replaced(table, key_of(table, row)), row)
    return images.texts()


def _statements(
    plan: PlannedWrite, rows: Encoded, stored: StoredRows, projects: Sequence[str]
) -> Iterator[Statement]:
    yield from _removals(plan)
    for table in NODES:
        yield from _put(table, _differing(table, rows[table.name], stored))
    yield from _moves(rows[CHUNK.name], stored)
    if plan.embedded:
        yield (
            "UPDATE chunk SET vector_state = 'ready' WHERE id = ANY(%(ids)s::text[])",
            as_parameters({"ids": list(plan.embedded)}),
        )
    for edges in EDGES:
        differing = _differing(edges, rows[edges.name], stored)
        yield from _put(edges, _with_projects(edges, differing, rows[CHUNK.name]))
    for table in (OUTBOX, REQUEST):
        yield from _put(table, [{**row, "projects": list(projects)} for row in rows[table.name]])
    if plan.replicated:
        yield (
            "DELETE FROM outbox WHERE id = ANY(%(ids)s::text[])",
            as_parameters({"ids": list(plan.replicated)}),
        )
    new_changes = [row for row in rows[CHANGE.name] if row["id"] not in stored.ids[CHANGE.name]]
    yield from _put(CHANGE, new_changes)
    yield from _recalls(rows[RECALLED.name], verbatim=plan.verbatim)


def _removals(plan: PlannedWrite) -> Iterator[Statement]:
    """Yield what deletes the rows that a write removes, and the edges and recalls that end in them."""
    for table in (*EDGES, RECALLED):
        keys = plan.removed.get(table.name, ())
        if keys:
            condition, parameters = among_keys(table, keys)
            yield f"DELETE FROM {table_name(table)} c WHERE {condition}", parameters
        condition, parameters = removed_ends(table, plan.removed)
        if condition:
            yield f"DELETE FROM {table_name(table)} c WHERE {condition}", parameters
    for nodes in (*NODES, CHANGE):
        if ids := plan.removed[nodes.name]:
            yield (
                f"DELETE FROM {table_name(nodes)} WHERE id = ANY(%(ids)s::text[])",
                as_parameters({"ids": list(ids)}),
            )


def _differing(table: Table, rows: Sequence[Values], stored: StoredRows) -> list[Values]:
    """Return the rows that are new or not as they are stored."""
    return [row for row in rows if stored.replaced(table, key_of(table, row)) != row]


def _with_projects(table: Table, rows: Sequence[Values], chunks: Sequence[Values]) -> Sequence[Values]:
    """Return edges with the projects of those chunks that the write has, which are not looked up then."""
    if table.name not in _CHUNK_OF:
        return rows
    known = {chunk["id"]: chunk["project"] for chunk in chunks}
    return [{**row, "project": known.get(row["_from"])} for row in rows]


def _put(table: Table, rows: Sequence[Values]) -> Iterator[Statement]:
    """Yield what inserts rows, or sets the columns of those that have the same key."""
    if not rows:
        return
    statement = _PUT.get(table.name) or _PUT.setdefault(table.name, _put_statement(table))
    for part in _as_json(_named_as_columns(table, row) for row in rows):
        yield statement, {"rows": part}


def _put_statement(table: Table) -> str:
    added = ("projects",) if table in (OUTBOX, REQUEST) else ()
    names = (*columns_of(table), *added)
    columns = ", ".join(f'"{name}"' for name in names)
    values = ", ".join(f'r."{name}"' for name in names)
    if table.name in _CHUNK_OF:
        columns += ', "project"'
        of_chunk = f'(SELECT k.project FROM chunk k WHERE k.id = r."{_CHUNK_OF[table.name]}")'
        values += f', coalesce(r."project", {of_chunk})'
    key = key_columns(table)
    rest = [name for name in names if name not in key]
    replaced = ", ".join(f'"{name}" = EXCLUDED."{name}"' for name in rest)
    key_names = ", ".join(f'"{name}"' for name in key)
    conflict = f" ON CONFLICT ({key_names}) DO UPDATE SET {replaced}" if key else ""
    return (
        f"INSERT INTO {table_name(table)} ({columns}) SELECT {values} "
        f"FROM json_populate_recordset(NULL::{table_name(table)}, %(rows)s::json) r{conflict}"
    )


def _named_as_columns(table: Table, row: Mapping[str, Any]) -> Mapping[str, Any]:
    if "_from" not in row:
        return row
    source, target, *_ = columns_of(table)
    rest = {name: value for name, value in row.items() if name not in ("_from", "_to")}
    return {source: row["_from"], target: row["_to"], **rest}


def _as_json(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield rows as JSON lists of a limited size."""
    held: list[bytes] = []
    size = 0
    for row in rows:
        text = _ENCODER.encode(row)
        held.append(text)
        size += len(text)
        if size > _BYTES_AT_ONCE:
            yield _listed(held)
            held, size = [], 0
    if held:
        yield _listed(held)


def _listed(rows: Sequence[bytes]) -> str:
    return (b"[" + b",".join(rows) + b"]").decode()


def _moves(chunks: Sequence[Values], stored: StoredRows) -> Iterator[Statement]:
    """Yield what gives the edges of chunks that change their project the new one."""
    moved = [
        row["id"]
        for row in chunks
        if (old := stored.replaced(CHUNK, (row["id"],))) is not None and old["project"] != row["project"]
    ]
    if moved:
        for name, end in _CHUNK_OF.items():
            yield (
                f'UPDATE "{name.lower()}" e SET project = k.project FROM chunk k '
                f'WHERE k.id = e."{end}" AND k.id = ANY(%(ids)s::text[])',
                {"ids": moved},
            )


def _recalls(rows: Sequence[Values], *, verbatim: bool) -> Iterator[Statement]:
    """Yield what records recalls and, unless they come with their chunks, counts them there."""
    if not rows:
        return
    columns = ", ".join(f'r."{name}"' for name in columns_of(RECALLED))
    known = (
        " WHERE NOT EXISTS (SELECT FROM recalled x WHERE (x.session, x.chunk, x.rank, x.at) = "
        "(r.session, r.chunk, r.rank, r.at))"
    )
    for part in _as_json(_named_as_columns(RECALLED, row) for row in rows):
        yield (
            "INSERT INTO recalled (session, chunk, rank, at, project) "
            f"SELECT {columns}, (SELECT k.project FROM chunk k WHERE k.id = r.chunk) "
            f"FROM json_populate_recordset(NULL::recalled, %(rows)s::json) r{known if verbatim else ''}",
            {"rows": part},
        )
    if verbatim:
        return
    moments: dict[str, list[datetime]] = defaultdict(list)
    for row in rows:
        moments[row["_to"]].append(row["at"])
    yield (
        "UPDATE chunk SET recall_count = recall_count + r.more, "
        "last_recalled_at = greatest(last_recalled_at, r.at) "
        "FROM unnest(%(ids)s::text[], %(more)s::bigint[], %(at)s::timestamp[]) AS r(id, more, at) "
        "WHERE chunk.id = r.id",
        {
            "ids": list(moments),
            "more": [len(each) for each in moments.values()],
            "at": [max(each) for each in moments.values()],
        },
    )
