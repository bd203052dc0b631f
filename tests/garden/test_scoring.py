"""Which scorer serves a night, and what `train` says."""

from pathlib import Path

import pytest

from hydramem.core.errors import InvalidInputError, ModelUnavailableError
from hydramem.garden import gnn
from hydramem.garden.scoring import MODEL, serves
from tests.garden.graphs import ruled, triples
from tests.garden.memories import night, opened, put
from tests.garden.test_prune import WRONG, claim, thing

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")


def test_a_model_serves_until_the_graph_is_another_one() -> None:
    snapshot = ruled(people=100)
    assert serves(300, snapshot) and not serves(200, snapshot) and not serves(400, snapshot)


@pytest.mark.skipif(gnn.available(), reason="torch is installed")
def test_without_torch_train_says_what_to_install(tmp_path: Path) -> None:
    with opened(tmp_path) as memory, pytest.raises(ModelUnavailableError, match=r"hydramem\[gnn\]"):
        memory.train()


@pytest.mark.skipif(not gnn.available(), reason="the extra gnn is not installed")
def test_train_keeps_a_model_that_the_night_uses(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        with pytest.raises(InvalidInputError, match="too few"):
            memory.train()
        right = triples(100)
        names = sorted({end for one in right for end in (one[0], one[2])})
        relations = tuple(claim(*one) for one in [*right, *WRONG])
        put(memory, entities=tuple(map(thing, names)), relations=relations)
        steps: list[tuple[int, int]] = []
        done = memory.train(progress=lambda step, whole: steps.append((step, whole)))
        assert done.scorer == "gnn" and done.relations == len(relations) and done.auc > 0.7 and steps
        file = Path(done.file)
        assert file.name == MODEL
        before = file.stat().st_mtime_ns
        report = night(memory, "prune", plan=True)
        assert "gnn" in report.phases[0].notes[0] and file.stat().st_mtime_ns == before
