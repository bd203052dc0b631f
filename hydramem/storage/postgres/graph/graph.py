"""The graph store on PostgreSQL: one short method for each promise of `GraphStore`."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from hydramem.core.errors import InvalidInputError
from hydramem.core.ids import new_id
from hydramem.core.project_bounds import bounds
from hydramem.core.row_types import Job
from hydramem.storage.postgres.connection import Database, database_errors, release_locks, rolled_back_alone
from hydramem.storage.postgres.feed import feed_statements, switch_statements
from hydramem.storage.postgres.follower import Follow, Follower
from hydramem.storage.postgres.graph.counts import PostgresCounts
from hydramem.storage.postgres.graph.snapshot_tables import project_tables
from hydramem.storage.postgres.graph.writes import apply_write, encode_write, projects_of
from hydramem.storage.postgres.held_locks import hold_further, hold_projects
from hydramem.storage.postgres.job_claims import JobClaims
from hydramem.storage.postgres.parameters import as_parameters
from hydramem.storage.postgres.pipelines import run_together
from hydramem.storage.postgres.project_locks import project_locks, store_lock, vectors_lock
from hydramem.storage.postgres.schema_statements import prepare_schema, set_meta
from hydramem.storage.postgres.tended_projects import TendedProjects
from hydramem.storage.schema import JOB
from hydramem.storage.store import ItemPlace, entities_by_key, item_places_of
from hydramem.storage.write import Write
from hydramem.storage.write_validation import plan_write

if TYPE_CHECKING:
    import pyarrow as pa

# The lock of the whole store is shared; the locks of projects are taken alone, in the order of the list.
_LOCK = (
    "SELECT pg_advisory_xact_lock_shared(%(store)s), "
    "(SELECT count(pg_advisory_xact_lock(lock)) FROM unnest(%(projects)s::bigint[]) AS lock)"
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

    @property
    def engine(self) -> str:
        """Name of the engine."""
        return "postgres"

    @property
    def database(self) -> Database:
        """Where the rows are: a vector store there commits together with the graph."""
        return self._database

    @contextmanager
    def together(self) -> Iterator[bool]:
        """Commit what this thread writes while this lasts, vectors too, in one transaction.

        A nested part that fails is rolled back by itself.
        """
        nested = self._database.in_transaction
        with (
            self._database.transaction(opened=nested) as connection,
            rolled_back_alone(connection) if nested else nullcontext(),
        ):
            yield True

    def write(self, write: Write) -> str | None:
        """Commit everything or nothing; return the id of the outbox row, if any."""
        plan = plan_write(write)
        rows = encode_write(plan)
        if not any((*rows.values(), *plan.removed.values(), plan.replicated)):
            return None
        # A row that names no project, such as an answer alone, is of those that the call may touch.
        schema, projects = self._database.schema, projects_of(rows) or sorted(bounds() or ())
        feed = feed_statements(plan, rows, node=self.node, projects=projects, channel=self.channel)
        locks = {"store": store_lock(schema), "projects": project_locks(schema, projects)}
        with self._database.transaction(opened=False) as connection:
            first = (*self._database.opening(), (_LOCK, locks))
            apply_write(connection, plan, rows, projects=projects, first=first, also=feed)
        return plan.outbox

    @contextmanager
    def writing_alone(self, projects: Collection[str] | None) -> Iterator[None]:
        """Keep writers of other processes out of some projects while this lasts; None for all projects.

        The locks are of the session of the one connection that this thread uses meanwhile: a holder that dies
        or loses it frees them, and what it had not committed never is. A thread that keeps others out of some
        projects gets further ones only where they are free, and keeps these as long as the first.

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
                hold_projects(connection, schema, projects)
                self._tended.check()
                yield
            finally:
                release_locks(connection)

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
            run_together(connection, tuple(switch_statements(node=self.node, channel=self.channel)))

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

    def follow(self, follow: Follow) -> Follower:
        """Return what follows the writes of other processes, from now on; it is yet to be started."""
        return Follower(self, follow)

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

    def checkpoint(self) -> None:
        """Do nothing: the server writes its log by itself."""
        self._rows("SELECT 1", {})

    def save(self, folder: Path) -> None:
        """Refuse: the rows are on the server."""
        raise InvalidInputError(
            f"{folder}: a memory on PostgreSQL is backed up with pg_dump; `dump` writes what it holds"
        )

    def close(self) -> None:
        """Close the connections; harmless when repeated."""
        self._claims.close()
        self._database.close()
