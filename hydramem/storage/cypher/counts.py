"""Counts: rows by table and project, memories by scope, and rows past their time."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from datetime import UTC, datetime

from hydramem.core.results.knowledge_results import Cutoffs, Past, ScopeCount
from hydramem.core.results.upkeep_results import Counts, ProjectView
from hydramem.core.row_types import Change
from hydramem.storage.cypher.reads import CypherReads
from hydramem.storage.schema import CHANGE
from hydramem.storage.store import EndedRun, Listing, RunFilter, RunRow

_ACTIVE = "c.state = 'active'"
_MEMORY = "c.kind <> 'passage'"

_COUNTED = {
    "documents": ("(c:Document)", _ACTIVE),
    "chunks": ("(c:Chunk)", _ACTIVE),
    "memories": ("(c:Chunk)", f"{_ACTIVE} AND {_MEMORY}"),
    "entities": ("(c:Entity)", ""),
    "relations": ("(:Entity)-[c:RELATES]->(:Entity)", _ACTIVE),
    "mentions": ("(c:Chunk)-[:MENTIONS]->(:Entity)", ""),
    "links": ("(c:Chunk)-[:LINKS]->(:Chunk)", ""),
    "sessions": ("(c:Session)", ""),
    "changes": ("(c:Change)", ""),
}
"""The pattern and condition of each count."""
_RUN = "coalesce(c.run, c.id)"
_OF_A_CHANGE = ("project", "actor", "operation", "request")
_OF_A_RUN = {"since": "ended >= $since", "until": "ended < $until"}
"""The fields of a `RunFilter`: of one change of a run, and of the run as a whole with its condition."""


class CypherCounts(CypherReads):
    """Those methods of `GraphStore` that count."""

    def counts(self, project: str | None = None) -> Counts:
        """Count active rows (all rows of mentions, links, sessions and changes)."""
        parameters: dict[str, object] = {} if project is None else {"project": project}
        owned = "" if project is None else "c.project = $project"

        def count(pattern: str, condition: str) -> int:
            ((number,),) = query(f"MATCH {pattern}{_where(condition, owned)} RETURN count(*)", parameters)
            return int(number)

        with self._engine.reading() as query:
            return Counts(**{name: count(*counted) for name, counted in _COUNTED.items()})

    def count_chunks(self) -> int:
        """Count the chunks of every state in every project."""
        ((number,),) = self._rows("MATCH (c:Chunk) RETURN count(*)", {})
        return int(number)

    def projects(self) -> tuple[ProjectView, ...]:
        """Return every project that holds a document, chunk, entity, session or item, by name."""
        shown = [item.name for item in fields(ProjectView) if item.name != "name"]

        def by_project(pattern: str, condition: str) -> Counter[str]:
            rows = query(f"MATCH {pattern}{_where(condition)} RETURN c.project, count(*)", {})
            return Counter({name: int(number) for name, number in rows})

        with self._engine.reading() as query:
            tables = ("Document", "Chunk", "Entity", "Session", "Item")
            held = [by_project(f"(c:{table})", "") for table in tables]
            counted = {name: by_project(*_COUNTED[name]) for name in shown}
        return tuple(
            ProjectView(name=project, **{name: counts[project] for name, counts in counted.items()})
            for project in sorted(set().union(*held))
        )

    def scope_counts(self, project: str, prefix: str) -> tuple[ScopeCount, ...]:
        """Count a project's active memories at or under a scope, by scope and categories, in that order."""
        stem = prefix.rstrip("/")
        rows = self._rows(
            f"MATCH (c:Chunk) WHERE c.project = $project AND {_ACTIVE} AND {_MEMORY} "
            "AND (c.scope = $stem OR starts_with(c.scope, $under)) "
            "RETURN c.scope, c.categories, count(*), min(c.recorded_at), max(c.recorded_at)",
            {"project": project, "stem": stem, "under": stem + "/"},
        )
        found = [
            ScopeCount(
                scope=scope,
                categories=tuple(categories or ()),
                memories=int(number),
                oldest=oldest.replace(tzinfo=UTC),
                newest=newest.replace(tzinfo=UTC),
            )
            for scope, categories, number, oldest, newest in rows
        ]
        return tuple(sorted(found, key=lambda row: (row.scope, row.categories)))

    def document_bytes(self) -> Mapping[str, int]:
        """Return the bytes of the text of documents by project, of every state."""
        # size() counts characters.
        bytes_of_text = "sum(octet_length(encode(c.text)))"
        rows = self._rows(f"MATCH (c:Chunk) WHERE c.kind = 'passage' RETURN c.project, {bytes_of_text}", {})
        return {project: int(number) for project, number in rows}

    def past(self, cutoffs: Cutoffs) -> Past:
        """Count the rows that are past their time."""

        def count(pattern: str, condition: str, before: datetime | None) -> int:
            if before is None:
                return 0
            statement = f"MATCH {pattern} WHERE {condition} RETURN count(*)"
            ((number,),) = self._rows(statement, {"before": before})
            return int(number)

        archived = "c.state = 'archived' AND c.retired_at < $before"
        tables = ("(c:Document)", "(c:Chunk)", "(:Entity)-[c:RELATES]->(:Entity)")
        idle = "c.last_at < $before AND NOT EXISTS { MATCH (:Chunk)-[:IN_SESSION]->(c) }"
        return Past(
            expired=count("(c:Chunk)", f"{_ACTIVE} AND c.expires_at <= $before", cutoffs.at),
            archived=sum(count(table, archived, cutoffs.archived) for table in tables),
            changes=0 if cutoffs.changes is None else self._changes_of_ended_runs(cutoffs.changes),
            sessions=count("(c:Session)", idle, cutoffs.sessions),
        )

    def _changes_of_ended_runs(self, before: datetime) -> int:
        statement = f"MATCH (c:Change) WITH {_RUN} AS run, max(c.at) AS ended, count(*) AS number "
        found = self._rows(statement + "WHERE ended < $before RETURN sum(number)", {"before": before})
        return int(found[0][0] or 0)

    def changed_before(self, before: datetime) -> tuple[str, ...]:
        """Return the projects that have changes from before a moment, by name, also where nothing is left."""
        statement = "MATCH (c:Change) WHERE c.at < $before RETURN DISTINCT c.project"
        return tuple(sorted(name for (name,) in self._rows(statement, {"before": before})))

    def runs(self, where: RunFilter, page: Listing) -> tuple[RunRow, ...]:
        """Return a page of runs, the last one first."""
        filled = {name: value for name, value in asdict(where).items() if value is not None}
        given: dict[str, object] = {name: value for name, value in filled.items() if name != "run"}
        own = " AND ".join(f"c.{name} = ${name}" for name in _OF_A_CHANGE if name in given)
        # Kuzu finds nothing where a CASE tests a constant, or stands beside a collect(DISTINCT).
        marked = f"max(CASE WHEN {own} THEN 1 ELSE 0 END)" if own else "1"
        ended = [text for name, text in _OF_A_RUN.items() if name in given]
        among, named_runs = "", self._named_runs(where)
        if named_runs is not None:  # the changes of all other runs are not grouped
            among, given["named_runs"] = f"{_RUN} IN $named_runs", named_runs
        found = self._rows(
            f"MATCH (c:Change){_where(among)} WITH {_RUN} AS run, min(c.at) AS began, max(c.at) AS ended, "
            f"count(*) AS number, {marked} AS own{_where('own = 1', *ended)} "
            "RETURN run, began, ended, number "
            "ORDER BY ended DESC, run DESC SKIP $offset LIMIT $limit",
            {**given, "offset": page.offset, "limit": page.limit},
        )
        if not found:
            return ()
        ids = [row[0] for row in found]
        kinds = self._rows(
            f"MATCH (c:Change) WHERE {_RUN} IN $runs RETURN DISTINCT {_RUN}, c.actor, c.operation, c.project",
            {"runs": ids},
        )
        named = {
            id: [sorted(set(names)) for names in zip(*rows, strict=True)] for id, rows in _by_first(kinds)
        }
        first = self._first_changes(ids, [row[1] for row in found])
        return tuple(
            RunRow(
                id=run,
                began_at=began.replace(tzinfo=UTC),
                ended_at=ended.replace(tzinfo=UTC),
                changes=int(number),
                actors=tuple(named[run][0]),
                operations=tuple(named[run][1]),
                projects=tuple(named[run][2]),
                first=first[run],
            )
            for run, began, ended, number in found
        )

    def _named_runs(self, where: RunFilter) -> list[str] | None:
        """Return the runs that a filter can admit by its run and its request; None where it has neither."""
        if where.request is None:
            return None if where.run is None else [where.run]
        asked = {"request": where.request}
        rows = self._rows(f"MATCH (c:Change) WHERE c.request = $request RETURN DISTINCT {_RUN}", asked)
        return [run for (run,) in rows if where.run in (None, run)]

    def _first_changes(self, runs: Sequence[str], began: Sequence[datetime]) -> Mapping[str, Change]:
        """Return the first change of runs by their ids, without images, which may be large."""
        names = [column.name for column in CHANGE.columns if column.name != "image"]
        rows = self._rows(
            f"MATCH (c:Change) WHERE c.at IN $began AND {_RUN} IN $runs "
            f"RETURN {', '.join(f'c.{name}' for name in names)} ORDER BY c.at DESC, c.id DESC",
            {"began": list(began), "runs": list(runs)},
        )
        changes = [Change(**dict(zip(names, row, strict=True))) for row in rows]
        return {row.run or row.id: replace(row, at=row.at.replace(tzinfo=UTC)) for row in changes}

    def ended_runs(self, project: str, before: datetime, *, most: int) -> tuple[EndedRun, ...]:
        """Return runs that wrote to a project and ended before a moment, each whole, the oldest first."""
        found = self._rows(
            f"MATCH (c:Change) WITH {_RUN} AS run, max(c.at) AS ended, count(*) AS number, "
            "max(CASE WHEN c.project = $project THEN 1 ELSE 0 END) AS own "
            "WHERE ended < $before AND own = 1 RETURN run, ended, number ORDER BY ended, run LIMIT $most",
            {"project": project, "before": before, "most": max(1, most)},
        )
        chosen: dict[str, datetime] = {}
        changes = 0
        for run, ended, number in found:
            changes += number
            if chosen and changes > most:
                break
            chosen[run] = ended.replace(tzinfo=UTC)
        if not chosen:
            return ()
        ids: dict[str, list[str]] = {run: [] for run in chosen}
        rows = self._rows(
            f"MATCH (c:Change) WHERE c.at <= $ended RETURN {_RUN}, c.id ORDER BY c.at, c.id",
            {"ended": max(chosen.values())},
        )
        for run, id in rows:
            if run in ids:
                ids[run].append(id)
        return tuple(
            EndedRun(id=run, ended_at=ended, changes=tuple(ids[run])) for run, ended in chosen.items()
        )


def _by_first(rows: Iterable[Sequence[str]]) -> Iterator[tuple[str, list[Sequence[str]]]]:
    """Yield rows by their first value, without it."""
    groups: dict[str, list[Sequence[str]]] = {}
    for first, *rest in rows:
        groups.setdefault(first, []).append(rest)
    yield from groups.items()


def _where(*conditions: str) -> str:
    given = [condition for condition in conditions if condition]
    return f" WHERE {' AND '.join(given)}" if given else ""
