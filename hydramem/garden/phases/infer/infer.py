"""Infer: relations that nothing states outright, each with the passages that support it.

From the graph: entities that passages name together and that have neighbours in common, joined by a type that
fits both. With a model, also from evidence that several sessions saw. Verification judges each inference, and
none is made without evidence or from other inferences: the graph used here holds stated relations only.
"""

from collections.abc import Collection, Sequence

import numpy as np

from hydramem.core.errors import ModelUnavailableError
from hydramem.core.row_types import Chunk, RelationCandidate
from hydramem.garden.phases.infer.candidate_pairs import Guesses, Pairs, guesses, pairs, passages_of
from hydramem.garden.phases.infer.infer_from_sessions import SessionInferences, from_sessions
from hydramem.garden.phases.infer.inferred_proposals import Inference, judged, proposals, relation_of
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseOutcome, PhaseWork
from hydramem.graph.functional_types import functional_types, holding_now
from hydramem.graph.snapshot.snapshot import RELATION, Snapshot
from hydramem.verification.first_stage.relation_arrays import Facts, Ints
from hydramem.verification.first_stage.similar_entities import learned

_NEAREST = 8000
_TRIED = 20
"""Triples that are judged for each that may be proposed."""

_MOST_EVIDENCE = 8


def infer(context: PhaseContext) -> PhaseOutcome:
    """Propose relations that may hold although nothing states them."""
    work = PhaseWork(context)
    limit = context.settings.garden.infer_limit
    single = functional_types(context.snapshot)
    single |= set(context.settings.verification.functional)
    by_model = _by_model(work)
    found = [*by_model.inferences, *_by_graph(work, single, most=_TRIED * limit)]
    kept, reasons = judged(found, work)
    failures = [*by_model.failures, *(each for each in reasons if each.startswith("the model"))]
    made = tuple(proposals(kept, work, limit=limit, single=single))
    work.counts["inferred"] = len(made)
    work.notes += dict.fromkeys((*failures, *by_model.notes))
    return work.outcome(
        made, state="completed" if not failures else "partial" if made or by_model.read else "failed"
    )


def _by_model(work: PhaseWork) -> SessionInferences:
    """Return what a model infers; nothing where none is configured."""
    try:
        generator = work.context.generator("infer")
    except ModelUnavailableError as error:
        return SessionInferences(failures=[f"The model cannot be asked: {error}."])
    return SessionInferences() if generator is None else from_sessions(work, generator)


def _by_graph(work: PhaseWork, single: Collection[str], *, most: int) -> list[Inference]:
    """Return what the graph suggests, the likeliest first."""
    context, snapshot = work.context, work.context.snapshot
    known = learned(snapshot)
    near = pairs(snapshot, known.facts, most=_NEAREST)
    work.counts["pairs_named_together"] = near.seen
    work.counts["pairs_near"] = len(near.one)
    if not len(near.one):
        return []
    full = _full_slots(snapshot, known.facts, single)
    found = guesses(known, near, weights=context.judge.weights, full=full)
    return _with_evidence(found, near, context, most)


def _full_slots(snapshot: Snapshot, facts: Facts, single: Collection[str]) -> Ints:
    """Return the slots of types with one object at a time that are filled, even by an inferred relation."""
    edges = snapshot.edges
    codes = [code for code, name in enumerate(edges.types) if name in single]
    rows = np.flatnonzero(holding_now(snapshot) & (edges.kind == RELATION) & np.isin(edges.type, codes))
    return np.unique(edges.type[rows].astype(np.int64) * facts.size + edges.source[rows])


def _with_evidence(found: Guesses, near: Pairs, context: PhaseContext, most: int) -> list[Inference]:
    snapshot, ids = context.snapshot, context.snapshot.nodes.ids
    count = min(most, len(found.pair))
    pair = found.pair[:count].tolist()
    evidence = {
        place: passages_of(snapshot, int(near.one[place]), int(near.other[place]), most=_MOST_EVIDENCE)
        for place in set(pair)
    }
    chunks = _usable_passages({id for each in evidence.values() for id in each}, context)
    subjects, objects = (
        [ids[node] for node in nodes[:count].tolist()] for nodes in (found.subject, found.object)
    )
    entities = {row.id: row for row in context.graph.entities(sorted({*subjects, *objects}))}
    types = [snapshot.edges.types[code] for code in found.type[:count].tolist()]
    inferences = []
    triples = zip(pair, subjects, types, objects, found.odds[:count].tolist(), strict=True)
    for place, subject_id, type, object_id, odds in triples:
        passages = [chunks[id] for id in evidence[place] if id in chunks]
        if passages and entities.keys() >= {subject_id, object_id}:
            subject, object = entities[subject_id], entities[object_id]
            row = relation_of(subject, type, object, passages, context)
            candidate = RelationCandidate(
                relation=row, subject=subject, object=object, passages=tuple(passages)
            )
            inferences.append(Inference(candidate=candidate, odds=odds, reason=_reason(passages)))
    return inferences


def _usable_passages(ids: set[str], context: PhaseContext) -> dict[str, Chunk]:
    """Read active passages; private ones are no evidence for anybody else."""
    rows = context.graph.chunks(sorted(ids))
    return {row.id: row for row in rows if row.state == "active" and not row.private}


def _reason(passages: Sequence[Chunk]) -> str:
    naming = "A passage names" if len(passages) == 1 else f"{len(passages)} passages name"
    return f"{naming} both, they have neighbours in common, and the type joins such things."
