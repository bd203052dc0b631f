"""The mirror and the doctor: two stores that never disagree for long."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hydramem.core.errors import InvalidInputError, StorageError
from hydramem.core.row_types import Chunk, Entity
from hydramem.llm.hash_embedder import HashEmbedder
from hydramem.storage.changes import record
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.in_memory.graph import InMemoryGraph
from hydramem.storage.in_memory.vectors import InMemoryVectors
from hydramem.storage.jobs import job
from hydramem.storage.outbox import Mirror, worth_a_vector
from hydramem.storage.repair.compare_stores import Sampled, sample
from hydramem.storage.repair.doctor import diagnose
from hydramem.storage.vector_rows import ChunkVector, EntityVector, Vector
from hydramem.storage.write import Removal, RequestRow, Write
from tests.storage.rows import T0, chunk, entity, session, write

ANYWHERE = ChunkFilter(states=())
EMBEDDER = HashEmbedder(64)


class FailingVectors(InMemoryVectors):
    """A vector store whose disk is full while `full` is set."""

    full = False

    def put(self, chunks: Sequence[ChunkVector] = (), entities: Sequence[EntityVector] = ()) -> None:
        """Insert rows, unless the disk is full."""
        if self.full:
            raise StorageError("vectors: no space left on device")
        super().put(chunks, entities)


def lock_is_free(mirror: Mirror) -> bool:
    """Say whether another thread gets the writer lock."""
    with ThreadPoolExecutor(1) as other:
        lock = mirror.one_writer
        return other.submit(lambda: lock.acquire(blocking=False) and (lock.release() or True)).result()


class Watched(InMemoryVectors):
    """A vector store that notes, with whether another thread could write meanwhile, what it is asked for.

    Attributes:
        asked: Which hashes are read.
        puts: How many chunks are put.
        upkeep: Whether it comes after a bulk of writes.
    """

    mirror: Mirror

    def __init__(self, dimension: int = 64) -> None:
        super().__init__(dimension)
        self.asked: list[tuple[list[str] | None, bool]] = []
        self.puts: list[tuple[int, bool]] = []
        self.upkeep: list[tuple[bool, bool]] = []

    def chunk_hashes(self, among: Sequence[str] | None = None) -> Mapping[str, str]:
        """Return hashes."""
        self.asked.append((None if among is None else list(among), lock_is_free(self.mirror)))
        return super().chunk_hashes(among)

    def put(self, chunks: Sequence[ChunkVector] = (), entities: Sequence[EntityVector] = ()) -> None:
        """Insert rows."""
        self.puts.append((len(chunks), lock_is_free(self.mirror)))
        super().put(chunks, entities)

    def maintain(self, *, after_bulk: bool = False, force: bool = False) -> None:
        """Do nothing else."""
        self.upkeep.append((after_bulk, lock_is_free(self.mirror)))


class Counting:
    """Embeds, and counts what it was asked to."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, texts: Sequence[str]) -> Vector:
        self.texts.extend(texts)
        return EMBEDDER.embed_documents(texts)


class Kit:
    """A graph, its vectors, and the mirror between them."""

    def __init__(self) -> None:
        self.graph = InMemoryGraph()
        self.vectors = FailingVectors(64)
        self.embed = Counting()
        self.committed: list[Write] = []
        self.mirror = self.opened()

    def opened(self) -> Mirror:
        """Open a mirror of the same stores."""
        return Mirror(self.graph, lambda: self.vectors, self.embed, self.committed.append)

    def healthy(self) -> bool:
        """Say whether the doctor finds the stores to agree."""
        return diagnose(self.graph, self.vectors, self.mirror).healthy


@pytest.fixture
def kit() -> Kit:
    return Kit()


@pytest.fixture
def watched(kit: Kit) -> Watched:
    """Vectors whose own mirror is at `mirror`."""
    made = Watched()
    made.mirror = Mirror(kit.graph, lambda: made, kit.embed, lambda write: None)
    return made


