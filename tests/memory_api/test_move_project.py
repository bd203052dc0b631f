"""A project moves from one database to another, as a dump, while others are written to."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

from hydramem.core.config import Config, EmbeddingConfig, StorageConfig
from hydramem.memory_api.memory import connect
from tests.storage.postgres_server import own_schema, server_address

HELD = 60


@pytest.fixture
def configs(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Config, Config]]:
    """Return the configurations of two stores, each with tables of its own."""
    monkeypatch.setenv("HYDRAMEM_STORAGE_URL", server_address())
    with own_schema() as before, own_schema() as after:
        one, other = (
            Config(
                storage=StorageConfig(graph="postgres", database_schema=schema),
                embedding=EmbeddingConfig(model="hash"),
            )
            for schema in (before, after)
        )
        yield one, other


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_project_moves_while_another_is_written_to(tmp_path: Path, configs: tuple[Config, Config]) -> None:
    before, after = configs
    with connect(tmp_path / "before", project="moving", config=before) as memory:
        for place in range(HELD):
            memory.remember(f"Parcel {place} of Ada lies in depot {place}.")
        memory.relate("Ada", "leads", "depot 7")
        memory.drain()

    stop, written = threading.Event(), list[str]()

    def keep_writing() -> None:
        with connect(tmp_path / "neighbour", project="staying", config=before) as memory:
            while not stop.is_set():
                written.append(memory.remember(f"Bo counts crate {len(written)}.").id)

    neighbour = threading.Thread(target=keep_writing)
    neighbour.start()
    try:
        with (
            connect(tmp_path / "before", project="moving", config=before) as source,
            connect(tmp_path / "after", project="moving", config=after) as target,
        ):
            source.dump(str(tmp_path / "dump"), projects=["moving"])
            assert not any(target.load(str(tmp_path / "dump")).differing.values())
            hit = target.recall("where is parcel 41 of Ada").hits[0]
            assert hit.text == "Parcel 41 of Ada lies in depot 41."
            target.remember("Ada took parcel 41 home.")
            source.dump(str(tmp_path / "left"), projects=["moving"])
    finally:
        stop.set()
        neighbour.join()
    assert files(tmp_path / "dump") == files(tmp_path / "left"), "nothing of it was written meanwhile"
    with connect(tmp_path / "before", project="staying", config=before) as memory:
        assert written and {memory.get(id).id for id in written} == set(written)
    with connect(tmp_path / "after", project="staying", config=after) as memory:
        assert memory.projects() == () or {row.name for row in memory.projects()} == {"moving"}
