"""Which scorer serves a night, how long a model does, and what `train` says."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from hydramem import Memory
from hydramem.core.errors import InvalidInputError, ModelUnavailableError
from hydramem.garden.edges.edge_scoring import MODEL
from hydramem.garden.edges.gnn.trained_model import available
from hydramem.storage.repair.reindex import EMBEDDER
from tests.garden.graphs import triples
from tests.garden.memories import night, opened, put, rows
from tests.garden.phases.prune.test_prune import LONG_AGO, WRONG, claim, thing

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")
needs_torch = pytest.mark.skipif(not available(), reason="the extra gnn is not installed")


def fill(memory: Memory, people: int = 100) -> None:
    right = triples(people)
    names = sorted({end for one in right for end in (one[0], one[2])})
    relations = tuple(claim(*one) for one in [*right, *WRONG])
    put(memory, entities=tuple(map(thing, names)), relations=relations)


def files(folder: Path) -> dict[str, str]:
    """Return a hash of each file that a memory keeps beside its stores' own."""
    own = [path for path in folder.rglob("*") if path.is_file() and "telemetry" not in path.name]
    own = [path for path in own if "graph" not in path.relative_to(folder).parts[0]]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in own}


def train_notes(memory: Memory, *, plan: bool = False) -> list[str]:
    report = night(memory, "prune", plan=plan)
    return [note for note in report.phases[0].notes if "trained anew" in note]


@pytest.mark.skipif(available(), reason="torch is installed")
def test_without_torch_train_says_what_to_install(tmp_path: Path) -> None:
    with opened(tmp_path) as memory, pytest.raises(ModelUnavailableError, match=r"hydramem\[gnn\]"):
        memory.train()


@needs_torch
def test_train_keeps_a_model_that_the_night_uses(memory: Memory) -> None:
    with pytest.raises(InvalidInputError, match="too few"):
        memory.train()
    fill(memory)
    steps: list[tuple[int, int]] = []
    done = memory.train(progress=lambda step, whole: steps.append((step, whole)))
    assert done.scorer == "gnn" and done.relations == len(triples(100)) + len(WRONG) and done.labels == 0
    assert done.auc > 0.7 and 0 <= done.calibration <= 0.25 and steps
    file = Path(done.file)
    assert file.name == MODEL
    before = file.stat().st_mtime_ns
    report = night(memory, "prune", plan=True)
    assert "gnn" in report.phases[0].notes[0] and file.stat().st_mtime_ns == before
    assert not train_notes(memory)


@needs_torch
def test_a_model_serves_a_graph_that_changed_little_and_no_other(memory: Memory) -> None:
    fill(memory)
    file = Path(memory.train().file)
    before = file.stat().st_mtime_ns
    put(memory, relations=tuple(claim(f"person {one}", "visits", "city 0") for one in range(20)))
    assert not train_notes(memory) and file.stat().st_mtime_ns == before
    gone = [claim(*one) for one in triples(100)[:40]]
    put(memory, relations=tuple(replace(row, state="archived") for row in gone))
    assert "new or gone" in "".join(train_notes(memory)) and file.stat().st_mtime_ns != before


@needs_torch
def test_a_model_of_another_embedder_or_that_cannot_be_read_is_trained_anew(memory: Memory) -> None:
    fill(memory)
    file = Path(memory.train().file)
    memory._use().graph.set_meta({EMBEDDER: "another"})
    assert "settings" in "".join(train_notes(memory))
    assert not train_notes(memory)
    file.write_bytes(b"\x00broken")
    assert "could not be read" in "".join(train_notes(memory))


def test_a_plan_writes_nothing_but_the_plan(tmp_path: Path) -> None:
    """Where a model has to be trained for it, too."""
    store = tmp_path / "store"
    with opened(store) as memory:
        fill(memory)
        kept, held = files(store), rows(memory)
        changes = memory._use().graph.counts().changes
        report = memory.garden(plan=True)[0]
        assert report.changes and report.run is None
        assert files(store) == kept and rows(memory) == held
        assert memory._use().graph.counts().changes == changes
        kept_model = list(store.rglob(MODEL))
        assert not kept_model, "a model is kept by a night, not by a plan"


def test_what_people_said_reaches_the_scorer(memory: Memory) -> None:
    fill(memory)
    told = {"verifier": "person:ada", "verified_at": LONG_AGO}
    confirmed = tuple(claim(*one, verdict="accepted", layer="verified", **told) for one in triples(100)[:10])
    wrong = [(f"city {one % 5}", "works_for", f"person {one}") for one in range(10)]
    rejected = tuple(claim(*one, verdict="rejected", state="archived", **told) for one in wrong)
    by_model = {"verdict": "accepted", "verifier": "vog:model"}  # that is no label
    decided = (claim(*one, **by_model) for one in triples(100)[10:40])
    put(memory, relations=(*confirmed, *rejected[:9], *decided))
    assert "judged" not in "".join(night(memory, "prune", plan=True).phases[0].notes)
    put(memory, relations=rejected)
    notes = night(memory, "prune", plan=True).phases[0].notes
    assert "It learned from 20 relations that people judged." in notes
