"""The graph arm: what a walk from the query's entities, and from the best chunks, arrives at."""

import pytest

from hydramem.core.row_types import Chunk
from hydramem.graph.snapshot.snapshot_writer import load
from hydramem.search.arms.retrieval_arms import Walk, walk
from hydramem.search.candidate_scores import FusedScore
from hydramem.search.query_plan import plan
from hydramem.storage.chunk_filter import ChunkFilter
from tests.graph.graphs import P, chunk, entity, mention, tables

ONCE, OFTEN = entity("Zephyr"), entity("Apollo")


def walked(query: str, mentions: dict[str, list[Chunk]], found: tuple[FusedScore, ...] = ()) -> Walk:
    """Walk by PageRank from the entities that a query names, each mentioned by some chunks of its own."""
    named = {one.name: one for one in (ONCE, OFTEN)}
    edges = [mention(each, named[name]) for name, chunks in mentions.items() for each in chunks]
    rows = [each for chunks in mentions.values() for each in chunks]
    snapshot = load(P, *tables(*named.values(), *rows, *edges))
    return walk(plan(query, snapshot), found, where=ChunkFilter(), traversal="ppr", damping=0.7, limit=100)


@pytest.mark.parametrize("often", [1, 3, 7])
def test_a_rare_name_counts_more_than_a_common_one(often: int) -> None:
    crowd = [chunk(f"often-{number}") for number in range(often)]
    found = walked("What links Zephyr and Apollo?", {"Zephyr": [chunk("once")], "Apollo": crowd})
    # A name in n chunks has an n-th of a unique name's weight, and its n chunks share that again;
    # a score is the root of what a chunk gets, held against the best.
    assert found.scores == pytest.approx({"once": 1.0} | {row.id: 1 / often for row in crowd}, rel=1e-4)


def test_a_list_of_very_many_things_does_not_take_the_place_of_what_is_about_one() -> None:
    others = [entity(f"thing {number}") for number in range(200)]
    about, listing = chunk("about"), chunk("list")
    notes = [chunk(f"note {number}") for number in range(200)]
    rows = [mention(about, ONCE), *(mention(listing, one) for one in (ONCE, *others))]
    rows += [mention(note, one) for note, one in zip(notes, others, strict=True)]
    snapshot = load(P, *tables(ONCE, *others, about, listing, *notes, *rows))
    found = walk(plan("Zephyr", snapshot), (), where=ChunkFilter(), traversal="ppr", damping=0.7, limit=100)
    assert found.scores["about"] == 1 and 0 < found.scores["list"] < 0.5
