"""Embedding tables stay 8-bit in memory, and the vectors are the same to the last bit."""

import subprocess
import sys

import numpy as np
import pytest

from hydramem.llm.catalogue import MINILM, locate
from hydramem.llm.onnx_embedding_tables import with_small_tables
from hydramem.llm.onnx_text_model import quiet_session

pytestmark = pytest.mark.costly  # each reads the whole model

IDS = np.array([[101, 1996, 5640, 2326, 102], [101, 7592, 102, 0, 0]])
MASK = (IDS > 0).astype(np.int64)


@pytest.fixture(scope="module")
def model() -> bytes:
    place = locate(MINILM)
    assert place is not None
    return place.weights.read_bytes()


def test_the_vectors_are_the_same_to_the_last_bit(model: bytes) -> None:
    import onnxruntime

    asked = {"input_ids": IDS, "attention_mask": MASK, "token_type_ids": np.zeros_like(IDS)}
    found = []
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    plain = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    for session in (plain, quiet_session(model, optimized=False)):
        names = {one.name for one in session.get_inputs()}
        found.append(session.run(None, {name: asked[name] for name in names})[0])
    assert np.array_equal(*found)


def test_a_torn_model_is_an_error(model: bytes) -> None:
    for cut in (1, 11_000_000, 22_900_000):
        with pytest.raises(ValueError, match="not a whole ONNX file"):
            with_small_tables(model[:cut])


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_opening_the_model_takes_little_memory() -> None:
    script = """
from pathlib import Path
import onnxruntime, tokenizers, numpy
from hydramem.core.config import EmbeddingConfig
from hydramem.llm.choose import choose_embedder
def mebibytes(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024
before = mebibytes("VmRSS")
choose_embedder(EmbeddingConfig()).embed_documents(["one"])
print(mebibytes("VmHWM") - before)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 205  # 174; 241 where all rows become floats
