"""What a Write must satisfy, and what it amounts to, before any graph store takes it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import islice
from operator import attrgetter
from typing import Any, TypeVar

from hydramem.core.errors import InvalidInputError
from hydramem.core.ids import new_id
from hydramem.core.row_types import (
    Change,
    Chunk,
    Document,
    Entity,
    Job,
    Link,
    Mention,
    Recalled,
    Relation,
    Session,
)
from hydramem.core.time import now
from hydramem.storage.schema import EdgeTable
from hydramem.storage.store import Listing
from hydramem.storage.write import OutboxRow, Removal, Write

Row = TypeVar("Row")

Pair = tuple[str, str]

EdgeKey = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedWrite:
    """A write with repeated rows folded into their last, keyed as stores address them.

    Attributes:
        removed: What is taken out before; nothing that is written refers to it.
        verbatim, embedded, heard: As in `Write`.
        needs: Ids, by node table, that must be there already, and stay.
        outbox: The row that tells the vector store, where it has something to hear.
    """

    changes: Mapping[str, Change]
    documents: Mapping[str, Document]
    chunks: Mapping[str, Chunk]
    entities: Mapping[str, Entity]
    sessions: Mapping[str, Session]
    jobs: Mapping[str, Job]
    relations: Mapping[EdgeKey, Relation]
    links: Mapping[EdgeKey, Link]
    mentions: Mapping[Pair, Mention]
    recalled: tuple[Recalled, ...]
    removed: Removal
    verbatim: bool
    embedded: tuple[str, ...]
    heard: tuple[str, ...]
    needs: Mapping[str, tuple[str, ...]]
    outbox: OutboxRow | None


def plan_write(write: Write) -> PlannedWrite:
    """Fold a write and list what it refers to.

    Raises:
        InvalidInputError: Rows without a Change, or one change id twice.
    """
    if not write.verbatim:
        _check_audited(write)
    chunks = {row.id: row for row in write.chunks}
    entities = {row.id: row for row in write.entities}
    told = (*chunks, *write.removed.chunks, *write.embedded), (*entities, *write.removed.entities)
    told_chunks, told_entities = (tuple(dict.fromkeys(ids)) for ids in told)
    outbox = OutboxRow(id=new_id("o"), chunks=told_chunks, entities=told_entities, at=now())
    return PlannedWrite(
        changes={row.id: row for row in write.changes},
        documents={row.id: row for row in write.documents},
        chunks=chunks,
        entities=entities,
        sessions={row.id: row for row in write.sessions},
        jobs={row.id: row for row in write.jobs},
        relations={relation_key(row): row for row in write.relations},
        links={link_key(row): row for row in write.links},
        mentions={(row.chunk, row.entity): row for row in write.mentions},
        recalled=write.recalled,
        removed=_each_once(write.removed),
        verbatim=write.verbatim,
        embedded=write.embedded,
        heard=write.heard,
        needs=_needs(write),
        outbox=outbox if told_chunks or told_entities else None,
    )


def relation_key(row: Relation) -> EdgeKey:
    """Return how a store addresses a relation."""
    return (row.subject, row.object, row.id)


def link_key(row: Link) -> EdgeKey:
    """Return how a store addresses a link."""
    return (row.source, row.target, row.id)


def relation_order(row: Relation) -> EdgeKey:
    """Return what decides between relations of one moment."""
    return (row.id, row.subject, row.object)


def link_order(row: Link) -> EdgeKey:
    """Return what decides between links of one moment."""
    return (row.id, row.source, row.target)


def edge_order(table: EdgeTable) -> Callable[[Any], tuple[Any, ...]]:
    """Return the key that orders the edges of a table: their ends, then id and time where they have them."""
    names = (*table.ends, *(name for name in ("id", "at") if hasattr(table.row, name)))
    return attrgetter(*names)


def _check_audited(write: Write) -> None:
    rows = (write.documents, write.chunks, write.entities, write.relations)
    taken_out = replace(write.removed, jobs=())
    sessions = () if write.recalled else write.sessions
    if not write.changes and any((*rows, write.mentions, write.links, sessions, taken_out)):
        raise InvalidInputError("write: rows without a Change; every write but recalls and jobs is audited")
    if len({change.id for change in write.changes}) != len(write.changes):
        raise InvalidInputError("write: two changes have one id")


def _needs(write: Write) -> dict[str, tuple[str, ...]]:
    return {
        "Document": _absent((row.document for row in write.chunks), write.documents),
        "Session": _absent(
            (*(row.session for row in write.chunks), *(row.session for row in write.recalled)), write.sessions
        ),
        "Chunk": _absent(
            (
                *(row.chunk for row in write.mentions),
                *(end for row in write.links for end in (row.source, row.target)),
                *(row.chunk for row in write.recalled),
            ),
            write.chunks,
        ),
        "Entity": _absent(
            (
                *(row.entity for row in write.mentions),
                *(end for row in write.relations for end in (row.subject, row.object)),
            ),
            write.entities,
        ),
    }


def _absent(ids: Iterable[str | None], written: Iterable[Any]) -> tuple[str, ...]:
    present = {row.id for row in written}
    return tuple(dict.fromkeys(id for id in ids if id is not None and id not in present))


def _each_once(removed: Removal) -> Removal:
    keys = {part.name: tuple(dict.fromkeys(getattr(removed, part.name))) for part in fields(Removal)}
    return Removal(**keys)


def removed_nodes(removed: Removal) -> dict[str, tuple[str, ...]]:
    """Return the ids of the nodes that are taken out, by table."""
    return {
        "Document": removed.documents,
        "Chunk": removed.chunks,
        "Entity": removed.entities,
        "Session": removed.sessions,
        "Job": removed.jobs,
        "Change": removed.changes,
    }


def removed_edges(removed: Removal) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Return the keys of the edges that are taken out, by table."""
    return {"RELATES": removed.relations, "LINKS": removed.links, "MENTIONS": removed.mentions}


def check_references(needs: Mapping[str, tuple[str, ...]], exists: Callable[[str, str], bool]) -> None:
    """Raise InvalidInputError naming the first needed row that is not there."""
    for table, ids in needs.items():
        for id in ids:
            if not exists(table, id):
                raise InvalidInputError(f"write: there is no {table.lower()} {id!r} to refer to")


def check_page(page: Listing) -> None:
    """Raise InvalidInputError where a page is not one."""
    if page.limit < 0 or page.offset < 0:
        raise InvalidInputError(f"limit {page.limit}, offset {page.offset}: neither may be negative")


def batches(items: Iterable[Row], size: int) -> Iterator[list[Row]]:
    """Cut items into lists of at most `size`."""
    left = iter(items)
    while batch := list(islice(left, size)):
        yield batch


def newest_first(rows: Iterable[Row], *, moment: Callable[[Row], Any], id: Callable[[Row], Any]) -> list[Row]:
    """Sort newest first, ties by id."""
    return sorted(sorted(rows, key=id), key=moment, reverse=True)
