"""A copy of which nothing is erased is the same store, with what its vectors still wait for."""

from typing import Any

from hydramem.core.row_types import Mention, Recalled
from hydramem.core.time import now
from hydramem.erase.copy_stores import copy_graph, count_rows
from hydramem.erase.erasure import Erasure
from hydramem.erase.traces import Traces
from hydramem.storage.changes import record
from hydramem.storage.exchange.manifest import PARTS
from hydramem.storage.in_memory.graph import InMemoryGraph
from hydramem.storage.jobs import job
from hydramem.storage.write import Write
from tests.storage.rows import chunk, entity, link, relation, session


def filled() -> InMemoryGraph:
    graph = InMemoryGraph()
    chunks = tuple(chunk(f"c_{n}", f"Text {n}.", session="s_1", vector_state="pending") for n in range(3))
    graph.write(
        Write(
            changes=(record("remember", project="p", target="c_0", after=chunks[0], run="w_1"),),
            sessions=(session("s_1"),),
            chunks=chunks,
            entities=(entity("e_a", "a"), entity("e_b", "b")),
            mentions=(Mention(chunk="c_0", entity="e_a"), Mention(chunk="c_1", entity="e_b")),
            relations=(relation("e_a", "knows", "e_b", evidence=("c_0", "c_1")),),
            links=(link("c_0", "c_1"),),
            jobs=(job("embed", project="p", chunks=["c_0", "c_2"]),),
        )
    )
    recalled = Recalled(session="s_1", chunk="c_1", rank=1, at=now())
    graph.write(Write(changes=(), recalled=(recalled,)))
    graph.set_meta({"embedder": "hash"})
    return graph


def rows(graph: InMemoryGraph) -> dict[str, list[Any]]:
    return {part.name: [row for batch in graph.scan(part.table) for row in batch] for part in PARTS}


def test_nothing_is_lost() -> None:
    source, copy = filled(), InMemoryGraph()
    counts = copy_graph(source, copy, Erasure(traces=Traces(())))
    assert not counts and rows(copy) == rows(source) and copy.meta() == source.meta()
    waiting = {id for row in source.outbox() for id in (*row.chunks, *row.entities)}
    assert waiting >= {"c_0", "c_1", "c_2"}
    assert {id for row in copy.outbox() for id in (*row.chunks, *row.entities)} == waiting


def test_what_is_erased_waits_for_nothing() -> None:
    source, copy = filled(), InMemoryGraph()
    erasure = Erasure(chunks=frozenset(("c_0",)), traces=Traces(("c_0",)))
    counts = copy_graph(source, copy, erasure)
    assert counts == count_rows(source, erasure)
    # Ids of this test are none of the store's own form, which alone count as traces in a text.
    assert counts.removed["chunks"] == counts.removed["mentions"] == counts.removed["links"] == 1
    assert [row.id for row in rows(copy)["chunks"]] == ["c_1", "c_2"]
    assert all("c_0" not in row.chunks for row in copy.outbox())
