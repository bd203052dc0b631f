"""What is dumped and loaded is what was there, on every store, byte for byte."""

import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from hydramem.core.config import StorageConfig
from hydramem.core.errors import InvalidInputError, NotFoundError, StorageError
from hydramem.llm.hash_embedder import HashEmbedder
from hydramem.storage.exchange.manifest import PARTS
from hydramem.storage.store import GraphStore
from hydramem.storage.write import Write
from tests.examples import FEW
from tests.storage.engine_stores import open_vectors_of
from tests.storage.exchange.stores import SAMPLE, Store, change, contents
from tests.storage.rows import chunk, document, entity, mention, session
from tests.storage.test_graph_machine import (
    CHUNKS,
    DOCUMENTS,
    ENTITIES,
    SESSIONS,
    chunks,
    documents,
    entities,
    jobs,
    links,
    mentions,
    recalled,
    relations,
    sessions,
    texts,
)

# In place of the rows that the others refer to.
FIRST = Write(
    changes=(),
    documents=tuple(map(document, DOCUMENTS)),
    sessions=tuple(map(session, SESSIONS)),
    chunks=tuple(map(chunk, CHUNKS)),
    entities=tuple(map(entity, ENTITIES)),
    verbatim=True,
)
changes = st.builds(change, st.sampled_from(("x1", "x2")), reason=st.none() | texts, image=st.none() | texts)
writes = st.builds(
    Write,
    verbatim=st.just(True),
    **{
        name: st.lists(rows, max_size=3).map(tuple)
        for name, rows in {
            "changes": changes,
            "documents": documents,
            "chunks": chunks,
            "entities": entities,
            "relations": relations,
            "mentions": mentions,
            "links": links,
            "sessions": sessions,
            "recalled": recalled,
            "jobs": jobs,
        }.items()
    },
)


@given(rows=st.lists(writes, max_size=2), vectors=st.booleans())
@settings(FEW, max_examples=8)
def test_any_rows_come_back_as_they_were(rows: list[Write], vectors: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder, "first"), Path(folder, "second")
        before, after = Store(), Store()
        for write in (FIRST, *rows):
            before.put(write)
        before.dump(first, vectors=vectors)

        done = after.load(first)
        after.dump(second, vectors=vectors)

        assert after.rows() == before.rows()
        assert contents(second) == contents(first)
        assert sum(done.written.values()) == sum(map(len, before.rows().values()))
        assert not sum(done.unchanged.values()) + sum(done.differing.values())
        again = after.load(first)
        assert after.rows() == before.rows()
        assert again.unchanged == done.written


@pytest.fixture
def sample() -> Store:
    store = Store()
    store.put(SAMPLE)
    return store


def test_every_store_takes_a_dump_and_gives_the_same(
    sample: Store, new_graph: GraphStore, settings: StorageConfig, tmp_path: Path
) -> None:
    vectors = open_vectors_of(new_graph, tmp_path / "vectors", settings)
    other = Store(new_graph, vectors)
    sample.dump(tmp_path / "first", vectors=True)
    other.load(tmp_path / "first")

    assert other.rows() == sample.rows()
    assert other.embedded == 0
    other.dump(tmp_path / "second", vectors=True)
    assert contents(tmp_path / "second") == contents(tmp_path / "first")
    again = other.load(tmp_path / "first")
    assert not any(again.written.values()) and not any(again.differing.values())
    other.dump(tmp_path / "third", vectors=True)
    assert contents(tmp_path / "third") == contents(tmp_path / "first")
    assert not new_graph.outbox()
    vectors.close()


def test_every_row_is_counted_and_the_sample_has_one_in_every_file(sample: Store, tmp_path: Path) -> None:
    dumped, loaded = list[tuple[int, int]](), list[tuple[int, int]]()
    done = sample.dump(tmp_path / "dump", vectors=True, progress=lambda *told: dumped.append(told))
    assert set(done.rows) == {part.name for part in PARTS} | {"chunk_vectors", "entity_vectors"}
    assert all(done.rows.values())
    assert done.projects == ("p", "q")
    Store().load(tmp_path / "dump", progress=lambda *told: loaded.append(told))
    rows = sum(len(part) for part in sample.rows().values())
    assert loaded[-1] == (rows, rows)
    assert dumped[-1][0] == dumped[-1][1] >= rows


