"""Recall: plan, gather, score, check, rerank, pack."""

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from hydramem.core.results.hits import Explanation, Hit, Recall
from hydramem.core.row_types import Chunk, Traversal
from hydramem.search.arms.retrieval_arms import Walk, graph_arm, text_arm, vector_arm, walk, with_curated
from hydramem.search.candidate_scores import (
    ArmScores,
    FusedScore,
    GraphPath,
    RecallCandidate,
    blended,
    fuse,
    trusted,
)
from hydramem.search.conversation.asked_before import asked_before, with_answers
from hydramem.search.conversation.asking_turns import behind_statements
from hydramem.search.conversation.behind_memories import behind_memories
from hydramem.search.conversation.turn_order import (
    MOST_TURNS,
    ordered_turns,
    turns_around,
    turns_before,
)
from hydramem.search.conversation.turn_scores import covering, in_conversation, spoken_share
from hydramem.search.curated_entries import CuratedEntries
from hydramem.search.likely_names import with_likely_names
from hydramem.search.linked_memories import shown_links, with_link_scores
from hydramem.search.other_versions import (
    VersionLink,
    joined_to,
    newest_first,
    other_versions,
    version_links,
)
from hydramem.search.pack_hits import distinct, pack, within
from hydramem.search.packed_duplicates import without_duplicates
from hydramem.search.passages import stitched, surroundings
from hydramem.search.query_plan import NEAREST, RecallPlan, by_meaning, check_query, plan
from hydramem.search.recall_explanation import explanation
from hydramem.search.recall_run import RecallRun, RecallSources
from hydramem.search.relevance.relevance import READ, RankedHit, Searched, relevances
from hydramem.search.rerank.rerank import reordered
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.vector_rows import Vector, VectorStore, indexed_text
from hydramem.text.dates.dates_in_text import dates_in

_SPARE = 10


