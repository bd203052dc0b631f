"""The phases of a night and what each does."""

from collections.abc import Mapping

from hydramem.core.row_types import Phase
from hydramem.garden.ground import PhaseStep
from hydramem.garden.infer import infer
from hydramem.garden.merge import merge
from hydramem.garden.prune import prune
from hydramem.garden.reuse import reuse
from hydramem.garden.review import review
from hydramem.garden.supersede import supersede
from hydramem.garden.verify import verify

STEPS: Mapping[Phase, PhaseStep] = {
    "infer": infer,
    "verify": verify,
    "supersede": supersede,
    "merge": merge,
    "reuse": reuse,
    "prune": prune,
    "review": review,
}
"""By phase; `maintain` changes no rows and is handed to the night apart."""
