"""Infer: relations that nothing states outright, each with the passages that it rests on.

Without a model, from the graph: things that passages name together, that have neighbours in common, and that
a type joins whose ends are such things. With one, also from what several sessions saw. Either way
verification judges before anything is proposed, and nothing is inferred without evidence. What is inferred
so supports no other inference: the graph that guesses and judges is of what something states.
"""

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np

from hydramem.core.errors import ModelUnavailableError
from hydramem.core.row_types import Chunk, RelationCandidate
from hydramem.garden.phases.infer.candidate_pairs import Guesses, Pairs, guesses, pairs, passages_of
from hydramem.garden.phases.infer.infer_from_sessions import SessionInferences, from_sessions
from hydramem.garden.phases.infer.inference import Inference, judged, proposals, relation_of
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseOutcome
from hydramem.graph.functional_types import functional_types, holding_now
from hydramem.graph.snapshot.snapshot import RELATION
from hydramem.verification.first_stage.likeness import learned
from hydramem.verification.first_stage.relation_arrays import Facts, Ints

_NEAREST = 8000

_TRIED = 20
"""Triples that are judged for each that may be proposed."""

_MOST_EVIDENCE = 8


def infer(ground: PhaseContext) -> PhaseOutcome:
    """Say which relations may hold that nothing states."""
    counts: Counter[str] = Counter()
    limit = ground.settings.garden.infer_limit
    single = functional_types(ground.snapshot)
    single |= set(ground.settings.verification.functional)
    heard = _by_model(ground, counts)
    found = [*heard.inferences, *_by_graph(ground, counts, single, most=_TRIED * limit)]
    judgement = judged(found, ground)
    failures = [*heard.failures, *(each for each in judgement.reasons if each.startswith("the model"))]
    made = tuple(proposals(judgement.kept, ground, limit=limit, single=single))
    counts.update({"judged": len(found), "rejected": judgement.rejected, "inferred": len(made)})
    counts["too_weak"] = judgement.weak
    return PhaseOutcome(
        proposals=made,
        counts=dict(sorted(counts.items())),
        state="completed" if not failures else "partial" if made or heard.read else "failed",
        notes=tuple(dict.fromkeys((*failures, *heard.notes))),
        usage=ground.budget.usage,
    )


def _by_model(ground: PhaseContext, counts: Counter[str]) -> SessionInferences:
    """Return what a model infers; nothing where none is configured."""
    try:
        generator = ground.generator("infer")
    except ModelUnavailableError as error:
        return SessionInferences(failures=[f"The model cannot be asked: {error}."])
    return SessionInferences() if generator is None else from_sessions(ground, generator, counts)


def _by_graph(
    ground: PhaseContext, counts: Counter[str], single: Collection[str], *, most: int
) -> list[Inference]:
    """Return what the graph suggests, the likeliest first."""
    snapshot = ground.snapshot
    known = learned(snapshot)
    near = pairs(snapshot, known.facts, most=_NEAREST)
    counts["pairs_named_together"] = near.seen
    counts["pairs_near"] = len(near.one)
    if not len(near.one):
        return []
    found = guesses(known, near, weights=ground.judge.weights, full=_full(ground, known.facts, single))
    return _with_evidence(found, near, ground, most)


def _full(ground: PhaseContext, facts: Facts, single: Collection[str]) -> Ints:
    """Return the slots of types with one object at a time that are filled, be it by a guess."""
    edges = ground.snapshot.edges
    codes = [code for code, name in enumerate(edges.types) if name in single]
    rows = np.flatnonzero(
        holding_now(ground.snapshot) & (edges.kind == RELATION) & np.isin(edges.type, codes)
    )
    return np.unique(edges.type[rows].astype(np.int64) * facts.size + edges.source[rows])


def _with_evidence(found: Guesses, near: Pairs, ground: PhaseContext, most: int) -> list[Inference]:
    snapshot, ids = ground.snapshot, ground.snapshot.nodes.ids
    first = range(min(most, len(found.pair)))
    evidence: dict[int, tuple[str, ...]] = {}
    for place in {int(found.pair[each]) for each in first}:
        one, other = int(near.one[place]), int(near.other[place])
        evidence[place] = passages_of(snapshot, one, other, most=_MOST_EVIDENCE)
    chunks = _believed({id for each in evidence.values() for id in each}, ground)
    named = {ids[int(node)] for side in (found.subject, found.object) for node in side[:most]}
    entities = {row.id: row for row in ground.graph.entities(sorted(named))}
    inferences = []
    for each in first:
        ends = ids[int(found.subject[each])], ids[int(found.object[each])]
        passages = [chunks[id] for id in evidence[int(found.pair[each])] if id in chunks]
        if passages and entities.keys() >= set(ends):
            subject, object = entities[ends[0]], entities[ends[1]]
            row = relation_of(subject, snapshot.edges.types[int(found.type[each])], object, passages, ground)
            candidate = RelationCandidate(
                relation=row, subject=subject, object=object, passages=tuple(passages)
            )
            inferences.append(
                Inference(candidate=candidate, odds=float(found.odds[each]), reason=_why(passages))
            )
    return inferences


def _believed(ids: set[str], ground: PhaseContext) -> dict[str, Chunk]:
    """Read passages; what is private is nobody else's evidence."""
    rows = ground.graph.chunks(sorted(ids))
    return {row.id: row for row in rows if row.state == "active" and not row.private}


def _why(passages: Sequence[Chunk]) -> str:
    told = "A passage names" if len(passages) == 1 else f"{len(passages)} passages name"
    return f"{told} both, they have neighbours in common, and the type joins such things."
