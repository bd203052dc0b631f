"""The graph store on LadybugDB or Kuzu: one short method for each promise of `GraphStore`."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydramem.core.config import StorageConfig
from hydramem.core.errors import StorageError
from hydramem.core.results.knowledge_results import Cutoffs, Past, ScopeCount
from hydramem.core.results.upkeep_results import Counts, ProjectView
from hydramem.core.row_types import (
    Change,
    Chunk,
    Decision,
    Document,
    Entity,
    Job,
    JobState,
    Relation,
    Session,
    State,
)
from hydramem.storage.chunk_filter import LIVE, ChunkFilter
from hydramem.storage.cypher import counts as row_counts
from hydramem.storage.cypher import snapshot_tables
from hydramem.storage.cypher.engine import Engine
from hydramem.storage.cypher.filters import Conditions, chunk_conditions
from hydramem.storage.cypher.reads import Reader
from hydramem.storage.cypher.schema_statements import (
    check_folder,
    graph_file,
    mark_folder,
    prepare_schema,
    set_meta,
)
from hydramem.storage.cypher.statements import remove_nodes
from hydramem.storage.cypher.writes import Transaction, encode_write
from hydramem.storage.schema import (
    CHANGE,
    CHUNK,
    DOCUMENT,
    ENTITY,
    JOB,
    OUTBOX,
    RELATES,
    SESSION,
    EdgeTable,
    NodeTable,
    Table,
)
from hydramem.storage.store import (
    End,
    EndedRun,
    GraphStore,
    Listing,
    Stretch,
    entities_by_key,
    newest_recorded,
)
from hydramem.storage.write import OutboxRow, Write
from hydramem.storage.write_validation import check_page, plan_write
from hydramem.text.normalize import entity_key

if TYPE_CHECKING:
    import pyarrow as pa


def open_graph(path: Path, settings: StorageConfig) -> "CypherGraph":
    """Open the graph in a folder, or create it there.

    Args:
        path: The folder of the graph's files.
        settings: Which engine (`ladybug` or `kuzu`) and its memory limits.

    Raises:
        ConfigError: The limits are not possible.
        StoreBusyError: Another process, or another handle of this one, holds it.
        SchemaError: A newer version wrote it.
        StorageError: The other engine wrote it, or a file is damaged or gone.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        check_folder(path, settings.graph)
        engine = Engine(graph_file(path, settings.graph), settings)
        try:
            prepare_schema(engine)
            mark_folder(path, settings.graph)
        except BaseException:
            engine.close(checkpoint=False)
            raise
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror or error}; name a folder that can be written") from error
    return CypherGraph(engine)


