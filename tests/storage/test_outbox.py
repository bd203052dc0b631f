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


@pytest.fixture
def vectors() -> FailingVectors:
    return FailingVectors(64)


@pytest.fixture
def graph() -> InMemoryGraph:
    return InMemoryGraph()


@pytest.fixture
def embed() -> Counting:
    return Counting()


@pytest.fixture
def committed() -> list[Write]:
    return []


@pytest.fixture
def mirror(graph: InMemoryGraph, vectors: FailingVectors, embed: Counting, committed: list[Write]) -> Mirror:
    return Mirror(graph, lambda: vectors, embed, committed.append)


@pytest.fixture
def watched(graph: InMemoryGraph, embed: Counting) -> Watched:
    """Vectors whose own mirror is at `mirror`."""
    made = Watched()
    made.mirror = Mirror(graph, lambda: made, embed, lambda write: None)
    return made


def test_a_commit_reaches_both_stores_and_empties_the_outbox(
    mirror: Mirror, graph: InMemoryGraph, vectors: FailingVectors, committed: list[Write]
) -> None:
    with pytest.raises(InvalidInputError):
        mirror.commit(Write(changes=(), chunks=(chunk("c3"),)))
    wrote = write(chunks=(chunk("c1"),), entities=(entity("e1", mention_count=3),))
    mirror.commit(wrote, {"e1": EMBEDDER.embed_query("Ada")})
    assert mirror.writes == 2, "a refused one is counted, too"
    assert [each.chunks for each in committed] == [wrote.chunks]
    mirror.tidy()
    assert graph.outbox() == ()
    assert vectors.chunk_hashes().keys() == {"c1"}
    assert vectors.entity_hashes().keys() == {"e1"}


def test_a_change_of_state_keeps_the_vector(mirror: Mirror, vectors: FailingVectors, embed: Counting) -> None:
    mirror.commit(write(chunks=(chunk("c1"),)))
    before = vectors.vectors(["c1"])["c1"]
    mirror.commit(write(chunks=(chunk("c1", state="archived"),)))
    assert len(embed.texts) == 1
    np.testing.assert_array_equal(vectors.vectors(["c1"])["c1"], before)
    assert vectors.matching("billing", ChunkFilter(), 5) == ()


def test_what_is_removed_leaves_the_vectors_at_once(
    mirror: Mirror, graph: InMemoryGraph, vectors: FailingVectors
) -> None:
    named = entity("e1", mention_count=3), entity("e2", "Bob", mention_count=3)
    mirror.commit(write(chunks=(chunk("c1"), chunk("c2")), entities=named, deferred=True))
    mirror.replicate_deferred()
    with mirror.watching() as written:
        anew = chunk("c2", "Other.")
        mirror.commit(write(chunks=(anew,), removed=Removal(chunks=("c1", "c2"), entities=("e1",))))
        assert written.take() == (["c1", "c2"], ["e1"])
    assert vectors.chunk_hashes().keys() == {"c2"}
    assert vectors.entity_hashes().keys() == {"e2"}
    mirror.tidy()
    assert graph.outbox() == ()
    assert diagnose(graph, vectors, mirror).healthy


def test_the_vectors_hold_the_entities_that_several_chunks_mention(
    mirror: Mirror, graph: InMemoryGraph, vectors: FailingVectors
) -> None:
    vector = EMBEDDER.embed_query("Ada")
    mirror.commit(
        write(entities=(entity("e1"), entity("e2", "Bob", mention_count=3))), {"e1": vector, "e2": vector}
    )
    assert vectors.entity_hashes().keys() == {"e2"}
    assert diagnose(graph, vectors, mirror).healthy
    mirror.commit(write(entities=(entity("e2", "Bob", mention_count=2),)))
    assert vectors.entity_hashes() == {}, "it was mentioned less"
    assert diagnose(graph, vectors, mirror).healthy


