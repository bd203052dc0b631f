import threading
from dataclasses import replace
from datetime import timedelta

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.row_types import Entity, Times
from hydramem.graph.snapshot.registry import Snapshots
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.graph.snapshot.snapshot_writer import SnapshotWriter, load
from hydramem.storage.store import entities_by_key
from hydramem.storage.write import Removal, Write
from tests.examples import FEW
from tests.graph.graphs import THEN, P, chunk, entity, link, mention, relation, tables, turn, write

ADA, BILLING, MYSQL = entity("Ada Lovelace", aliases=("Ada",)), entity("billing"), entity("MySQL")
NOTE, PAGE = chunk("note"), chunk("page")
ROWS = (
    *(ADA, BILLING, MYSQL, NOTE, PAGE, *(turn("s", position) for position in range(5)), turn("other", 2)),
    *(relation(ADA, "leads", BILLING), relation(BILLING, "uses", MYSQL, layer="shared")),
    *(mention(NOTE, ADA), mention(PAGE, BILLING, 2), mention(PAGE, MYSQL), link(NOTE, PAGE)),
)


class Shelf:
    """A graph store as far as a snapshot reads one, with a door that a test can hold shut."""

    def __init__(self, *rows: object) -> None:
        self.rows = rows
        self.door = threading.Event()
        self.door.set()
        self.entered = threading.Event()

    def entities_called(self, project: str, keys):
        held = [row for row in self.rows if isinstance(row, Entity) and row.project == project]
        return entities_by_key(keys, [(row.id, row.key, row.aliases) for row in held])

    def graph_tables(self, project: str):
        seen = tables(*self.rows) if project == P else tables()
        self.entered.set()
        assert self.door.wait(60)
        return seen


def described(snapshot: Snapshot) -> tuple:
    """Everything a reader can learn, without the order in which it came."""
    around = {}
    for node in range(snapshot.size):
        out = snapshot.adjacency.expand(np.array([node]))
        around[snapshot.nodes.ids[node]] = sorted(
            (
                str(snapshot.step(int(half))),
                float(snapshot.edges.weight[half >> 1]),
                snapshot.edges.ids[half >> 1],
            )
            for half in out.halves
        )
    edges = snapshot.edges
    masks = (
        edges.ids[snapshot.edge_mask()].tolist(),
        edges.ids[snapshot.edge_mask(layers=("shared",))].tolist(),
        edges.ids[snapshot.edge_mask(at=THEN, known_at=THEN)].tolist(),
    )
    nodes = [snapshot.nodes.ids[node] for node in np.flatnonzero(snapshot.node_mask())]
    turns = [snapshot.nodes.ids[node] for node in snapshot.turns.nodes]
    return around, [sorted(mask) for mask in masks], sorted(nodes), turns


def test_reads_as_written() -> None:
    snapshot = load(P, *tables(*ROWS))
    assert [match.node for match in snapshot.names.matching("does ada know MySQL?")] == [0, 2]
    assert snapshot.names.lookup(["ada", "billing", "nobody"]) == {"ada": ADA.id, "billing": BILLING.id}
    steps = [str(snapshot.step(half)) for half in snapshot.adjacency.expand(np.array([1])).halves]
    assert steps == [
        "billing -[uses]-> MySQL",
        "billing <-[leads]- Ada Lovelace",
        "billing <-[mentions]- page",
    ]
    middle = snapshot.node("s-2")
    assert middle is not None
    origins, offsets, nodes = snapshot.turns.around(snapshot.turn_keys[[middle]], 2)
    near = [(offset, snapshot.nodes.ids[node]) for offset, node in zip(offsets, nodes, strict=True)]
    assert near == [(-2, "s-0"), (-1, "s-1"), (1, "s-3"), (2, "s-4")]
    assert set(origins) == {0}


@FEW
@given(st.permutations(ROWS[:11]), st.permutations(ROWS[11:]), st.integers(0, 17), st.integers(1, 5))
def test_growing_by_writes_gives_what_loading_gives(nodes, edges, early: int, size: int) -> None:
    rows = [*nodes, *edges]
    growing = SnapshotWriter(P, *tables(*rows[: min(early, 11)]))
    for start in range(min(early, 11), len(rows), size):
        growing.apply(write(*rows[start : start + size]))
        growing.snapshot()
    growing.apply(write(*rows))
    assert described(growing.snapshot())[:3] == described(load(P, *tables(*rows)))[:3]


def test_a_changed_row_is_replaced_and_old_snapshots_stay() -> None:
    growing = SnapshotWriter(P, *tables(*ROWS))
    before, told = growing.snapshot(), described(growing.snapshot())
    later = Times(recorded_at=THEN, retired_at=THEN + timedelta(days=1))
    growing.apply(
        write(
            chunk("note", state="archived"),
            relation(ADA, "leads", BILLING, state="superseded", times=later, confidence=0.25),
            entity("Cobol"),
        )
    )
    growing.apply(write(relation(ADA, "knows", entity("Cobol"))))
    after = growing.snapshot()
    assert described(before) == told
    assert before.names.find("cobol") is None
    assert after.edges.source.size == before.edges.source.size + 1
    assert not after.node_mask()[after.node("note")]
    assert after.edge_mask().sum() == before.edge_mask().sum()
    assert after.edge_mask(states=(), known_at=THEN).all()
    assert not after.edge_mask(states=(), known_at=THEN + timedelta(days=2)).all()


