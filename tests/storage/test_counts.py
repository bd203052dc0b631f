"""Counts by scope, bytes of documents, and what is past its time: the same in every store."""

from dataclasses import replace

import pytest

from hydramem.core.errors import InvalidInputError
from hydramem.core.results.knowledge_results import Cutoffs, Past, ScopeCount
from hydramem.core.row_types import Chunk, Times
from hydramem.storage.changes import acting_as, record
from hydramem.storage.store import EndedRun, GraphStore, Listing, RunFilter
from hydramem.storage.write import Removal, Write
from tests.storage.rows import T0, at, chunk, document, entity, relation, session, write


def put(graph: GraphStore, **rows: object) -> None:
    graph.write(Write(changes=(record("test", project="p", target="x"),), **rows))  # type: ignore[arg-type]


def filed(id: str, scope: str, *categories: str, day: float = 0, **fields: object) -> Chunk:
    times = Times(recorded_at=at(day))
    return chunk(id, scope=scope, categories=categories, times=times, **fields)


def test_memories_are_counted_by_scope_and_categories(graph: GraphStore) -> None:
    put(
        graph,
        documents=(document(),),
        chunks=(
            filed("c1", "/a", "x", day=2),
            filed("c2", "/a", "x", day=1),
            filed("c3", "/a/b"),
            filed("c4", "/ab"),
            filed("c5", "/"),
            filed("c6", "/a", state="archived"),
            filed("c7", "/a", project="other"),
            filed("c8", "/", kind="passage", document="d1"),
            filed("c9", "/a_%/'--"),
        ),
    )
    own = ScopeCount(scope="/a", categories=("x",), memories=2, oldest=at(1), newest=at(2))
    below = ScopeCount(scope="/a/b", categories=(), memories=1, oldest=T0, newest=T0)
    assert graph.scope_counts("p", "/a") == (own, below)
    assert [row.scope for row in graph.scope_counts("p", "/")] == ["/", "/a", "/a/b", "/a_%/'--", "/ab"]
    assert [row.scope for row in graph.scope_counts("p", "/a_%")] == ["/a_%/'--"]
    assert graph.scope_counts("p", "/b") == graph.scope_counts("nobody", "/") == ()


def test_documents_are_measured_in_bytes(graph: GraphStore) -> None:
    text = "naïve 東京 🦀"
    passages = {"kind": "passage", "document": "d1", "text": text}
    rows = (chunk("c1", **passages), chunk("c2", **passages), chunk("c3", state="archived", **passages))
    put(graph, documents=(document(),), chunks=(*rows, chunk("c4")))
    assert graph.document_bytes() == {"p": 3 * len(text.encode())}, "what is out of use takes room too"


def test_what_is_past_its_time_is_counted(graph: GraphStore) -> None:
    gone = Times(recorded_at=T0, retired_at=at(1))
    put(
        graph,
        documents=(document(state="archived", times=gone),),
        entities=(entity("e1"), entity("e2", "Kestrel")),
        relations=(relation(state="archived", times=gone),),
        sessions=(
            session("s1", last_at=at(1)),
            session("s2", last_at=at(1)),
            session("s3", last_at=at(9)),
        ),
        chunks=(
            chunk("c1", expires_at=at(2)),
            chunk("c2", expires_at=at(1), session="s1"),
            chunk("c3", expires_at=at(8)),
            chunk("c4", expires_at=at(1), state="archived", times=gone),
            chunk("c5", expires_at=at(3), project="other"),
        ),
    )
    cutoffs = Cutoffs(at=at(5), archived=at(2), changes=at(20_000), sessions=at(2))
    assert graph.past(cutoffs) == Past(expired=3, archived=3, changes=1, sessions=1)
    assert graph.past(Cutoffs(at=at(5), archived=at(1), changes=T0)) == Past(expired=3)


def told(graph: GraphStore, run: str | None, *days: float, project: str = "p") -> tuple[str, ...]:
    """Record changes of a run, some days after the beginning; return their ids."""
    rows = [replace(record("test", project=project, target="x", run=run), at=at(day)) for day in days]
    graph.write(Write(changes=tuple(rows), verbatim=True))
    return tuple(row.id for row in rows)


