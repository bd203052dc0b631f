"""Rarity grows with the graph and says what it would say if it were computed anew."""

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.row_types import Chunk
from hydramem.graph.snapshot.rarity import HUB_SHARE, LEAST_MENTIONS
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.graph.snapshot.snapshot_writer import SnapshotWriter, load
from tests.examples import FEW
from tests.graph.graphs import P, chunk, entity, mention, relation, tables, write

NAMES = [entity(name) for name in ("user", "Ada", "billing", "MySQL")]


def hubs(snapshot: Snapshot) -> set[str]:
    return {snapshot.label(node) for node in np.flatnonzero(snapshot.rarity().hubs).tolist()}


def naive(chunks: dict[str, Chunk], mentioned: set[tuple[str, str]]) -> tuple[dict[str, int], set[str]]:
    """Count by the definition: the active chunks that mention each entity, and the hubs."""
    active = {id: row for id, row in chunks.items() if row.state == "active"}
    sources = {row.document or id for id, row in active.items()}
    counts, found = {}, set[str]()
    for one in NAMES:
        by = [active[id] for id, name in mentioned if name == one.id and id in active]
        counts[one.name] = len(by)
        from_sources = len({row.document or row.id for row in by})
        if one.name == "user" or any(
            some >= max(LEAST_MENTIONS, HUB_SHARE * of)
            for some, of in ((len(by), len(active)), (from_sources, len(sources)))
        ):
            found.add(one.name)
    return counts, found


@FEW
@given(seed=st.integers(0, 10_000))
def test_it_is_right_after_every_write(seed: int) -> None:
    chance = random.Random(seed)
    growing = SnapshotWriter(P, *tables(*NAMES))
    chunks, mentioned = dict[str, Chunk](), set[tuple[str, str]]()
    for step in range(8):
        rows: list[object] = []
        for number in range(chance.randrange(8)):
            document = chance.choice([None, "d1", f"d{step}"])
            row = chunk(f"c{step}.{number}", document=document)
            if chunks and chance.random() < 0.2:
                row = replace(
                    chance.choice(list(chunks.values())), state=chance.choice(["archived", "active"])
                )
            chunks[row.id] = row
            names = chance.sample(NAMES, chance.randrange(4))
            mentioned |= {(row.id, one.id) for one in names}
            rows += [row, *(mention(row, one) for one in names)]
        growing.apply(write(*rows))
        snapshot = growing.snapshot()
        counts, expected = naive(chunks, mentioned)
        known = snapshot.rarity()
        assert {one.name: int(known.chunks[snapshot.node(one.id)]) for one in NAMES} == counts
        assert hubs(snapshot) == expected
        assert (known.rarity[known.hubs] == 0).all()
        assert (known.rarity[snapshot.nodes.is_chunk] == 1).all()
        named = {
            id: sum(by == id for by, _ in mentioned) for id, row in chunks.items() if row.state == "active"
        }
        assert {id: int(known.named[snapshot.node(id)]) for id in named} == named


def test_it_falls_with_the_number_of_chunks() -> None:
    rare, common, unnamed = (entity(name) for name in ("rare", "common", "unnamed"))
    chunks = [chunk(f"c{number}") for number in range(40)]
    snapshot = load(
        P,
        *tables(
            *(rare, common, unnamed, *chunks, mention(chunks[0], rare)),
            *(mention(each, common) for each in chunks[:10]),
        ),
    )
    rarity = {snapshot.label(node): float(snapshot.rarity().rarity[node]) for node in range(3)}
    assert rarity == {"rare": 1, "common": pytest.approx(1 - np.log(10) / np.log(41)), "unnamed": 1}


def test_the_sides_of_a_conversation_are_hubs_by_name_and_alias() -> None:
    sam, model, ada = entity("Sam", aliases=("the user",)), entity("Assistant"), entity("Ada")
    snapshot = load(P, *tables(sam, model, ada, relation(sam, "knows", ada)))
    assert hubs(snapshot) == {"Sam", "Assistant"}
