"""The change feed: what each write changed, read by every process that has the store open.

A row has the id of its transaction. Ids are given when a transaction begins to write and show when it
commits, so a cursor that only goes forward would pass rows that commit late: a reader goes on from the oldest
transaction that was still running (`pg_snapshot_xmin`), and knows by their numbers the rows beyond it that it
has read.
"""

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from hydramem.core.errors import StorageError
from hydramem.storage.postgres.pipelines import Statement
from hydramem.storage.row_codec import Values
from hydramem.storage.schema import CHUNK, ENTITY, ITEM, JOB, KEYED_TABLES, LINKS, MENTIONS, RELATES
from hydramem.storage.undo.row_images import key_of
from hydramem.storage.write_validation import PlannedWrite

if TYPE_CHECKING:
    from hydramem.storage.postgres.connection import Database

FEED_TABLE = (
    'CREATE TABLE "feed" ("xid" xid8 NOT NULL DEFAULT pg_current_xact_id(), '
    '"number" bigint GENERATED ALWAYS AS IDENTITY, "node" text NOT NULL, '
    '"at" timestamptz NOT NULL DEFAULT clock_timestamp(), "projects" text[] COLLATE "C" NOT NULL, '
    '"content" text)'
)
FEED_INDEX = 'CREATE INDEX ON "feed" ("xid")'

