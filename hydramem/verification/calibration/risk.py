"""An accept threshold by the risk that it carries (conformal risk control, Angelopoulos et al. 2022).

What is controlled is the share of what was accepted that is false: it is what somebody means who asks
for at most five wrong relations in a hundred. The share of false acceptances among all candidates, the
bounded and monotone loss that the paper's theorem is about, is never larger, so its guarantee holds too:
over the draw of labels and of the next candidate, that candidate is falsely accepted with at most the
probability asked for.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

Flags = NDArray[np.bool_]

NEVER = 2.0
"""A threshold that no probability reaches: nothing is accepted without a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """Where to accept.

    Attributes:
        at: Probability from which to accept; `NEVER` where no threshold carries as little risk as asked.
        bound: What the share of false ones among the accepted is held to be at most; 0 where none is.
        accepted: Share of candidates that it accepts.
    """

    at: float
    bound: float
    accepted: float


def accept_threshold(
    probabilities: Floats,
    true: Flags,
    *,
    max_false_accept: float,
    weights: Floats | None = None,
    at_least: float = 0.0,
) -> Threshold:
    """Return the lowest threshold at which few enough of the accepted are false.

    The count of false ones is taken one larger than it is, for the candidate to come, and larger by its
    own standard deviation, because a threshold that was searched for looks better than it is.

    Args:
        probabilities: Of labelled candidates, by weights that were fitted without them; shape (labels,).
        true: Whether each is true.
        max_false_accept: Largest share of false ones among the accepted, 0 to 1.
        weights: How many candidates each label stands for; one each where None.
        at_least: No lower threshold is looked at.
    """
    weights = np.ones(len(true)) if weights is None else weights
    order = np.argsort(-probabilities, kind="stable")
    order = order[probabilities[order] >= at_least]
    wrong = weights[order] * ~true[order]
    accepted = np.cumsum(weights[order])
    doubt = np.maximum.accumulate(weights[order]) + np.sqrt(np.cumsum(wrong**2))
    bounds = (np.cumsum(wrong) + doubt) / accepted
    ends = np.append(np.diff(probabilities[order]) != 0, True)  # equal ones are accepted together
    good = np.flatnonzero((bounds <= max_false_accept) & ends[: len(order)])
    if not len(good):
        return Threshold(at=NEVER, bound=0.0, accepted=0.0)
    last = good[-1]
    lowest = float(probabilities[order[last]])
    # Nothing is known of what lies between this label and the next below: half of it is taken.
    below = probabilities[probabilities < lowest].max(initial=-np.inf)
    between = lowest if np.isinf(below) else (lowest + float(below)) / 2
    return Threshold(
        at=max(between, at_least),
        bound=float(bounds[last]),
        accepted=float(accepted[last] / weights.sum()),
    )