def test_a_commit_reaches_both_stores_and_empties_the_outbox(kit: Kit) -> None:
    with pytest.raises(InvalidInputError):
        kit.mirror.commit(Write(changes=(), chunks=(chunk("c3"),)))
    wrote = write(chunks=(chunk("c1"),), entities=(entity("e1", mention_count=3),))
    kit.mirror.commit(wrote, {"e1": EMBEDDER.embed_query("Ada")})
    assert kit.mirror.writes == 2, "a refused one is counted, too"
    assert [each.chunks for each in kit.committed] == [wrote.chunks]
    assert kit.mirror.drain() == 0, "all of it was delivered"
    assert kit.graph.outbox() == ()
    assert kit.vectors.chunk_hashes().keys() == {"c1"}
    assert kit.vectors.entity_hashes().keys() == {"e1"}


def test_a_change_of_state_keeps_the_vector(kit: Kit) -> None:
    kit.mirror.commit(write(chunks=(chunk("c1"),)))
    before = kit.vectors.vectors(["c1"])["c1"]
    kit.mirror.commit(write(chunks=(chunk("c1", state="archived"),)))
    assert len(kit.embed.texts) == 1
    np.testing.assert_array_equal(kit.vectors.vectors(["c1"])["c1"], before)
    assert kit.vectors.matching("billing", ChunkFilter(), 5) == ()


def test_what_is_removed_leaves_the_vectors_at_once(kit: Kit) -> None:
    named = entity("e1", mention_count=3), entity("e2", "Bob", mention_count=3)
    kit.mirror.commit(write(chunks=(chunk("c1"), chunk("c2")), entities=named, deferred=True))
    kit.mirror.replicate_deferred()
    with kit.mirror.watching() as written:
        anew = chunk("c2", "Other.")
        kit.mirror.commit(write(chunks=(anew,), removed=Removal(chunks=("c1", "c2"), entities=("e1",))))
        assert written.take() == (["c1", "c2"], ["e1"])
    assert kit.vectors.chunk_hashes().keys() == {"c2"}
    assert kit.vectors.entity_hashes().keys() == {"e2"}
    kit.mirror.tidy()
    assert kit.graph.outbox() == ()
    assert kit.healthy()


def test_the_vectors_hold_the_entities_that_several_chunks_mention(kit: Kit) -> None:
    vector = EMBEDDER.embed_query("Ada")
    kit.mirror.commit(
        write(entities=(entity("e1"), entity("e2", "Bob", mention_count=3))), {"e1": vector, "e2": vector}
    )
    assert kit.vectors.entity_hashes().keys() == {"e2"}
    assert kit.healthy()
    kit.mirror.commit(write(entities=(entity("e2", "Bob", mention_count=2),)))
    assert kit.vectors.entity_hashes() == {}, "it was mentioned less"
    assert kit.healthy()


def test_what_came_back_before_the_vectors_heard_is_held(kit: Kit) -> None:
    kit.mirror.commit(write(chunks=(chunk("c1"), chunk("c2"))))
    gone = write(removed=Removal(chunks=("c1", "c2")))
    kit.mirror.commit(replace(gone, deferred=True))
    kit.mirror.commit(write(chunks=(chunk("c1"),)))
    assert kit.vectors.chunk_hashes().keys() == {"c1"}


def test_what_the_vectors_refused_is_delivered_later(kit: Kit, caplog: pytest.LogCaptureFixture) -> None:
    kit.vectors.full = True
    kit.mirror.commit(write(chunks=(chunk("c1"),), entities=(entity("e1", mention_count=3),)))
    assert kit.mirror.behind and "stored, but the vectors are behind" in caplog.text
    assert [row.id for row in kit.graph.chunks(["c1"])] == ["c1"]
    assert diagnose(kit.graph, kit.vectors, kit.mirror).pending == 2
    kit.vectors.full = False
    assert kit.mirror.drain() == 2
    assert not kit.mirror.behind
    kit.mirror.tidy()
    assert kit.graph.outbox() == ()
    assert kit.healthy()
    assert [hit.id for hit in kit.vectors.nearest_entities(EMBEDDER.embed_query("Ada"), ("p",), 5)] == ["e1"]


