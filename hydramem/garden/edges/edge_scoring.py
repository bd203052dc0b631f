"""Scoring relations: by the scorer with torch where that is installed, else by the logistic one."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from hydramem.core.errors import InvalidInputError, ModelUnavailableError, StorageError
from hydramem.core.results.garden_results import Trained
from hydramem.garden.edges import logistic
from hydramem.garden.edges.gnn.trained_model import NAME, SETTINGS, Model, available
from hydramem.garden.edges.labelled_relations import EdgeScores, Labels, labels
from hydramem.garden.edges.training_fingerprint import fingerprint, stale
from hydramem.garden.proposals.phase_context import PhaseContext
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.storage.repair.reindex import EMBEDDER
from hydramem.storage.store import GraphStore
from hydramem.storage.vector_rows import VectorStore

MODEL = "edges.pt"
"""The trained model, in the gardener's folder of a project."""

_SHARE = 0.5
"""Share of a phase's time that training may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """The inputs of a scorer.

    Attributes:
        labels: Verdicts of people on its relations.
        vectors: Where the vectors of entities are stored.
        embedder: What made those.
        file: Where the trained model is kept.
    """

    snapshot: Snapshot
    labels: Labels
    vectors: VectorStore
    embedder: str
    file: Path


def material(snapshot: Snapshot, graph: GraphStore, vectors: VectorStore, folder: Path) -> Material:
    """Gather the inputs of a scorer.

    Args:
        snapshot: The graph of a project.
        graph, vectors: The stores.
        folder: The gardener's, of the project.
    """
    return Material(
        snapshot=snapshot,
        labels=labels(graph, snapshot),
        vectors=vectors,
        embedder=graph.meta().get(EMBEDDER, ""),
        file=folder / MODEL,
    )


def scores_of(context: PhaseContext) -> EdgeScores | None:
    """Score the relations of a project; None where it has too few to learn from.

    A saved model is used while the settings are the same and the graph and labels nearly so; else one is
    trained, and saved unless only a plan is asked for.
    """
    inputs = material(context.snapshot, context.graph, context.vectors, context.folder)
    if not available():
        return logistic.score(inputs.snapshot, labels=inputs.labels, progress=context.progress)
    from hydramem.garden.edges.gnn.score import save, score

    model, why = _saved_model(inputs)
    if model is None:
        seconds = _SHARE * context.settings.garden.phase_seconds
        model = _trained(inputs, seconds=seconds, progress=context.progress)
        if model is None:
            return None
        if context.saves_models:
            save(model, inputs.file)
    scores = score(model, inputs.snapshot, vectors=inputs.vectors.entity_vectors)
    return replace(scores, notes=() if why is None else (f"The edge scorer was trained anew: {why}.",))


def _saved_model(inputs: Material) -> tuple[Model | None, str | None]:
    """Return the saved model where it is usable; else why not, where there is one."""
    from hydramem.garden.edges.gnn.score import load

    try:
        model = load(inputs.file)
    except StorageError:
        return None, "its file could not be read"
    if model is None:
        return None, "its file is of another version" if inputs.file.exists() else None
    settings = (*SETTINGS, inputs.embedder)
    why = stale(model.fingerprint, fingerprint(inputs.snapshot, inputs.labels, settings=settings))
    return (model, None) if why is None else (None, why)


def _trained(inputs: Material, *, seconds: float, progress: Callable[[int, int], None]) -> Model | None:
    from hydramem.garden.edges.gnn.training import train

    return train(
        inputs.snapshot,
        labels=inputs.labels,
        vectors=inputs.vectors.entity_vectors,
        embedder=inputs.embedder,
        seconds=seconds,
        progress=progress,
    )


def train(inputs: Material, *, seconds: float, progress: Callable[[int, int], None]) -> Trained:
    """Train the scorer with torch now, and save the model.

    Args:
        inputs: What it learns from.
        seconds: How long learning may take.
        progress: Called with steps done and the most that there are.

    Raises:
        ModelUnavailableError: Torch is not installed.
        InvalidInputError: The project has too few relations to learn from.
    """
    if not available():
        raise ModelUnavailableError(
            "training the edge scorer needs torch; run `pip install 'hydramem[gnn]'`. Without it the "
            "gardener fits its logistic scorer anew in each run"
        )
    from hydramem.garden.edges.gnn.score import save

    model = _trained(inputs, seconds=seconds, progress=progress)
    if model is None:
        raise InvalidInputError(
            f"project {inputs.snapshot.project!r}: fewer than {logistic.LEAST_RELATIONS} relations are too "
            "few to train on"
        )
    save(model, inputs.file)
    return Trained(
        project=inputs.snapshot.project,
        scorer=NAME,
        relations=model.relations,
        labels=model.labels,
        auc=model.auc,
        calibration=model.calibration,
        seconds=model.seconds,
        file=str(inputs.file),
    )