def test_what_came_back_before_the_vectors_heard_is_held(mirror: Mirror, vectors: FailingVectors) -> None:
    mirror.commit(write(chunks=(chunk("c1"), chunk("c2"))))
    gone = write(removed=Removal(chunks=("c1", "c2")))
    mirror.commit(replace(gone, deferred=True))
    mirror.commit(write(chunks=(chunk("c1"),)))
    assert vectors.chunk_hashes().keys() == {"c1"}


def test_what_the_vectors_refused_is_delivered_later(
    mirror: Mirror, graph: InMemoryGraph, vectors: FailingVectors, caplog: pytest.LogCaptureFixture
) -> None:
    vectors.full = True
    mirror.commit(write(chunks=(chunk("c1"),), entities=(entity("e1", mention_count=3),)))
    assert mirror.behind and "stored, but the vectors are behind" in caplog.text
    assert [row.id for row in graph.chunks(["c1"])] == ["c1"]
    assert diagnose(graph, vectors, mirror).pending == 2
    vectors.full = False
    assert mirror.drain() == 2
    assert not mirror.behind
    mirror.tidy()
    assert graph.outbox() == ()
    assert diagnose(graph, vectors, mirror).healthy
    assert [hit.id for hit in vectors.nearest_entities(EMBEDDER.embed_query("Ada"), ("p",), 5)] == ["e1"]


def test_the_doctor_finds_and_repairs_every_kind_of_difference(
    mirror: Mirror, graph: InMemoryGraph, vectors: FailingVectors, tmp_path: Path
) -> None:
    rows = tuple(chunk(f"c{number}", f"Crate {number}.") for number in range(4))
    mirror.commit(write(chunks=rows, entities=(entity("e1", mention_count=3),), deferred=True))
    mirror.replicate_deferred()
    vectors.remove(chunks=["c0"], entities=["e1"])
    vector = EMBEDDER.embed_query("x")
    vectors.put(chunks=[ChunkVector(chunk=replace(rows[1], layer="verified"), vector=vector)])
    vectors.put(chunks=[ChunkVector(chunk=chunk("c9"), vector=vector)])
    found = diagnose(graph, vectors, mirror)
    assert (found.healthy, found.missing, found.stale, found.orphaned) == (False, 2, 1, 1)
    assert len(found.problems) == 3
    steps: list[tuple[int, int]] = []
    fixed = diagnose(graph, vectors, mirror, fix=True, progress=lambda done, all: steps.append((done, all)))
    assert (fixed.healthy, fixed.repaired, fixed.lost, len(fixed.problems)) == (False, 3, 1, 1)
    assert steps[-1] == (3, 3)
    assert "c9" in vectors.chunk_hashes()
    assert diagnose(graph, vectors, mirror, fix=True).repaired == 0
    accepted = diagnose(graph, vectors, mirror, salvage=True, folder=tmp_path)
    assert (accepted.healthy, accepted.lost, accepted.problems) == (True, 0, ())
    assert "c9" not in vectors.chunk_hashes()
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
    stop: str, vectors: FailingVectors, embed: Counting, committed: list[Write]
) -> None:
    graph, of_unknown_outcome = StoppedGraph(), list[Write]()
    mirror = Mirror(graph, lambda: vectors, embed, committed.append, of_unknown_outcome.append)
    graph.stop = stop
    first = write(chunks=(chunk("c1"),))
    with pytest.raises(KeyboardInterrupt):
        mirror.commit(first)
    assert [each.chunks for each in of_unknown_outcome] == [first.chunks]
    assert committed == []
    mirror.commit(write(chunks=(chunk("c2"),)))
    assert diagnose(graph, vectors, mirror).problems == ()
    assert vectors.chunk_hashes().keys() == ({"c1", "c2"} if stop == "after" else {"c2"})


