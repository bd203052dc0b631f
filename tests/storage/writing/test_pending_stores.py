"""Pending stores: reads see the rows of writes that are not committed, and ask for each stored row once."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.in_memory.graph import InMemoryGraph
from hydramem.storage.in_memory.vectors import InMemoryVectors
from hydramem.storage.schema import NodeTable
from hydramem.storage.store import GraphStore
from hydramem.storage.vector_rows import ChunkVector
from hydramem.storage.writing.pending_stores import PendingGraph, PendingVectors
from tests.storage.rows import chunk, entity, link, mention, relation, session, write


def filled(graph: GraphStore) -> PendingGraph:
    """Return a view of a store with some rows, and a pending write that changes one and adds others."""
    graph.write(
        write(
            chunks=(chunk("c1", session="s1", position=4), chunk("c2")),
            sessions=(session("s1"),),
            entities=(entity("e1", "Ada"), entity("e2", "Bob")),
            mentions=(mention("c1", "e1"),),
            relations=(relation("e1", "knows", "e2", evidence=("c1",)),),
        )
    )
    pending = PendingGraph(graph)
    pending.add(
        write(
            chunks=(chunk("c2", text="Bob sings."), chunk("c3", session="s1", position=5)),
            sessions=(session("s1", name="later"),),
            entities=(entity("e3", "Cy", aliases=("Cyrus",)), entity("e1", "Ada", mention_count=2)),
            mentions=(mention("c3", "e1"),),
            relations=(relation("e1", "knows", "e2", evidence=("c1", "c3")), relation("e3", "knows", "e1")),
            links=(link("c3", "c1"),),
        )
    )
    return pending


def test_reads_see_pending_rows_beside_those_that_are_stored(graph: GraphStore) -> None:
    pending = filled(graph)
    found = pending.chunks(["c3", "c2", "c1", "c0"])
    assert [(row.id, row.text) for row in found] == [
        ("c3", "Ada leads billing."),
        ("c2", "Bob sings."),
        ("c1", "Ada leads billing."),
    ]
    assert [row.mention_count for row in pending.entities(["e1", "e3"])] == [2, 0]
    assert [row.name for row in pending.sessions(["s1"])] == ["later"]
    assert {(row.chunk, row.entity) for row in pending.mentions(["c1", "c3"])} == {("c1", "e1"), ("c3", "e1")}
    relations = {row.id: row for row in pending.relations(["e1"])}
    assert relations.keys() == {"r_e1_knows_e2", "r_e3_knows_e1"}
    assert relations["r_e1_knows_e2"].evidence == ("c1", "c3")
    assert [row.id for row in pending.links(["c1"])] == ["l_c3_c1"]
    assert (pending.last_position("s1"), pending.last_position("s2")) == (5, -1)


def test_pending_entities_are_found_by_name_and_alias(graph: GraphStore) -> None:
    pending = filled(graph)
    known = pending.known(lambda keys: graph.entities_called("p", keys))
    assert known(["ada", "cy", "cyrus", "dan"]) == {"ada": "e1", "cy": "e3", "cyrus": "e3"}
    pending.add(write(entities=(entity("e4", "Dan"),)))
    assert known(["dan", "bob"]) == {"dan": "e4", "bob": "e2"}


class Counting(InMemoryGraph):
    """A store that counts the rows that it is asked for."""

    asked = 0

    def nodes(self, table: NodeTable, ids: Sequence[str]) -> tuple[Any, ...]:
        """Return rows by id, and count the ids."""
        self.asked += len(ids)
        return super().nodes(table, ids)


def test_a_stored_row_is_read_once_and_one_that_is_not_there_too() -> None:
    graph = Counting()
    graph.write(write(chunks=(chunk("c1"), chunk("c2"))))
    pending = PendingGraph(graph)
    graph.asked = 0
    for _ in range(3):
        assert [row.id for row in pending.chunks(["c1", "c2", "c0"])] == ["c1", "c2"]
    assert graph.asked == 3


def test_the_nearest_are_found_among_stored_and_pending_chunks() -> None:
    graph, vectors = InMemoryGraph(), InMemoryVectors(2)
    rows = (chunk("c1"), chunk("c2"))
    graph.write(write(chunks=rows))
    unit = {"c1": (1.0, 0.0), "c2": (0.8, 0.6), "c3": (0.96, 0.28), "c4": (1.0, 0.0)}
    made = {id: np.array(each, dtype=np.float32) for id, each in unit.items()}
    vectors.put([ChunkVector(chunk=row, vector=made[row.id]) for row in rows])
    pending = PendingGraph(graph)
    near = PendingVectors(vectors, pending)
    where = ChunkFilter(projects=("p",))
    assert [one.id for one in near.nearest(made["c1"], where, 5)] == ["c1", "c2"]
    pending.add(write(chunks=(chunk("c2", state="superseded"), chunk("c3"), chunk("c4", project="q"))))
    near.add({id: made[id] for id in ("c3", "c4")})
    found = near.nearest(made["c1"], where, 5)
    assert [(one.id, round(one.score, 2)) for one in found] == [("c1", 1.0), ("c3", 0.96)]
    assert [one.id for one in near.nearest(made["c1"], where, 1)] == ["c1"]
    assert near.vectors(["c1", "c3", "c0"]).keys() == {"c1", "c3"}
    assert near.dimension == 2
