"""How probable it is that two things are one: the same both ways, and by what is said of them."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hydramem.garden.phases.merge.candidate_blocks import candidates, keys
from hydramem.garden.phases.merge.match_model import (
    PLAIN,
    Rarity,
    Thing,
    match_profile,
    measured,
    shipped,
)
from hydramem.text.names.name_comparison import name_parts
from tests.examples import FEW

NAMES = ("Ada Lovelace", "A. Lovelace", "Kestrel Works 3", "IBM", "Grand Hotel", "Grand Central Hotel")
THINGS = st.builds(
    Thing,
    names=st.lists(st.one_of(st.sampled_from(NAMES), st.text(max_size=30)), min_size=1, max_size=3).map(
        tuple
    ),
    details=st.lists(st.text(max_size=40), max_size=3).map(tuple),
)


@FEW
@given(THINGS, THINGS)
def test_a_pair_is_measured_the_same_both_ways(one: Thing, other: Thing) -> None:
    mine, yours = match_profile(one), match_profile(other)
    rarity = Rarity([mine.words, yours.words])
    there, back = measured(mine, yours, rarity), measured(yours, mine, rarity)
    assert len(there) == len(PLAIN) and np.isfinite(there).all()
    assert max(map(abs, there)) <= 1.0 + 1e-9
    assert there == back or one == other


def chance(one: Thing, other: Thing) -> float:
    mine, yours = match_profile(one), match_profile(other)
    rarity = Rarity([mine.words, yours.words, *(name_parts(name).words for name in NAMES)])
    return float(shipped().probabilities([measured(mine, yours, rarity)])[0])


def test_what_is_said_of_two_things_tells_them_apart() -> None:
    one = Thing(names=("Grand Hotel",), details=("12 Station Road, Bath", "01225 446 780"))
    same = Thing(names=("The Grand Hotel",), details=("12 Station Rd., Bath", "01225-446780"))
    other = Thing(names=("Grand Hotel",), details=("98 Rue Blanche, Paris", "331 555 2190"))
    assert chance(one, same) > 0.8 > 0.5 > chance(one, other)
    assert chance(Thing(names=("Kestrel 3",)), Thing(names=("Kestrel 4",))) < 0.1


@FEW
@given(st.lists(st.sampled_from((*NAMES, "Ada", "Grand", "Hotel Grand")), max_size=12))
def test_blocks_find_every_pair_that_shares_a_key(names: list[str]) -> None:
    named = [name_parts(name) for name in names]
    found = candidates([(one,) for one in named])
    pairs = set(zip(found.one.tolist(), found.other.tolist(), strict=True))
    filed = [set(keys(one)) for one in named]
    wanted = {(one, other) for one, other in combinations(range(len(names)), 2) if filed[one] & filed[other]}
    assert pairs == wanted
    assert len(candidates([(one,) for one in named], limit=2).one) == min(2, len(wanted))
