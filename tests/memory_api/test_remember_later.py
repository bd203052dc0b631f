"""`wait=False`: stored and found by its words at once; vectors, consolidation and links follow."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import hydramem
from hydramem.core.config import Config
from hydramem.core.errors import ModelUnavailableError
from hydramem.core.settings.config_loading import load_config
from hydramem.ingest.memories.memory_input import MemoryInput
from hydramem.llm.hash_embedder import HashEmbedder
from hydramem.llm.scripted_generator import ScriptedGenerator
from hydramem.storage.vector_rows import Vector
from tests import ROOT
from tests.engines import DISK_ENGINE, ENGINE
from tests.waiting import wait_for

ENVIRONMENT = {"HYDRAMEM_STORAGE_GRAPH": DISK_ENGINE, "HYDRAMEM_EMBEDDING_MODEL": "hash"}


class Flaky(HashEmbedder):
    """An embedder that is down while `down` is set."""

    down = False

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        if self.down:
            raise ModelUnavailableError("the embedder is down")
        return super().embed_documents(texts)


@pytest.fixture
def embedder() -> Flaky:
    return Flaky(64)


@pytest.fixture
def config() -> Config:
    return load_config(environment={"HYDRAMEM_STORAGE_GRAPH": ENGINE})


@pytest.fixture
def memory(tmp_path: Path, embedder: Flaky, config: Config) -> Iterator[hydramem.Memory]:
    with hydramem.connect(tmp_path / "store", embedder=embedder, config=config) as opened:
        yield opened


def left(memory: hydramem.Memory, embedder: Flaky) -> hydramem.Remembered:
    """Return a memory that was stored while the embedder was down; it still is."""
    memory.remember("The first write makes what classification compares with.")
    memory.drain()
    embedder.down = True
    return memory.remember("Ada leads the billing team.", wait=False)


def test_a_memory_is_found_by_its_words_before_it_has_a_vector(
    memory: hydramem.Memory, embedder: Flaky
) -> None:
    done = left(memory, embedder)
    assert done.pending == ("embed", "consolidate", "link")
    assert any("encoded later" in note for note in done.notes)
    assert memory.get(done.id).vector_state == "pending"
    embedder.down = False
    held = memory._opened.vectors.vectors([done.id])
    assert [hit.id for hit in memory.recall("Who leads the billing team?").hits][:1] == [done.id]
    assert held == {} or memory.get(done.id).vector_state == "ready"


def test_what_was_left_is_done(memory: hydramem.Memory) -> None:
    done = [memory.remember(f"Ada keeps crate {n} in hall {n}.", wait=False) for n in range(3)]
    texts = [f"Room {n} has {n + 2} windows." for n in range(20)]
    many = memory.remember_many([MemoryInput(text=text) for text in texts], wait=False)
    assert len({each.run for each in many}) == 1
    done += many
    assert memory.drain().left == 0
    assert memory.jobs() == ()
    assert {memory.get(each.id).vector_state for each in done} == {"ready"}
    assert {memory.get(each.id).state for each in done} == {"active"}
    assert memory.doctor().problems == ()
    assert memory._opened.vectors.vectors([each.id for each in done]).keys() == {each.id for each in done}


def test_a_later_memory_ends_an_earlier_one_in_its_own_run_and_the_same_again_is_the_same(
    memory: hydramem.Memory,
) -> None:
    before = memory.remember("We use PostgreSQL for billing.", wait=False)
    after = memory.remember("We moved from PostgreSQL to MySQL for billing.", wait=False)
    again = memory.remember("We moved from PostgreSQL to MySQL for billing.", wait=False)
    assert (again.id, again.created, again.pending) == (after.id, False, ())
    memory.drain()
    assert memory.get(before.id).state == "superseded"
    assert memory.get(after.id).state == "active"
    assert {change.run for change in memory._opened.graph.changes()} == {before.run, after.run}


def test_undoing_a_memory_takes_back_what_followed(memory: hydramem.Memory) -> None:
    kept = memory.remember("We use PostgreSQL for billing.")
    memory.drain()
    before = memory.get(kept.id)
    told = memory.remember("We moved from PostgreSQL to MySQL for billing.", wait=False)
    memory.drain()
    assert memory.get(kept.id).state == "superseded"
    assert told.run is not None
    assert memory.undo(told.run).left == ()
    assert memory.get(kept.id) == before
    assert memory.doctor().problems == ()


def test_an_outage_of_the_embedder_leaves_the_text_and_the_job(
    memory: hydramem.Memory, embedder: Flaky
) -> None:
    done = left(memory, embedder)
    assert memory.drain().left == 1
    (job,) = memory.jobs("waiting")
    assert "the embedder is down" in str(job.error)
    assert memory.stats().jobs == {"waiting": 1}
    embedder.down = False
    assert memory.drain().done == 1
    assert memory.get(done.id).vector_state == "ready"


def test_without_cognition_only_the_vector_is_left_and_no_model_is_asked(
    tmp_path: Path, config: Config
) -> None:
    generator = ScriptedGenerator(lambda prompt: ModelUnavailableError("asleep"))
    plain = replace(config, memory=replace(config.memory, cognitive=False))
    for each, jobs in ((plain, ("embed",)), (config, ("embed", "consolidate", "link"))):
        with hydramem.connect(tmp_path, embedder=Flaky(64), config=each, generator=generator) as memory:
            done = memory.remember("Ada leads billing.", wait=False)
            assert done.pending == jobs
            memory.drain()
            assert memory.get(done.id).vector_state == "ready"
            assert bool(generator.prompts) == (each is config)


def test_what_is_forgotten_meanwhile_is_left_alone(memory: hydramem.Memory, embedder: Flaky) -> None:
    done = left(memory, embedder)
    memory.forget([done.id])
    embedder.down = False
    assert memory.drain().left == 0
    assert memory.get(done.id).state == "archived"
    assert memory.doctor().problems == ()


@pytest.mark.costly
@pytest.mark.engine
def test_closing_leaves_what_waits_and_opening_does_it(tmp_path: Path, embedder: Flaky) -> None:
    place, config = tmp_path / "reopened", load_config(environment={"HYDRAMEM_STORAGE_GRAPH": DISK_ENGINE})
    with hydramem.connect(place, embedder=embedder, config=config) as memory:
        ids = [memory.remember(f"Shelf {n} holds {n} books.", wait=False).id for n in range(8)]
    with hydramem.connect(place, embedder=embedder, config=config) as memory:
        assert memory.doctor().problems == ()
        wait_for(lambda: memory.jobs() == ())
        assert {memory.get(id).vector_state for id in ids} == {"ready"}


def test_a_reindex_moves_what_waits_too(memory: hydramem.Memory, embedder: Flaky, tmp_path: Path) -> None:
    done = left(memory, embedder)
    embedder.down = False
    memory._opened.reindex(HashEmbedder(32), progress=None)
    memory.drain()
    assert memory.doctor().problems == ()
    assert memory.get(done.id).vector_state == "ready"
    assert memory._opened.vectors.vectors([done.id])[done.id].shape == np.zeros(32).shape


@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.slow
def test_an_interrupted_drain_loses_nothing(tmp_path: Path) -> None:
    program = textwrap.dedent("""
        import sys
        import hydramem
        from hydramem.ingest.memories.memory_input import MemoryInput
        with hydramem.connect(sys.argv[1]) as memory:
            texts = [f"Ada keeps crate {number} in hall {number}." for number in range(30)]
            memory.remember_many([MemoryInput(text=text) for text in texts], wait=False)
            print("ready", flush=True)
            memory.drain()
            print("drained", flush=True)
    """)
    command, pipe = [sys.executable, "-c", program, str(tmp_path / "cut")], subprocess.PIPE
    environment = os.environ | ENVIRONMENT
    worker = subprocess.Popen(command, env=environment, cwd=ROOT, stdout=pipe, stderr=pipe, text=True)
    assert worker.stdout is not None
    assert worker.stdout.readline() == "ready\n"
    time.sleep(0.5)
    worker.send_signal(signal.SIGINT)
    said, problems = worker.communicate(timeout=240)
    assert said == "drained\n" or "KeyboardInterrupt" in problems
    with hydramem.connect(tmp_path / "cut", config=load_config(environment=ENVIRONMENT)) as memory:
        assert len(memory.memories(limit=1000)) == 30
        assert memory.drain().left == 0
        assert memory.doctor().problems == ()
        assert {row.vector_state for row in memory.memories(limit=1000)} == {"ready"}


def test_the_doctor_asks_again_for_a_vector_that_no_job_makes(
    memory: hydramem.Memory, embedder: Flaky
) -> None:
    done = left(memory, embedder)
    for _ in range(5):
        memory.drain()
    assert [job.state for job in memory.jobs()] == ["failed"]
    embedder.down = False
    assert memory.doctor().problems == ()
    memory.doctor(fix=True)
    memory.drain()
    assert memory.get(done.id).vector_state == "ready"
    assert memory.drain(retry=True).failed == 0
    assert memory.jobs() == ()
