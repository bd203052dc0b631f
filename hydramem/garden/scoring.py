"""Which scorer of edges serves: the one with torch where that is installed, else the logistic one."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from hydramem.core.errors import InvalidInputError, ModelUnavailableError
from hydramem.core.results.gardened import Trained
from hydramem.garden import gnn, scorer
from hydramem.garden.edges import EdgeScores, relations_of
from hydramem.garden.ground import Ground
from hydramem.graph.snapshot import Snapshot

MODEL = "edges.pt"
"""The trained model, in the gardener's folder of a project."""
_GROWTH = 0.1
_SHARE = 0.5
"""Share of a phase's time that training may take."""


def scores_of(ground: Ground) -> EdgeScores | None:
    """Score the relations of a project; None where it has too few to learn from.

    A model that was trained before serves until there are a tenth more or fewer relations.

    Args:
        ground: What is looked at.

    Raises:
        StorageError: The trained model cannot be read any more.
    """
    if not gnn.available():
        return scorer.score(ground.snapshot, progress=ground.progress)
    file = ground.folder / MODEL
    model = gnn.load(file)
    if model is None or not serves(model.relations, ground.snapshot):
        seconds = _SHARE * ground.settings.garden.phase_seconds
        model = gnn.train(ground.snapshot, seconds=seconds, progress=ground.progress)
        if model is None:
            return None
        gnn.save(model, file)
    return gnn.score(model, ground.snapshot)


def serves(relations: int, snapshot: Snapshot) -> bool:
    """Say whether a model trained on so many relations serves a graph."""
    return bool(np.abs(len(relations_of(snapshot)) - relations) <= _GROWTH * relations)


def train(
    snapshot: Snapshot, folder: Path, *, seconds: float, progress: Callable[[int, int], None]
) -> Trained:
    """Train the scorer with torch now, and keep it.

    Args:
        snapshot: The graph.
        folder: The gardener's, of the project.
        seconds: How long training may take.
        progress: Called with steps done and the most that there are.

    Raises:
        ModelUnavailableError: Torch is not installed.
        InvalidInputError: The project has too few relations to learn from.
    """
    if not gnn.available():
        raise ModelUnavailableError(
            "training the edge scorer needs torch; run `pip install 'hydramem[gnn]'`. Without it the "
            "gardener fits its logistic scorer anew each night"
        )
    model = gnn.train(snapshot, seconds=seconds, progress=progress)
    if model is None:
        raise InvalidInputError(
            f"project {snapshot.project!r}: fewer than {scorer.LEAST_RELATIONS} relations are too few to "
            "train on"
        )
    gnn.save(model, folder / MODEL)
    return Trained(
        project=snapshot.project,
        scorer=gnn.NAME,
        relations=model.relations,
        auc=model.auc,
        calibration=model.calibration,
        seconds=model.seconds,
        file=str(folder / MODEL),
    )
