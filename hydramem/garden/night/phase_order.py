"""Review: counts what waits for a person; nothing is changed, since only a person decides it."""

from collections.abc import Mapping

from hydramem.core.row_types import Phase
from hydramem.garden.phases.infer.infer import infer
from hydramem.garden.phases.merge.merge import merge
from hydramem.garden.phases.prune.prune import prune
from hydramem.garden.phases.reuse_weights import reuse
from hydramem.garden.phases.supersede.supersede_relations import supersede
from hydramem.garden.phases.verify_deferred import verify
from hydramem.garden.proposals.exclusions import undecided_pairs
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseOutcome, PhaseStep
from hydramem.garden.review.answers import counted
from hydramem.garden.review.questions import cases


def review(ground: PhaseContext) -> PhaseOutcome:
    """Say how many cases wait for a person, by kind."""
    settings = ground.settings
    found = cases(
        ground.graph,
        ground.snapshot,
        undecided_pairs(ground.folder),
        functional=settings.verification.functional,
    )
    waiting = found[: settings.garden.review_limit]
    return PhaseOutcome(counts={"waiting": len(waiting), **counted(waiting)})


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