def recall(
    query: str,
    sources: RecallSources,
    *,
    where: ChunkFilter,
    limit: int,
    traversal: Traversal,
    explain: bool = False,
    context: int = 0,
    max_tokens: int | None = None,
    min_relevance: float | None = None,
) -> Recall:
    """Find the chunks that answer a query.

    Plan which entities the query names. Gather by vector and by full text, inside the filter. Score: add up
    the arms, let neighbouring turns support each other, mix in a walk of the graph and what links add. Check:
    drop what the graph store, which is authoritative, does not hold or the filter does not admit. Rerank,
    where that is configured. Put later versions of a memory before earlier ones. Say how likely it is that
    they bear on the query. Pack hits with their scores and reasons.

    Args:
        query: What to look for, in words.
        where: Which chunks may be seen; the graph arm walks the projects that it names.
        traversal: How the graph arm walks; `none` leaves it out.
        explain: Whether to explain how the hits came about.
        context: How many chunks before and after a hit its passage takes in.
        max_tokens: Most tokens of the hits' texts together; None for no bound.
        min_relevance: Relevance from which the query counts as answered; None for the configured one.

    Raises:
        InvalidInputError: The query is blank or too long, or the limit is out of its range.
    """
    settings = sources.settings
    check_query(query, limit, max_chars=settings.max_query_chars, max_limit=settings.max_limit)
    dates = dates_in(query, where.at)
    run = RecallRun(
        query=query,
        sources=sources,
        where=where,
        limit=limit,
        traversal=traversal,
        dates=dates,
        curated=sources.curated.admitted(where) if sources.curated is not None else CuratedEntries(),
    )
    plans, arms, vector = _gather(run)
    scored = _score(run, plans, arms, vector)
    with run.timed("versions"):
        snapshots = [each.snapshot for each in plans]
        versions = version_links([one.id for one in scored.found], snapshots, where)
    candidates, passed = _check(run, plans, scored, versions)
    candidates, skipped = _rerank(run, plans, candidates, passed)
    candidates, passed = _order_versions(run, candidates, versions, passed)
    with run.timed("relevance"):
        found = _relevances(run, candidates, vector, arms, plans)
    relevance_of = {one.chunk.id: each for one, each in zip(candidates, found, strict=True)}
    hits = _pack(run, plans, candidates[:limit], versions, passed, context, max_tokens)
    floor = settings.min_relevance if min_relevance is None else min_relevance
    return Recall(
        query=query,
        hits=tuple(replace(hit, relevance=relevance_of[hit.id]) for hit in hits),
        answered=bool(hits) and found[0] >= floor,
        floor=floor,
        entities=tuple(entity.name for each in plans for entity in each.entities),
        milliseconds=run.milliseconds,
        explanation=_explain(run, plans, scored, hits) if explain else None,
        skipped=(*(f"curated: {problem}" for problem in run.curated.problems), *skipped),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scored:
    """The scores of what was found, best first, and what led to it.

    Attributes:
        arms: What each arm found.
        walks: How the graph leads to chunks, a walk for each project.
        link_paths: By chunk, the link that leads to it.
        answered: Turns that are known to have asked what something answered.
    """

    found: tuple[FusedScore, ...]
    arms: tuple[ArmScores, ...]
    walks: tuple[Walk, ...]
    link_paths: Mapping[str, GraphPath]
    answered: frozenset[str]

    def paths(self, ids: Collection[str]) -> dict[str, GraphPath]:
        """Return what leads to chunks, by id: a walk rather than a link."""
        walked = {id: path for one in self.walks for id in ids if (path := one.path(id))}
        return {id: self.link_paths[id] for id in ids if id in self.link_paths} | walked


def _gather(run: RecallRun) -> tuple[tuple[RecallPlan, ...], tuple[ArmScores, ...], Vector | None]:
    """Plan and look by words in a thread of its own: the stores and the model wait outside the interpreter.

    The first recall loads the graph there while vectors and model are loaded here.
    """
    where, sources, settings = run.where, run.sources, run.sources.settings

    def planned() -> tuple[RecallPlan, ...]:
        with run.timed("plan"):
            return tuple(plan(run.query, sources.snapshots.of(project)) for project in where.projects)

    def by_words(plans: Sequence[RecallPlan]) -> ArmScores:
        with run.timed("text"):
            snapshots, weight = [each.snapshot for each in plans], settings.text_weight
            return text_arm(
                run.query,
                where,
                sources.vectors,
                snapshots,
                limit=run.most_found,
                weight=weight,
                curated=run.curated.chunks.values(),
            )

    arms: list[ArmScores] = []
    vector = None
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="hydramem-text") as executor:
        plans = executor.submit(planned)
        text = executor.submit(lambda: by_words(plans.result())) if settings.text_weight > 0 else None
        if settings.vector_weight > 0:
            with run.timed("embed"):
                vector = sources.embedder.embed_query(run.query)
            with run.timed("vector"):
                arms.append(_by_meaning(run, vector))
        if text is not None:
            arms.append(text.result())
    seen = tuple(_with_unseen(arm, arms, sources.vectors) for arm in arms)
    return _plans_by_meaning(run, plans.result(), vector), seen, vector


def _by_meaning(run: RecallRun, vector: Vector) -> ArmScores:
    sources, files = run.sources, run.sources.curated
    entries = run.curated.chunks.values()
    return vector_arm(
        vector,
        run.where,
        sources.vectors,
        limit=run.most_found,
        weight=sources.settings.vector_weight,
        curated={} if files is None else files.cosines(entries, vector, sources.embedder),
    )


def _with_unseen(arm: ArmScores, arms: Sequence[ArmScores], vectors: VectorStore) -> ArmScores:
    """Note in the vector arm which chunks of the other arms have no vector yet."""
    missed = {id for each in arms for id in each.scores} - arm.scores.keys()
    if arm.name != "vector" or not missed:
        return arm
    return replace(arm, unseen=vectors.chunks_without_vector(sorted(missed)))


def _plans_by_meaning(
    run: RecallRun, plans: tuple[RecallPlan, ...], vector: Vector | None
) -> tuple[RecallPlan, ...]:
    """Where the query names no entity, look for one by meaning."""
    if run.traversal == "none" or vector is None:
        return plans
    vectors = run.sources.vectors
    with run.timed("entities"):
        return tuple(
            each
            if each.entities
            else by_meaning(each, vectors.nearest_entities(vector, (each.snapshot.project,), NEAREST))
            for each in plans
        )


