"""Deep recall: the relations between the entities of a question and of its hits, each verified now.

Nothing is written: a verdict made here is returned and not stored, so that reading changes no memory. What a
person or a model decided before is returned as it is, at no cost.
"""

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

import numpy as np

from hydramem.core.results.hits import Recall
from hydramem.core.row_types import Relation, RelationCandidate
from hydramem.graph.snapshot.snapshot import RELATION
from hydramem.ingest.knowledge.graph_rows import is_given
from hydramem.search.visible.visible_graph import View
from hydramem.storage.store import GraphStore
from hydramem.text.normalize import entity_key
from hydramem.text.quotes import find_quote
from hydramem.verification.verify import Judge
from hydramem.verification.verify_stored import checked_relation

_MOST_RELATIONS = 20
_ORDER = {"accepted": 0, "deferred": 1, "rejected": 2}


def deepened(found: Recall, *, seen: View, graph: GraphStore, judge: Judge) -> Recall:
    """Return a recall with the relations among its entities and those of its hits, best first.

    Args:
        seen: What may be seen of the project's graph, at the recall's times.
        graph, judge: Where rows are read, and what verifies relations.
    """
    started = perf_counter()
    candidates = _candidates(_relations_among(found, seen, graph), seen, graph)
    open_ = [each for each in candidates if not is_given(each.relation)]
    done = judge(open_)
    verdicts = {each.relation.id: verdict for each, verdict in zip(open_, done.verdicts, strict=True)}
    checked = [checked_relation(each, verdicts.get(each.relation.id)) for each in candidates]
    checked.sort(key=lambda each: (_ORDER[each.verdict.decision], -each.verdict.score, each.relation.id))
    return replace(
        found,
        relations=tuple(each.view() for each in checked),
        skipped=(*found.skipped, *(f"verify: {reason}" for reason in done.reasons)),
        milliseconds={**found.milliseconds, "verify": (perf_counter() - started) * 1000},
    )


def _relations_among(found: Recall, seen: View, graph: GraphStore) -> list[Relation]:
    """Return the weightiest relations that join two of the entities that are named or mentioned."""
    snapshot, edges = seen.snapshot, seen.snapshot.edges
    named = [snapshot.find(entity_key(name)) for name in found.entities]
    mentioned = [snapshot.node(each.entity) for each in graph.mentions([hit.id for hit in found.hits])]
    nodes = np.unique(np.array([node for node in (*named, *mentioned) if node is not None], dtype=np.int32))
    if len(nodes) < 2:
        return []
    rows = np.unique(snapshot.adjacency.expand(nodes).halves >> 1)
    rows = rows[(edges.kind[rows] == RELATION) & seen.believed[rows]]
    rows = rows[np.isin(edges.source[rows], nodes) & np.isin(edges.target[rows], nodes)]
    best = rows[np.argsort(-edges.weight[rows], kind="stable")][:_MOST_RELATIONS]
    ids = {snapshot.edges.ids[row].decode() for row in best.tolist()}
    subjects = sorted({snapshot.nodes.ids[node] for node in edges.source[best].tolist()})
    return [row for row in graph.relations(subjects) if row.id in ids]


def _candidates(relations: Sequence[Relation], seen: View, graph: GraphStore) -> list[RelationCandidate]:
    """Return relations with their visible evidence; those whose evidence may not be seen are left out."""
    chunks = graph.chunks(sorted({id for row in relations for id in row.evidence}))
    visible = {chunk.id: chunk for chunk in chunks if seen.where.admits(chunk)}
    ids = {end for row in relations for end in (row.subject, row.object)}
    ends = {row.id: row for row in graph.entities(sorted(ids))}
    candidates = []
    for row in relations:
        passages = tuple(visible[id] for id in row.evidence if id in visible)
        if row.evidence and not passages:
            continue
        quoted = row.quote and (not row.evidence or find_quote(row.quote, [each.text for each in passages]))
        candidates.append(
            RelationCandidate(
                relation=row if quoted else replace(row, quote=None),
                subject=ends[row.subject],
                object=ends[row.object],
                passages=passages,
            )
        )
    return candidates
