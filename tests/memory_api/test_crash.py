"""Kill the process at random points and look at what is left."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import hydramem
from hydramem.core.settings.config_loading import load_config
from tests import ROOT
from tests.memory_api.crash_child import PARTS

ENGINE = os.environ.get("HYDRAMEM_TEST_ENGINE", "ladybug")
ENVIRONMENT = {"HYDRAMEM_STORAGE_GRAPH": ENGINE, "HYDRAMEM_EMBEDDING_MODEL": "hash"}


@dataclass
class Acknowledged:
    """What the killed processes had said, over all kills so far."""

    active: dict[str, str] = field(default_factory=dict)
    forgotten: dict[str, str] = field(default_factory=dict)
    versions: dict[str, set[int]] = field(default_factory=dict)
    unsure: set[str] = field(default_factory=set)
    complete: set[str] = field(default_factory=set)

    def hear(self, lines: list[str]) -> None:
        open_step: dict[str, object] = {}
        for line in lines:
            try:
                step = json.loads(line)
            except ValueError:
                continue  # cut short by the kill
            open_step = step if "begin" in step else {}
            self._take(step)
        if open_step.get("begin") == "ingest":
            self.versions.setdefault(str(open_step["source"]), set()).add(int(str(open_step["version"])))
        elif open_step.get("begin") == "forget":
            self.unsure.add(str(open_step["id"]))

    def _take(self, step: dict[str, str]) -> None:
        match step.get("done"):
            case "remember":
                self.active[step["id"]] = step["text"]
            case "forget":
                self.forgotten[step["id"]] = self.active.pop(step["id"])
            case "ingest":
                self.versions[step["source"]] = {int(step["version"])}
                self.complete.add(step["source"])


def run_and_kill(store: Path, docs: Path, seed: int, chance: random.Random) -> list[str]:
    """Start a worker, kill it a moment after it is ready, and return the lines it said."""
    worker = subprocess.Popen(
        [sys.executable, "-m", "tests.memory_api.crash_child", str(store), str(docs), str(seed)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **ENVIRONMENT},
        cwd=ROOT,
    )
    assert worker.stdout is not None
    with worker.stdout:
        first = worker.stdout.readline()
        assert json.loads(first) == {"ready": True}
        time.sleep(chance.uniform(0.0, 0.8))
        worker.send_signal(signal.SIGKILL)
        lines = worker.stdout.readlines()
    assert worker.wait() == -signal.SIGKILL
    return lines


def inspect(memory: hydramem.Memory, said: Acknowledged) -> None:
    """Assert that everything acknowledged is there, whole, and nothing forgotten is recalled."""
    assert memory.doctor().problems == ()
    inspect_recall(memory, said)  # by words alone, where no job was done yet
    assert memory.drain().left == 0
    assert memory.jobs() == ()
    assert memory.doctor().problems == ()
    assert all(row.vector_state == "ready" for row in memory.memories(limit=1000))
    for id, text in said.active.items():
        state = memory.get(id).state
        assert state == "active" or id in said.unsure, text
    for id in said.forgotten:
        assert memory.get(id).state == "archived"
    inspect_documents(memory, said)
    inspect_recall(memory, said)


def inspect_documents(memory: hydramem.Memory, said: Acknowledged) -> None:
    for document in memory.documents(limit=1000):
        chunks = memory.document(document.id).chunks
        text = " ".join(chunk.text for chunk in chunks)
        held = {version for version in said.versions[Path(document.source).name] if f"v{version}x" in text}
        assert len(held) == 1, (document.source, said.versions, text)
        assert text.count(f"v{held.pop()}x") == PARTS
    sources = {Path(document.source).name for document in memory.documents(limit=1000)}
    assert said.complete <= sources


def inspect_recall(memory: hydramem.Memory, said: Acknowledged) -> None:
    for id, text in list(said.active.items())[-5:]:
        if id not in said.unsure:
            assert id in {hit.id for hit in memory.recall(text, limit=20).hits}, text
    for id, text in list(said.forgotten.items())[-5:]:
        assert id not in {hit.id for hit in memory.recall(text, limit=20).hits}, text


def crash(folder: Path, times: int) -> None:
    store, docs = folder / "store", folder / "docs"
    docs.mkdir()
    said, chance = Acknowledged(), random.Random(7)
    for seed in range(1, times + 1):
        said.hear(run_and_kill(store, docs, seed, chance))
        with hydramem.connect(store, config=load_config(environment=ENVIRONMENT)) as memory:
            inspect(memory, said)
    assert said.active or said.forgotten, "the workers did nothing"


@pytest.mark.slow
def test_what_was_acknowledged_survives_a_few_kills(tmp_path: Path) -> None:
    crash(tmp_path, 4)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_what_was_acknowledged_survives_fifty_kills(tmp_path: Path) -> None:
    crash(tmp_path, 55)
