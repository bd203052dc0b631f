"""Batches stay short, go by where rows are, and what the vector store did not hear outlives a kill."""

import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hydramem import Memory
from hydramem.core.row_types import Phase
from hydramem.core.settings.config_loading import load_config
from hydramem.garden.night.apply import Pace
from hydramem.garden.proposals.proposal import Proposal
from hydramem.storage.cypher.graph import open_graph
from hydramem.storage.write import Write
from tests import ROOT
from tests.engines import DISK_ENGINE
from tests.garden.memories import GIVEN, night, opened, put, rows
from tests.storage.rows import at, chunk, entity, relation


def proposal(phase: Phase = "verify", subject: str = "e1", relations: int = 1) -> Proposal:
    found = tuple(relation(subject, "knows", f"e{number}") for number in range(relations))
    write = Write(changes=(), relations=found)
    return Proposal(project="p", phase=phase, action="judge", target=subject, text="", reason="", write=write)


@pytest.mark.parametrize("milliseconds", [0.05, 5.0])
def test_few_batches_take_over_a_twentieth_of_a_second(milliseconds: float) -> None:
    chance, pace, place = random.Random(2), Pace(), 0
    given = [proposal()] * 10_000
    took: list[float] = []
    while place < len(given):
        batch = pace.batch(given, place)
        place += len(batch)
        seconds = (3 + len(batch) * milliseconds) / 1000 * chance.lognormvariate(0, 0.4)
        took.append(seconds)
        pace.took("verify", seconds + (2.0 if len(took) % 50 == 0 else 0.0))
    late = sum(seconds > 0.05 for seconds in took)
    assert late <= 0.12 * len(took)
    assert len(took) <= 4 * sum(took) / 0.05, "and they are not needlessly small"


def test_a_batch_is_of_one_phase_and_takes_a_large_proposal_whole() -> None:
    given = [proposal("verify"), proposal("merge", relations=40), proposal("merge")]
    pace = Pace()
    assert pace.batch(given, 0) == given[:1]
    assert pace.batch(given, 1) == given[1:2]
    for _ in range(9):
        pace.took("merge", 0.001)
    assert pace.batch(given, 1) == given[1:]
    assert pace.batch([*given[:1], *given], 0) == given[:1] * 2, "what merges take says nothing of others"


def filled(folder: Path) -> None:
    """Store what a night archives, and what it takes out."""
    with opened(folder, STORAGE_GRAPH=DISK_ENGINE) as memory:
        names = [f"Name{number}" for number in range(40)]
        things = tuple(entity(f"e_{name}", name, project="default") for name in names)
        notes = {f"c_{name}": f"{name} is away until further notice." for name in names}
        chunks = (chunk(id, text, project="default", expires_at=at(1)) for id, text in notes.items())
        put(memory, entities=things, chunks=tuple(chunks))
        memory.remember("The dam holds.")
        memory.drain()


@pytest.mark.engine
@pytest.mark.slow
def test_a_night_that_is_killed_loses_nothing_that_the_vectors_had_not_heard(tmp_path: Path) -> None:
    filled(tmp_path / "whole")
    killed = shutil.copytree(tmp_path / "whole", tmp_path / "killed")
    given = {f"HYDRAMEM_{key}": value for key, value in (GIVEN | {"STORAGE_GRAPH": DISK_ENGINE}).items()}
    command = [sys.executable, "-m", "tests.garden.night.night_child", str(killed), "0.3"]
    child = subprocess.run(command, env=os.environ | given, cwd=ROOT, check=False)
    assert child.returncode == -signal.SIGKILL
    graph = open_graph(killed / "graph", load_config(environment=given).storage)
    waiting = {id for row in graph.outbox() for id in (*row.chunks, *row.entities)}
    graph.close()
    assert waiting, "nobody told the vector store"
    with opened(tmp_path / "whole", STORAGE_GRAPH=DISK_ENGINE) as memory:
        before = rows(memory)
        night(memory, "prune")
        wanted = left(memory)
        assert wanted["Entity"] == [] and memory.doctor().healthy
    with opened(killed, STORAGE_GRAPH=DISK_ENGINE) as memory:
        assert memory.doctor().healthy, "opening the store delivered it"
        second = night(memory, "prune")
        assert second.resumed > 0
        assert left(memory) == wanted and memory.doctor().healthy
        run = second.resumed_run
        assert run is not None
        memory.undo(run)
        assert rows(memory) == before and memory.doctor().healthy


def left(memory: Memory) -> dict[str, list[Any]]:
    """Return the rows that a night left, without when it archived them."""
    found = rows(memory)
    return found | {"Chunk": [(row.id, row.state, row.text) for row in found["Chunk"]]}


@pytest.mark.engine
@pytest.mark.costly  # the room's night on an engine on disk
def test_the_vectors_hear_of_many_batches_at_once_and_undo_brings_all_back(tmp_path: Path) -> None:
    filled(tmp_path)
    with opened(tmp_path, STORAGE_GRAPH=DISK_ENGINE) as memory:
        held = rows(memory)
        store = memory._opened
        before = store.vectors.stats().versions
        progress: list[int] = []
        report = night(memory, "prune", progress=lambda one: progress.append(one.done))
        assert len(progress) > 6
        assert store.vectors.stats().versions - before <= 4, "not a version for each batch"
        assert memory.doctor().healthy
        assert {hit.text for hit in memory.recall("who is away?").hits} == {"The dam holds."}
        memory.undo(report.run)
        found = rows(memory)
        assert {name: found[name] for name in ("Entity", "Chunk")} == {
            name: held[name] for name in ("Entity", "Chunk")
        }
        assert memory.doctor().healthy
