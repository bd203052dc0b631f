"""Counts: rows by table and project, memories by scope, and rows past their time."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime
from typing import Any

from hydramem.core.results.knowledge_results import Cutoffs, Past, ScopeCount
from hydramem.core.results.upkeep_results import Counts, ProjectView
from hydramem.core.row_types import Change
from hydramem.storage.postgres.graph.filters import UNDER_SCOPE, scope_parameters
from hydramem.storage.postgres.graph.reads import PostgresReads
from hydramem.storage.schema import CHANGE
from hydramem.storage.store import EndedRun, Listing, RunFilter, RunRow
from hydramem.storage.write_validation import check_page

_ACTIVE = "c.state = 'active'"
_MEMORY = "c.kind <> 'passage'"
_COUNTED = {
    "documents": ("document", _ACTIVE),
    "chunks": ("chunk", _ACTIVE),
    "memories": ("chunk", f"{_ACTIVE} AND {_MEMORY}"),
    "entities": ("entity", ""),
    "relations": ("relates", _ACTIVE),
    "mentions": ("mentions", ""),
    "links": ("links", ""),
    "sessions": ("session", ""),
    "changes": ("change", ""),
}
"""The table and condition of each count."""
_RUN = "coalesce(c.run, c.id)"
_OF_A_CHANGE = ("project", "actor", "operation", "request")
"""The fields of a `RunFilter` that one change of a run must have."""
_MOST_ROWS = 2**62


class PostgresCounts(PostgresReads):
    """Those methods of `GraphStore` that count."""

    def counts(self, project: str | None = None) -> Counts:
        """Count active rows (all rows of mentions, links, sessions and changes)."""
        owned = "" if project is None else "c.project = %(project)s"
        each = ", ".join(
            f"(SELECT count(*) FROM {table} c{_where(condition, owned)})"
            for table, condition in _COUNTED.values()
        )
        (numbers,) = self._rows(f"SELECT {each}", {"project": project})
        return Counts(**dict(zip(_COUNTED, numbers, strict=True)))

    def count_chunks(self) -> int:
        """Count the chunks of every state in every project."""
        ((number,),) = self._rows("SELECT count(*) FROM chunk", {})
        return int(number)

    def projects(self) -> tuple[ProjectView, ...]:
        """Return every project that holds a document, chunk, entity, session or item, by name."""
        shown = [item.name for item in fields(ProjectView) if item.name != "name"]
        held = " UNION ".join(
            f"SELECT project FROM {table}" for table in ("document", "chunk", "entity", "session", "item")
        )
        joins = " ".join(
            f"LEFT JOIN (SELECT c.project, count(*) AS number FROM {table} c{_where(condition)} "
            f'GROUP BY c.project) AS "{name}" USING (project)'
            for name in shown
            for table, condition in (_COUNTED[name],)
        )
        numbers = ", ".join(f'coalesce("{name}".number, 0)' for name in shown)
        statement = f"SELECT project, {numbers} FROM ({held}) AS held {joins} ORDER BY project"
        return tuple(
            ProjectView(name=project, **dict(zip(shown, counts, strict=True)))
            for project, *counts in self._rows(statement, {})
        )

    def scope_counts(self, project: str, prefix: str) -> tuple[ScopeCount, ...]:
        """Count a project's active memories at or under a scope, by scope and categories, in that order."""
        rows = self._rows(
            "SELECT c.scope, c.categories, count(*), min(c.recorded_at), max(c.recorded_at) FROM chunk c "
            f"WHERE c.project = %(project)s AND {_ACTIVE} AND {_MEMORY} AND {UNDER_SCOPE} "
            "GROUP BY c.scope, c.categories ORDER BY c.scope, c.categories",
            {"project": project, **scope_parameters(prefix)},
        )
        return tuple(
            ScopeCount(
                scope=scope,
                categories=tuple(categories),
                memories=number,
                oldest=oldest.replace(tzinfo=UTC),
                newest=newest.replace(tzinfo=UTC),
            )
            for scope, categories, number, oldest, newest in rows
        )

    def document_bytes(self) -> Mapping[str, int]:
        """Return the bytes of the text of documents by project, of every state."""
        rows = self._rows(
            "SELECT c.project, sum(octet_length(c.text))::bigint FROM chunk c "
            "WHERE c.kind = 'passage' GROUP BY c.project",
            {},
        )
        return {project: int(number) for project, number in rows}

    def past(self, cutoffs: Cutoffs) -> Past:
        """Count the rows that are past their time."""
        # A moment that is null is after nothing, so nothing is counted.
        archived = " + ".join(
            f"(SELECT count(*) FROM {table} c WHERE c.state = 'archived' AND c.retired_at < %(archived)s)"
            for table in ("document", "chunk", "relates")
        )
        ((expired, retired, changes, sessions),) = self._rows(
            f"SELECT (SELECT count(*) FROM chunk c WHERE {_ACTIVE} AND c.expires_at <= %(at)s), {archived}, "
            "(SELECT coalesce(sum(number), 0)::bigint FROM (SELECT count(*) AS number FROM change c "
            f"GROUP BY {_RUN} HAVING max(c.at) < %(changes)s) AS run), "
            "(SELECT count(*) FROM session c WHERE c.last_at < %(sessions)s "
            "AND NOT EXISTS (SELECT FROM chunk k WHERE k.session = c.id))",
            asdict(cutoffs),
        )
        return Past(expired=expired, archived=retired, changes=changes, sessions=sessions)

    def changed_before(self, before: datetime) -> tuple[str, ...]:
        """Return the projects that have changes from before a moment, by name, also where nothing is left."""
        statement = "SELECT DISTINCT c.project FROM change c WHERE c.at < %(before)s ORDER BY 1"
        return tuple(project for (project,) in self._rows(statement, {"before": before}))

    def runs(self, where: RunFilter, page: Listing) -> tuple[RunRow, ...]:
        """Return a page of runs, the last one first."""
        check_page(page)
        given = {name: value for name, value in asdict(where).items() if value is not None}
        own = " AND ".join(f"c.{name} = %({name})s" for name in _OF_A_CHANGE if name in given)
        # The changes of runs that a name or a request rules out are not grouped.
        named = f"{_RUN} = %(run)s" if "run" in given else ""
        request = "SELECT coalesce(q.run, q.id) FROM change q WHERE q.request = %(request)s"
        asked = f"{_RUN} IN ({request})" if "request" in given else ""
        admitted = [f"bool_or({own})"] if own else []
        admitted += ["max(c.at) >= %(since)s"] if "since" in given else []
        admitted += ["max(c.at) < %(until)s"] if "until" in given else []
        having = f" HAVING {' AND '.join(admitted)}" if admitted else ""
        names = ", ".join(
            f"array_agg(DISTINCT c.{name} ORDER BY c.{name})" for name in ("actor", "operation", "project")
        )
        found = self._rows(
            f"SELECT {_RUN} AS name, min(c.at), max(c.at) AS ended, count(*), {names}, "
            f"(array_agg(c.id ORDER BY c.at, c.id))[1] FROM change c{_where(named, asked)} GROUP BY name"
            f"{having} ORDER BY ended DESC, name DESC LIMIT %(limit)s OFFSET %(offset)s",
            {**given, "limit": min(page.limit, _MOST_ROWS), "offset": min(page.offset, _MOST_ROWS)},
        )
        first = self._without_images([row[-1] for row in found])
        return tuple(
            RunRow(
                id=run,
                began_at=began.replace(tzinfo=UTC),
                ended_at=ended.replace(tzinfo=UTC),
                changes=number,
                actors=tuple(actors),
                operations=tuple(operations),
                projects=tuple(projects),
                first=first[change],
            )
            for run, began, ended, number, actors, operations, projects, change in found
        )

    def _without_images(self, ids: Sequence[str]) -> Mapping[str, Change]:
        """Return changes by id, without images, which may be large."""
        names = [column.name for column in CHANGE.columns if column.name != "image"]
        columns = ", ".join(f'c."{name}"' for name in names)
        rows = self._rows(
            f"SELECT {columns} FROM change c WHERE c.id = ANY(%(ids)s::text[])", {"ids": list(ids)}
        )
        found: dict[str, Change] = {}
        for row in rows:
            values: dict[str, Any] = dict(zip(names, row, strict=True))
            values["at"] = values["at"].replace(tzinfo=UTC)
            found[values["id"]] = Change(**values)
        return found

    def ended_runs(self, project: str, before: datetime, *, most: int) -> tuple[EndedRun, ...]:
        """Return runs that wrote to a project and ended before a moment, each whole, the oldest first."""
        rows = self._rows(
            f"WITH run AS (SELECT {_RUN} AS name, max(c.at) AS ended, "
            "array_agg(c.id ORDER BY c.at, c.id) AS ids FROM change c "
            f"WHERE {_RUN} IN (SELECT coalesce(o.run, o.id) FROM change o WHERE o.project = %(project)s) "
            "GROUP BY name HAVING max(c.at) < %(before)s), "
            "summed AS (SELECT *, row_number() OVER sorted AS place, "
            "sum(cardinality(ids)) OVER sorted AS total FROM run WINDOW sorted AS (ORDER BY ended, name)) "
            "SELECT name, ended, ids FROM summed WHERE place = 1 OR total <= %(most)s ORDER BY place",
            {"project": project, "before": before, "most": most},
        )
        return tuple(
            EndedRun(id=name, ended_at=ended.replace(tzinfo=UTC), changes=tuple(ids))
            for name, ended, ids in rows
        )


def _where(*conditions: str) -> str:
    given = [condition for condition in conditions if condition]
    return f" WHERE {' AND '.join(given)}" if given else ""
