"""A cache of masks: most walks ask for what holds now, and that seldom changes."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hydramem.graph.snapshot.adjacency import Mask
from hydramem.graph.snapshot.columns import Array, buffer_of

_MOST_CACHED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """The moment a mask is for, and the columns that give the half-open interval in which each row holds."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    stamp: int

    def covers(self, first: int) -> Mask:
        """Say for each row from `first` on whether the moment is in its interval."""
        return (self.starts[first:] <= self.stamp) & (self.stamp < self.ends[first:])

    def steady(self, first: int) -> tuple[int, int]:
        """Return the half-open range of moments in which `covers` gives the same result."""
        low, high = np.iinfo(np.int64).min, np.iinfo(np.int64).max
        for bounds in (self.starts[first:], self.ends[first:]):
            if len(bounds):
                low = max(low, int(np.max(bounds, where=bounds <= self.stamp, initial=low)))
                high = min(high, int(np.min(bounds, where=bounds > self.stamp, initial=high)))
        return low, high


@dataclass(frozen=True, slots=True)
class _CachedMask:
    columns: tuple[Array, ...]
    steady: tuple[tuple[int, int], ...]
    mask: Mask

    def fits(self, columns: Sequence[Array], intervals: Sequence[Interval]) -> bool:
        """Say whether the mask is right for the first rows: the columns have only grown since."""
        return (
            len(columns[0]) >= len(self.mask)
            and all(
                buffer_of(mine) is buffer_of(given) for mine, given in zip(self.columns, columns, strict=True)
            )
            and all(
                low <= each.stamp < high for (low, high), each in zip(self.steady, intervals, strict=True)
            )
        )


class Masks:
    """The masks used last; shared by the snapshots of one project, safe from several threads.

    Columns grow in place and are copied when a row changes (`columns.GrowingColumn`), so that a mask of the
    first rows stays right for as long as the columns are in the same memory.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cached: OrderedDict[object, _CachedMask] = OrderedDict()

    def of(
        self,
        name: object,
        columns: Sequence[Array],
        intervals: Sequence[Interval],
        admits: Callable[[int], Mask],
    ) -> Mask:
        """Return a read-only mask: computed, or taken from the cache and extended by new rows.

        Args:
            name: Identifies the mask apart from the moments.
            columns: The columns that `admits` reads, of one length.
            intervals: Moments that must be within the rows' intervals.
            admits: Says for each row from a first one on whether it meets the other conditions.
        """
        columns = (*columns, *(column for each in intervals for column in (each.starts, each.ends)))
        with self._lock:
            known = self._cached.get(name)
        if known is None or not known.fits(columns, intervals):
            known = None
        first = 0 if known is None else len(known.mask)
        if known is not None and first == len(columns[0]):
            return known.mask
        mask = admits(first)
        for each in intervals:
            mask &= each.covers(first)
        fresh = tuple(each.steady(first) for each in intervals)
        if known is not None:
            mask = np.concatenate([known.mask, mask])
            fresh = tuple(
                (max(old[0], new[0]), min(old[1], new[1]))
                for old, new in zip(known.steady, fresh, strict=True)
            )
        mask.flags.writeable = False
        with self._lock:
            self._cached[name] = _CachedMask(columns, fresh, mask)
            self._cached.move_to_end(name)
            if len(self._cached) > _MOST_CACHED:
                self._cached.popitem(last=False)
        return mask
