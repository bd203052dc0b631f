"""Row-level security: what a call for some projects sees and writes, decided by the database itself.

Each table has a policy that compares a row's project with the setting `hydramem.projects` of the transaction.
A transaction that sets nothing sees no row, so that a forgotten filter leaks nothing. The role that owns the
tables, which migrates and tends them, sees every row; calls for some projects run as `hydramem_app`, which
owns nothing and cannot pass by a policy.
"""

import logging

from psycopg import errors, sql

from hydramem.storage.postgres.connection import APP_ROLE, PROJECTS_SETTING, Connection, Database
from hydramem.storage.postgres.project_locks import policy_lock

_log = logging.getLogger(__name__)

_UNSECURED = """
    select t.relname, array_agg(a.attname::text)
    from pg_class t
    join pg_namespace n on n.oid = t.relnamespace
    join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
    where n.nspname = %s and t.relkind = 'r' and not t.relforcerowsecurity
        and pg_has_role(t.relowner, 'usage')
    group by t.relname order by t.relname
"""

# A subselect, so that the setting is read once for a statement instead of once for a row.
_ALLOWED = f"(select nullif(current_setting('{PROJECTS_SETTING}', true), '')::text[])::text[]"
_OF_A_PROJECT = f"project = any({_ALLOWED})"
_OF_PROJECTS = f"projects <@ {_ALLOWED}"

_SECURE = (
    "alter table {table} enable row level security, force row level security",
    "create policy owned on {table} to current_user using (true) with check (true)",
)
_ALL = "grant select, insert, update, delete on {table} to {role}"
_POLICIES = {
    "project": (
        f"create policy of_a_project on {{table}} using ({_OF_A_PROJECT}) with check ({_OF_A_PROJECT})",
        _ALL,
    ),
    # A row of no project is of nobody.
    "projects": (
        f"create policy of_projects on {{table}} using ({_OF_PROJECTS} and cardinality(projects) > 0)"
        f" with check ({_OF_PROJECTS})",
        _ALL,
    ),
    "facts of the store": (
        "create policy readable on {table} for select using (true)",
        "grant select on {table} to {role}",
    ),
    "nobody's": (),
}


def secure_tables(database: Database, connection: Connection) -> None:
    """Give each table of the schema its policy, where this role owns it and it has none.

    A role that may not create the role of calls leaves the tables as they are: calls for some projects are
    then refused until an administrator has run `create role hydramem_app nologin`.

    Raises:
        StorageError: The database refused.
    """
    if not (connection.execute(_UNSECURED, [database.schema]).fetchall() and _has_role(connection)):
        return
    # Of several that open the store at once, one makes the policies.
    connection.execute("select pg_advisory_xact_lock(%s)", [policy_lock(database.schema)])
    unsecured = connection.execute(_UNSECURED, [database.schema]).fetchall()
    names = {"role": sql.Identifier(APP_ROLE), "schema": sql.Identifier(database.schema)}
    connection.execute(sql.SQL("grant usage on schema {schema} to {role}").format(**names))
    for name, columns in unsecured:
        table = sql.Identifier(database.schema, name)
        for statement in (*_SECURE, *_POLICIES[_kind(name, columns)]):
            connection.execute(sql.SQL(statement).format(table=table, role=names["role"]))


def _kind(table: str, columns: list[str]) -> str:
    for column in ("project", "projects"):
        if column in columns:
            return column
    return "facts of the store" if table == "meta" else "nobody's"


def _has_role(connection: Connection) -> bool:
    """Say whether the role of calls is there, after making it where that is allowed."""
    found = connection.execute("select 1 from pg_roles where rolname = %s", [APP_ROLE]).fetchone()
    if found is not None:
        return True
    try:
        with connection.transaction():
            role = sql.Identifier(APP_ROLE)
            connection.execute(sql.SQL("create role {} nologin nosuperuser nobypassrls").format(role))
            connection.execute(sql.SQL("grant {} to current_user").format(role))
    except errors.InsufficientPrivilege:
        _log.info("the database's role may not create %s: calls for some projects are refused", APP_ROLE)
        return False
    except (errors.DuplicateObject, errors.UniqueViolation):
        pass  # another process made it just now
    return True
