"""Thresholds by risk: over many splits, what is accepted is false no oftener than was asked."""

import numpy as np
import pytest

from hydramem.verification.calibration.fit import NEVER, accept_threshold


def drawn(generator: np.random.Generator, count: int, *, share: float, apart: float):
    """Draw probabilities and labels: two overlapping bells, not calibrated."""
    true = generator.random(count) < share
    return 1 / (1 + np.exp(-generator.normal(size=count) - apart * true)), true


@pytest.mark.parametrize(
    ("asked", "share", "apart"), [(0.05, 0.3, 3.0), (0.1, 0.5, 2.0), (0.1, 0.3, 3.0), (0.2, 0.8, 1.0)]
)
def test_over_random_splits_the_rate_is_not_above_what_was_asked(asked, share, apart) -> None:
    generator = np.random.default_rng(7)
    chances, true = drawn(generator, 2000, share=share, apart=apart)
    rates, accepted = [], 0
    for _ in range(20):
        order = generator.permutation(2000)
        held, rest = order[:500], order[500:]
        at = accept_threshold(chances[held], true[held], max_false_accept=asked).at
        taken = rest[chances[rest] >= at]
        rates.append(float((~true[taken]).mean()) if len(taken) else 0.0)
        accepted += len(taken)
    assert np.mean(rates) <= asked
    assert accepted > 0


def test_labels_drawn_unevenly_are_weighted_back() -> None:
    """Where one label in ten of the sure ones is read, each stands for ten."""
    generator = np.random.default_rng(3)
    chances, true = drawn(generator, 20_000, share=0.5, apart=2.5)
    read = (chances < 0.8) | (generator.random(20_000) < 0.1)
    weights = np.where(chances[read] < 0.8, 1.0, 10.0)
    weighted = accept_threshold(chances[read], true[read], max_false_accept=0.1, weights=weights)
    plain = accept_threshold(chances[read], true[read], max_false_accept=0.1)
    whole = accept_threshold(chances, true, max_false_accept=0.1)
    assert abs(weighted.accepted - whole.accepted) < 0.05 < abs(plain.accepted - whole.accepted)


def test_where_no_threshold_is_safe_nothing_is_accepted() -> None:
    few = accept_threshold(np.full(19, 0.9), np.ones(19, dtype=bool), max_false_accept=0.05)
    assert (few.at, few.accepted) == (NEVER, 0.0)  # nineteen right ones do not show one in twenty
    enough = accept_threshold(np.full(20, 0.9), np.ones(20, dtype=bool), max_false_accept=0.05)
    assert (enough.at, enough.accepted) == (0.9, 1.0)
    assert accept_threshold(np.zeros(0), np.zeros(0, dtype=bool), max_false_accept=1.0).at == NEVER


def test_equal_probabilities_are_accepted_together_or_not_at_all() -> None:
    true = np.array([True] * 40 + [False] * 40)
    mixed = accept_threshold(np.full(80, 0.8), true, max_false_accept=0.2)
    assert mixed.at == NEVER  # in this order the true ones come first, which no threshold can tell


def test_no_threshold_below_the_bound_is_chosen() -> None:
    chances = np.linspace(0.01, 1, 100)
    found = accept_threshold(chances, np.ones(100, dtype=bool), max_false_accept=0.5, at_least=0.3)
    assert found.at == pytest.approx(0.3)


def test_a_gap_between_labels_is_shared() -> None:
    chances = np.array([0.9] * 40 + [0.1] * 40)
    true = chances > 0.5
    assert accept_threshold(chances, true, max_false_accept=0.1).at == pytest.approx(0.5)
    assert accept_threshold(chances, true, max_false_accept=0.1, at_least=0.7).at == 0.7
