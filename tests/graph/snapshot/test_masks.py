"""Remembered masks say what masks made anew say, as the graph grows and its rows change."""

import random
from datetime import datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hydramem.core.row_types import Relation, State, Times
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.graph.snapshot.snapshot_writer import SnapshotWriter
from hydramem.storage.chunk_filter import holds
from hydramem.storage.in_memory.graph import InMemoryGraph
from tests.storage.rows import T0, at, entity, relation, write


def agree(snapshot: Snapshot, held: dict[str, Relation], moment: datetime, states: tuple[State, ...]) -> None:
    for known_at in (None, moment):
        mask = snapshot.edge_mask(at=moment, known_at=known_at, states=states)
        expected = [
            (not states or one.state in states) and holds(one.times, moment, known_at)
            for one in (held[id.decode()] for id in snapshot.edges.ids.tolist())
        ]
        assert mask.tolist() == expected


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000))
def test_masks_are_right_after_every_write_and_at_every_moment(seed: int) -> None:
    chance = random.Random(seed)
    graph, held = InMemoryGraph(), dict[str, Relation]()
    graph.write(write(entities=tuple(entity(f"e{i}", f"name {i}") for i in range(4))))
    growing = SnapshotWriter("p", *graph.graph_tables("p"))
    older: list[tuple[Snapshot, dict[str, Relation]]] = []
    for _ in range(12):
        rows = [
            relation(f"e{chance.randrange(4)}", "leads", f"e{chance.randrange(4)}", **drawn(chance))
            for _ in range(chance.randrange(1, 4))
        ]
        rows = list({row.id: row for row in rows}.values())
        growing.apply(write(relations=tuple(rows)))
        held |= {row.id: row for row in rows}
        older.append((growing.snapshot(), dict(held)))
        for snapshot, then in (older[-1], chance.choice(older)):
            agree(snapshot, then, at(chance.randrange(-3, 4)), chance.choice([("active",), ()]))
    moment = T0 + timedelta(microseconds=chance.choice([-1, 0, 1]))
    agree(*older[-1], moment, ("active",))


def drawn(chance: random.Random) -> dict[str, Any]:
    ends = sorted(chance.sample(range(-3, 4), 2))
    return {
        "state": chance.choice(["active", "archived"]),
        "times": Times(
            recorded_at=at(chance.randrange(-2, 2)),
            retired_at=chance.choice([None, at(2)]),
            valid_from=chance.choice([None, at(ends[0])]),
            valid_to=chance.choice([None, at(ends[1])]),
        ),
    }
