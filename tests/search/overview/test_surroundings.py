from datetime import UTC, datetime, timedelta

import networkx as nx
import pytest
from pydantic_core import from_json, to_json

from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.core.results.graph_views import PathStep
from hydramem.core.row_types import Times
from hydramem.graph.snapshot.registry import Snapshots
from hydramem.ingest.documents.ingest_extracted import ExtractedChunk, ExtractedRelation
from hydramem.search.overview import drawn_graph, overview, surroundings
from hydramem.search.visible.visible_graph import View, view
from hydramem.storage.chunk_filter import LIVE
from hydramem.storage.in_memory.graph import InMemoryGraph
from tests.graph.graphs import P, chunk, entity, mention, relation, write

NOW = datetime(2025, 6, 1, tzinfo=UTC)
ADA, BILLING, MYSQL, ORACLE = (entity(name) for name in ("Ada Lovelace", "billing", "MySQL", "Oracle"))
LEAD = chunk("c_lead", "Ada Lovelace leads billing.", tokens=6)
INVOICES = chunk("c_invoices", "Invoices are kept in MySQL.", tokens=7)


class Store:
    """A graph store in memory, filled with rows, and a view of it."""

    def __init__(self, *rows: object) -> None:
        self.graph = InMemoryGraph()
        self.graph.write(write(*rows))
        self.snapshots = Snapshots(self.graph)

    def view(
        self, *, at: datetime = NOW, known_at: datetime | None = None, states=LIVE, edge_states=()
    ) -> View:
        return view(self.snapshots.of(P), states=states, at=at, known_at=known_at, edge_states=edge_states)

    def expand(self, *starts: str, depth=2, limit=10, max_tokens=1000, **when: object):
        return surroundings.expand(
            starts, depth=depth, limit=limit, max_tokens=max_tokens, graph=self.graph, seen=self.view(**when)
        )

    def path(self, start: str, end: str, *, count=1, max_steps=6, **when: object):
        return surroundings.path(
            start, end, count=count, max_steps=max_steps, graph=self.graph, seen=self.view(**when)
        )

    def graph_view(
        self, center: str | None = None, *, depth=2, limit=50, chunks=True, also=(), **when: object
    ):
        seen = self.view(**when)
        return drawn_graph.graph_view(
            center, depth=depth, limit=limit, chunks=chunks, also=also, graph=self.graph, seen=seen
        )


ROWS = (
    *(ADA, BILLING, MYSQL, LEAD, INVOICES),
    *(relation(ADA, "leads", BILLING), relation(BILLING, "uses", MYSQL)),
    *(mention(LEAD, ADA), mention(LEAD, BILLING), mention(INVOICES, MYSQL)),
)


def told(steps: tuple[PathStep, ...]) -> list[str]:
    return [str(step) for step in steps]


def test_expand_ranks_what_lies_around_and_says_how_it_leads_there() -> None:
    around = Store(*ROWS).expand("ada lovelace", depth=3)
    assert around.starts == ("Ada Lovelace",)
    assert [(one.entity, one.distance) for one in around.entities] == [("billing", 1), ("MySQL", 2)]
    assert [(one.id, one.distance) for one in around.chunks] == [("c_lead", 1), ("c_invoices", 3)]
    assert max(one.score for one in (*around.entities, *around.chunks)) == 1
    assert told(around.chunks[1].via) == [
        "Ada Lovelace -[leads]-> billing",
        "billing -[uses]-> MySQL",
        "MySQL <-[mentions]- “Invoices are kept in MySQL.”",
    ]
    assert (around.tokens, around.left_out) == (13, 0)


def test_expand_keeps_its_depth_its_limit_and_its_budget() -> None:
    store = Store(*ROWS)
    assert [one.entity for one in store.expand("Ada Lovelace", depth=1).entities] == ["billing"]
    few = store.expand("Ada Lovelace", depth=3, limit=1)
    assert (len(few.entities), len(few.chunks), few.left_out) == (1, 1, 2)
    both = store.expand("c_invoices", "Ada Lovelace", depth=1)
    assert both.starts == ("c_invoices", "Ada Lovelace")
    assert {one.entity for one in both.entities} == {"MySQL", "billing"}
    tight = store.expand("billing", depth=3, max_tokens=6)
    assert [one.id for one in tight.chunks] == ["c_lead"]
    assert (tight.tokens, tight.left_out) == (6, 1)


def test_what_may_not_be_seen_is_neither_shown_nor_passed() -> None:
    expired = chunk("c_expired", "Billing was praised by Oracle.", expires_at=NOW - timedelta(days=1))
    archived = chunk("c_archived", "Oracle and billing.", state="archived")
    hidden = (ORACLE, expired, archived, mention(expired, BILLING), mention(expired, ORACLE))
    store = Store(*ROWS, *hidden, mention(archived, ORACLE), mention(archived, BILLING))
    around = store.expand("billing", depth=5)
    assert "Oracle" not in {one.entity for one in around.entities}
    assert not {"c_expired", "c_archived"} & {one.id for one in around.chunks}
    assert not store.path("billing", "Oracle", count=3).found
    assert "c_expired" not in {node.id for node in store.graph_view().nodes}
    # Who has its id may still start from it.
    assert store.expand("c_archived", depth=1).entities