def test_what_the_vectors_refused_goes_with_the_next_write(
    mirror: Mirror, graph: InMemoryGraph, vectors: FailingVectors
) -> None:
    mirror.commit(write(chunks=(chunk("c1"),)))
    vectors.full = True
    changed = chunk("c1", author="Ada")
    mirror.commit(write(chunks=(changed,)), {"c1": EMBEDDER.embed_query("Ada: Ada leads billing.")})
    assert mirror.behind
    vectors.full = False
    mirror.commit(write(chunks=(replace(changed, state="archived"),)))
    assert diagnose(graph, vectors, mirror).problems == ()
    np.testing.assert_array_equal(
        vectors.vectors(["c1"])["c1"], EMBEDDER.embed_query("Ada: Ada leads billing.")
    )


def test_a_row_that_cannot_be_delivered_does_not_stop_the_others(
    graph: InMemoryGraph, vectors: FailingVectors, committed: list[Write], caplog: pytest.LogCaptureFixture
) -> None:
    def embed(texts: Sequence[str]) -> Vector:
        rows = EMBEDDER.embed_documents(texts)
        return np.where([["bad" in text] for text in texts], 0.0, rows).astype(np.float32)

    mirror = Mirror(graph, lambda: vectors, embed, committed.append)
    mirror.commit(write(chunks=(chunk("c1", "bad"),)))
    mirror.commit(write(chunks=(chunk("c2"),)))
    assert mirror.behind
    assert vectors.chunk_hashes().keys() == {"c2"}
    assert "behind" in caplog.text
    assert diagnose(graph, vectors, mirror).pending == 1