def test_the_doctor_finds_and_repairs_every_kind_of_difference(kit: Kit, tmp_path: Path) -> None:
    rows = tuple(chunk(f"c{number}", f"Crate {number}.") for number in range(4))
    kit.mirror.commit(write(chunks=rows, entities=(entity("e1", mention_count=3),), deferred=True))
    kit.mirror.replicate_deferred()
    kit.vectors.remove(chunks=["c0"], entities=["e1"])
    vector = EMBEDDER.embed_query("x")
    kit.vectors.put(chunks=[ChunkVector(chunk=replace(rows[1], layer="verified"), vector=vector)])
    kit.vectors.put(chunks=[ChunkVector(chunk=chunk("c9"), vector=vector)])
    found = diagnose(kit.graph, kit.vectors, kit.mirror)
    assert (found.healthy, found.missing, found.stale, found.orphaned) == (False, 2, 1, 1)
    assert len(found.problems) == 3
    steps: list[tuple[int, int]] = []
    fixed = diagnose(
        kit.graph, kit.vectors, kit.mirror, fix=True, progress=lambda done, all: steps.append((done, all))
    )
    assert (fixed.healthy, fixed.repaired, fixed.lost, len(fixed.problems)) == (False, 3, 1, 1)
    assert steps[-1] == (3, 3)
    assert "c9" in kit.vectors.chunk_hashes()
    assert diagnose(kit.graph, kit.vectors, kit.mirror, fix=True).repaired == 0
    accepted = diagnose(kit.graph, kit.vectors, kit.mirror, salvage=True, folder=tmp_path)
    assert (accepted.healthy, accepted.lost, accepted.problems) == (True, 0, ())
    assert "c9" not in kit.vectors.chunk_hashes()
    assert accepted.lost_file is not None and '"c9"' in Path(accepted.lost_file).read_text()


class StoppedGraph(InMemoryGraph):
    """A graph store that is interrupted once, before or after it has committed."""

    stop: str | None = None

    def write(self, write: Write) -> str | None:
        """Commit, unless stopped before."""
        stop, self.stop = self.stop, None
        if stop == "before":
            raise KeyboardInterrupt
        row = super().write(write)
        if stop == "after":
            raise KeyboardInterrupt
        return row


@pytest.mark.parametrize("stop", ["before", "after"])
def test_a_write_that_was_interrupted_is_of_unknown_outcome_and_caught_up_by_the_next(
    kit: Kit, stop: str
) -> None:
    graph, of_unknown_outcome = StoppedGraph(), list[Write]()
    mirror = Mirror(graph, lambda: kit.vectors, kit.embed, kit.committed.append, of_unknown_outcome.append)
    graph.stop = stop
    first = write(chunks=(chunk("c1"),))
    with pytest.raises(KeyboardInterrupt):
        mirror.commit(first)
    assert [each.chunks for each in of_unknown_outcome] == [first.chunks]
    assert kit.committed == []
    mirror.commit(write(chunks=(chunk("c2"),)))
    assert diagnose(graph, kit.vectors, mirror).problems == ()
    assert kit.vectors.chunk_hashes().keys() == ({"c1", "c2"} if stop == "after" else {"c2"})


def test_what_the_vectors_refused_goes_with_the_next_write(kit: Kit) -> None:
    kit.mirror.commit(write(chunks=(chunk("c1"),)))
    kit.vectors.full = True
    changed = chunk("c1", author="Ada")
    kit.mirror.commit(write(chunks=(changed,)), {"c1": EMBEDDER.embed_query("Ada: Ada leads billing.")})
    assert kit.mirror.behind
    kit.vectors.full = False
    kit.mirror.commit(write(chunks=(replace(changed, state="archived"),)))
    assert diagnose(kit.graph, kit.vectors, kit.mirror).problems == ()
    np.testing.assert_array_equal(
        kit.vectors.vectors(["c1"])["c1"], EMBEDDER.embed_query("Ada: Ada leads billing.")
    )


def test_a_row_that_cannot_be_delivered_does_not_stop_the_others(
    kit: Kit, caplog: pytest.LogCaptureFixture
) -> None:
    def embed(texts: Sequence[str]) -> Vector:
        rows = EMBEDDER.embed_documents(texts)
        return np.where([["bad" in text] for text in texts], 0.0, rows).astype(np.float32)

    mirror = Mirror(kit.graph, lambda: kit.vectors, embed, kit.committed.append)
    mirror.commit(write(chunks=(chunk("c1", "bad"),)))
    mirror.commit(write(chunks=(chunk("c2"),)))
    assert mirror.behind
    assert kit.vectors.chunk_hashes().keys() == {"c2"}
    assert "behind" in caplog.text
    assert diagnose(kit.graph, kit.vectors, mirror).pending == 1


