"""Relevance: what it is made of, and what it says through the engine with the carried model."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hydramem
from hydramem import InvalidInputError
from hydramem.core.config import Config, EmbeddingConfig, StorageConfig
from hydramem.llm.choose import choose_embedder
from hydramem.llm.hash_embedder import HashEmbedder
from hydramem.search.relevance.relevance import (
    RankedHit,
    Searched,
    by_words,
    relevances,
)
from hydramem.search.relevance.relevance_anchors import (
    AnchorsByEmbedder,
    carried_anchors,
    decoded,
    encoded,
    measured,
)
from tests.engines import ENGINE
from tests.examples import FEW

IN_MEMORY = Config(storage=StorageConfig(graph=ENGINE))
MINILM = "all-MiniLM-L6-v2-int8/384"
MEMORIES = (
    "Marta has been an engineer at the ferry company since March.",
    "The metrics service listens on port 9411.",
    "The user is allergic to peanuts.",
    "We decided to keep orders in PostgreSQL, since the reports need joins.",
    "Jonas walks his dog Balthasar every morning.",
)
OWN = (
    "Where does Marta work?",
    "which port does the metrics service use",
    "Why did we choose PostgreSQL for orders?",
    "name of Jonas' dog",
)
NOTHING = (
    "ok thanks",
    "fix the failing test",
    "what is the capital of Mongolia?",
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    config = replace(IN_MEMORY, embedding=EmbeddingConfig(model="minilm"))
    with hydramem.connect(tmp_path_factory.mktemp("relevance"), config=config) as opened:
        opened.remember_many([hydramem.MemoryInput(text=text) for text in MEMORIES])
        yield opened


def test_what_the_memory_knows_is_answered(memory):
    for query in OWN:
        found = memory.recall(query)
        assert found.answered and found.hits[0].relevance >= memory.config.search.min_relevance, query
        assert memory.prime(query).snippets[0].relevance == found.hits[0].relevance


def test_what_it_does_not_know_is_not_and_adds_nothing_to_a_prompt(memory):
    for query in NOTHING:
        found = memory.recall(query)
        assert found.hits and not found.answered, query
        assert memory.prime(query) == hydramem.Prompt(text="", tokens=0)


def test_the_call_may_name_its_own_floor(memory):
    first, *others = memory.recall("what is the user allergic to?").hits
    assert first.relevance > 0.9 and all(0 <= hit.relevance < 0.15 for hit in others)
    assert memory.recall(NOTHING[0], min_relevance=0).answered
    weak = memory.recall("who goes out early in the day")
    assert not memory.recall(weak.query, min_relevance=weak.hits[0].relevance + 0.01).answered
    with pytest.raises(InvalidInputError, match="min_relevance"):
        memory.recall(OWN[0], min_relevance=1.5)


def test_a_memory_without_a_vector_yet_is_judged_by_its_words(tmp_path):
    with hydramem.connect(tmp_path, config=IN_MEMORY, embedder=HashEmbedder()) as opened:
        assert not opened.recall("anything at all", min_relevance=0).answered, "it is empty"
        opened.remember("The gardener waters the tulips on Friday.")
        before = opened.recall("gardener waters tulips Friday").hits[0].relevance
        opened.remember("The metrics service of Oslo listens on port 9411.", wait=False)
        found = opened.recall("metrics service Oslo listens on port 9411")
        assert found.answered and found.hits[0].relevance >= before / 2


def test_words_of_a_query():
    texts = ["Ada leads the billing team.", "Bo left in May."]
    found = by_words("What does Ada lead in Paris?", texts)
    assert found["share"] == pytest.approx(2 / 3)
    assert found["length"] == pytest.approx(np.log1p(3))
    assert found["missing_names"] == pytest.approx(1 / 2)
    assert by_words("what does ada lead", texts)["missing_names"] == 0
    assert by_words("Wann geht der Zug nach Paris?", texts)["missing_names"] == 0  # capitals are of nouns too


@FEW
@given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=6))
def test_it_is_a_probability_whatever_is_asked(query, texts):
    hits = [RankedHit(id=str(place), text=text) for place, text in enumerate(texts)]
    assert all(0 <= each <= 1 for each in relevances(hits, Searched(query=query)))
    assert relevances([], Searched(query=query)) == []


@pytest.mark.costly  # it embeds all phrases with the model
def test_carried_anchors_are_those_of_the_model_and_the_phrases():
    carried, made = carried_anchors(MINILM), measured(choose_embedder(EmbeddingConfig(model="minilm")))
    assert carried is not None
    assert (carried.low, carried.high) == (
        pytest.approx(made.low, abs=0.01),
        pytest.approx(made.high, abs=0.01),
    )
    assert np.abs(carried.nothing_asked - made.nothing_asked).max() < 0.05


class Counting(HashEmbedder):
    asked = 0

    def embed_documents(self, texts):
        Counting.asked += 1
        return super().embed_documents(texts)


def test_another_embedder_is_measured_once_in_a_store(tmp_path):
    Counting.asked = 0
    first = AnchorsByEmbedder(tmp_path).of(Counting())
    again = AnchorsByEmbedder(tmp_path).of(Counting())
    assert Counting.asked == 1
    assert (again.low, again.high) == (
        pytest.approx(first.low, abs=1e-3),
        pytest.approx(first.high, abs=1e-3),
    )
    assert np.array_equal(again.nothing_asked, first.nothing_asked)
    assert decoded(encoded(first)).nothing_asked.shape == first.nothing_asked.shape


def test_damaged_anchors_are_measured_again(tmp_path, caplog):
    AnchorsByEmbedder(tmp_path).of(HashEmbedder())
    (file,) = (tmp_path / "models" / "relevance").iterdir()
    file.write_text('{"low": 0}')
    assert AnchorsByEmbedder(tmp_path).of(HashEmbedder()).high > 0
    assert "measured again" in caplog.text