def test_runs_that_ended_are_told_whole_and_oldest_first(graph: GraphStore) -> None:
    second = told(graph, "w_2", 2, 3)
    first = told(graph, "w_1", 1, 2.5)
    (alone,) = told(graph, None, 0)
    told(graph, "w_goes_on", 0, 9)
    told(graph, "w_other", 1, project="other")
    both = (*told(graph, "w_both", 3.5, project="other"), *told(graph, "w_both", 4))
    expected = (
        EndedRun(id=alone, ended_at=at(0), changes=(alone,)),
        EndedRun(id="w_1", ended_at=at(2.5), changes=first),
        EndedRun(id="w_2", ended_at=at(3), changes=second),
        EndedRun(id="w_both", ended_at=at(4), changes=both),
    )
    assert graph.changed_before(at(1)) == ("p",) and graph.changed_before(at(0)) == ()
    assert graph.changed_before(at(2)) == ("other", "p")
    assert graph.ended_runs("p", at(5), most=100) == expected
    assert graph.ended_runs("p", at(5), most=5) == expected[:3]
    assert graph.ended_runs("p", at(5), most=4) == expected[:2]
    assert graph.ended_runs("p", at(2.6), most=100) == expected[:2]
    assert graph.ended_runs("p", at(0), most=100) == graph.ended_runs("nobody", at(5), most=9) == ()
    graph.write(write(removed=Removal(changes=(alone, "x_nope"))))
    assert graph.ended_runs("p", at(5), most=1) == expected[1:2], "the first is whole whatever its size"
    assert graph.past(Cutoffs(at=at(5), changes=at(5))).changes == 2 + 2 + 2 + 1


def listed(graph: GraphStore, *, limit: int = 50, offset: int = 0, **given: object) -> list[str]:
    """Return the ids of a page of runs."""
    return [run.id for run in graph.runs(RunFilter(**given), Listing(limit=limit, offset=offset))]  # type: ignore[arg-type]


def test_runs_are_listed_with_the_last_one_first(graph: GraphStore) -> None:
    (first, _) = told(graph, "w_1", 1, 2.5)
    told(graph, "w_2", 2, 3)
    (alone,) = told(graph, None, 0)
    with acting_as("gardener"):
        told(graph, "w_both", 4, project="other")
        told(graph, "w_both", 5)
    with acting_as("view", request="q_1"):
        told(graph, "w_asked", 0.5)
    assert listed(graph, request="q_1") == listed(graph, request="q_1", run="w_asked") == ["w_asked"]
    assert listed(graph, request="q_2") == listed(graph, request="q_1", run="w_1") == []
    assert listed(graph, request="q_1", actor="python") == []
    assert listed(graph) == ["w_both", "w_2", "w_1", "w_asked", alone]
    assert listed(graph, limit=2, offset=1) == ["w_2", "w_1"]
    assert listed(graph, project="other") == listed(graph, actor="gardener") == ["w_both"]
    assert listed(graph, project="other", actor="python") == listed(graph, operation="none") == []
    assert listed(graph, operation="test", since=at(2.5), until=at(5)) == ["w_2", "w_1"]
    assert listed(graph, run="w_1") == ["w_1"] and listed(graph, run=alone) == [alone]
    (run,) = graph.runs(RunFilter(run="w_1"), Listing())
    assert (run.began_at, run.ended_at, run.changes, run.first.id) == (at(1), at(2.5), 2, first)
    (both,) = graph.runs(RunFilter(run="w_both"), Listing())
    assert (both.actors, both.operations, both.projects) == (("gardener",), ("test",), ("other", "p"))


def test_changes_go_without_an_image(graph: GraphStore) -> None:
    ids = told(graph, "w_1", 1, 2)
    gone = write(chunks=(chunk(),), removed=Removal(changes=ids))
    graph.write(gone)
    assert graph.changes(run="w_1") == () and graph.changes(id=ids[0]) == ()
    (kept,) = graph.changes(id=gone.changes[0].id)
    assert kept.image is not None and ids[0] not in kept.image and "removed" not in kept.image
    graph.write(Write(changes=(record("test", project="p", target="x"),), removed=Removal(changes=ids)))
    with pytest.raises(InvalidInputError, match="without a Change"):
        graph.write(Write(changes=(), removed=Removal(changes=("x_1",))))
