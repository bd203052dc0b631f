"""Verification over the stores that a user has: what is decided is there after the folder was closed."""

from pathlib import Path

import pytest

import hydramem
from hydramem.core.settings.config_loading import load_config
from hydramem.llm.scripted_generator import ScriptedGenerator
from tests.engines import DISK_ENGINE
from tests.verification.test_verify import OPEN, saying


@pytest.mark.engine
@pytest.mark.costly  # a store that is opened again
def test_what_is_decided_lasts(tmp_path: Path):
    settings = {"HYDRAMEM_STORAGE_GRAPH": DISK_ENGINE, "HYDRAMEM_EMBEDDING_MODEL": "hash"}
    settings |= {f"HYDRAMEM_VERIFICATION_{name.upper()}": value for name, value in OPEN.items()}
    config = load_config(environment=settings)
    with hydramem.connect(tmp_path, config=config) as memory:
        memory.remember("Ada Lovelace leads Billing.")
        memory.remember("Grace Hopper leads Sales.")
        assert not (tmp_path / "models" / "vog_replies.db").exists()
    model = ScriptedGenerator(saying("GROUNDED"))
    with hydramem.connect(tmp_path, config=config, generator=model) as memory:
        told = memory.verify(limit=1)
        assert (told.accepted, told.relations[0].subject) == (1, "Ada Lovelace")
    with hydramem.connect(tmp_path, config=config, generator=model) as memory:
        told = memory.verify("Ada Lovelace")
        assert (told.relations[0].decision, told.relations[0].layer, told.calls) == (
            "accepted",
            "verified",
            0,
        )
        assert [one.subject for one in memory.verify().relations] == ["Grace Hopper"]
        assert memory.verify().relations == ()
    assert (tmp_path / "models" / "vog_replies.db").exists()
    assert len(model.prompts) == 2
