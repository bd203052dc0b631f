"""Which scorer of edges serves: the one with torch where that is installed, else the logistic one."""

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
from hydramem.storage.store import GraphStore, VectorStore

MODEL = "edges.pt"
"""The trained model, in the gardener's folder of a project."""

_SHARE = 0.5
"""Share of a phase's time that training may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a scorer learns from and is kept with.

    Attributes:
        snapshot: The graph.
        labels: What people said of its relations.
        vectors: Where the vectors of entities are.
        embedder: What made those.
        file: Where the model is kept.
    """

    snapshot: Snapshot
    labels: Labels
    vectors: VectorStore
    embedder: str
    file: Path


def material(snapshot: Snapshot, graph: GraphStore, vectors: VectorStore, folder: Path) -> Material:
    """Gather what a scorer learns from.

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

    A model that was trained before serves while settings are the same, and nearly all of the graph and of
    what people said; else one is trained, and kept where the night is more than a plan.

    Args:
        context: What is looked at.
    """
    given = material(context.snapshot, context.graph, context.vectors, context.folder)
    if not available():
        return logistic.score(given.snapshot, labels=given.labels, progress=context.progress)
    from hydramem.garden.edges.gnn.score import save, score

    model, why = serving(given)
    if model is None:
        seconds = _SHARE * context.settings.garden.phase_seconds
        model = _trained(given, seconds=seconds, progress=context.progress)
        if model is None:
            return None
        if context.saves_models:
            save(model, given.file)
    scores = score(model, given.snapshot, vectors=given.vectors.entity_vectors)
    return replace(scores, notes=() if why is None else (f"The edge scorer was trained anew: {why}.",))


def serving(given: Material) -> tuple[Model | None, str | None]:
    """Return the kept model, where it serves; else why not, where there is one."""
    from hydramem.garden.edges.gnn.score import load

    try:
        model = load(given.file)
    except StorageError:
        return None, "its file could not be read"
    if model is None:
        return None, "its file is of another version" if given.file.exists() else None
    settings = (*SETTINGS, given.embedder)
    why = stale(model.fingerprint, fingerprint(given.snapshot, given.labels, settings=settings))
    return (model, None) if why is None else (None, why)


def _trained(given: Material, *, seconds: float, progress: Callable[[int, int], None]) -> Model | None:
    from hydramem.garden.edges.gnn.training import train

    return train(
        given.snapshot,
        labels=given.labels,
        vectors=given.vectors.entity_vectors,
        embedder=given.embedder,
        seconds=seconds,
        progress=progress,
    )


def train(given: Material, *, seconds: float, progress: Callable[[int, int], None]) -> Trained:
    """Train the scorer with torch now, and keep it.

    Args:
        given: What it learns from.
        seconds: How long learning may take.
        progress: Called with steps done and the most that there are.

    Raises:
        ModelUnavailableError: Torch is not installed.
        InvalidInputError: The project has too few relations to learn from.
    """
    if not available():
        raise ModelUnavailableError(
            "training the edge scorer needs torch; run `pip install 'hydramem[gnn]'`. Without it the "
            "gardener fits its logistic scorer anew each night"
        )
    from hydramem.garden.edges.gnn.score import save

    model = _trained(given, seconds=seconds, progress=progress)
    if model is None:
        raise InvalidInputError(
            f"project {given.snapshot.project!r}: fewer than {logistic.LEAST_RELATIONS} relations are too "
            "few to train on"
        )
    save(model, given.file)
    return Trained(
        project=given.snapshot.project,
        scorer=NAME,
        relations=model.relations,
        labels=model.labels,
        auc=model.auc,
        calibration=model.calibration,
        seconds=model.seconds,
        file=str(given.file),
    )