def _score(
    run: RecallRun, plans: Sequence[RecallPlan], arms: tuple[ArmScores, ...], vector: Vector | None
) -> _Scored:
    settings, where = run.sources.settings, run.where
    found = fuse(arms)
    with run.timed("neighbors"):
        found = in_conversation(found, plans, settings)
    with run.timed("graph"):
        walked = (
            walk(
                each,
                found,
                where=where,
                traversal=run.traversal,
                damping=settings.damping,
                limit=run.most_found,
            )
            for each in plans
        )
        walks = tuple(with_curated(each, found, run.curated.chunks) for each in walked)
        by_graph = graph_arm(walks, settings.graph_weight * (1 - spoken_share(found, plans)))
        snapshots = [each.snapshot for each in plans]
        mixed = blended(found, by_graph)
        linked, link_paths = with_link_scores(mixed, snapshots, where, settings.link_weight)
    with run.timed("names"):
        linked = with_likely_names(linked, plans, where, run.sources.graph, run.sources.vectors, vector)
    with run.timed("asked before"):
        before = asked_before(arms, snapshots, where)
        best = with_answers(linked, before, settings.answered_weight)
    return _Scored(
        found=best,
        arms=(*arms, by_graph),
        walks=walks,
        link_paths=link_paths,
        answered=before.questions,
    )


def _check(
    run: RecallRun, plans: Sequence[RecallPlan], scored: _Scored, versions: Sequence[VersionLink]
) -> tuple[tuple[RecallCandidate, ...], Mapping[str, Chunk]]:
    """Load candidates, best first, until enough pass; a few spare ones make a second read rare.

    Curated entries were just read from their files.

    Returns:
        The candidates, best first, and every loaded chunk by id.
    """
    where, settings, graph = run.where, run.sources.settings, run.sources.graph
    curated = run.curated.chunks
    most = max(run.limit, READ)  # relevance reads the first few, however few are asked for
    if run.sources.reranker is not None:
        most = max(most, settings.rerank_candidates)
    beside = turns_around([one.id for one in scored.found], plans)
    if beside:
        most = max(most, MOST_TURNS)
    with run.timed("check"):
        admitted: list[RecallCandidate] = []
        shown = surroundings(where)
        loaded: dict[str, Chunk] = {}
        said_when = bool(run.dates) or any(each.speakers for each in plans)
        step = most + _SPARE
        for start in range(0, len(scored.found), step):
            batch = {one.id: one for one in scored.found[start : start + step]}
            paths = scored.paths(batch)
            between = {id for path in paths.values() for id in path.chunks}
            more = (between | (beside - loaded.keys())) - batch.keys()
            stored = [id for id in (*batch, *sorted(more)) if id not in curated]
            read = {chunk.id: chunk for chunk in graph.chunks(stored)}
            read |= {id: curated[id] for id in batch if id in curated}
            loaded |= read
            admitted.extend(
                RecallCandidate(chunk=read[id], fused=one, path=_visible_path(paths.get(id), read, shown))
                for id, one in batch.items()
                if id in read and where.admits(read[id])
            )
            different = tuple(distinct(admitted, turns=said_when))
            if len(without_duplicates(different, versions, run.query)) >= most:
                break
        turns = [loaded[id] for id in sorted(beside & loaded.keys()) if shown.admits(loaded[id])]
        covered = covering(run.query, admitted, settings.session_weight)
        ordered = ordered_turns(run.query, covered, plans, around=turns, scorer=run.sources.turn_scorer)
        ordered = behind_statements(ordered, plans, answered=scored.answered)
        ordered = ordered if said_when else behind_memories(ordered, plans)
        age_from = where.at if run.wants_newest else None
        best = tuple(distinct(trusted(ordered, age_from, settings, run.dates), turns=said_when))
        return without_duplicates(best, versions, run.query)[:most], loaded


