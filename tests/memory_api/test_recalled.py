"""What sessions recalled can be listed, with the question that each hit answered."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import hydramem
from hydramem.core.config import Config, EmbeddingConfig, StorageConfig
from hydramem.core.errors import InvalidInputError
from tests.engines import ENGINE

TEXTS = ("The key of the cellar is blue.", "The key of the attic is red.")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[hydramem.Memory]:
    config = Config(storage=StorageConfig(graph=ENGINE), embedding=EmbeddingConfig(model="hash"))
    with hydramem.connect(tmp_path, config=config) as memory:
        memory.remember_many([hydramem.MemoryInput(text=text) for text in TEXTS])
        yield memory


def test_a_session_lists_its_hits_with_their_questions_newest_first(
    memory: hydramem.Memory,
) -> None:
    with memory.session("chat") as session:
        first = session.recall("blue key")
        second = session.recall("red key", limit=1)
    rows = memory.recalled("chat")
    assert [(row.query, row.rank, row.id) for row in rows] == [
        ("red key", 1, second.hits[0].id),
        *(("blue key", rank, hit.id) for rank, hit in enumerate(first.hits, 1)),
    ]
    assert {row.text for row in rows} == set(TEXTS)
    assert memory.recalled("chat", limit=1, offset=1) == rows[1:2]
    (named,) = memory.sessions(session="chat")
    assert memory.recalled(named.id) == rows
    assert memory.sessions(session="another") == ()
    with pytest.raises(InvalidInputError, match="give a session"):
        memory.recalled()


def test_a_memory_says_in_which_sessions_it_was_recalled(memory: hydramem.Memory) -> None:
    for name in ("chat", "review"):
        with memory.session(name) as session:
            id = session.recall("blue", limit=1).hits[0].id
    assert [row.session for row in memory.recalled(id=id)] == ["review", "chat"]
    assert [row.session for row in memory.recalled("chat", id=id)] == ["chat"]
    memory.forget([id])
    assert [row.state for row in memory.recalled("chat", id=id)] == ["archived"]


def test_a_private_session_keeps_no_question_and_other_projects_are_apart(
    memory: hydramem.Memory,
) -> None:
    with memory.session("secret", private=True) as session:
        id = session.recall("blue", limit=1).hits[0].id
    assert [row.query for row in memory.recalled("secret")] == [None]
    assert memory.recalled(id=id, project="another") == ()
