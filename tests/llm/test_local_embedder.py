import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hydramem.core.config import EmbeddingConfig
from hydramem.core.errors import ConfigError, ModelError, ModelUnavailableError
from hydramem.llm.catalogue import BGE_SMALL, MINILM, NOMIC, locate
from hydramem.llm.fetching.fetch_model import get_model
from hydramem.llm.local_embedder import (
    LocalEmbedder,
    VectorSpace,
    known_space,
    open_known,
    open_listed,
    prefixes,
)

TEXTS = [
    "The billing service keeps its rows in MySQL.",
    "Pancakes need flour, milk and eggs.",
    "Ada Lovelace wrote the first program. " * 12,
    "短い文です。",
    "naïve café, Москва",
    "x",
]


@pytest.fixture(scope="module")
def carried() -> LocalEmbedder:
    embedder = open_known(MINILM, settings=EmbeddingConfig(threads=2))
    embedder.embed_query("Loads the model.")
    return embedder


def test_a_paraphrase_is_closer_than_another_subject(carried: LocalEmbedder):
    query = carried.embed_query("Which database does billing use?")
    assert query.shape == (384,)
    near, far = carried.embed_documents(TEXTS[:2]) @ query
    assert near > far + 0.3


@pytest.mark.costly
def test_a_text_has_one_vector_alone_and_in_any_batch(carried: LocalEmbedder):
    alone = np.stack([carried.embed_documents([text])[0] for text in TEXTS])
    assert alone.dtype == np.float32 and np.allclose(np.linalg.norm(alone, axis=1), 1, atol=1e-5)
    assert np.abs(carried.embed_documents(TEXTS) - alone).max() < 1e-4
    assert np.abs(carried.embed_documents(TEXTS[::-1])[::-1] - alone).max() < 1e-4


def test_odd_texts_have_a_vector_and_no_text_gives_no_row(carried: LocalEmbedder):
    for text in ("", "   ", "\x00", "\ud800", "\U0010ffff", "a" * 1_000_000, "\n" * 100_000):
        for vector in (carried.embed_query(text), carried.embed_documents([text])[0]):
            assert np.isclose(np.linalg.norm(vector), 1, atol=1e-5)
    assert carried.embed_documents([]).shape == (0, 384)


def test_what_lies_beyond_max_tokens_is_not_read():
    short = open_known(MINILM, settings=EmbeddingConfig(max_tokens=16, threads=2))
    head = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    first, second = short.embed_documents([f"{head}apples", f"{head}submarines"])
    assert np.array_equal(first, second)


def test_only_a_first_query_is_embedded_by_a_model_that_is_loaded_for_it_alone():
    opened = []

    def loading(name, vector):
        return lambda: opened.append(name) or Constant(*vector)

    kept, alone = [1.0] + [0.0] * 383, [0.0, 1.0] + [0.0] * 382
    load, once = loading("kept", kept), loading("once", alone)
    embedder = LocalEmbedder(known_space(MINILM), load, settings=EmbeddingConfig(), load_once=once)
    assert np.array_equal(embedder.embed_query("q"), alone)
    assert np.array_equal(embedder.embed_query("q"), kept)
    assert opened == ["once", "kept"]


class Constant:
    """Stands where a loaded model does, and gives one vector for every text."""

    def __init__(self, *vector: float) -> None:
        self.vector = np.array(vector or [1.0] + [0.0] * 383, dtype=np.float32)

    def embed(self, texts: list[str], *, batch_size: int):
        return (self.vector for _ in texts)


def test_name_and_dimension_are_known_without_loading():
    program = (
        "import sys\n"
        "from hydramem.core.config import EmbeddingConfig\n"
        "from hydramem.llm.choose import choose_embedder\n"
        "embedder = choose_embedder(EmbeddingConfig(model='minilm'))\n"
        "assert (embedder.fingerprint, embedder.dimension) == ('all-MiniLM-L6-v2-int8/384', 384)\n"
        "assert not {'fastembed', 'onnxruntime', 'tokenizers'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_model_that_is_not_here_says_how_to_get_it_and_a_damaged_file_is_named(tmp_path):
    with pytest.raises(ModelUnavailableError, match="`hydramem models get bge-small`"):
        open_known(BGE_SMALL, settings=EmbeddingConfig(), models=tmp_path)
    listed = open_listed("BAAI/bge-base-en-v1.5", settings=EmbeddingConfig(), models=tmp_path)
    assert listed.fingerprint == "BAAI/bge-base-en-v1.5/768"
    with pytest.raises(ModelUnavailableError, match=r"`hydramem models get BAAI/bge-base-en-v1\.5`"):
        listed.embed_query("q")
    folder = tmp_path / BGE_SMALL.space
    folder.mkdir()
    for file in BGE_SMALL.files:
        with (folder / file.name).open("wb") as stream:
            stream.truncate(file.size)
    with pytest.raises(ModelError, match=r"model_quantized\.onnx: expected SHA-256 6c9c6101"):
        open_known(BGE_SMALL, settings=EmbeddingConfig(), models=tmp_path).embed_query("q")


@pytest.mark.costly  # it loads three models
def test_a_listed_model_from_a_folder_embeds_and_another_kind_is_refused(tmp_path):
    place = locate(MINILM)
    source = tmp_path / "source"
    source.mkdir()
    for name in ("model.onnx", "model_optimized.onnx"):
        (source / name).symlink_to(place.weights)
    (source / "tokenizer.json").symlink_to(place.tokenizer)
    (source / "tokenizer_config.json").write_text('{"model_max_length": 256, "pad_token": "[PAD]"}')
    name = "sentence-transformers/all-MiniLM-L6-v2"
    models = tmp_path / "models"
    view = get_model(name, source=source, models=models)
    assert (view.name, view.dimension, view.installed) == (name, 384, True)
    listed = open_listed(name, settings=EmbeddingConfig(threads=1), models=models)
    carried = open_known(MINILM, settings=EmbeddingConfig(threads=1))
    assert listed.embed_query("the crane") @ carried.embed_query("the crane") > 0.999
    with pytest.raises(ModelError, match=r"cannot be loaded: gives vectors of 384 numbers, not 768"):
        get_model("BAAI/bge-base-en-v1.5", source=source, models=models)
    assert [path.name for path in (models / "fastembed").iterdir()] == [Path(view.where).name]


def test_only_matryoshka_models_can_be_cut_and_families_have_their_prefixes():
    assert known_space(NOMIC).fingerprint == "nomic-embed-text-v1.5/512"
    assert known_space(NOMIC, 256).dimension == 256
    for model, dimension in ((NOMIC, 769), (MINILM, 100), (NOMIC, -1)):
        with pytest.raises(ConfigError, match=r"embedding\.dimension"):
            known_space(model, dimension)
    assert prefixes("intfloat/multilingual-e5-large") == ("query: ", "passage: ")
    assert prefixes(MINILM.space) == ("", "")


def test_a_vector_is_cut_and_normalised_and_one_without_direction_is_an_error():
    space = VectorSpace(name="m", dimension=2, full_dimension=4)
    embedder = LocalEmbedder(space, lambda: Constant(5.0, 1.0, 1.0, 1.0), settings=EmbeddingConfig())
    assert np.allclose(embedder.embed_query("x"), np.array([3.0, -1.0]) / np.sqrt(10))
    for vector in ((0.0,) * 384, (float("nan"),) * 384):
        embedder = LocalEmbedder(
            known_space(MINILM), lambda vector=vector: Constant(*vector), settings=EmbeddingConfig()
        )
        with pytest.raises(ModelError, match="without a direction"):
            embedder.embed_query("q")
