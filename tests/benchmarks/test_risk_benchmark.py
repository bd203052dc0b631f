"""The benchmark of requested rates, on relations whose truth follows a rule."""

import numpy as np

from benchmarks import risk
from hydramem.verification.calibration.fit import Examples
from hydramem.verification.first_stage import first_stage
from tests.verification.projects import is_true, scored


def test_calibrated_thresholds_carry_the_risk_that_was_asked_for() -> None:
    rows = [scored(place, np.random.default_rng([1, place]), "srmkg:1") for place in range(600)]
    given = Examples(
        features=np.array([[row.scores[name] for name in first_stage.NAMES] for row in rows]),
        names=first_stage.NAMES,
        true=np.array([is_true(row) for row in rows]),
        weights=np.ones(600),
    )
    (loose,) = risk.keep(given, "rule", splits=3, labels=300, asked=(0.2,))
    assert loose.false_accept <= 0.2
    assert loose.accepted > 0.2 and loose.none == 0
    assert loose.auc_after > loose.auc_before + 0.1
    (strict,) = risk.keep(given, "rule", splits=1, labels=300, asked=(0.001,))
    assert (strict.accepted, strict.none) == (0.0, 1)
    assert "rule" in risk.shown([loose, strict])