def test_upkeep_that_fails_is_no_failure_of_the_write(
    mirror: Mirror,
    graph: InMemoryGraph,
    vectors: FailingVectors,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(**options: bool) -> None:
        raise StorageError("compaction: no space left on device")

    monkeypatch.setattr(vectors, "maintain", fail)
    mirror.commit(write(chunks=(chunk("c1"),)))
    mirror.tidy()
    assert graph.outbox() == ()
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


def test_the_doctor_finds_rows_that_should_have_a_vector(
    mirror: Mirror, graph: InMemoryGraph, vectors: FailingVectors
) -> None:
    mirror.commit(write(entities=(entity("e1"),), chunks=(chunk("c1"),)))
    mirror.commit(write(entities=(entity("e1", mention_count=3),)))
    vectors.put([ChunkVector(chunk=chunk("c1"), vector=None)])
    found = diagnose(graph, vectors, mirror)
    assert (found.missing, found.stale) == (1, 1)
    assert diagnose(graph, vectors, mirror, fix=True).healthy
    assert vectors.entity_vectors(["e1"]).keys() == {"e1"}
    assert vectors.vectors(["c1"]).keys() == {"c1"}


def pending(id: str, text: str = "Ada leads billing.") -> Chunk:
    return chunk(id, text, vector_state="pending")


def test_a_pending_chunk_is_found_by_its_words_and_gets_its_vector_later(
    mirror: Mirror, graph: InMemoryGraph, vectors: FailingVectors, embed: Counting
) -> None:
    mirror.commit(write(chunks=(pending("c1"),)))
    assert embed.texts == []
    assert [hit.id for hit in vectors.matching("billing", ChunkFilter(), 5)] == ["c1"]
    assert diagnose(graph, vectors, mirror).healthy
    mirror.commit(Write(changes=(), embedded=("c1", "gone")), {"c1": np.eye(64, dtype=np.float32)[3]})
    assert graph.chunks(["c1"])[0].vector_state == "ready"
    assert vectors.vectors(["c1"])["c1"][3] == 1
    mirror.tidy()
    assert graph.outbox() == ()
    assert diagnose(graph, vectors, mirror).healthy


def test_deferred_writes_are_delivered_together_with_the_next_one(
    mirror: Mirror, graph: InMemoryGraph, vectors: FailingVectors
) -> None:
    mirror.commit(write(chunks=(pending("c1"),), deferred=True))
    named = entity("e1", mention_count=3)
    mirror.commit(write(chunks=(pending("c2"),), entities=(named,), deferred=True))
    assert vectors.chunk_hashes() == {}
    assert len(graph.outbox()) == 2
    mirror.commit(write(chunks=(chunk("c3"),)))
    assert vectors.chunk_hashes().keys() == {"c1", "c2", "c3"}
    assert vectors.entity_hashes().keys() == {"e1"}
    mirror.tidy()
    assert graph.outbox() == ()


def test_what_is_gathered_does_not_hold_a_search_up(
    mirror: Mirror, graph: InMemoryGraph, vectors: FailingVectors
) -> None:
    mirror.commit(write(chunks=(pending("c1"), pending("c2"))))
    mirror.commit(write(removed=Removal(chunks=("c1",)), deferred=True, gathered=True))
    mirror.replicate_for_search()
    assert vectors.chunk_hashes().keys() == {"c1", "c2"}
    assert len(graph.outbox()) == 1, "it is not forgotten meanwhile"
    mirror.commit(write(chunks=(pending("c3"),), deferred=True))
    mirror.replicate_for_search()
    assert vectors.chunk_hashes().keys() == {"c2", "c3"}, "in the order of the writes"
    mirror.commit(write(removed=Removal(chunks=("c2",)), deferred=True, gathered=True))
    mirror.replicate_for_search()
    assert vectors.chunk_hashes().keys() == {"c2", "c3"}
    mirror.replicate_deferred()
    assert vectors.chunk_hashes().keys() == {"c3"}
    assert diagnose(graph, vectors, mirror).healthy


def test_writers_wait_only_while_what_seems_to_differ_is_looked_at_again(
    graph: InMemoryGraph, watched: Watched
) -> None:
    ids = [f"c{number}" for number in range(8)]
    watched.mirror.commit(write(chunks=tuple(chunk(id) for id in ids)))
    watched.remove(chunks=("c3",))
    found = sample(graph, watched, watched.mirror, ids=ids, most=100)
    assert found == Sampled(compared=8, differing=1)
    assert [among for among, free in watched.asked if not free] == [["c3"]]


# What is counted and collected --------------------------------------------------------------------


def test_an_entity_that_three_chunks_mention_is_worth_a_vector() -> None:
    assert [worth_a_vector(mentions) for mentions in (0, 2, 3, 9)] == [False, False, True, True]


def test_who_watches_learns_every_row_that_the_vectors_follow_and_only_meanwhile(mirror: Mirror) -> None:
    mirror.commit(
        write(chunks=(chunk("old"), chunk("late", vector_state="pending")), entities=(entity("gone"),))
    )
    with mirror.watching() as first:
        mirror.commit(write(chunks=(chunk("c2"), chunk("c1")), entities=(entity("e1", "Bob"),)))
        assert len(first) == 3
        with mirror.watching() as second:
            mirror.commit(write(removed=Removal(chunks=("old",), entities=("gone",))))
            mirror.commit(Write(changes=(), embedded=("late",)))
        mirror.commit(write(chunks=(chunk("c3"),)))
    mirror.commit(write(chunks=(chunk("c4"),)))
    assert second.take() == (["late", "old"], ["gone"])
    assert len(first) == 7
    assert first.take() == (["c1", "c2", "c3", "late", "old"], ["e1", "gone"])
    assert (len(first), first.take()) == (0, ([], []))


def test_the_changes_of_one_write_are_of_one_run_and_a_dumps_are_left_as_they_are(
    mirror: Mirror, committed: list[Write]
) -> None:
    two = (record("test", project="p", target="a"), record("test", project="p", target="b"))
    mirror.commit(Write(changes=two))
    mirror.commit(Write(changes=two, verbatim=True))
    runs = [[change.run for change in each.changes] for each in committed]
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


def test_each_row_of_the_outbox_is_cleared_once(vectors: FailingVectors) -> None:
    graph = CountedGraph()
    mirror = Mirror(graph, lambda: vectors, EMBEDDER.embed_documents, lambda write: None)
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
    vectors: FailingVectors, caplog: pytest.LogCaptureFixture
) -> None:
    graph = CountedGraph()
    mirror = Mirror(graph, lambda: vectors, EMBEDDER.embed_documents, lambda write: None)
    mirror.commit(write(chunks=(chunk("c1"),), deferred=True))
    mirror.close()
    assert vectors.chunk_hashes().keys() == {"c1"}
    assert graph.outbox() == ()
    mirror.commit(write(chunks=(chunk("c2"),)))
    graph.full = True
    mirror.close()
    assert "no space left" in caplog.text
    assert [row.chunks for row in graph.outbox()] == [("c2",)]


