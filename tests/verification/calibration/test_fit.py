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


def test_where_no_threshold_is_safe_nothing_is_accepted() -> None:
    few = accept_threshold(np.full(19, 0.9), np.ones(19, dtype=bool), max_false_accept=0.05)
    assert (few.at, few.accepted) == (NEVER, 0.0)  # nineteen right ones do not show one in twenty
    enough = accept_threshold(np.full(20, 0.9), np.ones(20, dtype=bool), max_false_accept=0.05)
    assert (enough.at, enough.accepted) == (0.9, 1.0)
    assert accept_threshold(np.zeros(0), np.zeros(0, dtype=bool), max_false_accept=1.0).at == NEVER
