"""Connections: what they keep of the statements that they ran, and parameters of many types."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hydramem.core.config import StorageConfig
from hydramem.core.errors import StorageError
from hydramem.storage.cypher.connection import _MOST_ITEMS, _MOST_PREPARED
from hydramem.storage.cypher.engine import Engine


@pytest.fixture
def engine_open(tmp_path: Path, settings: StorageConfig) -> Iterator[Engine]:
    opened = Engine(tmp_path / "graph.db", settings)
    yield opened
    opened.close()


def test_a_connection_that_keeps_many_statements_is_not_used_again(
    engine_open: Engine, settings: StorageConfig
) -> None:
    connections = engine_open.database.connections
    with connections.connection() as first:
        for number in range(_MOST_PREPARED):
            first.execute(f"RETURN $x + {number}", {"x": 1}).close()
    with connections.connection() as second:
        assert second is first
        for _ in range(3):
            assert second.execute("RETURN $x", {"x": 2}).get_all() == [[2]]
    with connections.connection() as third:
        assert (third is not first) == (settings.graph == "kuzu")
        assert third.execute("RETURN $x", {"x": 3}).get_all() == [[3]]


def test_a_connection_that_had_a_long_list_is_not_used_again(
    engine_open: Engine, settings: StorageConfig
) -> None:
    connections, rows = engine_open.database.connections, list(range(_MOST_ITEMS + 1))
    with connections.connection() as first:
        assert first.execute("UNWIND $rows AS r RETURN sum(r)", {"rows": rows}).get_all() == [[sum(rows)]]
    with connections.connection() as second:
        assert (second is not first) == (settings.graph == "kuzu")


def test_one_statement_takes_parameters_of_many_types_and_after_a_failure(engine_open: Engine) -> None:
    statement = "UNWIND $rows AS r RETURN CAST(r.a AS STRING), CAST(r.b AS STRING[])"
    with engine_open.reading() as query:
        for a, b in [(None, []), ("x", ["y"]), (1, []), (None, ["z", "é"]), ("", []), (2.5, ["w"])]:
            given = {"rows": [{"a": a, "b": b}, {"a": a, "b": b}]}
            shown = None if a is None else str(a) if not isinstance(a, float) else "2.500000"
            assert query(statement, given) == [[shown, b]] * 2
        with pytest.raises(StorageError, match="NOTHING"):
            query("RETURN nothing($x)", {"x": 1})
        assert query("RETURN $x", {"x": "1"}) == [["1"]]
        assert query("RETURN $x, $y", {"x": "1", "y": 2}) == [["1", 2]]
        assert query("RETURN $x, $y", {"y": "2", "x": 1}) == [[1, "2"]]


def test_a_statement_is_bound_to_the_tables_of_now(engine_open: Engine) -> None:
    with engine_open.writing() as query:
        query("CREATE NODE TABLE T(id INT64, a STRING, PRIMARY KEY(id))", {})
    statement, kept = "MATCH (n:T {id: $id}) RETURN n.a", {"id": 1}
    with engine_open.reading() as reading:
        assert reading(statement, kept) == []
        with engine_open.writing() as query:
            query("ALTER TABLE T DROP a", {})
            query("ALTER TABLE T ADD a INT64", {})
            query("CREATE (:T {id: $id, a: $a})", {"id": 1, "a": 7})
        assert reading(statement, kept) == [[7]]
