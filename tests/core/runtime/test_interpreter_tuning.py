"""While a night or an ingest works, full collections wait; afterwards all is as before."""

import gc
import sys

import pytest

from hydramem.core.runtime.interpreter_tuning import rare_full_collections, tuned_interpreter


def now() -> tuple[tuple[int, int, int], float]:
    return gc.get_threshold(), sys.getswitchinterval()


def test_the_interpreter_is_left_as_it_was_however_nights_overlap() -> None:
    before = now()
    first, second = tuned_interpreter(), tuned_interpreter()
    first.__enter__()
    during = now()
    assert during[0][:2] == before[0][:2] and during[0][2] > 1000 * before[0][2]
    assert during[1] < before[1]
    second.__enter__()
    first.__exit__(None, None, None)
    assert now() == during, "the other night goes on"
    second.__exit__(None, None, None)
    assert now() == before
    with rare_full_collections():
        during = now()
        assert during[0][2] > 1000 * before[0][2] and during[1] == before[1]
        with pytest.raises(ZeroDivisionError), tuned_interpreter():
            assert now()[0] == during[0] and now()[1] < before[1]
            raise ZeroDivisionError
        assert now() == during
    assert now() == before
