"""Validate a `Write` and group its rows by table, before any graph store applies it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from operator import attrgetter
from typing import Any, TypeVar

from hydramem.core.errors import InvalidInputError
from hydramem.core.ids import new_id
from hydramem.core.row_types import Recalled
from hydramem.core.time import now
from hydramem.storage.schema import CHUNK, ENTITY, KEYED_TABLES, OUTBOX, RECALLED, REQUEST, EdgeTable
from hydramem.storage.store import Listing
from hydramem.storage.write import OutboxRow, Write

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedWrite:
    """A write whose rows are grouped by table and key; of several rows with one key the last is kept.

    Attributes:
        rows: New rows by name of the table and key, for every keyed table, the outbox and requests.
        removed: Keys of the rows that are deleted first, by name of the table.
        verbatim, embedded, replicated: As in `Write`.
        references: Ids, by node table, that must exist already and are not removed.
        outbox: Id of the outbox row; None where the write concerns no row of the vector store.
    """

    rows: Mapping[str, Mapping[Any, Any]]
    recalled: tuple[Recalled, ...]
    removed: Mapping[str, tuple[Any, ...]]
    verbatim: bool
    embedded: tuple[str, ...]
    replicated: tuple[str, ...]
    references: Mapping[str, tuple[str, ...]]
    outbox: str | None


def plan_write(write: Write) -> PlannedWrite:
    """Group a write by table and list the rows that it refers to.

    Raises:
        InvalidInputError: Rows without a Change, or one change id twice.
    """
    if not write.verbatim:
        _check_audited(write)
    rows: dict[str, dict[Any, Any]] = {
        table.name: {table.key_of(row): row for row in getattr(write, table.plural)} for table in KEYED_TABLES
    }
    removed = {
        table.name: tuple(dict.fromkeys(getattr(write.removed, table.plural))) for table in KEYED_TABLES
    }
    chunks = (*rows[CHUNK.name], *removed[CHUNK.name], *write.embedded)
    entities = (*rows[ENTITY.name], *removed[ENTITY.name])
    outbox = OutboxRow(
        id=new_id("o"), chunks=tuple(dict.fromkeys(chunks)), entities=tuple(dict.fromkeys(entities)), at=now()
    )
    concerned = bool(chunks or entities)
    requests = {row.id: row for row in write.requests}
    return PlannedWrite(
        rows={**rows, OUTBOX.name: {outbox.id: outbox} if concerned else {}, REQUEST.name: requests},
        recalled=write.recalled,
        removed=removed,
        verbatim=write.verbatim,
        embedded=write.embedded,
        replicated=write.replicated,
        references=_references(write, rows),
        outbox=outbox.id if concerned else None,
    )


def _check_audited(write: Write) -> None:
    rows = (write.documents, write.chunks, write.entities, write.relations, write.mentions, write.links)
    sessions = () if write.recalled else write.sessions
    if not write.changes and any((*rows, sessions, replace(write.removed, jobs=()))):
        raise InvalidInputError("write: rows without a Change; every write but recalls and jobs is audited")
    if len({change.id for change in write.changes}) != len(write.changes):
        raise InvalidInputError("write: two changes have one id")


def _references(write: Write, rows: Mapping[str, Mapping[Any, Any]]) -> dict[str, tuple[str, ...]]:
    """Return the ids, by node table, that rows refer to and that this write does not contain."""
    found: dict[str, dict[str, None]] = {}
    for table in (*KEYED_TABLES, RECALLED):
        for column, target in table.references:
            ids = (getattr(row, column) for row in getattr(write, table.plural))
            missing = (id for id in ids if id is not None and id not in rows[target])
            found.setdefault(target, {}).update(dict.fromkeys(missing))
    return {target: tuple(ids) for target, ids in found.items()}


def check_references(references: Mapping[str, tuple[str, ...]], exists: Callable[[str, str], bool]) -> None:
    """Raise InvalidInputError that names the first referenced row that does not exist."""
    for table, ids in references.items():
        for id in ids:
            if not exists(table, id):
                raise InvalidInputError(f"write: there is no {table.lower()} {id!r} to refer to")


def check_page(page: Listing) -> None:
    """Raise InvalidInputError where a page's limit or offset is negative."""
    if page.limit < 0 or page.offset < 0:
        raise InvalidInputError(f"limit {page.limit}, offset {page.offset}: neither may be negative")


def batches(items: Iterable[Row], size: int) -> Iterator[list[Row]]:
    """Cut items into lists of at most `size`."""
    left = iter(items)
    while batch := list(islice(left, size)):
        yield batch


def edge_order(table: EdgeTable) -> Callable[[Any], tuple[Any, ...]]:
    """Return the key that orders the edges of a table: ends, then id, time and rank where they have them."""
    names = (*table.ends, *(name for name in ("id", "at", "rank") if hasattr(table.row, name)))
    return attrgetter(*names)
