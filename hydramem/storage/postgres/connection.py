"""Connections to PostgreSQL: a pool, transactions that a thread nests, and errors without the address.

The address (DSN) holds a password. It is kept by the pool alone: no message, log or row has any part of it.
"""

import logging
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from time import monotonic
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import psycopg
from pgvector.psycopg import register_vector
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import ConnectionPool, PoolTimeout

from hydramem.core.errors import DiskFullError, HydraMemError, ReadOnlyError, StorageError, StoreBusyError
from hydramem.storage.postgres.noted_writes import NotedWrites
from hydramem.storage.postgres.pipelines import Statement, one_pipeline, send_together
from hydramem.storage.postgres.server_epochs import ServerEpochs

Connection: TypeAlias = psycopg.Connection[Any]
Row = tuple[Any, ...]

# psycopg-pool logs the server's host with each failed attempt; callers get an error instead.
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())
logging.getLogger("psycopg.pool").propagate = False

APP_ROLE = "hydramem_app"
"""The role that a call for some projects runs as; it is subject to every policy of `row_security`."""
PROJECTS_SETTING = "hydramem.projects"
"""The setting of a transaction that policies compare."""

_RESTRICT = (
    "select set_config('role', %(role)s, true), set_config(%(name)s, %(projects)s::text[]::text, true)"
)
_LONGEST_WAIT_S = 30.0
# The pool waits twice as long after each attempt that failed: one that gives up soon, and is asked again,
# finds a server that is back within seconds.
_ATTEMPT_S = 1.0
_TRUSTED_S = 0.5
_LEAST_VERSION = 160_000
# How the codes begin of errors by which the server ends a connection: it, or an administrator, stops.
_ENDED = "57P"
# A program that hangs while it holds a lock must not hang every other one. The address may say otherwise.
_LOCK_WAIT = """
    select set_config('lock_timeout', coalesce(nullif(reset_val, '0'), '60000'), false)
    from pg_settings where name = 'lock_timeout'
"""
# Nothing tells that a host has died: without these a dead node would keep its locks, and a node wait for a
# dead server, for hours (https://www.postgresql.org/docs/current/libpq-connect.html). The address may say
# otherwise for the node's side. In seconds; `tcp_user_timeout` in milliseconds.
_NODE_NOTICES: dict[str, Any] = {
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
_SERVER_NOTICES = (
    "select set_config('tcp_keepalives_idle', '10', false), set_config('tcp_user_timeout', '30000', false),"
    " set_config('tcp_keepalives_interval', '5', false), set_config('tcp_keepalives_count', '3', false)"
)
# Candidates that an approximate search looks at: pgvector's default of 40 finds half of the nearest rows
# behind a filter (recall@20 .495 at 20,000 rows), 200 with a relaxed order .95.
_SEARCH_WIDTH = 200


class LostConnectionError(StorageError):
    """The connection was lost: what was to be committed may be, or not."""


class Database:
    """One schema of a PostgreSQL database; safe to use from many threads.

    Args:
        dsn: Where the database is, with its password.
        schema: Name of the schema that holds every table.
        most_connections: How many connections this process opens at most.
        projects: Returns the projects that the current call may see and write, None where it may all: its
            transactions are then subject to row-level security.

    Attributes:
        writes: What was written to the vectors, as far as this process knows.

    Raises:
        StorageError: The database cannot be reached, is older than PostgreSQL 16, or has no pgvector.
    """

    def __init__(
        self, dsn: str, *, schema: str = "hydramem", most_connections: int = 16,
        projects: Callable[[], Collection[str] | None] = lambda: None,
    ) -> None:  # fmt: skip
        self.schema = schema
        self._projects = projects
        self._bound = threading.local()
        self._used_at: WeakKeyDictionary[Connection, float] = WeakKeyDictionary()
        self._epochs = ServerEpochs()
        self.writes = NotedWrites()
        with database_errors():
            dsn = _noticing_death(dsn)
            self._prepare(dsn)
            self._pool: ConnectionPool[Connection] = ConnectionPool(
                dsn,
                min_size=1,
                max_size=most_connections,
                timeout=_ATTEMPT_S,
                reconnect_timeout=_ATTEMPT_S,
                kwargs={"autocommit": True, "application_name": "hydramem"},
                configure=self._configure,
                check=self._check_idle,
                open=True,
            )

    def _check_idle(self, connection: Connection) -> None:
        """Ask a connection whether it lives, unless it did a moment ago: asking takes a round trip."""
        if monotonic() - self._used_at.get(connection, 0.0) > _TRUSTED_S:
            try:
                ConnectionPool.check_connection(connection)
            except psycopg.Error:
                self._epochs.lost(connection)
                raise

    @property
    def epoch(self) -> int:
        """Which server answers, as a number that grows; ask while a connection of it is lent."""
        return self._epochs.current

    def _prepare(self, dsn: str) -> None:
        """Make the schema and the extension where they are missing, once for all processes."""
        with psycopg.connect(dsn, autocommit=True) as connection:
            if connection.info.server_version < _LEAST_VERSION:
                raise StorageError("the database is older than PostgreSQL 16")
            found = connection.execute(
                "select (select count(*) from pg_extension where extname = 'vector'),"
                " (select count(*) from pg_namespace where nspname = %s)",
                [self.schema],
            ).fetchone()
            if found == (1, 1):
                return
            with connection.transaction():
                connection.execute("select pg_advisory_xact_lock(hashtextextended('hydramem', 0))")
                connection.execute("create extension if not exists vector with schema public")
                connection.execute(
                    sql.SQL("create schema if not exists {}").format(sql.Identifier(self.schema))
                )

    def _configure(self, connection: Connection) -> None:
        register_vector(connection)
        row = connection.execute(
            "select pg_postmaster_start_time(),"
            " set_config('search_path', %s, false), set_config('hnsw.ef_search', %s, false),"
            " set_config('hnsw.iterative_scan', 'relaxed_order', false),"
            " set_config('timezone', 'UTC', false), set_config('jit', 'off', false),"
            # Each statement sees what was committed before it, as after the wait for a lock.
            " set_config('default_transaction_isolation', 'read committed', false)",
            [f'"{self.schema}", public', str(_SEARCH_WIDTH)],
        ).fetchone()
        connection.execute(_SERVER_NOTICES)
        bound_waits(connection)
        if row is not None:
            self._epochs.joined(connection, row[0])

    @contextmanager
    def transaction(
        self, *, opened: bool = True, ending: Sequence[Statement] | None = None
    ) -> Iterator[Connection]:
        """Run a transaction, or join the one that this thread has begun: both then commit together.

        Args:
            opened: Whether it has begun when this yields. If not, what `opening` returns is to be run before
                anything else, in the round trip of the first statements.
            ending: Where it is given, statements wait for their answers only where these are read: what is
                left, the commit and then these statements go in one round trip.

        Raises:
            LostConnectionError: The connection was lost; the transaction may have been committed.
            StorageError: The database refused, or cannot be reached; the transaction is rolled back.
        """
        if (joined := getattr(self._bound, "connection", None)) is not None:
            with database_errors():
                self._open(joined, opened)
                yield joined
            return
        with database_errors(), self._lent() as connection:
            self._bound.connection, self._bound.opening = connection, self._begin()
            self._bound.wrote = False
            done: psycopg.Cursor[Any] | None = None
            try:
                with nullcontext() if ending is None else one_pipeline(connection):
                    self._open(connection, opened)
                    yield connection
                    if not (ending is None or self._bound.opening):
                        done = connection.execute("COMMIT")
                        send_together(connection, ending)
                if done is None:
                    _commit(connection)
                elif done.statusmessage != "COMMIT":
                    raise _failed()
            except BaseException as error:
                if isinstance(error, psycopg.Error) and done is not None and done.statusmessage == "COMMIT":
                    raise LostConnectionError(
                        "the database did not confirm that what it has is safe"
                    ) from None
                with suppress(psycopg.Error):  # of a lost connection: the server rolls back by itself
                    connection.rollback()
                raise
            finally:
                self._bound.connection, self._bound.opening = None, ()
                if self._bound.wrote:  # also where the commit failed: it may have happened
                    self.writes.note()

    def note_vectors(self) -> None:
        """Note that this thread's transaction writes vectors."""
        self._bound.wrote = True

    def opening(self) -> tuple[Statement, ...]:
        """Return the statements that begin this thread's transaction, once; none where it has begun."""
        opening, self._bound.opening = self._bound.opening, ()
        return tuple(opening)

    def _open(self, connection: Connection, wanted: bool) -> None:
        if wanted and (opening := self.opening()):
            send_together(connection, opening)

    @property
    def in_transaction(self) -> bool:
        """Whether this thread has begun a transaction that has not ended."""
        return getattr(self._bound, "connection", None) is not None

    @property
    def is_bounded(self) -> bool:
        """Whether the current call may see some projects alone, which the database then decides."""
        return self._projects() is not None

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Lend a connection for reads: that of this thread's transaction, else one without a transaction.

        Raises:
            StorageError: The database cannot be reached.
        """
        if self._projects() is not None or getattr(self._bound, "connection", None) is not None:
            with self.transaction() as connection:
                yield connection
            return
        with database_errors(), self._lent() as connection:
            yield connection

    @contextmanager
    def holding(self) -> Iterator[Connection]:
        """Keep one connection for this thread: its reads and transactions use it while this lasts.

        A lock of the connection's session so guards what the thread writes: who loses the connection has lost
        both, and cannot commit.

        Raises:
            StorageError: The database cannot be reached.
        """
        with database_errors(), self._pooled() as connection:
            self._bound.held, self._bound.unflushed, self._bound.released = connection, False, False
            try:
                yield connection
            finally:
                self._bound.held = None

    @property
    def held(self) -> Connection | None:
        """The connection that this thread keeps; None where it keeps none."""
        held: Connection | None = getattr(self._bound, "held", None)
        return held

    def committed_holding(self, *, released: bool, flushed: bool) -> None:
        """Note that this thread has committed on the connection that it keeps.

        Args:
            released: Whether the locks of its session are freed.
            flushed: Whether all that it committed is safe.
        """
        self._bound.released, self._bound.unflushed = released, not flushed

    @property
    def is_unflushed(self) -> bool:
        """Whether something that was committed on the connection that this thread keeps may not be safe."""
        return bool(self._bound.unflushed)

    @property
    def is_released(self) -> bool:
        """Whether the locks of the session of the connection that this thread keeps are freed."""
        return bool(self._bound.released)

    @contextmanager
    def _lent(self) -> Iterator[Connection]:
        """Lend the connection that this thread keeps, else one of the pool."""
        if (held := self.held) is not None:
            yield held
            return
        with self._pooled() as connection:
            yield connection

    @contextmanager
    def _pooled(self) -> Iterator[Connection]:
        """Lend a connection of the pool; while the server is away, ask for one again and again."""
        end = monotonic() + _LONGEST_WAIT_S
        while True:
            try:
                connection = self._pool.getconn()
                break
            except PoolTimeout:
                if monotonic() > end:
                    raise
        try:
            yield connection
            # Not by the pool's own callback: it would give each connection back in another thread, later.
            self._used_at[connection] = monotonic()
        finally:
            if connection.broken:
                self._epochs.lost(connection)
            self._pool.putconn(connection)

    @contextmanager
    def apart(self) -> Iterator[Connection]:
        """Lend a connection outside of this thread's transaction, for what cannot run in one.

        Raises:
            StorageError: The database refused, or cannot be reached.
        """
        with database_errors(), self._pooled() as connection:
            yield connection

    def _begin(self) -> tuple[Statement, ...]:
        projects = self._projects()
        if projects is None:
            return (("BEGIN", {}),)
        restriction = {"role": APP_ROLE, "name": PROJECTS_SETTING, "projects": sorted(projects)}
        return (("BEGIN", {}), (_RESTRICT, restriction))

    def close(self) -> None:
        """Close every connection; harmless when repeated."""
        self._pool.close()


def _noticing_death(dsn: str) -> str:
    """Return an address by which connections end whose server has died."""
    given = conninfo_to_dict(dsn)
    return make_conninfo(dsn, **{name: value for name, value in _NODE_NOTICES.items() if name not in given})


def bound_waits(connection: Connection) -> None:
    """Let a connection wait for locks as long as its address says (`lock_timeout`), else for a minute."""
    connection.execute(_LOCK_WAIT)


def _commit(connection: Connection) -> None:
    # The server answers the commit of a transaction that failed as if all were well, and rolls back.
    if connection.info.transaction_status == psycopg.pq.TransactionStatus.INERROR:
        raise _failed()
    connection.commit()


def _failed() -> StorageError:
    return StorageError("a statement of the transaction failed; nothing was written")


def release_locks(
    connection: Connection, release: Statement = ("SELECT pg_advisory_unlock_all()", {})
) -> None:
    """Free the locks of a connection's session; those of a lost connection are free already."""
    with suppress(psycopg.OperationalError):
        connection.execute(release[0].encode(), release[1])


@contextmanager
def database_errors() -> Iterator[None]:
    """Raise what psycopg raises as a `StorageError` whose message has nothing of the address."""
    try:
        yield
    except HydraMemError:
        raise
    except psycopg.errors.DiskFull:
        raise DiskFullError("the database's disk is full; nothing was written") from None
    except psycopg.errors.ReadOnlySqlTransaction:
        raise ReadOnlyError("the database takes no writes: it is a standby, or read-only") from None
    except psycopg.errors.LockNotAvailable:
        raise StoreBusyError(
            "another program held a lock of the database for too long; nothing was written, try again"
        ) from None
    except psycopg.errors.DeadlockDetected:
        raise StoreBusyError(
            "another program wrote the same rows in another order; nothing was written, try again"
        ) from None
    except (PoolTimeout, psycopg.errors.QueryCanceled):
        raise StoreBusyError("the database gave no connection or answer in time; try again") from None
    except psycopg.Error as error:
        # The message of a lost or refused connection names host and user; the server's own answer does not.
        answer = error.diag.message_primary if error.sqlstate else None
        if answer is None:
            raise LostConnectionError(
                "the database of HYDRAMEM_STORAGE_URL: it cannot be reached, or closed the connection"
            ) from None
        ended = str(error.sqlstate).startswith(_ENDED)
        kind = LostConnectionError if ended else StorageError
        raise kind(f"the database of HYDRAMEM_STORAGE_URL: {error.sqlstate}: {answer}") from None
