"""Moving to new vectors: what is written meanwhile, what a stop leaves, what is not made twice."""

import itertools
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from hydramem.core.errors import ModelError, StorageError
from hydramem.llm.hash_embedder import HashEmbedder
from hydramem.storage.in_memory.graph import InMemoryGraph
from hydramem.storage.in_memory.vectors import InMemoryVectors
from hydramem.storage.outbox import Mirror
from hydramem.storage.repair.doctor import diagnose
from hydramem.storage.repair.reindex import ReindexedVectors, move
from hydramem.storage.vector_rows import Vector
from tests.storage.rows import chunk, entity, write

OLD, NEW = HashEmbedder(64), HashEmbedder(32)


class Kit:
    """A store with old vectors, new ones to be filled, and an embedder that does as it is told."""

    def __init__(self) -> None:
        self.graph, self.old, self.new = InMemoryGraph(), InMemoryVectors(64), InMemoryVectors(32)
        self.serving = self.old
        self.mirror = Mirror(
            self.graph, lambda: self.serving, lambda texts: self._serving(texts), lambda write: None
        )
        self.texts: list[str] = []
        self.before_batch: Callable[[int], None] = lambda batch: None
        self.switches = 0

    def _serving(self, texts: Sequence[str]) -> Vector:
        return (OLD if self.serving is self.old else NEW).embed_documents(texts)

    def _embed(self, texts: Sequence[str]) -> Vector:
        self.before_batch(len(self.texts))
        self.texts.extend(texts)
        return NEW.embed_documents(texts)

    def _switch(self) -> None:
        self.switches += 1
        self.serving = self.new

    def move(self, report: Callable[[int, int], None] | None = None) -> ReindexedVectors:
        return move(
            self.graph, self.new, self._embed, mirror=self.mirror, switch=self._switch, progress=report
        )

    def healthy(self) -> bool:
        return diagnose(self.graph, self.serving, self.mirror).healthy

    def fill(self, chunks: int) -> None:
        rows = tuple(chunk(f"c{number:03}", f"Crate {number} rests.") for number in range(chunks))
        entities = (entity("e1"), entity("e2", "Bo", mention_count=3))
        self.mirror.commit(write(chunks=rows, entities=entities), {"e2": OLD.embed_query("Bo")})


@pytest.fixture
def kit() -> Kit:
    return Kit()


def test_every_row_is_in_the_new_vectors_in_the_new_space(kit: Kit) -> None:
    kit.fill(100)
    steps: list[tuple[int, int]] = []
    moved = kit.move(lambda done, total: steps.append((done, total)))
    assert (moved.chunks, moved.entities, moved.made, moved.resumed) == (100, 1, 101, 0)
    assert (steps[0], steps[-1]) == ((0, 101), (101, 101))
    assert kit.switches == 1
    assert kit.healthy()
    vector = kit.new.vectors(["c007"])["c007"]
    np.testing.assert_array_equal(vector, NEW.embed_query("Crate 7 rests."))
    assert kit.new.entity_hashes().keys() == {"e2"}


def test_what_a_failure_left_is_not_made_again(kit: Kit) -> None:
    kit.fill(150)

    def fail(made: int) -> None:
        if made:
            raise ModelError("out of memory")

    kit.before_batch = fail
    with pytest.raises(ModelError):
        kit.move()
    assert kit.switches == 0
    assert kit.healthy()
    first = list(kit.texts)
    kit.texts.clear()
    kit.before_batch = lambda batch: None
    moved = kit.move()
    assert 0 < moved.resumed == len(first)
    assert set(first).isdisjoint(kit.texts)
    assert len(first) + len(kit.texts) == 150 + 1
    assert kit.healthy()


def test_what_is_written_meanwhile_is_caught_up(kit: Kit) -> None:
    kit.fill(100)

    def meanwhile(made: int) -> None:
        kit.before_batch = lambda batch: None
        kit.mirror.commit(
            write(
                chunks=(chunk("c000", "Crate 0 rests.", state="archived"), chunk("new", "A crate arrived.")),
                entities=(entity("e1", mention_count=3),),
            ),
            {"e1": OLD.embed_query("Ada")},
        )

    kit.before_batch = lambda made: meanwhile(made) if made else None
    kit.move()
    assert kit.healthy()
    np.testing.assert_array_equal(kit.new.vectors(["new"])["new"], NEW.embed_query("A crate arrived."))
    assert kit.new.entity_hashes().keys() == {"e1", "e2"}


def test_many_writers_lose_nothing(kit: Kit) -> None:
    kit.fill(100)
    stop = threading.Event()

    def work(worker: int) -> None:
        for step in itertools.takewhile(lambda _: not stop.is_set(), itertools.count()):
            kit.mirror.commit(write(chunks=(chunk(f"w{worker}-{step}", f"Worker {worker} wrote {step}."),)))

    with ThreadPoolExecutor(3) as pool:
        workers = [pool.submit(work, number) for number in range(3)]
        kit.move()
        stop.set()
    for worker in workers:
        worker.result()
    assert kit.healthy()
    assert len(kit.new.chunk_hashes()) > 100


def test_what_changed_between_two_runs_is_embedded_as_it_is(kit: Kit) -> None:
    kit.fill(10)
    follower = Mirror(kit.graph, lambda: kit.new, NEW.embed_documents, lambda write: None)
    follower.refresh_entities(["e1", "e2"])
    follower.refresh_chunks(["c003"])
    kit.mirror.commit(
        write(chunks=(chunk("c003", "Crate 3 rests.", author="Ada"),), entities=(entity(mention_count=3),)),
        {"c003": OLD.embed_query("Ada: Crate 3 rests."), "e1": OLD.embed_query("Ada")},
    )
    kit.move()
    vector = kit.new.vectors(["c003"])["c003"]
    np.testing.assert_array_equal(vector, NEW.embed_query("Ada: Crate 3 rests."))
    assert kit.new.entity_hashes().keys() == {"e1", "e2"}, "one gained a mention"


def test_a_switch_that_fails_leaves_the_old_serving_and_the_writers_free(kit: Kit) -> None:
    kit.fill(10)

    def fail() -> None:
        raise StorageError("no space left on device")

    with pytest.raises(StorageError, match="no space"):
        move(kit.graph, kit.new, NEW.embed_documents, mirror=kit.mirror, switch=fail)
    kit.mirror.commit(write(chunks=(chunk("after"),)))
    assert kit.serving is kit.old
    assert kit.healthy()