def test_upkeep_that_fails_is_no_failure_of_the_write(
    kit: Kit, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**options: bool) -> None:
        raise StorageError("compaction: no space left on device")

    monkeypatch.setattr(kit.vectors, "maintain", fail)
    kit.mirror.commit(write(chunks=(chunk("c1"),)))
    kit.mirror.tidy()
    assert kit.graph.outbox() == ()
    assert "compaction" in caplog.text


def test_upkeep_is_done_once_for_what_was_written_while_others_write(watched: Watched) -> None:
    mirror = watched.mirror
    mirror.close()
    assert watched.upkeep == [], "nothing was written"
    waiting = job("link", project="p", chunk="c1")
    mirror.commit(write(chunks=(chunk("c1"),), jobs=(waiting,)))
    mirror.commit(write(chunks=(chunk("c2"),), deferred=True))
    mirror.commit(write(sessions=(session(),), deferred=True))
    assert watched.upkeep == [], "it is left to the jobs that a write brings, and to one that does not wait"
    mirror.commit(Write(changes=(), removed=Removal(jobs=(waiting.id,))))
    assert watched.upkeep == [(False, True)]
    mirror.close()
    mirror.commit(Write(changes=(), jobs=(replace(waiting, state="failed"),)))
    assert len(watched.upkeep) == 1, "what a write without rows leaves is in order"
    mirror.commit(write(chunks=(chunk("c3"),), jobs=(waiting,)))
    mirror.close()  # nobody does the job in this process
    assert len(watched.upkeep) == 2
    mirror.maintain_after_bulk()
    assert watched.upkeep[2][0]


def test_the_doctor_finds_rows_that_should_have_a_vector(kit: Kit) -> None:
    kit.mirror.commit(write(entities=(entity("e1"),), chunks=(chunk("c1"),)))
    kit.mirror.commit(write(entities=(entity("e1", mention_count=3),)))
    kit.vectors.put([ChunkVector(chunk=chunk("c1"), vector=None)])
    found = diagnose(kit.graph, kit.vectors, kit.mirror)
    assert (found.missing, found.stale) == (1, 1)
    assert diagnose(kit.graph, kit.vectors, kit.mirror, fix=True).healthy
    assert kit.vectors.entity_vectors(["e1"]).keys() == {"e1"}
    assert kit.vectors.vectors(["c1"]).keys() == {"c1"}


def pending(id: str, text: str = "Ada leads billing.") -> Chunk:
    return chunk(id, text, vector_state="pending")


def test_a_pending_chunk_is_found_by_its_words_and_gets_its_vector_later(kit: Kit) -> None:
    kit.mirror.commit(write(chunks=(pending("c1"),)))
    assert kit.embed.texts == []
    assert [hit.id for hit in kit.vectors.matching("billing", ChunkFilter(), 5)] == ["c1"]
    assert kit.healthy()
    kit.mirror.commit(Write(changes=(), embedded=("c1", "gone")), {"c1": np.eye(64, dtype=np.float32)[3]})
    assert kit.graph.chunks(["c1"])[0].vector_state == "ready"
    assert kit.vectors.vectors(["c1"])["c1"][3] == 1
    kit.mirror.tidy()
    assert kit.graph.outbox() == ()
    assert kit.healthy()


def test_deferred_writes_are_delivered_together_with_the_next_one(kit: Kit) -> None:
    kit.mirror.commit(write(chunks=(pending("c1"),), deferred=True))
    named = entity("e1", mention_count=3)
    kit.mirror.commit(write(chunks=(pending("c2"),), entities=(named,), deferred=True))
    assert kit.vectors.chunk_hashes() == {}
    assert len(kit.graph.outbox()) == 2
    kit.mirror.commit(write(chunks=(chunk("c3"),)))
    assert kit.vectors.chunk_hashes().keys() == {"c1", "c2", "c3"}
    assert kit.vectors.entity_hashes().keys() == {"e1"}
    kit.mirror.tidy()
    assert kit.graph.outbox() == ()


