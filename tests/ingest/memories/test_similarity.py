"""Nearness that means the same by every embedder, and what a project calls things."""

from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.config import MemoryConfig
from hydramem.ingest.memories.compare.ask_models import vocabulary
from hydramem.ingest.memories.memory_input import MemoryInput, validate
from hydramem.ingest.memories.similarity import background, nearness
from hydramem.llm.hash_embedder import HashEmbedder
from tests.examples import FEW
from tests.ingest.conftest import Kit
from tests.ingest.memories.link.test_link import note


@FEW
@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(0, 0.95))
def test_nearer_by_cosine_is_no_less_near(one: float, other: float, unrelated: float) -> None:
    low, high = sorted((one, other))
    assert 0 <= nearness(low, unrelated) <= nearness(high, unrelated) <= 1
    assert (nearness(unrelated, unrelated), nearness(1.0, unrelated)) == (0, 1)


def test_the_background_is_measured_once() -> None:
    calls = []
    embedder = HashEmbedder()

    def embed(texts):
        calls.append(texts)
        return embedder.embed_documents(texts)

    assert 0 <= background(embed) < 0.5
    assert background(embed) == background(embed)
    assert len(calls) == 1


def test_a_projects_words_are_its_own(kit: Kit) -> None:
    note(kit, "one", at=0.0, names=("Ada",), scope="/infra", categories=("db",))
    note(kit, "two", at=0.1, scope="/infra", categories=("db", "ops"))
    note(kit, "three", at=0.2, project="other", scope="/secret", categories=("hidden",))
    (memory,) = validate([MemoryInput(text="Met.", entities=("Ada", "Bo"))], MemoryConfig())
    known = vocabulary(memory, kit.target(), offering=True)
    assert (known.scopes, known.categories) == (("/infra",), ("db", "ops"))
    assert known.mentions == {"Ada": 1}
    assert not vocabulary(memory, kit.target()).scopes
