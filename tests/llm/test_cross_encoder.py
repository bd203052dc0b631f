"""Cross-encoders: only from files on this machine, fetched only where that is asked for."""

from pathlib import Path

import pytest

from hydramem.core.errors import ConfigError, ModelUnavailableError
from hydramem.llm.cross_encoder import listed_reranker, open_cross_encoder
from hydramem.llm.fetch_model import get_model

NAME = "Xenova/ms-marco-MiniLM-L-6-v2"


def test_names_are_found_in_any_case() -> None:
    assert listed_reranker(NAME.lower()) == NAME
    assert listed_reranker("BAAI/bge-small-en-v1.5") is None


@pytest.mark.parametrize("folder_is_there", [False, True])
def test_none_is_fetched_unasked(tmp_path: Path, folder_is_there: bool) -> None:
    if folder_is_there:
        (tmp_path / "rerankers").mkdir()
    with pytest.raises(ModelUnavailableError, match=f"hydramem models get {NAME}"):
        open_cross_encoder(NAME.lower(), models=tmp_path)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == []


def test_an_unknown_name_is_a_setting_that_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"search.rerank: no cross-encoder is called 'nothing'"):
        open_cross_encoder("nothing", models=tmp_path)


def test_fetching_one_needs_a_hub(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=f"{NAME}: --from takes models of the catalogue only"):
        get_model(NAME, source=tmp_path, models=tmp_path)
    with pytest.raises(ModelUnavailableError, match=f"{NAME}: no model hub is reachable"):
        get_model(NAME, models=tmp_path)
