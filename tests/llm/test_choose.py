from pathlib import Path

import numpy as np
import pytest

from hydramem.core.config import EmbeddingConfig
from hydramem.core.errors import ConfigError, EmbeddingMismatchError, ModelReplyError, ModelUnavailableError
from hydramem.llm.choose import choose_embedder, choose_next_embedder, still_to_configure
from tests.llm.conftest import Answer, FakeServer

BGE, MINILM = "bge-small-en-v1.5-int8/384", "all-MiniLM-L6-v2-int8/384"


def test_auto_is_the_model_of_the_store(tmp_path: Path):
    for stored in (None, MINILM):
        assert choose_embedder(EmbeddingConfig(), stored=stored, models=tmp_path).fingerprint == MINILM
    assert choose_embedder(EmbeddingConfig(), stored="hash/64", models=tmp_path).dimension == 64
    with pytest.raises(ModelUnavailableError, match="`hydramem models get bge-small`"):
        choose_embedder(EmbeddingConfig(), stored=BGE, models=tmp_path)
    for model in ("bge-small-en-v1.5", "nomic-ai/nomic-embed-text-v1.5"):
        with pytest.raises(ModelUnavailableError, match=f"models get {model[:8]}"):
            choose_embedder(EmbeddingConfig(model=model), models=tmp_path)
    with pytest.raises(ConfigError, match="no model is called"):
        choose_embedder(EmbeddingConfig(model="no-such-model"))


@pytest.mark.parametrize("stored", ["future-model", "/384", "", "ollama:nomic-embed-text/768"])
def test_a_store_of_an_embedder_unknown_here_is_not_opened_with_another(tmp_path: Path, stored: str):
    with pytest.raises((EmbeddingMismatchError, ConfigError)):
        choose_embedder(EmbeddingConfig(), stored=stored, models=tmp_path)


@pytest.mark.parametrize("model", ["hash", "BAAI/bge-base-en-v1.5"])
def test_another_model_than_the_stores_names_both_and_the_way_out(tmp_path: Path, model: str):
    with pytest.raises(EmbeddingMismatchError, match=f"{MINILM}.*hydramem reindex"):
        choose_embedder(EmbeddingConfig(model=model), stored=MINILM, models=tmp_path)


@pytest.mark.parametrize(
    ("model", "fingerprint"),
    [
        (None, MINILM),
        ("minilm", MINILM),
        ("hash/64", "hash/64"),
        ("openai:text-embedding-3-small/256", "openai:text-embedding-3-small/256"),
    ],
)
def test_the_next_model_is_named_as_in_the_configuration_or_by_its_fingerprint(
    tmp_path: Path, model: str | None, fingerprint: str
):
    environment = {"OPENAI_API_KEY": "k"}
    chosen = choose_next_embedder(EmbeddingConfig(), model, models=tmp_path, environment=environment)
    assert chosen.fingerprint == fingerprint


def test_a_store_can_leave_its_provider():
    settings = EmbeddingConfig(provider="ollama", model="nomic-embed-text", dimension=768)
    assert choose_next_embedder(settings, "minilm").fingerprint == MINILM
    assert choose_next_embedder(settings, "other/512").fingerprint == "ollama:other/512"
    assert choose_next_embedder(settings, None).fingerprint == "ollama:nomic-embed-text/768"
    with pytest.raises(ConfigError):
        choose_next_embedder(EmbeddingConfig(), "")


def test_what_is_still_to_be_configured_is_said():
    assert still_to_configure(EmbeddingConfig(), "hash/64") == ()
    (said,) = still_to_configure(EmbeddingConfig(model="minilm"), "hash/64")
    assert "hash/64" in said and MINILM in said


# Remote embedders --------------------------------------------------------------------------------


@pytest.fixture(params=["ollama", "openai"])
def provider(request: pytest.FixtureRequest) -> str:
    return request.param


def vectors(provider: str, *rows: list[float]) -> Answer:
    if provider == "ollama":
        return Answer({"model": "m", "embeddings": list(rows)})
    data = [{"index": place, "embedding": row} for place, row in enumerate(rows)]
    return Answer({"data": data[::-1], "model": "m"})


def remote(provider: str, server: FakeServer, *, stored: str | None = None, **changes: object):
    settings = EmbeddingConfig(provider=provider, model="nomic-embed-text", base_url=server.url, **changes)
    return choose_embedder(settings, stored=stored, environment={})


def test_remote_vectors_come_in_order_at_unit_length(provider: str, server: FakeServer):
    server.script = [vectors(provider, [1, 0]), vectors(provider, [3, 4], [0, 2]), vectors(provider, [5, 0])]
    embedder = remote(provider, server, batch_size=2)
    assert embedder.fingerprint == f"{provider}:nomic-embed-text/2"
    rows = embedder.embed_documents(["a", "\ud800", "c"])
    assert np.allclose(rows, [[0.6, 0.8], [0, 1], [1, 0]])
    assert rows.dtype == np.float32
    assert server.asked[1].body["input"] == ["search_document: a", "search_document: \ufffd"]


def test_a_store_says_the_dimension_without_a_question(provider: str, server: FakeServer):
    embedder = remote(provider, server, stored=f"{provider}:nomic-embed-text/2")
    assert embedder.dimension == 2
    assert server.asked == []
    with pytest.raises(EmbeddingMismatchError):
        remote(provider, server, stored=f"{provider}:other/2")
    with pytest.raises(EmbeddingMismatchError):
        remote(provider, server, stored=f"{provider}:nomic-embed-text/2", dimension=3)


@pytest.mark.parametrize("rows", [[], [[1.0]], [[1.0, 2.0], [1.0, 2.0]], [[0.0, 0.0]], [[1.0, 2.0, 3.0]]])
def test_vectors_that_do_not_fit_are_refused(provider: str, server: FakeServer, rows: list[list[float]]):
    server.script = [vectors(provider, *rows)]
    with pytest.raises(ModelReplyError):
        remote(provider, server, dimension=2).embed_query("q")


def test_a_remote_provider_needs_a_model_name(provider: str):
    with pytest.raises(ConfigError, match=r"embedding\.model"):
        choose_embedder(EmbeddingConfig(provider=provider))
