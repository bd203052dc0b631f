"""Counts: rows by table and project."""

from collections import Counter

from hydramem.core.results.tended import Counts, ProjectView
from hydramem.storage.cypher.engine import Query

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
