import subprocess
import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hydramem.llm.hash_embedder import HashEmbedder

texts = st.lists(st.text(st.characters(codec=None), max_size=60), max_size=8)


@given(texts, st.integers(1, 400))
def test_every_text_has_a_unit_vector_of_its_own(given_texts: list[str], dimension: int):
    embedder = HashEmbedder(dimension)
    vectors = embedder.embed_documents(given_texts)
    assert vectors.shape == (len(given_texts), dimension)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    for text, vector in zip(given_texts, vectors, strict=True):
        assert np.array_equal(embedder.embed_query(text), vector)


def test_shared_words_bring_texts_together_wherever_they_stand():
    embedder = HashEmbedder()
    query = embedder.embed_query("Ada's billing DATABASE")
    near, far = embedder.embed_documents(
        ["The database that billing uses is Ada's.", "Pancakes need flour, milk and eggs."]
    )
    assert near @ query > far @ query + 0.3


def test_vectors_are_the_same_in_every_process():
    program = (
        "from hydramem.llm.hash_embedder import HashEmbedder\n"
        "print(HashEmbedder(16).embed_query('the same on every machine').tobytes().hex())\n"
    )
    found = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert found.stdout.strip() == HashEmbedder(16).embed_query("the same on every machine").tobytes().hex()
