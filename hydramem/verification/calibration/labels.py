"""Labels to learn from: verdicts of people, and of models that read the evidence.

A label is a verdict on a relation in the graph store; that on a refused relation is on record as a Change.
Verdicts of the first stage are no labels. Labelled relations are no fair sample: models read mostly what the
first stage leaves open. So each label is weighted by the number of relations of similar probability that it
represents (inverse-probability weighting).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hydramem.core.config import VerificationConfig
from hydramem.core.row_types import Relation, RelationCandidate
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.ingest.knowledge.end_validity import is_version
from hydramem.ingest.knowledge.graph_rows import candidates_of, is_given
from hydramem.storage.store import GraphStore, Listing
from hydramem.verification.calibration.fit import Examples
from hydramem.verification.first_stage import first_stage
from hydramem.verification.first_stage.relation_arrays import Floats, Ints
from hydramem.verification.first_stage.weights import Weights

PERSON = "person:"
"""How the verifier of a person's verdict begins."""
MOST = 200_000
"""Relations that are read of one project: they are held in memory, with their features."""
_BATCH = 400

# Keys of a relation's scores that are no features: the results of the two stages.
_RESULTS = frozenset(["srmkg", "vog"])

# One label that represents very many would decide alone.
_MOST_WEIGHT = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRelations:
    """The relations of a project that were judged, whether they were stored or refused.

    Attributes:
        stored: Relations in the graph, of every state, by id.
        refused: Relations that are on record only, by id; as they were last refused.
        cut: Whether there are more relations than were read.
    """

    stored: Mapping[str, Relation]
    refused: Mapping[str, Relation]
    cut: bool = False

    def having(self, rows: Iterable[Relation]) -> "JudgedRelations":
        """Return these with rows stored, new or in place of those of the same id."""
        stored = {**self.stored, **{row.id: row for row in rows}}
        refused = {id: row for id, row in self.refused.items() if id not in stored}
        return replace(self, stored=stored, refused=refused)

    def __iter__(self) -> Iterator[Relation]:
        yield from self.stored.values()
        yield from self.refused.values()


def judged_relations(graph: GraphStore, project: str) -> JudgedRelations:
    """Read the relations of a project, stored or refused; of very many, those recorded last."""
    page = graph.list_relations(project, Listing(limit=MOST), states=())
    stored = {row.id: row for row in page if not is_version(row)}
    return JudgedRelations(
        stored=stored,
        refused={row.id: row for row in _refused(graph, project) if row.id not in stored},
        cut=len(page) == MOST,
    )


def _refused(graph: GraphStore, project: str) -> Iterator[Relation]:
    from pydantic import TypeAdapter, ValidationError

    rows = TypeAdapter(Relation)
    found: dict[str, Relation] = {}
    for change in graph.changes(project=project, kind="r"):
        if change.after is None:
            found.pop(change.target, None)  # what refused it was undone
            continue
        try:
            row = rows.validate_json(change.after)
        except ValidationError:
            continue  # a note of another kind, which says nothing of a verdict
        if row.verdict == "rejected" and row.id == change.target and row.project == project:
            found[row.id] = row
    yield from found.values()


def truth(relation: Relation) -> bool | None:
    """Return the verdict of a person or model on a relation; None where there is none, or it left it open."""
    if not is_given(relation):
        return None
    return {"accepted": True, "rejected": False}.get(relation.verdict or "")


def features(relations: Sequence[Relation], graph: GraphStore, snapshot: Snapshot) -> Floats:
    """Return the features of relations: those on record from when they were judged, else the present ones.

    Returns:
        Shape (relations, `first_stage.NAMES`); NaN where an end is no longer in the graph.
    """
    result = np.full((len(relations), len(first_stage.NAMES)), np.nan)
    for place, row in enumerate(relations):
        if is_scored(row):
            result[place] = [row.scores.get(name, 0.0) for name in first_stage.NAMES]
    bare = [place for place, row in enumerate(relations) if not is_scored(row)]
    for part in (bare[start : start + _BATCH] for start in range(0, len(bare), _BATCH)):
        found = candidates([relations[place] for place in part], graph)
        places = [place for place in part if relations[place].id in found]
        if places:
            result[places] = first_stage.features([found[relations[place].id] for place in places], snapshot)
    return result


def is_scored(relation: Relation) -> bool:
    """Say whether a relation carries features of this version."""
    names = relation.scores.keys() - _RESULTS
    return bool(names) and names <= set(first_stage.NAMES)


def candidates(relations: Sequence[Relation], graph: GraphStore) -> dict[str, RelationCandidate]:
    """Return relations with their ends and passages, by id; those with an end that is gone are left out."""
    ends = [end for row in relations for end in (row.subject, row.object)]
    there = {row.id for row in graph.entities(ends)}
    rows = [row for row in relations if {row.subject, row.object} <= there]
    return {each.relation.id: each for each in candidates_of(rows, graph)}


def examples(
    everything: JudgedRelations,
    *,
    weights: Weights,
    settings: VerificationConfig,
    graph: GraphStore,
    snapshot: Snapshot,
) -> tuple[Examples, tuple[Relation, ...]]:
    """Return the labels of a project, each weighted by the relations it represents, and their relations.

    Args:
        weights: Give the probability of relations.
        settings: Thresholds between what the first stage accepts, leaves open and rejects.
        graph, snapshot: Where features are computed that are not on record.
    """
    rows = [row for row in everything if truth(row) is not None]
    found = features(rows, graph, snapshot)
    there = np.flatnonzero(np.isfinite(found).all(axis=1))
    rows, found = [rows[int(place)] for place in there], found[there]
    bounds = [settings.reject_below, settings.accept_at]
    others = [row for row in everything if truth(row) is None and is_scored(row)]
    zones = [
        np.digitize(first_stage.probabilities(each, weights), bounds)
        for each in (found, features(others, graph, snapshot))
    ]
    return (
        Examples(
            features=found,
            names=first_stage.NAMES,
            true=np.array([truth(row) for row in rows], dtype=np.bool_),
            weights=stands_for(*zones),
        ),
        tuple(rows),
    )


def stands_for(own: Ints, others: Ints) -> Floats:
    """Return how much each label counts, 1 on the average.

    Args:
        own: Zone of each label, 0 to 2: rejected, open or accepted by the first stage.
        others: Zone of each relation that has no label.
    """
    labelled = np.bincount(own, minlength=3)
    each = (labelled + np.bincount(others, minlength=3)) / np.maximum(labelled, 1)
    weights = np.minimum(each, each[labelled > 0].min(initial=np.inf) * _MOST_WEIGHT)[own]
    return np.asarray(weights / weights.mean()) if len(own) else np.ones(0)
