"""Validate a `Write` and group its rows by table, before any graph store applies it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
        parts: The rows of each of several writes that are committed together, as `rows` has them.
    """

    rows: Mapping[str, Mapping[Any, Any]]
    recalled: tuple[Recalled, ...]
    removed: Mapping[str, tuple[Any, ...]]
    verbatim: bool
    embedded: tuple[str, ...]
    replicated: tuple[str, ...]
    references: Mapping[str, tuple[str, ...]]
    outbox: str | None
    parts: tuple[Mapping[str, Mapping[Any, Any]], ...] = ()


def commit_together(writes: Sequence[Write]) -> Write:
    """Return one write that commits several, in their order; of rows with one key the last is kept.

    Args:
        writes: Plain writes of new and changed rows with their Changes, as if those before were committed.
    """
    if len(writes) == 1:
        return writes[0]
    if any(each.removed or each.verbatim or each.recalled or each.parts for each in writes):
        raise InvalidInputError("write: what removes rows, or is a dump's, is committed by itself")
    rows: dict[str, Any] = {
        table.plural: tuple(
            {table.key_of(row): row for each in writes for row in getattr(each, table.plural)}.values()
        )
        for table in KEYED_TABLES
    }
    return Write(
        **rows,
        embedded=tuple(id for each in writes for id in each.embedded),
        requests=tuple(row for each in writes for row in each.requests),
        deferred=all(each.deferred for each in writes),
        parts=tuple(writes),
    )


def plan_write(write: Write) -> PlannedWrite:
    """Group a write by table and list the rows that it refers to.

    Raises:
        InvalidInputError: Rows without a Change, or one change id twice.
    """
    if not write.verbatim:
        _check_audited(write)
    rows = _by_key(write)
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
        parts=tuple(map(_by_key, write.parts)),
    )


def _by_key(write: Write) -> dict[str, dict[Any, Any]]:
    return {
        table.name: {table.key_of(row): row for row in getattr(write, table.plural)} for table in KEYED_TABLES
    }


def _check_audited(write: Write) -> None:
    rows = (write.documents, write.entities, write.relations, write.mentions, write.links)
    kept = () if write.refreshed else (write.chunks, write.items)
    sessions = () if write.recalled else write.sessions
    if not write.changes and any((*rows, *kept, sessions, replace(write.removed, jobs=()))):
        raise InvalidInputError(
            "write: rows without a Change; every write but recalls, refreshed items and jobs is audited"
        )
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
