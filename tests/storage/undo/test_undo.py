"""Taking back by rows: columns, large undos in pieces, one that was interrupted, and vectors."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.errors import InvalidInputError, NotFoundError, StorageError
from hydramem.llm.hash_embedder import HashEmbedder
from hydramem.storage.changes import in_one_run, record
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.in_memory.graph import InMemoryGraph
from hydramem.storage.in_memory.vectors import InMemoryVectors
from hydramem.storage.outbox import Mirror
from hydramem.storage.repair.doctor import diagnose
from hydramem.storage.row_codec import encode
from hydramem.storage.schema import CHUNK
from hydramem.storage.undo.rows_to_restore import set_back, without_added
from hydramem.storage.undo.undo import undo
from hydramem.storage.vector_rows import Vector
from hydramem.storage.write import Removal, Write
from tests.memory_api.test_undo import everything
from tests.storage.rows import at, chunk, document, entity, link, mention, relation, session

EMBEDDER = HashEmbedder(64)
words = st.lists(st.sampled_from("abcde"), unique=True, max_size=5)


class Failing(InMemoryGraph):
    """A graph store that fails after so many writes."""

    left = 10**9

    def write(self, write: Write) -> str | None:
        """Commit, unless the disk is full."""
        if self.left == 0:
            raise StorageError("graph: no space left on device")
        self.left -= 1
        return super().write(write)


class Store:
    """A graph, its vectors, and a way to write runs."""

    def __init__(self) -> None:
        self.graph = Failing()
        self.vectors = InMemoryVectors(64)
        self.embedded: list[str] = []
        self.mirror = Mirror(self.graph, lambda: self.vectors, self.embed, lambda write: None)

    def embed(self, texts: Sequence[str]) -> Vector:
        self.embedded.extend(texts)
        return EMBEDDER.embed_documents(texts)

    def run(self, **rows: Any) -> str:
        with in_one_run() as run:
            self.mirror.commit(Write(changes=(record("test", project="p", target="any"),), **rows))
        return run

    def undo(self, id: str, *, force: bool = False) -> Any:
        return undo(id, graph=self.graph, mirror=self.mirror, force=force)


@pytest.fixture
def store() -> Store:
    return Store()


def back(current: dict[str, Any], before: dict[str, Any], after: dict[str, Any], **options: bool) -> Any:
    values, since = set_back(CHUNK, encode(CHUNK, chunk(**current)), before=before, after=after, **options)
    return {name: values[name] for name in before}, since


# Columns ------------------------------------------------------------------------------------------


@given(before=words, after=words)
def test_a_list_as_it_was_left_goes_back(before: list[str], after: list[str]) -> None:
    assert back({"categories": tuple(after)}, {"categories": before}, {"categories": after}) == (
        {"categories": before},
        (),
    )


@given(current=words, before=words, after=words)
def test_a_list_keeps_what_was_added_since(current: list[str], before: list[str], after: list[str]) -> None:
    found = without_added(current, before, after)
    assert set(found) == (set(current) - (set(after) - set(before))) | (set(before) - set(after))
    assert len(found) == len(set(found))


def test_metadata_goes_back_key_by_key() -> None:
    before, after = json.dumps({"a": 1, "gone": 2}), json.dumps({"a": 5, "new": 3})
    values, since = back(
        {"metadata": {"a": 5, "new": 3, "later": 4}}, {"metadata": before}, {"metadata": after}
    )
    assert (json.loads(values["metadata"]), since) == ({"later": 4, "a": 1, "gone": 2}, ())
    _, since = back({"metadata": {"a": 6}}, {"metadata": before}, {"metadata": after})
    assert since == ("metadata",)


def test_a_row_that_was_written_since_stays_whole() -> None:
    before, after = {"state": "active", "scope": "/a"}, {"state": "archived", "scope": "/b"}
    now = {"state": "archived", "scope": "/c"}
    assert back(now, before, after) == ({"state": "archived", "scope": "/c"}, ("scope",))
    assert back(now, before, after, force=True) == (before, ())


def test_what_something_else_put_back_already_is_no_change_since() -> None:
    assert back({"scope": "/a"}, {"scope": "/a"}, {"scope": "/b"}) == ({"scope": "/a"}, ())


# Runs ---------------------------------------------------------------------------------------------


def test_vectors_follow_what_is_taken_back(store: Store) -> None:
    store.run(chunks=(chunk("c1", "Tea at four."),), entities=(entity(mention_count=3),))
    run = store.run(chunks=(chunk("c1", "Coffee at five."), chunk("c2")), removed=Removal(entities=("e1",)))
    done = store.undo(run)
    assert done.removed == {"chunks": 1}
    assert done.restored == {"chunks": 1, "entities": 1}
    assert store.vectors.chunk_hashes().keys() == {"c1"}
    assert [
        hit.id for hit in store.vectors.nearest(EMBEDDER.embed_query("Tea at four."), ChunkFilter(), 1)
    ] == ["c1"]
    assert store.vectors.nearest(EMBEDDER.embed_query("Tea at four."), ChunkFilter(), 1)[0].score > 0.99
    assert diagnose(store.graph, store.vectors, store.mirror).healthy


@pytest.mark.slow
def test_a_large_undo_goes_in_pieces_and_one_that_was_interrupted_is_finished(store: Store) -> None:
    first = tuple(chunk(f"c{number}", document="d1") for number in range(3000))
    store.run(documents=(document(),), chunks=first, entities=(entity(),))
    before = everything(store.graph)
    moved = tuple(replace(row, scope="/moved") for row in first)
    new = tuple(chunk(f"n{number}", session="s1") for number in range(3000))
    links = tuple(link(f"c{number}", f"n{number}") for number in range(3000))
    run = store.run(
        chunks=(*moved, *new), sessions=(session(),), links=links, mentions=(mention("n1"), mention("c1"))
    )
    after = everything(store.graph)
    store.graph.left = 2
    with pytest.raises(StorageError, match="no space"):
        store.undo(run)
    assert everything(store.graph) not in (before, after)
    store.graph.left = 10**9
    done = store.undo(run)
    assert done.left == ()
    assert everything(store.graph) == before
    with pytest.raises(InvalidInputError, match="was undone"):
        store.undo(run)


def test_an_edge_whose_end_is_gone_since_does_not_come_back(store: Store) -> None:
    store.run(chunks=(chunk(), chunk("c2")), entities=(entity(),), mentions=(mention(),), links=(link(),))
    run = store.run(removed=Removal(mentions=(("c1", "e1"),), links=(("c1", "c2", "l_c1_c2"),)))
    store.run(removed=Removal(chunks=("c2",), entities=("e1",)))
    done = store.undo(run)
    assert {(each.what, each.why) for each in done.left} == {
        ("mention", "entity e1 is not there"),
        ("link", "chunk c2 is not there"),
    }


def test_a_row_that_came_again_since_is_left(store: Store) -> None:
    store.run(chunks=(chunk(),))
    run = store.run(removed=Removal(chunks=("c1",)))
    store.run(chunks=(chunk(text="Another."),))
    assert [each.why for each in store.undo(run).left] == ["was written since"]
    assert store.undo(run, force=True).restored == {"chunks": 1}
    assert store.graph.chunks(["c1"])[0].text == chunk().text


def test_counts_follow_what_stays(store: Store) -> None:
    store.run(chunks=(chunk(),), entities=(entity(mention_count=1),), mentions=(mention(),))
    run = store.run(
        chunks=(chunk("c2"), chunk("c3")),
        entities=(entity(mention_count=3, last_seen=at(3)),),
        mentions=(mention("c2"), mention("c3")),
    )
    store.run(chunks=(chunk("c3", scope="/kept"),))
    assert [each.id for each in store.undo(run).left] == ["c3"]
    (row,) = store.graph.entities(["e1"])
    assert (row.mention_count, row.last_seen) == (2, at(0))


def test_a_write_before_images_cannot_be_undone(store: Store) -> None:
    old = replace(record("test", project="p", target="c1"), run="w_old")
    store.mirror.commit(Write(changes=(old,), chunks=(chunk(),), verbatim=True))
    with pytest.raises(InvalidInputError, match="before writes could be undone"):
        store.undo("w_old")
    with pytest.raises(NotFoundError, match="no run and no change"):
        store.undo("w_other")


def test_rows_are_as_they_were_under_any_edge(store: Store) -> None:
    store.run(entities=(entity(), entity("e2", "Bob")), chunks=(chunk(),), relations=(relation(),))
    before = everything(store.graph)
    run = store.run(
        entities=(entity(description="x"),),
        relations=(relation(evidence=("c1",), quote="Ada leads billing"),),
    )
    store.run(relations=(relation(evidence=("c1", "c9"), quote="Ada leads billing"),))
    assert store.undo(run).left == ()
    assert store.graph.relations(["e1"])[0].evidence == ("c9",)
    assert everything(store.graph)["Entity"] == before["Entity"]
