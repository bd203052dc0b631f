"""Several writes in one transaction leave what they leave one after the other: rows, Changes and images."""

from dataclasses import replace

import pytest

from hydramem.core.errors import InvalidInputError
from hydramem.core.row_types import Change
from hydramem.storage.changes import in_run, record
from hydramem.storage.in_memory.graph import InMemoryGraph
from hydramem.storage.store import GraphStore
from hydramem.storage.write import Removal, Write
from hydramem.storage.write_validation import commit_together
from tests.storage.rows import at, chunk, entity, link, mention, relation, session


def change(run: str, target: str, before: object = None, after: object = None) -> Change:
    with in_run(run):
        return record("remember", project="p", target=target, before=before, after=after)


def some_writes() -> list[Write]:
    """Return three writes of three runs: the second and third change what the first and the store have."""
    ada, bob = entity("e_ada", mention_count=1), entity("e_bob", "Bob", mention_count=1)
    first = chunk("c_1", text="Ada plays chess.", session="s1")
    again = replace(first, layer="shared")
    second = chunk("c_2", text="Ada plays with Bob.")
    plays = relation("e_ada", "plays_with", "e_bob", evidence=("c_1",))
    ended = replace(again, state="superseded")
    opened, later = session("s1", last_at=at(1)), session("s1", last_at=at(2))
    return [
        Write(
            changes=(change("w_1", "c_1", after=first),),
            chunks=(first,),
            sessions=(opened,),
            entities=(ada, bob),
            mentions=(mention("c_1", "e_ada"),),
            relations=(plays,),
        ),
        Write(
            changes=(change("w_2", "c_1", first, again), change("w_2", "c_2", after=second)),
            chunks=(again, second),
            sessions=(later,),
            entities=(replace(ada, mention_count=2, aliases=("Countess",)),),
            mentions=(mention("c_2", "e_ada"),),
            relations=(replace(plays, evidence=("c_1", "c_2")),),
            links=(link("c_2", "c_1"),),
        ),
        Write(changes=(change("w_3", "c_1", again, ended),), chunks=(ended,)),
    ]


def rows(graph: GraphStore) -> tuple[object, ...]:
    ids = ("c_0", "c_1", "c_2")
    ends = ("e_ada", "e_bob")
    return (
        graph.chunks(ids),
        graph.entities(ends),
        graph.sessions(["s1"]),
        graph.mentions(ids),
        graph.relations(ends),
        graph.links(ids),
    )


@pytest.mark.parametrize("stored", [0, 1])
def test_rows_changes_and_images_are_those_of_single_writes(graph: GraphStore, stored: int) -> None:
    writes, alone = some_writes(), InMemoryGraph()
    for each in writes[:stored]:
        graph.write(each)
    for each in writes:
        alone.write(each)
    graph.write(commit_together(writes[stored:]))
    assert rows(graph) == rows(alone)
    for run in ("w_1", "w_2", "w_3"):
        changes = graph.changes(run=run)
        assert changes == alone.changes(run=run)
        assert sum(row.image is not None for row in changes) == 1


def test_a_row_that_comes_back_to_what_is_stored_has_its_steps_in_the_images(graph: GraphStore) -> None:
    stored = chunk("c_1", text="Ada plays chess.")
    shared = replace(stored, layer="shared")
    graph.write(Write(changes=(change("w_0", "c_1", after=stored),), chunks=(stored,)))
    there = Write(changes=(change("w_1", "c_1", stored, shared),), chunks=(shared,))
    back = Write(changes=(change("w_2", "c_1", shared, stored),), chunks=(stored,))
    graph.write(commit_together([there, back]))
    assert graph.chunks(["c_1"]) == (stored,)
    assert all('"layer"' in (graph.changes(run=run)[0].image or "") for run in ("w_1", "w_2"))


def test_one_write_alone_stays_as_it_is() -> None:
    (first, *_) = some_writes()
    assert commit_together([first]) is first


def test_what_removes_rows_is_committed_by_itself() -> None:
    first, second, _ = some_writes()
    with pytest.raises(InvalidInputError, match="by itself"):
        commit_together([first, replace(second, removed=Removal(chunks=("c_0",)))])