class CypherGraph(GraphStore):
    """A `GraphStore` over an open engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._read = Reader(engine)

    @property
    def engine(self) -> str:
        """Name of the engine."""
        return self._engine.name

    def write(self, write: Write) -> str | None:
        """Commit everything or nothing; return the id of the outbox row, if any."""
        plan = plan_write(write)
        rows = encode_write(plan)
        if not any((*rows.values(), *plan.removed.values(), plan.replicated)):
            return None
        singly = self.engine == "kuzu"
        self._engine.transact(lambda query: Transaction(query, edges_singly=singly).write(plan, rows))
        return plan.outbox

    def nodes(self, table: NodeTable, ids: Sequence[str]) -> tuple[Any, ...]:
        """Return rows of a node table by id."""
        return self._read.nodes(table, ids)

    def edges(self, table: EdgeTable, ids: Sequence[str], *, end: End) -> list[Any]:
        """Return the edges that have one of these nodes at one end."""
        return self._read.edges(table, ids, end=end)

    def relations_between(self, pairs: Sequence[tuple[str, str]]) -> tuple[Relation, ...]:
        """Return every relation from the first to the second of each pair, newest first."""
        return newest_recorded(RELATES, self._read.edges_joining(RELATES, pairs))

    def changes(
        self,
        *,
        id: str | None = None,
        target: str | None = None,
        run: str | None = None,
        request: str | None = None,
        project: str | None = None,
        kind: str | None = None,
        operation: str | None = None,
    ) -> tuple[Change, ...]:
        """Return changes, oldest first; all that is given must match."""
        conditions = Conditions()
        equal = {"id": id, "target": target, "run": run, "request": request, "project": project}
        equal["operation"] = operation
        for column, value in equal.items():
            if value is not None:
                conditions.add(f"c.`{column}` = ${column}", **{column: value})
        if kind is not None:
            conditions.add("c.target STARTS WITH $kind", kind=f"{kind}_")
        return self._read.select(CHANGE, "(c:Change)", conditions, order="c.at, c.id")

    def ended_runs(self, project: str, before: datetime, *, most: int) -> tuple[EndedRun, ...]:
        """Return runs that wrote to a project and ended before a moment, each whole, the oldest first."""
        with self._engine.reading() as query:
            return row_counts.ended_runs(query, project, before, most=most)

    def changed_before(self, before: datetime) -> tuple[str, ...]:
        """Return the projects that have changes from before a moment, by name, also where nothing is left."""
        with self._engine.reading() as query:
            return row_counts.changed_before(query, before)

    def list_documents(
        self,
        project: str,
        page: Listing,
        *,
        states: Sequence[State] = LIVE,
        known_at: datetime | None = None,
    ) -> tuple[Document, ...]:
        """Return a page of a project's documents, newest recorded first."""
        conditions = Conditions()
        conditions.add("c.project = $project", project=project)
        conditions.one_of("state", states)
        conditions.known(known_at)
        return self._read.page(DOCUMENT, "(c:Document)", conditions, page, order="c.recorded_at DESC, c.id")

    def list_chunks(
        self,
        where: ChunkFilter,
        page: Listing,
        *,
        event_type: str | None = None,
        mentioning: str | None = None,
        expired_by: datetime | None = None,
        by_time: bool = False,
    ) -> tuple[Chunk, ...]:
        """Return a page of chunks: by time, of one document or session by position, else newest first."""
        conditions = chunk_conditions(where)
        pattern, order = "(c:Chunk)", "c.recorded_at DESC, c.position, c.id"
        if len(where.documents) == 1 or len(where.sessions) == 1:
            order = "c.position, c.id"
            pattern = _narrowed(where, conditions)
        if event_type is not None:
            conditions.add("c.event_type = $event_type", event_type=event_type)
        if expired_by is not None:
            conditions.add("c.expires_at <= $expired_by", expired_by=expired_by)
        if mentioning is not None:
            conditions.add("e.id = $mentioning", mentioning=mentioning)
            pattern += ", (c)-[:MENTIONS]->(e:Entity)"
        if by_time:
            conditions.add("c.happened_at IS NOT NULL")
            order = "c.happened_at, c.position, c.id"
        return self._read.page(CHUNK, pattern, conditions, page, order=order)

    def between(self, stretches: Sequence[Stretch]) -> tuple[Chunk, ...]:
        """Return the chunks of stretches, of every state, in order of stretch, position and id."""
        return self._read.between(CHUNK, stretches)

    def list_entities(
        self, project: str, page: Listing, *, containing: str | None = None, type: str | None = None
    ) -> tuple[Entity, ...]:
        """Return a page of a project's entities, most mentioned first."""
        conditions = Conditions()
        conditions.add("c.project = $project", project=project)
        if type is not None:
            conditions.add("c.type = $type", type=type)
        # The engines find the empty text in no key.
        if containing is not None and (key := entity_key(containing)):
            conditions.add("contains(c.key, $containing)", containing=key)
        return self._read.page(ENTITY, "(c:Entity)", conditions, page, order="c.mention_count DESC, c.id")

    def entities_called(self, project: str, keys: Sequence[str]) -> Mapping[str, str]:
        """Return the id of the entity that each key is the name of, else an alias; others are left out."""
        statement = (
            "MATCH (n:Entity) WHERE n.project = $project AND (n.key IN $keys OR size(n.aliases) > 0) "
            "RETURN n.id, n.key, n.aliases ORDER BY offset(id(n))"
        )
        with self._engine.reading() as query:
            rows: list[list[Any]] = query(statement, {"project": project, "keys": list(keys)})
        return entities_by_key(keys, rows)

    def list_relations(
        self,
        project: str,
        page: Listing,
        *,
        type: str | None = None,
        states: Sequence[State] = LIVE,
        verdicts: Sequence[Decision] = (),
        at: datetime | None = None,
        known_at: datetime | None = None,
    ) -> tuple[Relation, ...]:
        """Return a page of a project's relations, newest recorded first; with verdicts, longest verified."""
        check_page(page)
        conditions = Conditions()
        conditions.add("c.project = $project", project=project)
        if type is not None:
            conditions.add("c.type = $type", type=type)
        conditions.one_of("state", states)
        conditions.one_of("verdict", verdicts)
        conditions.valid(at)
        conditions.known(known_at)
        order = "coalesce(c.verified_at, c.recorded_at)" if verdicts else "c.recorded_at DESC"
        return self._read.edge_page(RELATES, conditions, page, order=order)

    def last_position(self, session: str) -> int:
        """Return the highest position of a session's chunks; -1 where it has none."""
        statement = "MATCH (c:Chunk)-[:IN_SESSION]->(s:Session {id: $id}) RETURN max(c.position)"
        with self._engine.reading() as query:
            ((highest,),) = query(statement, {"id": session})
        return -1 if highest is None else int(highest)

    def list_sessions(self, project: str, page: Listing) -> tuple[Session, ...]:
        """Return a page of a project's sessions, last active first."""
        conditions = Conditions()
        conditions.add("c.project = $project", project=project)
        return self._read.page(SESSION, "(c:Session)", conditions, page, order="c.last_at DESC, c.id")

    def projects(self) -> tuple[ProjectView, ...]:
        """Return every project that holds a document, chunk, entity or session, by name."""
        with self._engine.reading() as query:
            return row_counts.projects(query)

    def counts(self, project: str | None = None) -> Counts:
        """Count active rows (all rows of mentions, links, sessions and changes)."""
        with self._engine.reading() as query:
            return row_counts.counts(query, project)

    def scope_counts(self, project: str, prefix: str) -> tuple[ScopeCount, ...]:
        """Count a project's active memories at or under a scope, by scope and categories."""
        with self._engine.reading() as query:
            return row_counts.scopes(query, project, prefix)

    def document_bytes(self) -> Mapping[str, int]:
        """Return the bytes of the text of documents by project, of every state."""
        with self._engine.reading() as query:
            return row_counts.document_bytes(query)

    def past(self, cutoffs: Cutoffs) -> Past:
        """Count the rows that are past their time."""
        with self._engine.reading() as query:
            return row_counts.past(query, cutoffs)

    def scan(self, table: Table, batch: int = 1000) -> Iterator[tuple[Any, ...]]:
        """Yield every row of a table in the order of its key."""
        yield from self._read.scan(table, batch)

    def jobs(
        self, page: Listing, *, states: Sequence[JobState] = (), project: str | None = None
    ) -> tuple[Job, ...]:
        """Return a page of jobs, oldest first."""
        conditions = Conditions()
        if project is not None:
            conditions.add("c.project = $project", project=project)
        conditions.one_of("state", states)
        return self._read.page(JOB, "(c:Job)", conditions, page, order="c.created_at, c.id")

    def outbox(self) -> tuple[OutboxRow, ...]:
        """Return the rows of writes that may not be replicated to the vector store, oldest first."""
        return self._read.select(OUTBOX, "(c:Outbox)", Conditions(), order="c.at, c.id")

    def clear_outbox(self, ids: Sequence[str]) -> None:
        """Delete outbox rows that are replicated to the vector store."""
        if ids:
            with self._engine.writing() as query:
                query(remove_nodes(OUTBOX), {"ids": list(dict.fromkeys(ids))})

    def graph_tables(self, project: str) -> "tuple[pa.Table, pa.Table]":
        """Return a project's nodes and edges for the snapshot."""
        # Edges first: an end that is added meanwhile is among the nodes.
        edges = snapshot_tables.edges(self._engine, project)
        return snapshot_tables.nodes(self._engine, project), edges

    def meta(self) -> Mapping[str, str]:
        """Return the store's own facts."""
        with self._engine.reading() as query:
            rows: list[list[Any]] = query("MATCH (m:Meta) RETURN m.name, m.`value`", {})
        return dict(rows)

    def set_meta(self, values: Mapping[str, str]) -> None:
        """Set some of the store's own facts."""
        with self._engine.writing() as query:
            set_meta(query, dict(values))

    def last_change_at(self) -> datetime | None:
        """Return the time of the newest change."""
        with self._engine.reading() as query:
            ((newest,),) = query("MATCH (c:Change) RETURN max(c.at)", {})
        return None if newest is None else newest.replace(tzinfo=UTC)

    def checkpoint(self) -> None:
        """Write the content of the write-ahead log into the main file."""
        self._engine.checkpoint()

    def save(self, folder: Path) -> None:
        """Write into an empty folder what the graph can be opened from; writes go on meanwhile."""
        copied = graph_file(folder, self.engine)
        try:
            self._engine.copy_to(copied)
            mark_folder(folder, self.engine)
        except OSError as error:
            raise StorageError(f"{copied}: cannot be written: {error.strerror or error}") from error

    def close(self) -> None:
        """Release the store; harmless when repeated."""
        self._engine.close()


def _narrowed(where: ChunkFilter, conditions: Conditions) -> str:
    """Return the pattern that starts at the one document or session that a filter names."""
    if len(where.documents) == 1:
        conditions.add("d.id = $holder", holder=where.documents[0])
        return "(d:Document)-[:HAS_CHUNK]->(c:Chunk)"
    conditions.add("s.id = $holder", holder=where.sessions[0])
    return "(c:Chunk)-[:IN_SESSION]->(s:Session)"