def test_during_the_load_names_are_looked_up_and_no_write_is_lost() -> None:
    shelf = Shelf(ADA)
    snapshots, seen = Snapshots(shelf), list[Snapshot]()
    shelf.door.clear()
    reader = threading.Thread(target=lambda: seen.append(snapshots.of(P)))
    reader.start()
    assert shelf.entered.wait(60)
    assert snapshots.known(P, ["ada"]) == {"ada": ADA.id}
    snapshots.apply(write(BILLING, relation(ADA, "leads", BILLING)))
    shelf.door.set()
    reader.join(60)
    assert seen[0].names.find("billing") is not None
    assert snapshots.of(P) is seen[0]


def test_an_unknown_project_is_empty_and_found_once_it_is_written() -> None:
    shelf = Shelf()
    snapshots = Snapshots(shelf)
    assert snapshots.of(P).size == 0
    assert snapshots.of("nowhere").names.matching("Ada") == ()
    snapshots.apply(write(ADA))
    shelf.rows = (ADA,)
    assert snapshots.of(P).size == 1
    shelf.rows = (ADA, BILLING)
    snapshots.forget(P)
    assert snapshots.of(P).size == 2


def without_billing() -> Write:
    return replace(write(ADA), removed=Removal(entities=(BILLING.id,)))


def test_what_a_thread_removes_while_it_keeps_a_project_is_shown_until_it_is_done() -> None:
    shelf = Shelf(ADA, BILLING, relation(ADA, "leads", BILLING))
    snapshots = Snapshots(shelf)
    before = snapshots.of(P)
    with snapshots.keeping(P):
        shelf.rows = (ADA,)
        snapshots.apply(without_billing())
        snapshots.apply(write(MYSQL))
        assert snapshots.of(P).size == before.size + 1, "nobody waits for a load; what is new is there"
    shelf.rows = ()  # whoever loaded it now would find nothing
    left = snapshots.of(P)
    assert (left.size, len(left.edges.source)) == (1, 0)


def test_what_others_remove_meanwhile_is_gone_at_once() -> None:
    shelf = Shelf(ADA, BILLING, relation(ADA, "leads", BILLING))
    snapshots = Snapshots(shelf)
    with snapshots.keeping(P):
        assert (snapshots.of(P).size, len(snapshots.of(P).edges.source)) == (2, 1)
        shelf.rows = (ADA,)
        other = threading.Thread(target=lambda: snapshots.apply(without_billing()))
        other.start()
        other.join()
        assert (snapshots.of(P).size, len(snapshots.of(P).edges.source)) == (1, 0)


def test_a_write_while_it_is_loaded_anew_is_in_both() -> None:
    shelf = Shelf(ADA, BILLING)
    snapshots = Snapshots(shelf)
    snapshots.of(P)
    shelf.entered.clear()
    shelf.door.clear()

    def tidy() -> None:
        with snapshots.keeping(P):
            shelf.rows = (ADA,)
            snapshots.apply(without_billing())

    night = threading.Thread(target=tidy)
    night.start()
    assert shelf.entered.wait(60)
    snapshots.apply(write(MYSQL))
    assert snapshots.of(P).node(MYSQL.id) is not None, "who reads meanwhile does not wait"
    shelf.door.set()
    night.join(60)
    after = snapshots.of(P)
    assert after.node(MYSQL.id) is not None and after.node(BILLING.id) is None


def test_an_edge_whose_end_was_removed_during_the_load_is_left_out() -> None:
    _, edges = tables(ADA, BILLING, relation(ADA, "leads", BILLING))
    nodes, _ = tables(ADA)
    assert len(load(P, nodes, edges).edges.source) == 0


def test_other_projects_rows_are_not_taken_in() -> None:
    snapshots = Snapshots(Shelf(ADA))
    assert snapshots.of(P).size == 1
    snapshots.apply(write(chunk("far", project="elsewhere"), chunk("here"), mention(chunk("far"), ADA)))
    assert snapshots.of(P).size == 2
    assert len(snapshots.of(P).edges.source) == 0


def test_readers_and_writers_at_once() -> None:
    snapshots = Snapshots(Shelf(ADA))
    snapshots.of(P)
    sizes: list[list[int]] = [[], [], []]

    def read(mine: list[int]) -> None:
        while not mine or mine[-1] < 501:
            snapshot = snapshots.of(P)
            assert len(snapshot.nodes.state) == snapshot.size
            assert len(snapshot.adjacency.expand(np.array([0])).halves) == snapshot.size - 1
            mine.append(snapshot.size)

    readers = [threading.Thread(target=read, args=(mine,)) for mine in sizes]
    for reader in readers:
        reader.start()
    for number in range(500):
        snapshots.apply(write(chunk(f"c{number}"), mention(chunk(f"c{number}"), ADA)))
    for reader in readers:
        reader.join(60)
    assert all(mine == sorted(mine) and mine[-1] == 501 for mine in sizes)


def test_a_few_names_are_looked_up_without_loading_the_graph() -> None:
    shelf = Shelf(*ROWS)
    snapshots = Snapshots(shelf)
    expected = {"ada": ADA.id, "billing": BILLING.id}
    assert snapshots.known(P, ["ada", "billing", "nobody"]) == expected
    assert snapshots.known("other", ["ada"]) == {}
    assert not shelf.entered.is_set()
    snapshots.of(P)
    later = entity("Later")
    snapshots.apply(write(later))
    assert snapshots.known(P, ["ada", "later"]) == {"ada": ADA.id, "later": later.id}
