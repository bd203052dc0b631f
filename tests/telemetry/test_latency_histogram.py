"""Latencies as counts in buckets."""

from collections import Counter
from math import ceil

from hypothesis import given
from hypothesis import strategies as st

from hydramem.telemetry.latency_histogram import as_text, bucket, from_text, quantile

LATENCIES = st.lists(st.floats(min_value=0.001, max_value=1e7), min_size=1, max_size=50)


@given(LATENCIES, st.sampled_from([0.0, 0.5, 0.95, 1.0]))
def test_a_quantile_is_within_two_and_a_half_percent_of_that_of_the_sorted_list(
    latencies: list[float], share: float
) -> None:
    assert quantile({}, share) is None
    exact = sorted(latencies)[max(1, ceil(share * len(latencies))) - 1]
    found = quantile(Counter(map(bucket, latencies)), share)
    assert found is not None
    assert abs(found - exact) <= 0.0255 * exact + 0.001


@given(LATENCIES)
def test_counts_are_read_as_they_were_written(latencies: list[float]) -> None:
    counts = Counter(map(bucket, latencies))
    assert from_text(as_text(counts)) == counts
