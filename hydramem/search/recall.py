"""Recall: plan, gather, fuse, check, pack."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from time import perf_counter

from hydramem.core.config import SearchConfig
from hydramem.core.results.hits import LinkView, Recall
from hydramem.core.row_types import Chunk, Traversal
from hydramem.graph.snapshot.registry import Snapshots
from hydramem.llm.contracts import Embedder
from hydramem.search.conversation import covering, in_conversation, spoken_share
from hydramem.search.fusion import Arm, Fused, GraphPath, RecallCandidate, blended, fuse, normalised, trusted
from hydramem.search.graph_arm import Walk, walk
from hydramem.search.linked_memories import along_links, links_of, strongest
from hydramem.search.pack_hits import distinct, pack, within
from hydramem.search.passages import stitched, surroundings
from hydramem.search.plan import NEAREST, RecallPlan, by_meaning, check_query, plan
from hydramem.search.recall_explanation import explanation
from hydramem.search.rerank import Reranker, reordered
from hydramem.search.text_arm import text_arm
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.store import GraphStore, VectorStore
from hydramem.storage.vector_rows import Vector
from hydramem.text.dates.dates_in_text import Dated, dates_in

VECTOR = "vector"


def vector_arm(vector: Vector, where: ChunkFilter, vectors: VectorStore, *, limit: int, weight: float) -> Arm:
    """Find the chunks whose meaning is nearest."""
    found = vectors.nearest(vector, where, limit)
    return Arm(name=VECTOR, weight=weight, scores=normalised({one.id: one.score for one in found}))


_SPARE = 10


def recall(
    query: str,
    *,
    where: ChunkFilter,
    limit: int,
    traversal: Traversal,
    graph: GraphStore,
    vectors: VectorStore,
    snapshots: Snapshots,
    embedder: Embedder,
    settings: SearchConfig,
    explain: bool = False,
    context: int = 0,
    max_tokens: int | None = None,
    reranker: Reranker | None = None,
) -> Recall:
    """Find the chunks that answer a query.

    Plan: find the entities that it names. Gather: by vector and by full text, inside the filter. Fuse:
    add the scores, let neighbouring turns support each other, walk the graph from the entities and the
    best chunks, mix that in. Check: drop what the graph store, which is the truth, does not hold or the
    filter does not admit. Rerank, where that is configured. Pack: hits with their scores and reasons.

    Args:
        query: What to look for, in words.
        where: Which chunks may be seen; the graph arm walks the projects that it names.
        limit: Most hits.
        traversal: How the graph arm walks; `none` leaves it out.
        graph, vectors, snapshots, embedder: Where to look, and the model of the vectors.
        settings: Weights and bounds.
        explain: Whether to say how the hits came about.
        context: How many chunks before and after a hit its passage takes in.
        max_tokens: Most tokens of the hits' texts together; None does not count.
        reranker: Puts the best candidates in order once more.

    Raises:
        InvalidInputError: The query is blank or too long, or the limit is out of its range.
    """
    check_query(query, limit, max_chars=settings.max_query_chars, max_limit=settings.max_limit)
    clock, dates = _Clock(), dates_in(query, where.at)
    plans, arms, vector = _gather(query, where, limit, snapshots, vectors, embedder, settings, clock)
    if traversal != "none" and vector is not None:
        with clock("entities"):
            plans = tuple(_by_meaning(each, vector, vectors) for each in plans)
    found = fuse(arms)
    with clock("neighbors"):
        found = in_conversation(found, plans, settings)
    with clock("graph"):
        walks = _walks(plans, found, where, traversal, settings, limit)
        graph_arm = _graph_arm(walks, settings.graph_weight * (1 - spoken_share(found, plans)))
        found = blended(found, graph_arm)
        lent = along_links(found, [each.snapshot for each in plans], where, settings.link_weight)
    with clock("check"):
        read = limit if reranker is None else max(limit, settings.rerank_candidates)
        winners, passed = _checked(query, dates, lent.found, where, read, graph, walks, lent.ways, settings)
    skipped: tuple[str, ...] = ()
    if reranker is not None:
        with clock("rerank"):
            winners, skipped = reordered(query, winners, reranker, most=settings.rerank_candidates)
    with clock("pack"):
        chosen = stitched(winners[:limit], reach=context, where=where, graph=graph)
        kept = within(chosen, max_tokens)
        hits = pack(query, kept, passed=passed, links=_links(kept, plans, where, graph))
    names = tuple(entity.name for each in plans for entity in each.entities)
    told = (
        explanation(
            query,
            plans=plans,
            dates=dates,
            arms=(*arms, graph_arm),
            found=lent.found,
            hits=hits,
            traversal=traversal,
        )
        if explain
        else None
    )
    return Recall(
        query=query,
        hits=hits,
        entities=names,
        milliseconds=clock.milliseconds,
        explanation=told,
        skipped=skipped,
    )


class _Clock:
    """Milliseconds by stage."""

    def __init__(self) -> None:
        self.milliseconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        started = perf_counter()
        yield
        self.milliseconds[stage] = (perf_counter() - started) * 1000


def _gather(
    query: str,
    where: ChunkFilter,
    limit: int,
    snapshots: Snapshots,
    vectors: VectorStore,
    embedder: Embedder,
    settings: SearchConfig,
    clock: _Clock,
) -> tuple[tuple[RecallPlan, ...], tuple[Arm, ...], Vector | None]:
    """Plan and look by words in a thread of its own: the stores and the model wait outside the interpreter.

    The first recall loads the graph there while vectors and model are loaded here.
    """
    count = max(settings.candidates, limit)

    def planned() -> tuple[RecallPlan, ...]:
        with clock("plan"):
            return tuple(plan(query, snapshots.of(project)) for project in where.projects)

    def by_words(plans: Sequence[RecallPlan]) -> Arm:
        with clock("text"):
            held = [each.snapshot for each in plans]
            return text_arm(query, where, vectors, held, limit=count, weight=settings.text_weight)

    arms: list[Arm] = []
    vector = None
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="hydramem-text") as beside:
        plans = beside.submit(planned)
        text = beside.submit(lambda: by_words(plans.result())) if settings.text_weight > 0 else None
        if settings.vector_weight > 0:
            with clock("embed"):
                vector = embedder.embed_query(query)
            with clock("vector"):
                arms.append(vector_arm(vector, where, vectors, limit=count, weight=settings.vector_weight))
        if text is not None:
            arms.append(text.result())
    return plans.result(), tuple(_with_unseen(arm, arms, vectors) for arm in arms), vector


def _with_unseen(arm: Arm, arms: Sequence[Arm], vectors: VectorStore) -> Arm:
    """Tell the vector arm which of the others' chunks have no vector yet."""
    if arm.name != VECTOR:
        return arm
    missed = {id for each in arms for id in each.scores} - arm.scores.keys()
    return replace(arm, unseen=vectors.chunks_without_vector(sorted(missed))) if missed else arm