def test_without_vectors_of_the_same_embedder_they_are_made_anew(sample: Store, tmp_path: Path) -> None:
    sample.dump(tmp_path / "with", vectors=True)
    other = Store(dimension=8)
    done = other.load(tmp_path / "with")
    assert done.embedded == len(SAMPLE.chunks) + 1  # and the one entity that is mentioned often
    assert "hash/16" in done.notes[0] and "hash/8" in done.notes[0]
    (expected,) = HashEmbedder(8).embed_documents(["A > B\nAda leads billing."])
    assert np.array_equal(other.vectors.vectors(["c1"])["c1"], expected)


def test_a_chosen_project_is_dumped_with_what_belongs_to_it_alone(sample: Store, tmp_path: Path) -> None:
    done = sample.dump(tmp_path / "q", projects=("q",))
    assert done.projects == ("q",)
    other = Store()
    other.load(tmp_path / "q")
    held = {name: len(rows) for name, rows in other.rows().items() if rows}
    assert held == dict.fromkeys(
        ("sessions", "entities", "chunks", "mentions", "items", "changes", "jobs"), 1
    )
    with pytest.raises(NotFoundError, match="'nowhere'"):
        sample.dump(tmp_path / "nowhere", projects=("nowhere",))
    assert not (tmp_path / "nowhere").exists()


def test_what_the_store_has_otherwise_is_left_and_told(sample: Store, tmp_path: Path) -> None:
    other = Store()
    own = entity("e1", "Ada", description="ours", mention_count=1)
    mine = chunk("c9", "Ada is here.")
    other.put(
        Write(
            changes=(),
            entities=(own,),
            chunks=(mine, chunk("c1", "Ours.")),
            mentions=(mention("c9", "e1"),),
            verbatim=True,
        )
    )
    sample.dump(tmp_path / "dump")
    done = other.load(tmp_path / "dump")
    assert done.differing["chunks"] == 1 and done.differing["entities"] == 1
    assert set(done.left) == {"chunks: c1", "entities: e1"}
    assert [row.text for row in other.graph.chunks(["c1"])] == ["Ours."]
    (ada,) = other.graph.entities(["e1"])
    # The two active chunks of both sides that mention her; the third is superseded.
    assert (ada.description, ada.mention_count) == ("ours", 2)


def test_a_load_that_was_killed_goes_on_where_it_stopped(sample: Store, tmp_path: Path) -> None:
    sample.dump(tmp_path / "dump", vectors=True)
    for writes in range(len(PARTS)):
        other = Store()
        other.killed_after = writes
        with pytest.raises(KeyboardInterrupt):
            other.load(tmp_path / "dump")
        other.killed_after = None
        other.load(tmp_path / "dump")
        assert other.rows() == sample.rows()


def test_a_folder_that_holds_something_is_refused(sample: Store, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("mine")
    with pytest.raises(InvalidInputError, match="holds something"):
        sample.dump(tmp_path)
    with pytest.raises(InvalidInputError, match="holds something"):
        sample.dump(tmp_path / "note.txt")
    (tmp_path / "empty").mkdir()
    sample.dump(tmp_path / "empty")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["empty", "note.txt"]


def test_a_dump_is_of_one_moment_while_others_write(tmp_path: Path) -> None:
    store, stop = Store(), threading.Event()

    def work() -> None:
        number = 0
        while not stop.is_set():
            # Later tables before earlier ones in the order of files: what is torn would not load.
            number += 1
            rows = Write(
                changes=(change(f"x{number}"),),
                documents=(document(f"d{number}"),),
                entities=(entity(f"e{number}", f"name {number}"),),
                chunks=(chunk(f"c{number}", document=f"d{number}"),),
                mentions=(mention(f"c{number}", f"e{number}"),),
                verbatim=True,
            )
            store.put(rows)
            time.sleep(0.001)  # else the lock is taken again before anybody else wakes up

    with ThreadPoolExecutor(1) as pool:
        writer = pool.submit(work)
        try:
            for number in range(3):
                done = store.dump(tmp_path / f"{number}", vectors=True)
                assert len({done.rows[name] for name in ("changes", "documents", "chunks", "mentions")}) == 1
                Store().load(tmp_path / f"{number}")
        finally:
            stop.set()
    writer.result()


def test_what_cannot_be_written_leaves_nothing(sample: Store, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot be made"):
        sample.dump(tmp_path / "file" / "dump")

    def fail(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sample.dump(tmp_path / "dump", progress=fail)
    assert [file.name for file in tmp_path.iterdir()] == ["file"]
