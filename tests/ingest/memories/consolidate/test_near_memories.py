"""What a caller is told of the memories that a new one may touch."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.row_types import Chunk, Times
from hydramem.ingest.memories.consolidate.near_memories import MOST_TOKENS, near_memories
from hydramem.ingest.memories.similarity import NearbyChunk
from hydramem.text.tokens import count_tokens
from tests.examples import FEW
from tests.ingest.memories.consolidate.test_duplicate_or_update import BOUNDS, judged


def candidates(*texts: str) -> list[NearbyChunk]:
    times = Times(recorded_at=datetime(2026, 1, 1, tzinfo=UTC))
    rows = (
        Chunk(id=f"c_{place:032x}", project="p", kind="note", text=text, times=times)
        for place, text in enumerate(texts)
    )
    return [NearbyChunk(chunk=row, cosine=0.8) for row in rows]


def test_the_surest_come_first_and_what_is_unlikely_is_not_named() -> None:
    found = candidates("one", "two", "three")
    said = (judged(update=0.2, contradict=0.2), judged(duplicate=0.9), judged(refine=0.1))
    judgements = {one.chunk.id: judgement for one, judgement in zip(found, said, strict=True)}
    near = near_memories(found, judgements, BOUNDS, ended=())
    assert [(one.text, one.relation, one.probability) for one in near] == [
        ("two", "duplicates", 0.9),
        ("one", "may_supersede", 0.4),
    ]
    del judgements[found[0].chunk.id]
    assert near_memories(found, judgements, BOUNDS, ended=[found[1].chunk.id]) == ()


@FEW
@given(st.lists(st.text(min_size=1, max_size=2000), min_size=1, max_size=5))
def test_a_caller_is_told_within_so_many_tokens(texts: list[str]) -> None:
    found = candidates(*texts)
    judgements = {one.chunk.id: judged(update=0.9) for one in found}
    near = near_memories(found, judgements, BOUNDS, ended=())
    assert len(near) <= 3
    shown = [f"{one.id} {one.relation} {one.probability} {one.text}" for one in near]
    assert sum(map(count_tokens, shown)) <= MOST_TOKENS