def test_what_is_gathered_does_not_hold_a_search_up(kit: Kit) -> None:
    kit.mirror.commit(write(chunks=(pending("c1"), pending("c2"))))
    kit.mirror.commit(write(removed=Removal(chunks=("c1",)), deferred=True, gathered=True))
    kit.mirror.replicate_for_search()
    assert kit.vectors.chunk_hashes().keys() == {"c1", "c2"}
    assert len(kit.graph.outbox()) == 1, "it is not forgotten meanwhile"
    kit.mirror.commit(write(chunks=(pending("c3"),), deferred=True))
    kit.mirror.replicate_for_search()
    assert kit.vectors.chunk_hashes().keys() == {"c2", "c3"}, "in the order of the writes"
    kit.mirror.commit(write(removed=Removal(chunks=("c2",)), deferred=True, gathered=True))
    kit.mirror.replicate_for_search()
    assert kit.vectors.chunk_hashes().keys() == {"c2", "c3"}
    kit.mirror.replicate_deferred()
    assert kit.vectors.chunk_hashes().keys() == {"c3"}
    assert kit.healthy()


def test_writers_wait_only_while_what_seems_to_differ_is_looked_at_again(kit: Kit, watched: Watched) -> None:
    ids = [f"c{number}" for number in range(8)]
    watched.mirror.commit(write(chunks=tuple(chunk(id) for id in ids)))
    watched.remove(chunks=("c3",))
    found = sample(kit.graph, watched, watched.mirror, ids=ids, most=100)
    assert found == Sampled(compared=8, differing=1)
    assert [among for among, free in watched.asked if not free] == [["c3"]]


# What is counted and collected --------------------------------------------------------------------


def test_an_entity_that_three_chunks_mention_is_worth_a_vector() -> None:
    assert [worth_a_vector(mentions) for mentions in (0, 2, 3, 9)] == [False, False, True, True]


def test_who_watches_learns_every_row_that_the_vectors_follow_and_only_meanwhile(kit: Kit) -> None:
    kit.mirror.commit(
        write(chunks=(chunk("old"), chunk("late", vector_state="pending")), entities=(entity("gone"),))
    )
    with kit.mirror.watching() as first:
        kit.mirror.commit(write(chunks=(chunk("c2"), chunk("c1")), entities=(entity("e1", "Bob"),)))
        assert len(first) == 3
        with kit.mirror.watching() as second:
            kit.mirror.commit(write(removed=Removal(chunks=("old",), entities=("gone",))))
            kit.mirror.commit(Write(changes=(), embedded=("late",)))
        kit.mirror.commit(write(chunks=(chunk("c3"),)))
    kit.mirror.commit(write(chunks=(chunk("c4"),)))
    assert second.take() == (["late", "old"], ["gone"])
    assert len(first) == 7
    assert first.take() == (["c1", "c2", "c3", "late", "old"], ["e1", "gone"])
    assert (len(first), first.take()) == (0, ([], []))


def test_the_changes_of_one_write_are_of_one_run_and_a_dumps_are_left_as_they_are(kit: Kit) -> None:
    two = (record("test", project="p", target="a"), record("test", project="p", target="b"))
    kit.mirror.commit(Write(changes=two))
    kit.mirror.commit(Write(changes=two, verbatim=True))
    runs = [[change.run for change in each.changes] for each in kit.committed]
    assert runs[0][0] is not None
    assert runs[0][0] == runs[0][1]
    assert runs[1] == [None, None]


# When the vectors are brought up to date ----------------------------------------------------------


class CountedGraph(InMemoryGraph):
    """A graph store that notes what is cleared from its outbox, with a write or alone."""

    full = False

    def __init__(self) -> None:
        super().__init__()
        self.cleared: list[tuple[str, ...]] = []
        self.with_writes: list[tuple[str, ...]] = []

    def write(self, write: Write) -> str | None:
        """Commit."""
        self.with_writes.append(write.replicated)
        return super().write(write)

    def clear_outbox(self, ids: Sequence[str]) -> None:
        """Clear, unless the disk is full."""
        if self.full:
            raise StorageError("graph: no space left on device")
        self.cleared.append(tuple(ids))
        super().clear_outbox(ids)