def _by_meaning(plan: RecallPlan, vector: Vector, vectors: VectorStore) -> RecallPlan:
    if plan.entities:
        return plan
    return by_meaning(plan, vectors.nearest_entities(vector, (plan.snapshot.project,), NEAREST))


def _walks(
    plans: Sequence[RecallPlan],
    found: Sequence[Fused],
    where: ChunkFilter,
    traversal: Traversal,
    settings: SearchConfig,
    limit: int,
) -> tuple[Walk, ...]:
    count = max(settings.candidates, limit)
    return tuple(
        walk(each, found, where=where, traversal=traversal, damping=settings.damping, limit=count)
        for each in plans
    )


def _graph_arm(walks: Sequence[Walk], weight: float) -> Arm:
    """Join the projects' walks into one arm: each counts as far as its project's names can be trusted."""
    most = max((one.plan.trust for one in walks if one.scores), default=0.0)
    scores = {
        id: score * one.plan.trust / most for one in walks if most > 0 for id, score in one.scores.items()
    }
    return Arm(name="graph", weight=weight * most, scores=scores)


def _checked(
    query: str,
    dates: Sequence[Dated],
    found: Sequence[Fused],
    where: ChunkFilter,
    limit: int,
    graph: GraphStore,
    walks: Sequence[Walk],
    links: Mapping[str, GraphPath],
    settings: SearchConfig,
) -> tuple[tuple[RecallCandidate, ...], Mapping[str, Chunk]]:
    """Load candidates, best first, until enough pass; a few spare ones make a second read rare."""
    admitted: list[RecallCandidate] = []
    seen = surroundings(where)
    passed: dict[str, Chunk] = {}
    step = limit + _SPARE
    for start in range(0, len(found), step):
        batch = {one.id: one for one in found[start : start + step]}
        ways = {id: links[id] for id in batch if id in links}
        ways |= {id: way for one in walks for id in batch if (way := one.way(id))}
        between = {id for way in ways.values() for id in way.chunks}
        loaded = {chunk.id: chunk for chunk in graph.chunks([*batch, *sorted(between - batch.keys())])}
        passed |= loaded
        admitted.extend(
            RecallCandidate(chunk=loaded[id], fused=one, way=_shown(ways.get(id), loaded, seen))
            for id, one in batch.items()
            if id in loaded and where.admits(loaded[id])
        )
        winners = tuple(distinct(admitted))
        if len(winners) >= limit:
            break
    weighed = trusted(covering(query, admitted, settings.session_weight), where.at, settings, dates)
    return tuple(distinct(weighed))[:limit], passed


def _shown(way: GraphPath | None, loaded: Mapping[str, Chunk], seen: ChunkFilter) -> GraphPath | None:
    """Return a way where everything that it passes may be shown."""
    open = way is not None and all(id in loaded and seen.admits(loaded[id]) for id in way.chunks)
    return way if open else None


def _links(
    candidates: Sequence[RecallCandidate], plans: Sequence[RecallPlan], where: ChunkFilter, graph: GraphStore
) -> Mapping[str, tuple[LinkView, ...]]:
    """Read the links of the winners; where the arrays know of none, nothing is read."""
    ids = [one.chunk.id for one in candidates]
    best = strongest(ids, [each.snapshot for each in plans], where)
    linked = [one.chunk for one in candidates if one.chunk.id in best]
    return links_of(linked, where=where, graph=graph, among={id for each in best.values() for id in each})
