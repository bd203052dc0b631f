"""Counts: rows by table and project, memories by scope, and what is past its time."""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime

from hydramem.core.results.knowledge_results import Cutoffs, Past, ScopeCount
from hydramem.core.results.upkeep_results import Counts, ProjectView
from hydramem.storage.cypher.engine import Query
from hydramem.storage.store import EndedRun

_ACTIVE = "c.state = 'active'"


def counts(query: Query, project: str | None) -> Counts:
    """Count a project's rows, or all."""
    parameters: dict[str, object] = {} if project is None else {"project": project}

    def count(pattern: str, *clauses: str, owner: str = "c") -> int:
        conditions = (*clauses, *(() if project is None else (f"{owner}.project = $project",)))
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        ((number,),) = query(f"MATCH {pattern}{where} RETURN count(*)", parameters)
        return int(number)

    return Counts(
        documents=count("(c:Document)", _ACTIVE),
        chunks=count("(c:Chunk)", _ACTIVE),
        memories=count("(c:Chunk)", _ACTIVE, "c.kind <> 'passage'"),
        entities=count("(c:Entity)"),
        relations=count("(:Entity)-[c:RELATES]->(:Entity)", _ACTIVE),
        mentions=count("(c:Chunk)-[:MENTIONS]->(:Entity)"),
        links=count("(c:Chunk)-[:LINKS]->(:Chunk)"),
        sessions=count("(c:Session)"),
        changes=count("(c:Change)"),
    )


def projects(query: Query) -> tuple[ProjectView, ...]:
    """Return every project that holds a document, chunk, entity or session; counts are of active rows."""

    def by_project(pattern: str, *clauses: str) -> Counter[str]:
        where = f" WHERE {' AND '.join(clauses)}" if clauses else ""
        rows = query(f"MATCH {pattern}{where} RETURN c.project, count(*)", {})
        return Counter({name: int(number) for name, number in rows})

    entities = by_project("(c:Entity)")
    names = set(entities).union(*(by_project(f"(c:{table})") for table in ("Document", "Chunk", "Session")))
    documents = by_project("(c:Document)", _ACTIVE)
    chunks = by_project("(c:Chunk)", _ACTIVE)
    memories = by_project("(c:Chunk)", _ACTIVE, "c.kind <> 'passage'")
    relations = by_project("(:Entity)-[c:RELATES]->(:Entity)", _ACTIVE)
    return tuple(
        ProjectView(
            name=name,
            documents=documents[name],
            chunks=chunks[name],
            memories=memories[name],
            entities=entities[name],
            relations=relations[name],
        )
        for name in sorted(names)
    )


def scopes(query: Query, project: str, prefix: str) -> tuple[ScopeCount, ...]:
    """Count a project's active memories at or under a scope, by scope and categories, in that order."""
    stem = prefix.rstrip("/")
    rows = query(
        "MATCH (c:Chunk) WHERE c.project = $project AND c.state = 'active' AND c.kind <> 'passage' "
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


def document_bytes(query: Query) -> Mapping[str, int]:
    """Return the bytes of the text of documents by project, of every state."""
    # size() counts characters.
    rows = query(
        "MATCH (c:Chunk) WHERE c.kind = 'passage' RETURN c.project, sum(octet_length(encode(c.text)))",
        {},
    )
    return {project: int(number) for project, number in rows}


def past(query: Query, cutoffs: Cutoffs) -> Past:
    """Count the rows that are past their time."""

    def count(pattern: str, condition: str, before: datetime | None) -> int:
        if before is None:
            return 0
        ((number,),) = query(f"MATCH {pattern} WHERE {condition} RETURN count(*)", {"before": before})
        return int(number)

    archived = "c.state = 'archived' AND c.retired_at < $before"
    tables = ("(c:Document)", "(c:Chunk)", "(:Entity)-[c:RELATES]->(:Entity)")
    idle = "c.last_at < $before AND NOT EXISTS { MATCH (:Chunk)-[:IN_SESSION]->(c) }"
    return Past(
        expired=count("(c:Chunk)", "c.state = 'active' AND c.expires_at <= $before", cutoffs.at),
        archived=sum(count(table, archived, cutoffs.archived) for table in tables),
        changes=0 if cutoffs.changes is None else _changes(query, cutoffs.changes),
        sessions=count("(c:Session)", idle, cutoffs.sessions),
    )


_RUN = "coalesce(c.run, c.id)"


def _changes(query: Query, before: datetime) -> int:
    """Count the changes of runs that ended before a moment."""
    statement = f"MATCH (c:Change) WITH {_RUN} AS run, max(c.at) AS ended, count(*) AS number "
    found = query(statement + "WHERE ended < $before RETURN sum(number)", {"before": before})
    return int(found[0][0] or 0)


def changed_before(query: Query, before: datetime) -> tuple[str, ...]:
    """Return the projects that have changes from before a moment, by name."""
    rows = query("MATCH (c:Change) WHERE c.at < $before RETURN DISTINCT c.project", {"before": before})
    return tuple(sorted(name for (name,) in rows))


def ended_runs(query: Query, project: str, before: datetime, *, most: int) -> tuple[EndedRun, ...]:
    """Return runs that wrote to a project and ended before a moment, each whole, the oldest first."""
    found = query(
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
        chosen[run] = ended
    if not chosen:
        return ()
    held: dict[str, list[str]] = {run: [] for run in chosen}
    rows = query(
        f"MATCH (c:Change) WHERE c.at <= $ended RETURN {_RUN}, c.id ORDER BY c.at, c.id",
        {"ended": max(chosen.values()).replace(tzinfo=UTC)},
    )
    for run, id in rows:
        if run in held:
            held[run].append(id)
    return tuple(
        EndedRun(id=run, ended_at=ended.replace(tzinfo=UTC), changes=tuple(held[run]))
        for run, ended in chosen.items()
    )
