from datetime import UTC, datetime

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hydramem.graph.snapshot.columns import BEGINNING, Codes, GrowingColumn, microseconds


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 50), st.integers(-100, 100))))
def test_a_view_never_changes(steps: list[tuple[bool, int, int]]) -> None:
    column = GrowingColumn(np.zeros(1, dtype=np.int64))
    plain, shown = [0], []
    for grow, row, value in steps:
        if grow:
            column.append(value)
            plain.append(value)
        else:
            column.set(row % len(plain), value)
            plain[row % len(plain)] = value
        shown.append((column.view(), list(plain)))
    assert all(view.tolist() == then for view, then in shown)


def test_a_longer_id_widens_its_column() -> None:
    column = GrowingColumn(np.array([b"ab"], dtype="S2"))
    before = column.view()
    column.append(b"a longer one")
    assert column.view().tolist() == [b"ab", b"a longer one"]
    assert before.tolist() == [b"ab"]


def test_codes_are_stable() -> None:
    codes = Codes(["person"])
    assert [codes.of(value) for value in ("person", "place", None, "place")] == [0, 1, -1, 1]


def test_times_are_microseconds() -> None:
    assert microseconds(datetime(1970, 1, 1, 0, 0, 1, 5, tzinfo=UTC), 0) == 1_000_005
    assert microseconds(datetime.min.replace(tzinfo=UTC), 0) > BEGINNING
    assert microseconds(None, BEGINNING) == BEGINNING