def _visible_path(path: GraphPath | None, read: Mapping[str, Chunk], shown: ChunkFilter) -> GraphPath | None:
    """Return a path where every chunk that it passes may be shown."""
    visible = path is not None and all(id in read and shown.admits(read[id]) for id in path.chunks)
    return path if visible else None


def _rerank(
    run: RecallRun,
    plans: Sequence[RecallPlan],
    candidates: tuple[RecallCandidate, ...],
    loaded: Mapping[str, Chunk],
) -> tuple[tuple[RecallCandidate, ...], tuple[str, ...]]:
    """Return the candidates reordered, and why that was skipped, where it was."""
    reranker, most = run.sources.reranker, run.sources.settings.rerank_candidates
    if reranker is None:
        return candidates, ()
    with run.timed("rerank"):
        shown = surroundings(run.where)
        turns = turns_before([one.chunk.id for one in candidates[:most]], plans)
        before = {
            id: indexed_text(loaded[earlier])
            for id, earlier in turns.items()
            if earlier in loaded and shown.admits(loaded[earlier])
        }
        return reordered(run.query, candidates, reranker, most=most, before=before)


def _order_versions(
    run: RecallRun,
    candidates: Sequence[RecallCandidate],
    versions: Sequence[VersionLink],
    loaded: Mapping[str, Chunk],
) -> tuple[tuple[RecallCandidate, ...], Mapping[str, Chunk]]:
    """Return the best candidates, later versions first, and the loaded chunks with the other versions."""
    most = max(run.limit, READ)
    best = [one.chunk.id for one in candidates[:most]]
    missing = joined_to(best, versions) - loaded.keys()
    if missing:
        with run.timed("versions"):
            loaded = {**loaded, **{row.id: row for row in run.sources.graph.chunks(sorted(missing))}}
    if versions and run.about_now:
        ordered = newest_first(candidates, versions, held=loaded, where=run.where)
        candidates = without_duplicates(tuple(distinct(ordered)), versions, run.query)
    return tuple(candidates[:most]), loaded


def _relevances(
    run: RecallRun,
    candidates: Sequence[RecallCandidate],
    vector: Vector | None,
    arms: Sequence[ArmScores],
    plans: Sequence[RecallPlan],
) -> list[float]:
    """Return the probability that each candidate bears on the query."""
    by_vector = next((arm for arm in arms if arm.name == "vector"), None)
    searched = Searched(
        query=run.query,
        vector=vector,
        cosines={} if by_vector is None else by_vector.cosines,
        anchors=None if vector is None else run.sources.anchors(),
        chunks=len(run.curated.chunks)
        + sum(int(np.count_nonzero(each.snapshot.nodes.is_chunk)) for each in plans),
        unseen=frozenset() if by_vector is None else by_vector.unseen,
    )
    ranked = [
        RankedHit(id=one.chunk.id, text=indexed_text(one.chunk), led_to=one.fused.led_to)
        for one in candidates
    ]
    return [round(each, 4) for each in relevances(ranked, searched)]


def _pack(
    run: RecallRun,
    plans: Sequence[RecallPlan],
    candidates: Sequence[RecallCandidate],
    versions: Sequence[VersionLink],
    loaded: Mapping[str, Chunk],
    context: int,
    max_tokens: int | None,
) -> tuple[Hit, ...]:
    graph = run.sources.graph
    with run.timed("pack"):
        kept = within(stitched(candidates, reach=context, where=run.where, graph=graph), max_tokens)
        snapshots = [each.snapshot for each in plans]
        links = shown_links([one.chunk for one in kept], snapshots, run.where, graph)
        ids = {one.chunk.id for one in kept}
        others = other_versions(ids, versions, held=loaded, where=run.where)
        return pack(run.query, kept, passed=loaded, links=links, versions=others)


def _explain(
    run: RecallRun, plans: Sequence[RecallPlan], scored: _Scored, hits: tuple[Hit, ...]
) -> Explanation:
    return explanation(
        run.query,
        plans=plans,
        dates=run.dates,
        arms=scored.arms,
        found=scored.found,
        hits=hits,
        traversal=run.traversal,
    )