Answer = list[tuple[Any, ...]]
_FOLLOWED = (CHUNK, ENTITY, ITEM, MENTIONS, RELATES, LINKS)
_MOST_KEYS = 2000
_KEPT_HOURS = 2
# A reader that was away for so long may have missed rows that were deleted.
_LONGEST_AWAY_S = 3600.0
_PRUNED_EVERY_S = 600.0
_READ = (
    "WITH now AS (SELECT pg_snapshot_xmin(pg_current_snapshot()) AS oldest) "
    "SELECT now.oldest::text, f.xid >= now.oldest, f.number, f.node, f.projects, f.content "
    "FROM now LEFT JOIN feed f ON f.xid >= %(cursor)s::xid8 ORDER BY f.xid, f.number"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedRow:
    """What one write of another process changed.

    Attributes:
        projects: Whose rows.
        keys: Keys of written rows, by plural of the table; None where they are too many to name.
        removed: Keys of removed rows, by plural of the table.
        embedded: Ids of chunks that got their vector.
        jobs: How many jobs it left.
    """

    projects: tuple[str, ...]
    keys: Mapping[str, list[Any]] | None
    removed: Mapping[str, list[Any]]
    embedded: tuple[str, ...]
    jobs: int


def feed_statements(
    plan: PlannedWrite, rows: Mapping[str, list[Values]], *, node: str, projects: list[str], channel: str
) -> Iterator[Statement]:
    """Yield what records a write in the feed and wakes those that read it.

    Args:
        plan, rows: The write; one that changes nothing that others hold in memory is not recorded.
        node: Who writes.
        projects: Of its rows.
        channel: On which readers listen.
    """
    keys = {
        table.plural: [list(key_of(table, row)) for row in rows[table.name]]
        for table in _FOLLOWED
        if rows[table.name]
    }
    removed = {
        table.plural: list(plan.removed[table.name])
        for table in KEYED_TABLES
        if table is not JOB and plan.removed[table.name]
    }
    jobs = sum(row["state"] == "waiting" for row in rows[JOB.name])
    if not (keys or removed or jobs or plan.embedded):
        return
    told = {"keys": keys, "removed": removed, "embedded": list(plan.embedded), "jobs": jobs}
    many = sum(map(len, keys.values())) > _MOST_KEYS
    yield from _feed_row(None if many else json.dumps(told), node=node, projects=projects, channel=channel)


def switch_statements(*, node: str, channel: str) -> Iterator[Statement]:
    """Yield what tells others that other vectors serve: what they hold in memory is not known to be right.

    Args:
        node, channel: As in `feed_statements`.
    """
    yield from _feed_row(None, node=node, projects=[], channel=channel)


def _feed_row(content: str | None, *, node: str, projects: list[str], channel: str) -> Iterator[Statement]:
    # Who wrote knows it already, and goes on.
    yield (
        "WITH told AS (INSERT INTO feed (node, projects, content) "
        "VALUES (%(node)s, %(projects)s::text[], %(content)s)) SELECT pg_notify(%(channel)s, %(node)s)",
        {"node": node, "projects": projects, "content": content, "channel": channel},
    )


def joined(rows: Iterable[FeedRow]) -> Iterator[FeedRow]:
    """Yield rows, those one after the other that only wrote as one: their keys are looked up together."""
    for writes_alone, group in groupby(rows, key=lambda row: row.keys is not None and not row.removed):
        some = list(group)
        if not writes_alone or len(some) == 1:
            yield from some
            continue
        keys: dict[str, dict[tuple[str, ...], Any]] = {}
        for row in some:
            for plural, named in (row.keys or {}).items():
                keys.setdefault(plural, {}).update((tuple(key), key) for key in named)
        yield FeedRow(
            projects=tuple(sorted({project for row in some for project in row.projects})),
            keys={plural: list(named.values()) for plural, named in keys.items()},
            removed={},
            embedded=tuple(dict.fromkeys(id for row in some for id in row.embedded)),
            jobs=sum(row.jobs for row in some),
        )


class FeedReader:
    """Reads the feed from where it last was; for one thread at a time.

    Args:
        database: Where the feed is.
        node: Who reads: its own writes are left out.
    """

    def __init__(self, database: "Database", node: str) -> None:
        self._database = database
        self._node = node
        self._ahead: set[int] = set()  # numbers of rows that were read beyond the cursor
        self._read_at = self._pruned_at = time.monotonic()
        with database.apart() as connection:
            self._epoch = database.epoch
            row = connection.execute("SELECT pg_snapshot_xmin(pg_current_snapshot())::text").fetchone()
        if row is None:
            raise StorageError("the database does not say which transactions run")
        self._cursor = str(row[0])
        self._answer: tuple[int, Answer] | None = None

    @property
    def question(self) -> Statement:
        """What reads the feed: for who asks it together with something else, and gives `read` the answer."""
        return _READ, {"cursor": self._cursor}

    def answered(self, answer: "Answer", epoch: int) -> None:
        """Take the answer that a connection of an epoch gave; the next `read` is about this one."""
        self._answer = epoch, answer

    def read(self) -> list[FeedRow] | None:
        """Return what others wrote since the last time, in order; None where some of it is not known.

        Every write that has committed is found, also one that began before others that were read.
        """
        away = time.monotonic() - self._read_at > _LONGEST_AWAY_S
        epoch, found = self._ask()
        self._read_at = time.monotonic()
        # A database that was restored, or a standby without the last transactions, counts from where it is.
        away = away or epoch != self._epoch or int(found[0][0]) < int(self._cursor)
        self._epoch, self._cursor = epoch, str(found[0][0])
        rows: list[FeedRow] = []
        ahead: set[int] = set()
        for _, is_ahead, number, node, projects, content in found:
            if number is None:
                continue
            if is_ahead:
                ahead.add(number)
            if number not in self._ahead and node != self._node:
                rows.append(_row(projects, content))
        self._ahead = ahead
        return None if away else rows

    def _ask(self) -> tuple[int, Answer]:
        """Return what the database answers, with its epoch; an answer that was given is used once."""
        if (answer := self._answer) is not None:
            self._answer = None
            return answer
        statement, parameters = self.question
        with self._database.apart() as connection:
            epoch = self._database.epoch
            found = connection.execute(statement.encode(), parameters).fetchall()
            self._prune(connection)
        return epoch, found

    def _prune(self, connection: Any) -> None:
        if time.monotonic() - self._pruned_at > _PRUNED_EVERY_S:
            self._pruned_at = time.monotonic()
            connection.execute(
                "DELETE FROM feed WHERE at < clock_timestamp() - make_interval(hours => %s)", [_KEPT_HOURS]
            )


def _row(projects: list[str], content: str | None) -> FeedRow:
    if content is None:
        return FeedRow(projects=tuple(projects), keys=None, removed={}, embedded=(), jobs=1)
    told = json.loads(content)
    return FeedRow(
        projects=tuple(projects),
        keys=told["keys"],
        removed=told["removed"],
        embedded=tuple(told.get("embedded", ())),  # a node of an earlier version does not tell it
        jobs=int(told["jobs"]),
    )
