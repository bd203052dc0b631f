"""Review: counts what waits for a person; nothing is changed, since only a person decides it."""

from hydramem.garden.answers import counted
from hydramem.garden.doubts import doubts
from hydramem.garden.ground import Ground, Outcome
from hydramem.garden.questions import cases


def review(ground: Ground) -> Outcome:
    """Say how many cases wait for a person, by kind."""
    settings = ground.settings
    found = cases(
        ground.graph,
        ground.snapshot,
        doubts(ground.folder),
        functional=settings.verification.functional,
    )
    waiting = found[: settings.garden.review_limit]
    return Outcome(counts={"waiting": len(waiting), **counted(waiting)})
