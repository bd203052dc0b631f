"""The benchmark of newness dates its pairs so that the old text comes first."""

from benchmarks import recency
from benchmarks.consolidation.sets import Pair


def test_old_texts_come_before_new_ones_within_a_year() -> None:
    pair = Pair(old="Ada lives in Oslo.", new="Ada lives in Bergen.", label="update", kind="k")
    found = recency.dated([pair] * 100)
    assert all(one.old_at <= one.new_at for one in found)
    assert {one.far_apart for one in found} == {True, False}
    assert max((one.new_at - one.old_at).days for one in found) <= 365