def test_each_row_of_the_outbox_is_cleared_once(kit: Kit) -> None:
    graph = CountedGraph()
    mirror = Mirror(graph, lambda: kit.vectors, EMBEDDER.embed_documents, lambda write: None)
    mirror.tidy()
    assert graph.cleared == []
    mirror.commit(write(chunks=(chunk("c1"),)))
    first = tuple(row.id for row in graph.outbox())
    mirror.commit(write(chunks=(chunk("c2"),)))
    second = tuple(row.id for row in graph.outbox())
    mirror.commit(write(chunks=(chunk("c3"),), deferred=True))
    mirror.commit(write(chunks=(chunk("c4"),)))
    third = {row.id for row in graph.outbox()}
    mirror.tidy()
    mirror.tidy()
    assert graph.with_writes == [(), first, second, ()]
    assert [set(each) for each in graph.cleared] == [third]
    assert graph.outbox() == ()


def test_closing_delivers_and_clears_and_survives_a_full_disk(
    kit: Kit, caplog: pytest.LogCaptureFixture
) -> None:
    graph = CountedGraph()
    mirror = Mirror(graph, lambda: kit.vectors, EMBEDDER.embed_documents, lambda write: None)
    mirror.commit(write(chunks=(chunk("c1"),), deferred=True))
    mirror.close()
    assert kit.vectors.chunk_hashes().keys() == {"c1"}
    assert graph.outbox() == ()
    mirror.commit(write(chunks=(chunk("c2"),)))
    graph.full = True
    mirror.close()
    assert "no space left" in caplog.text
    assert [row.chunks for row in graph.outbox()] == [("c2",)]


def test_a_delivery_that_fails_is_logged_and_made_good(kit: Kit, caplog: pytest.LogCaptureFixture) -> None:
    kit.mirror.commit(write(chunks=(pending("c1"),), deferred=True))
    kit.vectors.full = True
    kit.mirror.replicate_deferred()
    assert "behind until a later write" in caplog.text
    assert len(kit.graph.outbox()) == 1
    kit.vectors.full = False
    kit.mirror.replicate_deferred()
    assert kit.vectors.chunk_hashes().keys() == {"c1"}
    assert kit.healthy()


def test_a_search_waits_only_for_what_it_has_to_find(kit: Kit) -> None:
    def gather(id: str) -> None:
        kit.mirror.commit(write(chunks=(pending(id),), deferred=True, gathered=True))
        kit.mirror.replicate_for_search()

    gather("c1")
    assert kit.vectors.chunk_hashes() == {}
    kit.mirror.commit(write(chunks=(pending("c2"),), deferred=True))
    kit.mirror.replicate_for_search()
    assert kit.vectors.chunk_hashes().keys() == {"c1", "c2"}
    gather("c3")
    assert kit.vectors.chunk_hashes().keys() == {"c1", "c2"}
    kit.mirror.commit(write(chunks=(pending("c4"),), deferred=True))
    assert kit.mirror.drain() == 2
    gather("c5")
    assert kit.vectors.chunk_hashes().keys() == {"c1", "c2", "c3", "c4"}, (
        "what was drained is not delivered again"
    )


def test_a_store_is_made_ready_for_a_delivery_while_others_may_write(watched: Watched) -> None:
    watched.mirror.replicate_deferred()
    assert watched.puts == []
    watched.mirror.commit(write(chunks=(pending("c1"),), deferred=True))
    watched.mirror.replicate_deferred()
    assert watched.puts == [(0, True), (1, False)]


def test_after_a_store_caught_up_a_change_of_state_keeps_the_vector_again(kit: Kit) -> None:
    kit.mirror.commit(write(chunks=(chunk("c1"),)))
    kit.vectors.full = True
    kit.mirror.commit(write(chunks=(chunk("c1", author="Ada"),)))
    kit.mirror.catch_up()
    kit.vectors.full = False
    kit.mirror.commit(write(chunks=(chunk("c2"),)))
    assert kit.vectors.chunk_hashes().keys() == {"c1", "c2"}
    kit.embed.texts.clear()
    kit.mirror.commit(write(chunks=(chunk("c1", author="Ada", state="archived"),)))
    assert kit.embed.texts == []