def test_times_choose_the_relations() -> None:
    year = [datetime(2020 + number, 1, 1, tzinfo=UTC) for number in range(6)]
    before = relation(
        BILLING, "uses", ORACLE, times=Times(recorded_at=year[3], valid_from=year[0], valid_to=year[2])
    )
    after = relation(BILLING, "uses", MYSQL, times=Times(recorded_at=year[4], valid_from=year[2]))
    store = Store(BILLING, MYSQL, ORACLE, before, after)
    for at, database in ((year[1], "Oracle"), (year[5], "MySQL")):
        assert [one.entity for one in store.expand("billing", at=at).entities] == [database]
        assert store.path("billing", database, at=at).found
        assert [edge.kind for edge in store.graph_view("billing", at=at).edges] == ["relation"]
        seen = store.view(at=at)
        assert [one.entity for one in surroundings.neighbors("billing", depth=1, limit=5, seen=seen)] == [
            database
        ]
        central = overview.central(by="relations", type=None, limit=5, seen=seen)
        assert {one.entity for one in central} == {"billing", database}
    assert not store.expand("billing", known_at=year[3] + timedelta(days=1)).entities


def test_the_best_ways_come_shortest_first() -> None:
    short = relation(ADA, "knows", MYSQL)
    way = Store(*ROWS, short).path("Ada Lovelace", "MySQL", count=3)
    assert told(way.steps) == ["Ada Lovelace -[knows]-> MySQL"]
    assert told(way.others[0]) == ["Ada Lovelace -[leads]-> billing", "billing -[uses]-> MySQL"]
    assert [len(other) for other in way.others] == [2, 3]
    assert Store(*ROWS, short).path("Ada Lovelace", "MySQL").others == ()


def test_communities_have_ids_that_last() -> None:
    def circle(*names: str) -> list[object]:
        members = [entity(name) for name in names]
        return [*members, *(relation(one, "knows", other) for one in members for other in members[:2])]

    rows = [*circle("a", "b", "c", "d"), *circle("v", "w", "x"), entity("alone")]
    one, other = (
        overview.communities(limit=9, members=2, resolution=1.0, seen=Store(*some).view())
        for some in (rows, [*reversed(rows), chunk("c_new"), mention(chunk("c_new"), entity("alone"))])
    )
    assert [(group.entities, group.chunks) for group in one] == [(4, 0), (3, 0)]
    assert [group.id for group in one] == [group.id for group in other]
    assert all(len(group.members) == 2 and group.central[:2] == group.members for group in one)
    assert len(overview.communities(limit=1, members=1, resolution=1.0, seen=Store(*rows).view())) == 1


def test_the_graph_is_node_link_data() -> None:
    store = Store(*ROWS)
    data = from_json(to_json(store.graph_view("billing", depth=1)))
    drawn = nx.node_link_graph(data, edges="edges")
    assert drawn.nodes[BILLING.id]["distance"] == 0
    assert {node["name"] for _, node in drawn.nodes.items()} == {
        *("Ada Lovelace", "billing", "MySQL"),
        "“Ada Lovelace leads billing.”",
    }
    assert {edge["type"] for *_, edge in drawn.edges(data=True)} == {"leads", "uses", "mentions"}
    assert store.graph_view().center is None
    small = store.graph_view(limit=2)
    assert (len(small.nodes), small.left_out) == (2, 3)
    ids = {node.id for node in small.nodes}
    assert all({edge.source, edge.target} <= ids for edge in small.edges)
    assert {node.kind for node in store.graph_view(chunks=False).nodes} == {"entity"}


def test_the_graph_shows_further_nodes_that_are_named_with_the_edges_among_all() -> None:
    store = Store(*ROWS)
    drawn = store.graph_view(
        "Ada Lovelace", depth=1, limit=1, chunks=False, also=["billing", MYSQL.id, "gone"]
    )
    assert [(node.name, node.distance) for node in drawn.nodes] == [
        *(("Ada Lovelace", 0), ("billing", 1), ("MySQL", None)),
    ]
    assert sorted(edge.type for edge in drawn.edges) == ["leads", "uses"]
    assert drawn.left_out == 0, "billing is named besides"
    assert store.graph_view("Ada Lovelace", depth=1, limit=1, chunks=False).left_out == 1