def test_a_delivery_that_fails_is_logged_and_made_good(
    mirror: Mirror, graph: InMemoryGraph, vectors: FailingVectors, caplog: pytest.LogCaptureFixture
) -> None:
    mirror.commit(write(chunks=(pending("c1"),), deferred=True))
    vectors.full = True
    mirror.replicate_deferred()
    assert "behind until a later write" in caplog.text
    assert len(graph.outbox()) == 1
    vectors.full = False
    mirror.replicate_deferred()
    assert vectors.chunk_hashes().keys() == {"c1"}
    assert diagnose(graph, vectors, mirror).healthy


def test_a_search_waits_only_for_what_it_has_to_find(mirror: Mirror, vectors: FailingVectors) -> None:
    def gather(id: str) -> None:
        mirror.commit(write(chunks=(pending(id),), deferred=True, gathered=True))
        mirror.replicate_for_search()

    gather("c1")
    assert vectors.chunk_hashes() == {}
    mirror.commit(write(chunks=(pending("c2"),), deferred=True))
    mirror.replicate_for_search()
    assert vectors.chunk_hashes().keys() == {"c1", "c2"}
    gather("c3")
    assert vectors.chunk_hashes().keys() == {"c1", "c2"}
    mirror.commit(write(chunks=(pending("c4"),), deferred=True))
    assert mirror.drain() == 2
    gather("c5")
    assert vectors.chunk_hashes().keys() == {"c1", "c2", "c3", "c4"}, (
        "what was drained is not delivered again"
    )


def test_a_store_is_made_ready_for_a_delivery_while_others_may_write(watched: Watched) -> None:
    watched.mirror.replicate_deferred()
    assert watched.puts == []
    watched.mirror.commit(write(chunks=(pending("c1"),), deferred=True))
    watched.mirror.replicate_deferred()
    assert watched.puts == [(0, True), (1, False)]


def test_after_a_store_caught_up_a_change_of_state_keeps_the_vector_again(
    mirror: Mirror, vectors: FailingVectors, embed: Counting
) -> None:
    mirror.commit(write(chunks=(chunk("c1"),)))
    vectors.full = True
    mirror.commit(write(chunks=(chunk("c1", author="Ada"),)))
    mirror.catch_up()
    vectors.full = False
    mirror.commit(write(chunks=(chunk("c2"),)))
    assert vectors.chunk_hashes().keys() == {"c1", "c2"}
    embed.texts.clear()
    mirror.commit(write(chunks=(chunk("c1", author="Ada", state="archived"),)))
    assert embed.texts == []


def test_what_was_deferred_is_caught_up_at_opening_or_with_the_next_write(
    mirror: Mirror, graph: InMemoryGraph, vectors: FailingVectors, embed: Counting
) -> None:
    mirror.commit(write(chunks=(pending("c1"),), deferred=True))
    Mirror(graph, lambda: vectors, embed, lambda write: None).catch_up()
    assert [hit.id for hit in vectors.matching("billing", ChunkFilter(), 5)] == ["c1"]
    assert embed.texts == []
    mirror.commit(write(chunks=(chunk("c2"),), deferred=True))
    vectors.full = True
    opened = Mirror(graph, lambda: vectors, embed, lambda write: None)
    opened.catch_up()
    vectors.full = False
    opened.commit(write(chunks=(chunk("c3"),)))
    assert vectors.chunk_hashes().keys() == {"c1", "c2", "c3"}


