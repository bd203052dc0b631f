"""A thousand edges in one write: sought and created at once, and the same as one by one."""

import json
from dataclasses import replace

import pytest

from hydramem.core.errors import InvalidInputError
from hydramem.storage.schema import LINKS, MENTIONS, RELATES
from hydramem.storage.store import GraphStore
from tests.storage.rows import at, chunk, entity, link, mention, relation, write

MANY = 1100


def rows_of(graph: GraphStore, table: object) -> list[object]:
    return [row for batch in graph.scan(table) for row in batch]  # type: ignore[arg-type]


@pytest.mark.costly  # as many as are sought at once, and some more
def test_many_edges_are_created_replaced_told_apart_and_refused_whole(graph: GraphStore) -> None:
    chunks = tuple(chunk(f"c{n:04}") for n in range(MANY))
    entities = tuple(entity(f"e{n:04}", f"name {n}") for n in range(MANY))
    graph.write(write(chunks=chunks, entities=entities))
    mentions = [mention(row.id, other.id) for row, other in zip(chunks, entities, strict=True)]
    relations = [
        relation(row.id, "leads", "e0000", evidence=("c0001",) if number % 2 else (), quote=None)
        for number, row in enumerate(entities)
    ]
    links = [link(row.id, "c0000") for row in chunks]
    graph.write(write(mentions=tuple(mentions), relations=tuple(relations), links=tuple(links)))
    assert rows_of(graph, MENTIONS) == mentions
    assert rows_of(graph, RELATES) == sorted(relations, key=lambda row: (row.subject, row.object, row.id))
    assert rows_of(graph, LINKS) == links

    # Half of them again, changed, and as many more between the same ends.
    changed = [replace(row, quote="so it is") for row in relations[::2]]
    others = [replace(row, id=f"{row.id}_2") for row in relations[1::2]]
    graph.write(write(relations=(*changed, *others), mentions=tuple(mentions)))
    expected = {row.id: row for row in (*relations, *changed, *others)}
    held = rows_of(graph, RELATES)
    assert {row.id: row for row in held} == expected and len(held) == len(expected)
    assert rows_of(graph, MENTIONS) == mentions

    with pytest.raises(InvalidInputError, match="'absent'"):
        graph.write(write(links=tuple(link(row.id, "absent") for row in chunks)))
    assert rows_of(graph, LINKS) == links


def test_what_differs_of_an_edge_is_set_and_no_more(graph: GraphStore) -> None:
    graph.write(write(chunks=(chunk(), chunk("c2")), entities=(entity(), entity("e2", "B"))))
    row, joined = relation(quote="Ada leads B", scores={"a": 0.5}), link()
    graph.write(write(relations=(row,), links=(joined,)))
    times = replace(row.times, retired_at=at(2))
    for change in ({"quote": None}, {"probability": 0.25}, {"state": "archived", "times": times}):
        row = replace(row, **change)  # type: ignore[arg-type] # fields by name
        graph.write(write(relations=(row,)))
        assert rows_of(graph, RELATES) == [row]
    joined = replace(joined, weight=0.75)
    graph.write(write(links=(joined,)))
    assert rows_of(graph, LINKS) == [joined]
    image = json.loads(str(graph.changes()[-1].image))
    assert [columns for *_, columns in image["set"]["LINKS"]] == [{"weight": [0.5, 0.75]}]
