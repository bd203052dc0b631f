"""Locks that a session holds: taking those of projects, and saying who has them if they stay taken."""

from collections.abc import Collection

from psycopg.errors import LockNotAvailable

from hydramem.core.errors import StoreBusyError
from hydramem.storage.postgres.connection import Connection, Row
from hydramem.storage.postgres.pipelines import Statement, run_together
from hydramem.storage.postgres.project_locks import project_locks, store_lock

RELEASE: Statement = ("SELECT pg_advisory_unlock_all()", {})
"""Frees the locks of a session."""
RELEASE_AND_FLUSH: Statement = (
    "SELECT pg_advisory_unlock_all(), pg_logical_emit_message(true, 'hydramem', '')",
    {},
)
"""Frees them, then waits until all that was committed before is safe.

A transaction that does not wait for the disk shows what it wrote, and its writer can let the next one go on;
the log is written in order, so that what the next one commits is never safe without it. This message is a
transaction that does wait: those of several writers wait together.
"""
# What is asked in the same round trip looks up rows by an index, however few there were when it was planned.
_BY_INDEX = ", set_config('enable_seqscan', 'off', true)"
_HOLD_STORE = f"SELECT pg_advisory_lock(%(store)s){_BY_INDEX}"
# The lock of the whole store is shared; the locks of projects are taken alone, in the order of the list.
_HOLD_PROJECTS = (
    "SELECT pg_advisory_lock_shared(%(store)s), "
    f"(SELECT count(pg_advisory_lock(lock)) FROM unnest(%(projects)s::bigint[]) AS lock){_BY_INDEX}"
)
_TRY_STORE = "SELECT pg_try_advisory_lock(%s)"
_TRY_PROJECTS = (
    "SELECT coalesce(bool_and(pg_try_advisory_lock(lock)), true) FROM unnest(%s::bigint[]) AS lock"
)
_HOLDERS = """
    SELECT DISTINCT a.pid, to_char(a.state_change AT TIME ZONE 'UTC', 'HH24:MI:SS')
    FROM pg_locks k JOIN pg_stat_activity a USING (pid)
    WHERE k.locktype = 'advisory' AND k.granted AND k.objsubid = 1 AND k.pid <> pg_backend_pid()
        AND k.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND (k.classid::bigint << 32) | k.objid::bigint = ANY(%s::bigint[])
        AND (k.mode = 'ExclusiveLock' OR %s)
    ORDER BY a.pid LIMIT 5
"""


def hold_projects(
    connection: Connection, schema: str, projects: Collection[str] | None, question: Statement | None = None
) -> list[Row]:
    """Take the locks of some projects for a session; None for those of the whole store.

    Args:
        connection: Of the session.
        schema, projects: What is locked.
        question: A query that runs once they are held, in the same round trip; its rows are returned.

    Raises:
        StoreBusyError: They did not come free in time; some may be held, which the caller frees.
    """
    whole = store_lock(schema)
    locks = [] if projects is None else project_locks(schema, projects)
    try:
        statement = _HOLD_STORE if projects is None else _HOLD_PROJECTS
        return run_together(connection, [(statement, {"store": whole, "projects": locks}), question])[1]
    except LockNotAvailable:
        # Who shares the lock of the store keeps out those alone who want it for themselves.
        holders = connection.execute(_HOLDERS, [[whole, *locks], projects is None]).fetchall()
        what = "the whole memory" if projects is None else f"project {', '.join(sorted(projects))}"
        raise StoreBusyError(_message(what, holders)) from None


def hold_further(connection: Connection, schema: str, projects: Collection[str] | None) -> None:
    """Take the locks of further projects for a session that holds some, without waiting for them.

    Locks are taken in one order, so that no two sessions wait for each other; these come out of order.

    Raises:
        StoreBusyError: Another session holds one of them.
    """
    if projects is None:
        found = connection.execute(_TRY_STORE, [store_lock(schema)]).fetchone()
    else:
        found = connection.execute(_TRY_PROJECTS, [project_locks(schema, projects)]).fetchone()
    if found != (True,):
        what = "the whole memory" if projects is None else f"project {', '.join(sorted(projects))}"
        raise StoreBusyError(
            f"a write came to {what} after it had begun elsewhere, and another program writes there; "
            "try again"
        )


def _message(what: str, holders: Collection[tuple[int, str | None]]) -> str:
    who = ", ".join(f"{pid} (since {at or 'a time'} UTC)" for pid, at in holders)
    if not who:
        return f"a write to {what} waited too long for other writers; nothing was written, try again"
    first = next(iter(holders))[0]
    return (
        f"a write to {what} waited too long for another program, which writes there by connection {who}; "
        "nothing was written, try again; if that program hangs, end it, or its connection on the database: "
        f"select pg_terminate_backend({first})"
    )