def test_what_was_deferred_is_caught_up_at_opening_or_with_the_next_write(kit: Kit) -> None:
    kit.mirror.commit(write(chunks=(pending("c1"),), deferred=True))
    kit.opened().catch_up()
    assert [hit.id for hit in kit.vectors.matching("billing", ChunkFilter(), 5)] == ["c1"]
    assert kit.embed.texts == []
    kit.mirror.commit(write(chunks=(chunk("c2"),), deferred=True))
    kit.vectors.full = True
    opened = kit.opened()
    opened.catch_up()
    kit.vectors.full = False
    opened.commit(write(chunks=(chunk("c3"),)))
    assert kit.vectors.chunk_hashes().keys() == {"c1", "c2", "c3"}


# Whose vector is made, and from what --------------------------------------------------------------


def test_the_vector_of_an_entity_is_made_once_and_given_ones_are_taken(kit: Kit) -> None:
    def deferred(*rows: Entity) -> None:
        kit.mirror.commit(write(entities=rows, deferred=True))
        kit.mirror.replicate_deferred()

    deferred(entity("e1", mention_count=2), entity("e2", "Bob", mention_count=3))
    assert kit.embed.texts == ["Bob"]
    assert kit.vectors.entity_vectors(["e1", "e2"]).keys() == {"e2"}
    deferred(entity("e1", mention_count=3), entity("e2", "Bob", mention_count=4))
    assert kit.embed.texts == ["Bob", "Ada"]
    kit.mirror.commit(write(entities=(entity("e3", "Eve", mention_count=5),), deferred=True))
    given = np.eye(64, dtype=np.float32)[3]
    kit.mirror.commit(write(chunks=(pending("c1"),)), {"e3": given})
    assert kit.embed.texts == ["Bob", "Ada"]
    np.testing.assert_array_equal(kit.vectors.entity_vectors(["e3"])["e3"], given)
    kit.mirror.commit(write(entities=(entity("e2", "Bob", mention_count=9),)))
    assert kit.embed.texts == ["Bob", "Ada"], "an entity of a write that is not deferred was heard before"


def test_what_was_refused_is_refreshed_from_the_graph_with_the_vectors_given(kit: Kit) -> None:
    kit.mirror.commit(write(chunks=(chunk("gone"),), entities=(entity("e_gone", "Zoe"),)))
    kit.vectors.full = True
    rows = (chunk("c1"), pending("c2"), chunk("c3", "Bob leads sales."))
    few, many, given = (
        entity(f"e{place}", name, mention_count=place + 2) for place, name in enumerate("AMG")
    )
    removed = Removal(chunks=("gone",), entities=("e_gone",))
    kit.mirror.commit(write(chunks=rows, entities=(few, many, given), removed=removed))
    kit.vectors.full = False
    kit.embed.texts.clear()
    vector = np.eye(64, dtype=np.float32)[5]
    assert kit.mirror.drain({"c3": vector, "e2": vector, "unknown": vector}) == 8
    assert sorted(kit.embed.texts) == ["Ada leads billing.", "M"]
    assert kit.vectors.chunk_hashes().keys() == {"c1", "c2", "c3"}
    assert kit.vectors.entity_hashes().keys() == {"e1", "e2"}
    assert kit.vectors.vectors(["c1", "c2", "c3"]).keys() == {"c1", "c3"}
    assert kit.vectors.entity_vectors(["e0", "e1", "e2"]).keys() == {"e1", "e2"}
    np.testing.assert_array_equal(kit.vectors.vectors(["c3"])["c3"], vector)
    np.testing.assert_array_equal(kit.vectors.entity_vectors(["e2"])["e2"], vector)
    assert kit.graph.outbox() == ()
    assert kit.mirror.drain() == 0


@pytest.mark.parametrize("order", ["removed last", "back last"])
def test_of_several_deferred_writes_the_last_says_whether_a_row_is_there(kit: Kit, order: str) -> None:
    named = entity("e1", mention_count=3)
    kit.mirror.commit(write(chunks=(pending("c1"), pending("c2")), entities=(named,)))
    for step in ("gone", "back", "gone") if order == "removed last" else ("gone", "back"):
        if step == "gone":
            kit.mirror.commit(write(removed=Removal(chunks=("c1",), entities=("e1",)), deferred=True))
        else:
            kit.mirror.commit(write(chunks=(pending("c1"),), entities=(named,), deferred=True))
    kit.mirror.replicate_deferred()
    left = {"c2"} if order == "removed last" else {"c1", "c2"}
    assert kit.vectors.chunk_hashes().keys() == left
    assert kit.vectors.entity_hashes().keys() == (set() if order == "removed last" else {"e1"})


