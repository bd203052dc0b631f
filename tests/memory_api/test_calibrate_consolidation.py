"""Calibrating the threshold of consolidation: fitted to the embedder, kept, used, and taken back."""

from pathlib import Path

import pytest

import hydramem
from hydramem.core.config import EmbeddingConfig
from hydramem.core.errors import InvalidInputError
from hydramem.llm.choose import choose_embedder
from hydramem.llm.hash_embedder import HashEmbedder
from hydramem.verification.calibration.consolidation_threshold import KEPT, fit
from hydramem.verification.calibration.saved_thresholds import Bounds, Fitted
from tests.engines import DISK_ENGINE
from tests.memory_api.conftest import settings

ON_DISK = settings(DISK_ENGINE)


@pytest.mark.costly  # opens a store again
def test_a_fitted_threshold_serves_until_it_is_taken_back(tmp_path: Path) -> None:
    with hydramem.connect(tmp_path / "store", config=ON_DISK) as memory:
        configured = memory.config.memory.consolidation_threshold
        tried = memory.calibrate(consolidation=True, dry_run=True)
        assert not tried.applied
        assert memory._encoding().consolidation_threshold == configured
        done = memory.calibrate(consolidation=True)
        assert done.applied
        assert done.consolidation_threshold == tried.consolidation_threshold != configured
    with hydramem.connect(tmp_path / "store", config=ON_DISK) as memory:
        assert memory._encoding().consolidation_threshold == done.consolidation_threshold
        assert memory.calibrate(consolidation=True, revert=True).consolidation_threshold == configured
        assert memory._encoding().consolidation_threshold == configured
        with pytest.raises(InvalidInputError, match="configured one serves"):
            memory.calibrate(consolidation=True, revert=True)
        with pytest.raises(InvalidInputError, match="by itself"):
            memory.calibrate("labels.jsonl", consolidation=True)


@pytest.mark.costly  # the model that is carried along
def test_pairs_that_touch_each_other_are_kept() -> None:
    found = fit(choose_embedder(EmbeddingConfig(model="minilm")))
    assert found.kept >= KEPT - 0.01
    assert found.passed <= 0.02


def test_memories_of_the_store_hold_the_threshold_up() -> None:
    embedder = HashEmbedder()
    alike = [f"The meter in flat {number} of the harbour house was read today." for number in range(60)]
    assert fit(embedder, alike).threshold > fit(embedder).threshold
    assert fit(embedder, alike[:10]) == fit(embedder)


def test_a_damaged_file_leaves_the_configured_one(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    fitted = Fitted(threshold=0.5, kept=0.96, passed=0.01)
    Bounds(tmp_path).keep("hash/384", fitted)
    assert Bounds(tmp_path).of("hash/384") == fitted
    (file,) = (tmp_path / "models" / "consolidation").iterdir()
    for damage in ("{", '{"threshold": 7, "kept": 1, "passed": 0}'):
        file.write_text(damage)
        assert Bounds(tmp_path).of("hash/384") is None
    assert "damaged" in caplog.text