# Whose vector is made, and from what --------------------------------------------------------------


def test_the_vector_of_an_entity_is_made_once_and_given_ones_are_taken(
    mirror: Mirror, vectors: FailingVectors, embed: Counting
) -> None:
    def deferred(*rows: Entity) -> None:
        mirror.commit(write(entities=rows, deferred=True))
        mirror.replicate_deferred()

    deferred(entity("e1", mention_count=2), entity("e2", "Bob", mention_count=3))
    assert embed.texts == ["Bob"]
    assert vectors.entity_vectors(["e1", "e2"]).keys() == {"e2"}
    deferred(entity("e1", mention_count=3), entity("e2", "Bob", mention_count=4))
    assert embed.texts == ["Bob", "Ada"]
    mirror.commit(write(entities=(entity("e3", "Eve", mention_count=5),), deferred=True))
    given = np.eye(64, dtype=np.float32)[3]
    mirror.commit(write(chunks=(pending("c1"),)), {"e3": given})
    assert embed.texts == ["Bob", "Ada"]
    np.testing.assert_array_equal(vectors.entity_vectors(["e3"])["e3"], given)
    mirror.commit(write(entities=(entity("e2", "Bob", mention_count=9),)))
    assert embed.texts == ["Bob", "Ada"], "an entity of a write that is not deferred was heard before"


def test_what_was_refused_is_refreshed_from_the_graph_with_the_vectors_given(
    mirror: Mirror, graph: InMemoryGraph, vectors: FailingVectors, embed: Counting
) -> None:
    mirror.commit(write(chunks=(chunk("gone"),), entities=(entity("e_gone", "Zoe"),)))
    vectors.full = True
    rows = (chunk("c1"), pending("c2"), chunk("c3", "Bob leads sales."))
    few, many, given = (
        entity(f"e{place}", name, mention_count=place + 2) for place, name in enumerate("AMG")
    )
    removed = Removal(chunks=("gone",), entities=("e_gone",))
    mirror.commit(write(chunks=rows, entities=(few, many, given), removed=removed))
    vectors.full = False
    embed.texts.clear()
    vector = np.eye(64, dtype=np.float32)[5]
    assert mirror.drain({"c3": vector, "e2": vector, "unknown": vector}) == 8
    assert sorted(embed.texts) == ["Ada leads billing.", "M"]
    assert vectors.chunk_hashes().keys() == {"c1", "c2", "c3"}
    assert vectors.entity_hashes().keys() == {"e1", "e2"}
    assert vectors.vectors(["c1", "c2", "c3"]).keys() == {"c1", "c3"}
    assert vectors.entity_vectors(["e0", "e1", "e2"]).keys() == {"e1", "e2"}
    np.testing.assert_array_equal(vectors.vectors(["c3"])["c3"], vector)
    np.testing.assert_array_equal(vectors.entity_vectors(["e2"])["e2"], vector)
    assert graph.outbox() == ()
    assert mirror.drain() == 0


@pytest.mark.parametrize("order", ["removed last", "back last"])
def test_of_several_deferred_writes_the_last_says_whether_a_row_is_there(
    mirror: Mirror, vectors: FailingVectors, order: str
) -> None:
    named = entity("e1", mention_count=3)
    mirror.commit(write(chunks=(pending("c1"), pending("c2")), entities=(named,)))
    for step in ("gone", "back", "gone") if order == "removed last" else ("gone", "back"):
        if step == "gone":
            mirror.commit(write(removed=Removal(chunks=("c1",), entities=("e1",)), deferred=True))
        else:
            mirror.commit(write(chunks=(pending("c1"),), entities=(named,), deferred=True))
    mirror.replicate_deferred()
    left = {"c2"} if order == "removed last" else {"c1", "c2"}
    assert vectors.chunk_hashes().keys() == left
    assert vectors.entity_hashes().keys() == (set() if order == "removed last" else {"e1"})


