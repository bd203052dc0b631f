"""Thresholds by risk: over many splits, what is accepted is false no oftener than was asked."""

import numpy as np
import pytest

from hydramem.verification.calibration.fit import accept_threshold


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
