"""Which group of today is which of before."""

from hypothesis import given
from hypothesis import strategies as st

from hydramem.garden.phases.lasting_communities import successors
from tests.examples import FEW

GROUPS = st.lists(st.integers(0, 5), max_size=40).map(
    lambda homes: [
        tuple(f"m{member}" for member, home in enumerate(homes) if home == group)
        for group in sorted(set(homes))
    ]
)


def named(groups: list[tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    return {f"g{place}": members for place, members in enumerate(groups)}


@FEW
@given(GROUPS)
def test_what_has_not_changed_goes_on(groups: list[tuple[str, ...]]) -> None:
    found = successors(groups, named(groups))
    assert found == {place: (f"g{place}", 1.0) for place in range(len(groups))}


@FEW
@given(GROUPS, GROUPS)
def test_each_goes_on_in_one_and_order_does_not_matter(
    groups: list[tuple[str, ...]], before: list[tuple[str, ...]]
) -> None:
    found = successors(groups, named(before))
    ids = [id for id, _ in found.values()]
    assert len(set(ids)) == len(ids)
    backwards = successors(groups[::-1], dict(reversed(named(before).items())))
    assert {groups[place]: id for place, (id, _) in found.items()} == {
        groups[::-1][place]: id for place, (id, _) in backwards.items()
    }


def test_the_larger_part_of_a_group_that_falls_apart_goes_on() -> None:
    before = {"g": ("a", "b", "c", "d", "e")}
    assert successors([("a", "b"), ("c", "d", "e"), ("x", "y")], before) == {1: ("g", 0.6)}
