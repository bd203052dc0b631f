"""Latencies as counts in buckets, which add up over days, and their quantiles.

A bucket is 5 % wide on a logarithmic scale, as in HDR histograms, so a quantile is within 2.5 %.
"""

import json
from collections.abc import Mapping
from math import ceil, exp, log

_WIDTH = log(1.05)
_LEAST_MS = 0.001


def bucket(milliseconds: float) -> int:
    """Return the bucket of a latency."""
    return round(log(max(milliseconds, _LEAST_MS)) / _WIDTH)


def quantile(counts: Mapping[int, int], share: float) -> float | None:
    """Return the latency in milliseconds that this share of the calls does not exceed; None without calls.

    Args:
        counts: Calls by bucket.
        share: From 0 to 1.
    """
    wanted, seen = max(1, ceil(share * sum(counts.values()))), 0
    for place in sorted(counts):
        seen += counts[place]
        if seen >= wanted:
            return round(exp(place * _WIDTH), 3)
    return None


def as_text(counts: Mapping[int, int]) -> str:
    """Return counts by bucket as JSON."""
    return json.dumps(dict(sorted(counts.items())))


def from_text(text: str) -> dict[int, int]:
    """Return the counts of `as_text`."""
    return {int(place): count for place, count in json.loads(text).items()}
