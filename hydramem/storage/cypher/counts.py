"""Counts: rows by table and project, memories by scope, and rows past their time."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime

from hydramem.core.results.knowledge_results import Cutoffs, Past, ScopeCount
from hydramem.core.results.upkeep_results import Counts, ProjectView
from hydramem.storage.cypher.reads import CypherReads
from hydramem.storage.store import EndedRun

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
        """Return every project that holds a document, chunk, entity or session, by name."""
        shown = [item.name for item in fields(ProjectView) if item.name != "name"]

        def by_project(pattern: str, condition: str) -> Counter[str]:
            rows = query(f"MATCH {pattern}{_where(condition)} RETURN c.project, count(*)", {})
            return Counter({name: int(number) for name, number in rows})

        with self._engine.reading() as query:
            held = [by_project(f"(c:{table})", "") for table in ("Document", "Chunk", "Entity", "Session")]
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


def _where(*conditions: str) -> str:
    given = [condition for condition in conditions if condition]
    return f" WHERE {' AND '.join(given)}" if given else ""
