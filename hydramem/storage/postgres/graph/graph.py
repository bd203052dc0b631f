"""The graph store on PostgreSQL: one short method for each promise of `GraphStore`."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from hydramem.core.errors import (
    DiskFullError,
    HydraMemError,
    InvalidInputError,
    ReadOnlyError,
    StoreBusyError,
)
from hydramem.core.ids import new_id
from hydramem.core.project_bounds import bounds
from hydramem.core.row_types import Job
from hydramem.storage.postgres.connection import (
    Connection,
    Database,
    LostConnectionError,
    database_errors,
    release_locks,
)
from hydramem.storage.postgres.feed import feed_statements, switch_statements
from hydramem.storage.postgres.follower import Follow, Follower, Wants
from hydramem.storage.postgres.graph.counts import PostgresCounts
from hydramem.storage.postgres.graph.snapshot_tables import project_tables
from hydramem.storage.postgres.graph.writes import apply_write, encode_write, projects_of
from hydramem.storage.postgres.held_locks import RELEASE, RELEASE_AND_FLUSH, hold_further, hold_projects
from hydramem.storage.postgres.job_claims import JobClaims
from hydramem.storage.postgres.parameters import as_parameters
from hydramem.storage.postgres.pipelines import send_together
from hydramem.storage.postgres.project_locks import project_locks, store_lock, vectors_lock
from hydramem.storage.postgres.schema_statements import prepare_schema, set_meta
from hydramem.storage.postgres.tended_projects import TendedProjects
from hydramem.storage.schema import JOB, OUTBOX
from hydramem.storage.store import ItemPlace, entities_by_key, item_places_of
from hydramem.storage.write import Write
from hydramem.storage.write_validation import PlannedWrite, plan_write

if TYPE_CHECKING:
    import pyarrow as pa

# The lock of the whole store is shared; the locks of projects are taken alone, in the order of the list.
_LOCK = (
    "SELECT pg_advisory_xact_lock_shared(%(store)s), "
    "(SELECT count(pg_advisory_xact_lock(lock)) FROM unnest(%(projects)s::bigint[]) AS lock)"
)
# Plans of statements for a few rows take longer to make than to carry out. One that was made while a table
# was nearly empty would read it whole for as long as it is kept; a write looks up keys, and nothing else.
_FEW_ROWS = 200
_PLANNED_ONCE = (
    ", set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true)"
    ", set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true)"
)
_SORTED_IN_MEMORY = ", set_config('work_mem', '64MB', true)"
_NOT_FLUSHED = ", set_config('synchronous_commit', 'off', true)"
_MAY_FLUSH = (
    "SELECT coalesce(bool_and(has_function_privilege(oid, 'execute')), false) FROM pg_proc "
    "WHERE proname = 'pg_logical_emit_message' AND pronargs > 2 AND proargtypes[1] = 'text'::regtype "
    "AND proargtypes[2] = 'text'::regtype"
)


def open_postgres_graph(database: Database) -> "PostgresGraph":
    """Open the graph in a schema of a database, or create it there; the graph closes the database.

    Raises:
        SchemaError: A newer version wrote it.
        StorageError: The database refused.
    """
    try:
        prepare_schema(database)
    except BaseException:
        database.close()
        raise
    return PostgresGraph(database)


class PostgresGraph(PostgresCounts):
    """A `GraphStore` over a schema of a database, which any number of processes may use.

    Attributes:
        node: Names this opening of the store among all that write to it.
        channel: On which the database wakes those that follow.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.node = new_id("n")
        self._claims = JobClaims(database)
        self._tended = TendedProjects(database)
        self.channel = f"hydramem_{database.schema}"[:63]
        self._follower: Follower | None = None
        ((self._may_flush,),) = self._rows(_MAY_FLUSH, {})

    @property
    def engine(self) -> str:
        """Name of the engine."""
        return "postgres"

    @property
    def database(self) -> Database:
        """Where the rows are: a vector store there commits together with the graph."""
        return self._database

    @property
    def has_vectors(self) -> bool:
        """Whether the vectors are here too."""
        return True

    def write(self, write: Write) -> str | None:
        """Commit everything or nothing; return the id of the outbox row, if any."""
        plan = plan_write(write)
        self._apply(plan, lambda: None)
        return plan.outbox

    def write_with(
        self, write: Write, put_vectors: Callable[[], None], *, last: bool
    ) -> tuple[str | None, HydraMemError | None]:
        """Commit a write and, in the same transaction, its vectors; without them where these fail.

        Args:
            put_vectors: Puts them.
            last: Whether the locks that this thread holds are not needed any more once it is committed.

        Returns:
            The id of the outbox row that is left, and why it is.
        """
        plan = plan_write(write)
        if plan.outbox is None:
            self._apply(plan, lambda: None, last=last)
            return None, None
        try:
            mirrored = replace(plan, rows={**plan.rows, OUTBOX.name: {}})
            self._apply(mirrored, put_vectors, last=last)
            return None, None
        except (DiskFullError, LostConnectionError, ReadOnlyError, StoreBusyError):
            raise
        except HydraMemError as error:
            # Nothing is committed; where the rows themselves are at fault, they fail once more.
            return self.write(write), error

    def _apply(self, plan: PlannedWrite, put_vectors: Callable[[], None], *, last: bool = False) -> None:
        rows = encode_write(plan)
        if not any((*rows.values(), *plan.removed.values(), plan.replicated)):
            return
        # A row that names no project, such as an answer alone, is of those that the call may touch.
        schema, projects = self._database.schema, projects_of(rows) or sorted(bounds() or ())
        feed = feed_statements(plan, rows, node=self.node, projects=projects, channel=self.channel)
        locks = {"store": store_lock(schema), "projects": project_locks(schema, projects)}
        held = None if self._database.in_transaction else self._database.held
        flushed_later = held is not None and self._may_flush
        lock = _LOCK + (_NOT_FLUSHED if flushed_later else "")
        lock += _PLANNED_ONCE if sum(map(len, rows.values())) < _FEW_ROWS else _SORTED_IN_MEMORY
        release = RELEASE_AND_FLUSH if flushed_later else RELEASE
        ending = (release,) if held is not None and last else ()
        with self._database.transaction(opened=False, ending=ending) as connection:
            first = (*self._database.opening(), (lock, locks))
            apply_write(connection, plan, rows, projects=projects, first=first, also=feed)
            put_vectors()
        if held is not None:
            self._database.committed_holding(released=last, flushed=last or not flushed_later)

    @contextmanager
    def writing_alone(self, projects: Collection[str] | None) -> Iterator[None]:
        """Keep writers of other processes out of some projects while this lasts; None for all projects.

        The locks are of the session of the one connection that this thread uses meanwhile: a holder that dies
        or loses it frees them, and what it had not committed never is. A thread that keeps others out of some
        projects gets further ones only where they are free, and keeps these as long as the first. What it
        commits meanwhile is safe once this ends.

        Raises:
            StoreBusyError: Another program kept them for too long, or has a further one now; or this thread
                is a gardener's, and another gardener has its project by now.
        """
        schema = self._database.schema
        if (held := self._database.held) is not None:
            with database_errors():
                hold_further(held, schema, projects)
            yield
            return
        with self._database.holding() as connection:
            try:
                self._hold(connection, projects)
                self._tended.check()
                yield
            except BaseException:
                release_locks(connection, RELEASE_AND_FLUSH if self._database.is_unflushed else RELEASE)
                raise
            if self._database.is_unflushed:
                send_together(connection, (RELEASE_AND_FLUSH,))
            elif not self._database.is_released:
                release_locks(connection, RELEASE)

    def _hold(self, connection: Connection, projects: Collection[str] | None) -> None:
        """Take the locks of projects, and read what others wrote until then."""
        reader = None if self._follower is None else self._follower.reader
        question = None if reader is None else reader.question
        answer = hold_projects(connection, self._database.schema, projects, question)
        if reader is not None:
            reader.answered(answer, self._database.epoch)

    @contextmanager
    def tending(self, projects: Sequence[str]) -> Iterator[bool]:
        """Keep other gardeners from some projects while this lasts, until this process ends; never wait.

        Writes of this thread are refused once the lock is lost to another gardener.
        """
        with self._tended.tending(projects) as alone:
            yield alone

    @contextmanager
    def moving_vectors(self) -> Iterator[bool]:
        """Keep other processes from moving to other vectors while this lasts, and from deleting any."""
        with self._database.apart() as connection:
            lock = vectors_lock(self._database.schema)
            try:
                taken = connection.execute("SELECT pg_try_advisory_lock(%s)", [lock]).fetchone()
                yield taken == (True,)
            finally:
                release_locks(connection)

    def tell_of_switch(self) -> None:
        """Have every other process look which vectors serve, once this thread's transaction commits."""
        with self._database.transaction() as connection:
            send_together(connection, switch_statements(node=self.node, channel=self.channel))

    def claim_jobs(self, rows: Sequence[Job]) -> list[Job]:
        """Claim jobs for this process; return those that no other has, as they still are."""
        claimed = self._claims.claim(row.id for row in rows)
        found = {row.id: row for row in self.nodes(JOB, sorted(claimed))}
        kept = [row for row in rows if found.get(row.id) == row]
        self._claims.release(claimed - {row.id for row in kept})
        return kept

    def release_jobs(self, rows: Sequence[Job]) -> None:
        """Give up the claims of jobs."""
        self._claims.release(row.id for row in rows)

    def follow(self, follow: Follow, wants: Wants = lambda row: True) -> Follower:
        """Return what follows the writes of other processes, from now on; it is yet to be started."""
        self._follower = Follower(self, follow, wants)
        return self._follower

    def entities_called(self, project: str, keys: Sequence[str]) -> Mapping[str, str]:
        """Return the id of the entity that each key is the name of, else an alias; others are left out."""
        statement = (
            "SELECT c.id, c.key, c.aliases FROM entity c WHERE c.project = %(project)s "
            "AND (c.key = ANY(%(keys)s::text[]) OR cardinality(c.aliases) > 0) ORDER BY c.place"
        )
        return entities_by_key(keys, self._rows(statement, {"project": project, "keys": list(keys)}))

    def aliases(self, project: str) -> Iterable[tuple[str, Sequence[str]]]:
        """Return the id and the aliases of each entity of a project that has aliases."""
        statement = (
            "SELECT c.id, c.aliases FROM entity c "
            "WHERE c.project = %(project)s AND cardinality(c.aliases) > 0"
        )
        return ((id, aliases) for id, aliases in self._rows(statement, {"project": project}))

    def last_position(self, session: str) -> int:
        """Return the highest position of a session's chunks; -1 where it has none."""
        statement = "SELECT max(c.position) FROM chunk c WHERE c.session = %(id)s"
        ((highest,),) = self._rows(statement, {"id": session})
        return -1 if highest is None else int(highest)

    def item_places(self) -> Iterable[ItemPlace]:
        """Return where every item is, without values."""
        statement = (
            "SELECT c.id, c.project, c.namespace, c.session, c.position, c.updated_at, c.expires_at "
            "FROM item c"
        )
        return item_places_of(self._rows(statement, {}))

    def clear_outbox(self, ids: Sequence[str]) -> None:
        """Delete outbox rows that are replicated to the vector store."""
        if ids:
            self._change("DELETE FROM outbox WHERE id = ANY(%(ids)s::text[])", ids=list(dict.fromkeys(ids)))

    def drop_requests(self, before: datetime) -> None:
        """Delete the answers of requests that were carried out before a moment."""
        self._change("DELETE FROM request WHERE at < %(before)s", before=before)

    def _change(self, statement: str, **parameters: object) -> None:
        with self._database.transaction() as connection:
            connection.execute(statement.encode(), as_parameters(parameters))

    def graph_tables(self, project: str) -> "tuple[pa.Table, pa.Table]":
        """Return a project's nodes and edges for the snapshot."""
        return project_tables(self._database, project)

    def meta(self) -> Mapping[str, str]:
        """Return the store's own facts."""
        return dict(self._rows("SELECT name, value FROM meta", {}))

    def set_meta(self, values: Mapping[str, str]) -> None:
        """Set some of the store's own facts."""
        set_meta(self._database, dict(values))

    def last_change_at(self) -> datetime | None:
        """Return the time of the newest change."""
        ((newest,),) = self._rows("SELECT max(at) FROM change", {})
        return None if newest is None else newest.replace(tzinfo=UTC)

    def checkpoint(self, *, least: int = 0) -> bool:
        """Do nothing: the server writes its log by itself."""
        if not least:
            self._rows("SELECT 1", {})
        return False

    def save(self, folder: Path) -> None:
        """Refuse: the rows are on the server."""
        raise InvalidInputError(
            f"{folder}: a memory on PostgreSQL is backed up with pg_dump; `dump` writes what it holds"
        )

    def close(self) -> None:
        """Close the connections; harmless when repeated."""
        self._claims.close()
        self._database.close()
