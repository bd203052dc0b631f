import json

import pytest

from hydramem.cli.main import run
from hydramem.core.results.hits import Explanation
from hydramem.search.recall import recall
from hydramem.search.recall_explanation import shape_of
from hydramem.storage.chunk_filter import ChunkFilter
from tests.engines import DISK_ENGINE
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


@pytest.mark.costly  # each command opens the store on disk
def test_the_command_line_shows_tables_or_json(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("HYDRAMEM_STORAGE_GRAPH", DISK_ENGINE)
    monkeypatch.setenv("HYDRAMEM_EMBEDDING_MODEL", "hash")
    store = ("--store", str(tmp_path / "store"))
    assert run([*store, "remember", "Ada Lovelace moved [bold]Billing[/] to MySQL."]) == 0
    capsys.readouterr()
    assert run([*store, "recall", "what did Ada Lovelace move?", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["explanation"] is None
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
        ("Which city is it, or is it a town?", 1, "fact"),
        ("Who is the mother of the director of Heat?", 1, "multi-hop"),
        ("Which film is older, Heat or Ronin?", 2, "comparison"),
        ("Sind Ada und Bo beide Ärzte?", 2, "comparison"),
        ("¿Cuánto tiempo duró la reunión?", 0, "time"),
        ("What activities does Ada like?", 1, "list"),
    ],
)
def test_the_words_show_what_is_asked_for(query: str, names: int, shape: str) -> None:
    assert shape_of(query, names=names) == shape
