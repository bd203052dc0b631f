import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hydramem
from hydramem.cli.main import run
from hydramem.core.config import Config, StorageConfig
from hydramem.core.results.hits import Explanation
from hydramem.llm.hash_embedder import HashEmbedder
from hydramem.search.recall import recall
from hydramem.search.recall_explanation import shape_of
from hydramem.storage.chunk_filter import ChunkFilter
from tests.engines import DISK_ENGINE, ENGINE
from tests.examples import FEW
from tests.graph.graphs import P
from tests.search.test_recall import GRAPH, Memory


def explained(query: str, *, traversal="ppr", limit: int = 2, **settings: object) -> Explanation:
    memory = Memory(*GRAPH)
    found = recall(
        query,
        memory.sources(**settings),
        where=ChunkFilter(projects=(P,)),
        limit=limit,
        traversal=traversal,
        explain=True,
    )
    assert found.explanation is not None
    return found.explanation


def test_it_says_which_entities_were_understood_and_by_what() -> None:
    told = explained("what does Ada lead, and is Billing one of it?")
    assert [(one.entity, one.found_by, one.chunks) for one in told.entities] == [
        ("Ada Lovelace", "alias", 1),
        ("billing", "name", 1),
    ]


def test_it_counts_what_each_arm_brought_and_ranks_the_candidates() -> None:
    told = explained("what does Ada lead?", vector_weight=0.25)
    arms = {arm.arm: arm for arm in told.arms}
    assert arms.keys() == {"vector", "text", "graph"}
    assert arms["vector"].weight == 0.25
    assert arms["text"].candidates == arms["text"].hits == 1
    assert [one.rank for one in told.candidates] == [1, 2, None]
    assert told.fused == 3
    for one in told.candidates:
        assert one.score == pytest.approx(sum(one.scores.values()))


def test_it_says_what_is_asked_for_and_of_when() -> None:
    told = explained("When did Ada leave, in May 2023 or on June 3?")
    assert told.shape == "time"
    assert [(one.text, one.start.isoformat()[:10], one.every_year) for one in told.dates] == [
        ("may 2023", "2023-05-01", False),
        ("june 3", "2024-06-03", True),
    ]


def test_nothing_named_and_nothing_walked_is_said_as_it_is() -> None:
    told = explained("what is the weather like?", traversal="none", vector_weight=0)
    assert told.traversal == "none"
    assert told.entities == ()
    assert {arm.arm: arm.candidates for arm in told.arms}.get("graph", 0) == 0


def test_only_who_asks_is_told(tmp_path) -> None:
    settings = Config(storage=StorageConfig(graph=ENGINE))
    with hydramem.connect(tmp_path / "store", config=settings, embedder=HashEmbedder()) as memory:
        assert memory.recall("anything").explanation is None
        assert memory.recall("anything", explain=True).explanation is not None
        memory.remember("Ada Lovelace moved Billing to MySQL.")
        assert memory.recall("who moved Billing?", explain=True).explanation.candidates[0].rank == 1


@pytest.mark.costly  # each command opens the store on disk
def test_the_command_line_shows_tables_or_json(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("HYDRAMEM_STORAGE_GRAPH", DISK_ENGINE)
    monkeypatch.setenv("HYDRAMEM_EMBEDDING_MODEL", "hash")
    store = ("--store", str(tmp_path / "store"))
    assert run([*store, "remember", "Ada Lovelace moved [bold]Billing[/] to MySQL."]) == 0
    capsys.readouterr()
    assert run([*store, "recall", "what did Ada Lovelace move?", "--explain"]) == 0
    shown = capsys.readouterr().out
    for part in ("entities", "arms (traversal ppr)", "candidates (best of 1)", "milliseconds", "embed"):
        assert part in shown
    assert run([*store, "recall", "what did Ada Lovelace move?", "--explain", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {arm["arm"] for arm in told["explanation"]["arms"]} == {"vector", "text", "graph"}
    assert "embed" in told["milliseconds"]


@pytest.mark.parametrize(
    ("query", "names", "shape"),
    [
        ("Where does Ada live?", 1, "fact"),
        ("Was ist das Passwort?", 0, "fact"),
        ("Who is the mother of the director of Heat?", 1, "multi-hop"),
        ("¿Quién es la madre del director de Heat?", 1, "multi-hop"),
        ("Which film is older, Heat or Ronin?", 2, "comparison"),
        ("Sind Ada und Bo beide Ärzte?", 2, "comparison"),
        ("When did Ada move?", 1, "time"),
        ("¿Cuánto tiempo duró la reunión?", 0, "time"),
        ("What activities does Ada like?", 1, "list"),
        ("Enumera los lugares", 0, "list"),
    ],
)
def test_the_words_show_what_is_asked_for(query: str, names: int, shape: str) -> None:
    assert shape_of(query, names=names) == shape


def test_a_choice_needs_two_names() -> None:
    assert shape_of("Which city is it, or is it a town?", names=1) != "comparison"


@FEW
@given(st.text(max_size=200), st.integers(0, 3))
def test_any_text_has_a_shape(query: str, names: int) -> None:
    assert shape_of(query, names=names) in ("fact", "multi-hop", "comparison", "time", "list")