def test_a_node_of_the_graph_says_how_many_edges_it_has_and_an_edge_its_layer_state_and_times() -> None:
    times = Times(recorded_at=NOW, valid_from=NOW - timedelta(9), valid_to=NOW - timedelta(1))
    ended = relation(BILLING, "uses", ORACLE, times=times)
    store = Store(*ROWS, ORACLE, ended)
    assert {node.name: node.degree for node in store.graph_view("billing", depth=1, limit=1).nodes} == {
        "billing": 3  # leads, uses MySQL, a mention: the relation that ended is not seen
    }
    (edge,) = [
        edge
        for edge in store.graph_view("billing", depth=1, edge_states=["active", "superseded"]).edges
        if edge.target == ORACLE.id
    ]
    assert (edge.layer, edge.state) == ("working", "active")
    assert (edge.valid_from, edge.valid_to) == (NOW - timedelta(9), NOW - timedelta(1))
    mentions = [edge for edge in store.graph_view("billing", depth=1).edges if edge.kind == "mention"]
    assert mentions and all(edge.layer is edge.state is edge.valid_from is None for edge in mentions)


# On a real store --------------------------------------------------------------------------------


HOSTILE = 'x"}) DETACH DELETE n; --'


def test_every_way_of_looking_works_on_a_store_and_keeps_to_its_project(memory) -> None:
    memory.ingest_extracted(
        "notes.md",
        [
            ExtractedChunk(text="Ada Lovelace leads billing."),
            ExtractedChunk(text=f"Billing uses {HOSTILE} daily."),
        ],
        relations=[
            ExtractedRelation(subject="Ada Lovelace", type="leads", object="billing"),
            ExtractedRelation(subject="billing", type="uses", object=HOSTILE),
        ],
    )
    memory.remember("Nothing but weather here.", project="other")
    around = memory.expand(["Ada Lovelace"], depth=3)
    assert {one.entity for one in around.entities} >= {"billing", HOSTILE}
    assert around.chunks[0].text == "Ada Lovelace leads billing."
    assert memory.expand(around.chunks[0].id).entities
    assert memory.path("Ada Lovelace", HOSTILE, count=3).found
    assert memory.central()[0].entity == "billing"
    assert memory.graph(HOSTILE).nodes[0].name == HOSTILE
    assert sum(one.entities for one in memory.communities(resolution=0.1)) == len(memory.entities())
    secret = memory.remember("Ada Lovelace whispers to Grace Hopper.", private=True)
    assert secret.id in {one.id for one in memory.expand("Ada Lovelace").chunks}
    around = memory.expand("Ada Lovelace", depth=3, include_private=False)
    assert "whispers" not in repr(around)
    assert memory.path("Ada Lovelace", "ada lovelace").steps == ()
    with pytest.raises(NotFoundError, match="other"):
        memory.expand([around.chunks[0].id], project="other")


def test_an_empty_project_has_nothing_to_see_and_odd_starts_are_refused(memory) -> None:
    assert memory.central() == memory.communities() == memory.graph().nodes == ()
    for look in (memory.expand, memory.graph):
        with pytest.raises(NotFoundError, match="nobody"):
            look("nobody")

    for name in ("", " ", "\x00", "a\ud800b", "x" * 5000):
        with pytest.raises((InvalidInputError, NotFoundError)):
            memory.expand([name])


def test_wrong_values_are_refused_before_anything_is_read(memory) -> None:
    for operation, wrong in (
        ("expand", {"starts": ["x"] * 51}),
        ("expand", {"starts": ["x"], "depth": 0}),
        ("expand", {"starts": ["x"], "as_of": "the day before"}),
        ("path", {"start": "x", "end": "y", "count": 11}),
        ("central", {"by": "beauty"}),
        ("central", {"limit": 0}),
        ("communities", {"resolution": float("nan")}),
        ("graph", {"depth": 6}),
        ("graph", {"limit": 10**9}),
    ):
        with pytest.raises(InvalidInputError):
            getattr(memory, operation)(**wrong)


def test_walks_follow_the_likelier_relation_first_and_no_doubted_one() -> None:
    likely = relation(ADA, "leads", BILLING, verdict="accepted", probability=0.9)
    less = relation(ADA, "uses", MYSQL, verdict="deferred", probability=0.5)
    doubted = relation(ADA, "owns", ORACLE, verdict="accepted", probability=0.1)
    store = Store(ADA, BILLING, MYSQL, ORACLE, doubted, less, likely)
    near = surroundings.neighbors("Ada Lovelace", depth=1, limit=10, seen=store.view())
    assert [each.entity for each in near] == ["billing", "MySQL"]
    assert [each.entity for each in store.expand("Ada Lovelace").entities] == ["billing", "MySQL"]
    assert not store.path("Ada Lovelace", "Oracle").found
    assert {edge.type for edge in store.graph_view().edges} == {"leads", "uses", "owns"}, "it is listed"
    central = overview.central(by="relations", type=None, limit=9, seen=Store(*ROWS).view())
    assert central[0].entity == "billing"