def test_an_embedder_that_leaves_texts_out_is_no_embedder(
    graph: InMemoryGraph, vectors: FailingVectors
) -> None:
    def embed(texts: Sequence[str]) -> Vector:
        return EMBEDDER.embed_documents(texts)[:1]

    mirror = Mirror(graph, lambda: vectors, embed, lambda write: None)
    assert mirror.embed_by_id({}) == {}
    with pytest.raises(ValueError, match="shorter"):
        mirror.embed_by_id({"c1": "one", "c2": "two"})


# Held writes ---------------------------------------------------------------------------------------


def answer(id: str = "r1") -> RequestRow:
    return RequestRow(id=id, operation="remember", answer=id, at=T0)


def test_a_held_write_is_committed_with_its_answer(mirror: Mirror, graph: InMemoryGraph) -> None:
    with mirror.holding():
        assert lock_is_free(mirror)
        with ThreadPoolExecutor(1) as other:
            other.submit(mirror.commit, write(chunks=(chunk("c0"),))).result()
        assert graph.chunks(["c0"]), "another thread's is committed at once"
        mirror.commit(write(chunks=(chunk("c1"),)))
        assert graph.chunks(["c1"]) == () and not lock_is_free(mirror)
        mirror.commit_held(answer())
        assert graph.chunks(["c1"]) and graph.request("r1") == answer() and lock_is_free(mirror)
        writes = mirror.writes
        mirror.commit_held(answer("r2"))
        assert graph.request("r2") == answer("r2") and mirror.writes == writes
    mirror.commit(write(chunks=(chunk("c2"),)))
    assert graph.chunks(["c2"]) and lock_is_free(mirror)


def test_a_held_write_is_committed_before_the_next_one_and_before_the_lock_is_taken(
    mirror: Mirror, graph: InMemoryGraph
) -> None:
    with mirror.holding():
        mirror.commit(write(chunks=(chunk("c1"),)))
        mirror.commit(write(chunks=(chunk("c2"),)))
        assert graph.chunks(["c1", "c2"]) == (chunk("c1"),)
        with mirror.one_writer:
            assert graph.chunks(["c2"])
            mirror.commit(write(chunks=(chunk("c3"),)))
            assert graph.chunks(["c3"]) == ()
        assert not lock_is_free(mirror)
        mirror.commit(write(chunks=(chunk("c4"),), requests=(answer(),)))
        assert graph.chunks(["c3", "c4"]) == (chunk("c3"), chunk("c4")) and graph.request("r1")
        assert lock_is_free(mirror)


def test_what_is_held_at_the_end_is_committed_also_after_an_error(
    mirror: Mirror, graph: InMemoryGraph
) -> None:
    with pytest.raises(KeyboardInterrupt), mirror.holding(), mirror.one_writer:
        mirror.commit(write(chunks=(chunk("c1"),)))
        raise KeyboardInterrupt
    assert graph.chunks(["c1"]) and lock_is_free(mirror)


def test_a_held_write_that_is_refused_leaves_the_lock_free(mirror: Mirror, graph: InMemoryGraph) -> None:
    with mirror.holding():
        mirror.commit(write(chunks=(chunk("c1", document="nowhere"),)))
        with pytest.raises(InvalidInputError):
            mirror.commit_held(answer())
        assert lock_is_free(mirror)
    assert graph.request("r1") is None and graph.chunks(["c1"]) == ()


def test_a_held_write_that_is_deferred_is_not_replicated_before_a_search(
    mirror: Mirror, vectors: FailingVectors
) -> None:
    with mirror.holding():
        mirror.commit(write(chunks=(chunk("c1"),), deferred=True))
        mirror.commit_held(answer())
    assert vectors.chunk_hashes() == {}
    mirror.replicate_for_search()
    assert vectors.chunk_hashes().keys() == {"c1"}
