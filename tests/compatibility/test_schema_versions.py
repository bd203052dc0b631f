"""A store of every earlier schema opens, keeps its rows, and can be written.

`data/schema` holds the statements that made the tables of each version; a name such as `1-with-verdicts` is a
schema that was changed while its version stayed the same. A new version adds its file here.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from hydramem.core.config import StorageConfig
from hydramem.storage.cypher.engine import Engine, Query
from hydramem.storage.cypher.graph import open_graph
from hydramem.storage.cypher.schema_statements import MARKER, graph_file, schema_statements, set_meta
from hydramem.storage.schema import CHUNK_EDGE_TABLES, EDGE_TABLES, NODE_TABLES, SCHEMA_VERSION
from tests.engines import DISK_ENGINE
from tests.storage.rows import T0, chunk, entity, link, mention, relation, write

SETTINGS = StorageConfig(graph=DISK_ENGINE, buffer_pool_mb=128, max_db_gb=8)  # type: ignore[arg-type]
SCHEMAS = sorted((Path(__file__).parent / "data" / "schema").glob("*.cypher"))


def version_of(schema: Path) -> str:
    return schema.stem.partition("-")[0]


def store_of(schema: Path, folder: Path) -> None:
    """Make a store as the version of a schema did, with a chunk, two entities and a relation in it."""
    folder.mkdir()
    engine = Engine(graph_file(folder, DISK_ENGINE), SETTINGS)
    with engine.writing() as query:
        for statement in schema.read_text(encoding="utf-8").splitlines():
            query(statement, {})
        set_meta(query, {"schema_version": version_of(schema)})
        _add_rows(query)
    engine.close()
    (folder / MARKER).write_text(f"{DISK_ENGINE} {version_of(schema)}\n")


def _add_rows(query: Query) -> None:
    query(
        "CREATE (:Chunk {id: 'c1', project: 'p', text: 'Ada leads billing.', kind: 'note', scope: '/', "
        "layer: 'working', state: 'active', source: '', source_type: '', position: 0, tokens: 0, "
        "recall_count: 0, importance: 0.5, confidence: 1.0, private: false, recorded_at: $at, "
        "vector_state: 'ready', metadata: '{}'})",
        {"at": T0.replace(tzinfo=None)},
    )
    for id, name in (("e1", "Ada"), ("e2", "Bob")):
        query(
            "CREATE (:Entity {id: $id, project: 'p', key: $key, name: $name, type: 'thing', "
            "mention_count: 0, first_seen: $at, last_seen: $at, metadata: '{}'})",
            {"id": id, "name": name, "key": name.lower(), "at": T0.replace(tzinfo=None)},
        )
    query(
        "MATCH (a:Entity {id: 'e1'}), (b:Entity {id: 'e2'}) CREATE (a)-[:RELATES {id: 'r1', project: 'p', "
        "type: 'leads', origin: 'extracted', confidence: 1.0, bidirectional: false, layer: 'working', "
        "state: 'active', recorded_at: $at, scores: '{}', metadata: '{}'}]->(b)",
        {"at": T0.replace(tzinfo=None)},
    )


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.stem)
def test_a_store_of_each_schema_opens_with_every_column_and_is_written(schema: Path, tmp_path: Path) -> None:
    store_of(schema, tmp_path / "graph")
    store = open_graph(tmp_path / "graph", SETTINGS)
    assert store.meta()["schema_version"] == str(SCHEMA_VERSION)
    assert store.chunks(["c1"]) == (chunk(),)
    (stored,) = store.relations(["e1"])
    assert stored == relation(id="r1")
    judged = replace(stored, verdict="accepted", probability=0.9, verifier="srmkg:1", verified_at=T0)
    added = {"chunks": (chunk("c2"),), "entities": (entity("e3", "Cy"),)}
    store.write(write(**added, relations=(judged,), mentions=(mention(),), links=(link(),)))
    store.close()
    again = open_graph(tmp_path / "graph", SETTINGS)
    assert again.relations(["e1"]) == (judged,)
    assert again.links(["c1"]) and again.mentions(["c1"])
    assert again.changes(target="any")[0].image
    again.close()
    engine = Engine(graph_file(tmp_path / "graph", DISK_ENGINE), SETTINGS)
    with engine.reading() as query:
        for table in (*NODE_TABLES, *EDGE_TABLES, *CHUNK_EDGE_TABLES):
            found = {name for (name,) in query(f"CALL table_info('{table.name}') RETURN name", {})}
            assert found == {column.name for column in table.columns}, table.name
    engine.close()


def test_the_newest_schema_is_the_one_that_new_stores_have() -> None:
    """A column that is added without a new version, or a version without its file here, fails."""
    newest = max(SCHEMAS, key=version_of)
    assert version_of(newest) == str(SCHEMA_VERSION)
    assert tuple(newest.read_text(encoding="utf-8").splitlines()) == schema_statements()