def test_an_embedder_that_leaves_texts_out_is_no_embedder(kit: Kit) -> None:
    def embed(texts: Sequence[str]) -> Vector:
        return EMBEDDER.embed_documents(texts)[:1]

    mirror = Mirror(kit.graph, lambda: kit.vectors, embed, lambda write: None)
    assert mirror.embed_by_id({}) == {}
    with pytest.raises(ValueError, match="shorter"):
        mirror.embed_by_id({"c1": "one", "c2": "two"})


# Held writes ---------------------------------------------------------------------------------------


def answer(id: str = "r1") -> RequestRow:
    return RequestRow(id=id, operation="remember", answer=id, at=T0)


def test_a_held_write_is_committed_with_its_answer(kit: Kit) -> None:
    with kit.mirror.holding():
        assert lock_is_free(kit.mirror)
        with ThreadPoolExecutor(1) as other:
            other.submit(kit.mirror.commit, write(chunks=(chunk("c0"),))).result()
        assert kit.graph.chunks(["c0"]), "another thread's is committed at once"
        kit.mirror.commit(write(chunks=(chunk("c1"),)))
        assert kit.graph.chunks(["c1"]) == () and not lock_is_free(kit.mirror)
        kit.mirror.commit_held(answer())
        assert kit.graph.chunks(["c1"]) and kit.graph.request("r1") == answer() and lock_is_free(kit.mirror)
        writes = kit.mirror.writes
        kit.mirror.commit_held(answer("r2"))
        assert kit.graph.request("r2") == answer("r2") and kit.mirror.writes == writes
    kit.mirror.commit(write(chunks=(chunk("c2"),)))
    assert kit.graph.chunks(["c2"]) and lock_is_free(kit.mirror)


def test_a_held_write_is_committed_before_the_next_one_and_before_the_lock_is_taken(kit: Kit) -> None:
    with kit.mirror.holding():
        kit.mirror.commit(write(chunks=(chunk("c1"),)))
        kit.mirror.commit(write(chunks=(chunk("c2"),)))
        assert kit.graph.chunks(["c1", "c2"]) == (chunk("c1"),)
        with kit.mirror.one_writer:
            assert kit.graph.chunks(["c2"])
            kit.mirror.commit(write(chunks=(chunk("c3"),)))
            assert kit.graph.chunks(["c3"]) == ()
        assert not lock_is_free(kit.mirror)
        kit.mirror.commit(write(chunks=(chunk("c4"),), requests=(answer(),)))
        assert kit.graph.chunks(["c3", "c4"]) == (chunk("c3"), chunk("c4")) and kit.graph.request("r1")
        assert lock_is_free(kit.mirror)


def test_what_is_held_at_the_end_is_committed_also_after_an_error(kit: Kit) -> None:
    with pytest.raises(KeyboardInterrupt), kit.mirror.holding(), kit.mirror.one_writer:
        kit.mirror.commit(write(chunks=(chunk("c1"),)))
        raise KeyboardInterrupt
    assert kit.graph.chunks(["c1"]) and lock_is_free(kit.mirror)


def test_a_held_write_that_is_refused_leaves_the_lock_free(kit: Kit) -> None:
    with kit.mirror.holding():
        kit.mirror.commit(write(chunks=(chunk("c1", document="nowhere"),)))
        with pytest.raises(InvalidInputError):
            kit.mirror.commit_held(answer())
        assert lock_is_free(kit.mirror)
    assert kit.graph.request("r1") is None and kit.graph.chunks(["c1"]) == ()


def test_a_held_write_that_is_deferred_is_not_replicated_before_a_search(kit: Kit) -> None:
    with kit.mirror.holding():
        kit.mirror.commit(write(chunks=(chunk("c1"),), deferred=True))
        kit.mirror.commit_held(answer())
    assert kit.vectors.chunk_hashes() == {}
    kit.mirror.replicate_for_search()
    assert kit.vectors.chunk_hashes().keys() == {"c1"}
