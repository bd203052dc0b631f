"""The graph store on LadybugDB or Kuzu: one short method for each promise of `GraphStore`."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from hydramem.core.config import StorageConfig
from hydramem.storage.cypher import snapshot_tables
from hydramem.storage.cypher.checkpoints.run_engine import run_engine
from hydramem.storage.cypher.counts import CypherCounts
from hydramem.storage.cypher.engine import Engine
from hydramem.storage.cypher.schema_statements import (
    check_folder,
    graph_file,
    mark_folder,
    prepare_schema,
    set_meta,
)
from hydramem.storage.cypher.statements import remove_nodes
from hydramem.storage.cypher.writes import Transaction, encode_write
from hydramem.storage.files.durable_files import storage_errors
from hydramem.storage.schema import OUTBOX, REQUEST
from hydramem.storage.store import ItemPlace, entities_by_key, item_places_of
from hydramem.storage.write import Write
from hydramem.storage.write_validation import plan_write

if TYPE_CHECKING:
    import pyarrow as pa


def open_graph(
    path: Path,
    settings: StorageConfig,
    *,
    salvage: bool = False,
    read_only: bool = False,
    created_apart: bool = False,
) -> "CypherGraph":
    """Open the graph in a folder, or create it there.

    Args:
        path: The folder of the graph's files.
        settings: Which engine (`ladybug` or `kuzu`) and its memory limits.
        salvage: Whether to open a graph whose log is damaged or gone, with what can still be read.
        read_only: Whether the folder cannot be written: no file is changed, and writes are refused.
        created_apart: Whether a new file is created by another process. LadybugDB fills up its first page
            with what it finds in memory, which may be any text that this process has read.

    Raises:
        ConfigError: The limits are not possible.
        StoreBusyError: Another process, or another handle of this one, holds it.
        SchemaError: A newer version wrote it.
        DiskFullError: The log that the last process left cannot be read on a full disk.
        StorageError: The other engine wrote it, or a file is damaged or gone; none was changed.
    """
    with storage_errors(path, "cannot be opened or created"):
        if not read_only:
            path.mkdir(parents=True, exist_ok=True)
        wrote = check_folder(path, settings.graph, salvage=salvage)
        file = graph_file(path, settings.graph)
        if created_apart and not wrote:
            run_engine(file, settings, pool=settings.buffer_pool_mb << 20)
        engine = Engine(file, settings, salvage=salvage, read_only=read_only)
        try:
            prepare_schema(engine, new=not wrote or salvage)
            if not read_only:
                mark_folder(path, settings.graph)
        except BaseException:
            engine.close(checkpoint=False)
            raise
    return CypherGraph(engine)


class CypherGraph(CypherCounts):
    """A `GraphStore` over an open engine."""

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

    def entities_called(self, project: str, keys: Sequence[str]) -> Mapping[str, str]:
        """Return the id of the entity that each key is the name of, else an alias; others are left out."""
        statement = (
            "MATCH (n:Entity) WHERE n.project = $project AND (n.key IN $keys OR size(n.aliases) > 0) "
            "RETURN n.id, n.key, n.aliases ORDER BY offset(id(n))"
        )
        return entities_by_key(keys, self._rows(statement, {"project": project, "keys": list(keys)}))

    def aliases(self, project: str) -> Iterable[tuple[str, Sequence[str]]]:
        """Return the id and the aliases of each entity of a project that has aliases."""
        statement = (
            "MATCH (n:Entity) WHERE n.project = $project AND size(n.aliases) > 0 RETURN n.id, n.aliases"
        )
        return ((id, aliases) for id, aliases in self._rows(statement, {"project": project}))

    def last_position(self, session: str) -> int:
        """Return the highest position of a session's chunks; -1 where it has none."""
        statement = "MATCH (c:Chunk)-[:IN_SESSION]->(s:Session {id: $id}) RETURN max(c.position)"
        ((highest,),) = self._rows(statement, {"id": session})
        return -1 if highest is None else int(highest)

    def item_places(self) -> Iterable[ItemPlace]:
        """Return where every item is, without values."""
        statement = (
            "MATCH (n:Item) RETURN n.id, n.project, n.namespace, n.session, n.position, "
            "n.updated_at, n.expires_at"
        )
        return item_places_of(self._rows(statement, {}))

    def clear_outbox(self, ids: Sequence[str]) -> None:
        """Delete outbox rows that are replicated to the vector store."""
        if ids:
            with self._engine.writing() as query:
                query(remove_nodes(OUTBOX), {"ids": list(dict.fromkeys(ids))})

    def drop_requests(self, before: datetime) -> None:
        """Delete the answers of requests that were carried out before a moment."""
        with self._engine.writing() as query:
            query(
                f"MATCH (r:{REQUEST.name}) WHERE r.at < $before DELETE r",
                {"before": before.astimezone(UTC).replace(tzinfo=None)},
            )

    def graph_tables(self, project: str) -> "tuple[pa.Table, pa.Table]":
        """Return a project's nodes and edges for the snapshot."""
        # Edges first: an end that is added meanwhile is among the nodes.
        edges = snapshot_tables.edges(self._engine, project)
        return snapshot_tables.nodes(self._engine, project), edges

    def meta(self) -> Mapping[str, str]:
        """Return the store's own facts."""
        return dict(self._rows("MATCH (m:Meta) RETURN m.name, m.`value`", {}))

    def set_meta(self, values: Mapping[str, str]) -> None:
        """Set some of the store's own facts."""
        with self._engine.writing() as query:
            set_meta(query, dict(values))

    def last_change_at(self) -> datetime | None:
        """Return the time of the newest change."""
        ((newest,),) = self._rows("MATCH (c:Change) RETURN max(c.at)", {})
        return None if newest is None else newest.replace(tzinfo=UTC)

    def checkpoint(self, *, least: int = 0) -> bool:
        """Write the content of the write-ahead log into the next generation of the file; others go on."""
        return self._engine.checkpoint(least=least)

    def save(self, folder: Path) -> None:
        """Write into an empty folder what the graph can be opened from; writes go on meanwhile."""
        copied = graph_file(folder, self.engine)
        with storage_errors(copied, "cannot be written"):
            self._engine.copy_to(copied)
            mark_folder(folder, self.engine)

    def close(self) -> None:
        """Release the store; harmless when repeated."""
        self._engine.close()
