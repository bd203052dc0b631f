"""The view of a graph for some projects: a list of runs is read as far as its page needs it."""

from dataclasses import replace

from hydramem.core.row_types import Change
from hydramem.storage.bounded_graph import BoundedGraph
from hydramem.storage.changes import record
from hydramem.storage.in_memory.graph import InMemoryGraph
from hydramem.storage.store import Listing, RunFilter, RunRow
from hydramem.storage.write import Write
from tests.storage.rows import at

RUNS = 300


class CountingGraph(InMemoryGraph):
    """A graph that counts the runs that are read of it."""

    read = 0

    def runs(self, where: RunFilter, page: Listing) -> tuple[RunRow, ...]:
        rows = super().runs(where, page)
        self.read += len(rows)
        return rows


def change(number: int, project: str) -> Change:
    made = record("test", project=project, target="x", run=f"w_{number:04}")
    return replace(made, at=at(number))


def filled() -> CountingGraph:
    """Return a graph with runs of two projects in turn, each third of both and each tenth also of another."""
    graph = CountingGraph()
    rows = []
    for number in range(RUNS):
        projects = {"pq"[number % 2]} | ({"p", "q"} if number % 3 == 0 else set())
        rows += [change(number, name) for name in projects | ({"other"} if number % 10 == 0 else set())]
    graph.write(Write(changes=tuple(rows)))
    return graph


def test_a_page_of_runs_reads_no_more_than_it_needs() -> None:
    graph = filled()
    bounded = BoundedGraph(graph, frozenset({"p", "q"}))
    own = [f"w_{number:04}" for number in reversed(range(RUNS)) if number % 10]
    found = bounded.runs(RunFilter(), Listing(limit=5))
    assert [row.id for row in found] == own[:5]
    assert graph.read <= 40
    every = [
        row.id
        for offset in range(0, RUNS, 7)
        for row in bounded.runs(RunFilter(), Listing(limit=7, offset=offset))
    ]
    assert every == own, "each once, in order, and none that wrote to another project"
    assert [row.id for row in bounded.runs(RunFilter(), Listing(limit=2**31))] == own
    assert bounded.runs(RunFilter(), Listing(limit=0)) == ()


def test_the_runs_of_no_project_are_none() -> None:
    assert BoundedGraph(filled(), frozenset()).runs(RunFilter(), Listing()) == ()
