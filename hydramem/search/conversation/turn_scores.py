"""Scores of conversation turns: by the turns around them, their substance, their speaker, their session.

An answer seldom repeats its question, so short turns gain from their neighbours, most of all from those
before; long ones do not need it. A turn of few words, or one that only asks, seldom holds the answer. A
query that names one speaker is about what that speaker said; one in the first person, about what its asker
said, however briefly or as a question.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hydramem.core.config import SearchConfig
from hydramem.core.row_types import Chunk
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.search.candidate_scores import FusedScore, RecallCandidate, ranked
from hydramem.search.query_plan import RecallPlan
from hydramem.storage.vector_rows import searched_text
from hydramem.text.normalize import folded
from hydramem.text.search_terms import words

Floats = NDArray[np.float64]

# Shares of `neighbor_weight` that a turn gains from the turns before it and after it, nearest first.
_BEFORE = (1.0, 0.75, 0.375)
_AFTER = (0.5, 0.5, 0.25)

# An even field of weak matches around a turn must not outweigh one strong match.
_CONTRAST = 1.35

# In tokens: up to the first bound a turn gains from its neighbours in full, from the second on not at all.
_GAINING_TOKENS = (50, 130)

# Up to the first bound a question loses this share of its score, from the second on nothing.
_QUESTION_TOKENS = (30, 100)
_QUESTION_LOSS = 0.4

# Shorter turns lose by this power of their share of these tokens.
_BRIEF_TOKENS = 40
_BREVITY_POWER = 0.2

# BM25 compares a turn's length with a fixed scale, not the mean: turns of a chat are all short, and in one
# with an assistant the long answers repeat the question. `_K1` and `_B` are those of the full-text index.
_K1, _B = 1.2, 0.75
_SATURATION, _PER_TOKEN = 0.4, 0.01

# Short turns differ more in their words than in their meaning.
_ARM_WEIGHTS = {"text": 1.2, "vector": 0.8}
_BEST = 20
_MOST_WORDS = 32


def at_turns_length(scores: Mapping[str, float], snapshot: Snapshot) -> dict[str, float]:
    """Put BM25 scores of turns on a fixed scale of length; what is no turn keeps its score."""
    mean = float(snapshot.nodes.tokens.sum()) / max(int(snapshot.nodes.is_chunk.sum()), 1)
    rescaled = dict(scores)
    for id in scores:
        node = turn_node(snapshot, id)
        if node is not None:
            tokens = float(snapshot.nodes.tokens[node])
            relative = tokens / mean if mean > 0 else 1.0
            taken = 1 + _K1 * (1 - _B + _B * relative)
            rescaled[id] = scores[id] * taken / (1 + _SATURATION + _PER_TOKEN * tokens)
    return rescaled


def in_conversation(
    found: Sequence[FusedScore], plans: Sequence[RecallPlan], settings: SearchConfig
) -> tuple[FusedScore, ...]:
    """Weigh turns by the turns around them, by their substance and by their speaker.

    Args:
        found: Scores; those of other chunks stay as they are.
        plans: The query in each project, with the snapshot of its turns.
    """
    weighed = [_weighed_parts(plan, found, settings) for plan in plans]
    if not any(weighed):
        return tuple(found)
    parts = {one.id: one.parts for one in found}
    for each in weighed:
        parts |= each
    return ranked(parts)


def spoken_share(found: Sequence[FusedScore], plans: Sequence[RecallPlan]) -> float:
    """Return the share of turns among the best candidates, 0 to 1.

    Where a conversation answers, a walk over the names in single turns leads away from it.
    """
    best = found[:_BEST]
    spoken = sum(turn_node(plan.snapshot, one.id) is not None for one in best for plan in plans)
    return spoken / len(best) if best else 0.0


def turn_node(snapshot: Snapshot, id: str) -> int | None:
    """Return the node of a turn; None for what is no turn of a conversation."""
    node = snapshot.node(id)
    return node if node is not None and snapshot.turn_keys[node] >= 0 else None


def _weighed_parts(
    plan: RecallPlan, found: Sequence[FusedScore], settings: SearchConfig
) -> dict[str, Mapping[str, float]]:
    """Return the parts of the scores of a project's turns, by id, with those of the turns around them."""
    snapshot = plan.snapshot
    turns = {node: _reweighted(one) for one in found if (node := turn_node(snapshot, one.id)) is not None}
    if not turns:
        return {}
    own = np.fromiter((one.score**_CONTRAST for one in turns.values()), np.float64, len(turns))
    nodes = np.fromiter(turns, np.int64, len(turns))
    gains = _neighbor_gains(snapshot, nodes, own, settings.neighbor_weight)
    reached = np.array([*turns, *(node for node in gains if node not in turns)], dtype=np.int64)
    by_neighbors = np.array([gains.get(node, 0.0) for node in reached.tolist()])
    score = by_neighbors.copy()
    score[: len(own)] += own
    by_substance = score * (_substance(snapshot, reached) - 1) * ~_askers_own(plan, reached)
    by_speaker = (score + by_substance) * _speaker_shares(plan, reached, settings)
    weighed: dict[str, Mapping[str, float]] = {}
    columns = (each.tolist() for each in (reached, by_neighbors, by_substance, by_speaker))
    for node, neighbors, substance, speaker in zip(*columns, strict=True):
        one = turns.get(node)
        scale = one.score ** (_CONTRAST - 1) if one is not None and one.score > 0 else 0.0
        parts = {name: part * scale for name, part in one.parts.items()} if one is not None else {}
        more = {"neighbors": neighbors, "substance": substance, "speaker": speaker}
        weighed[snapshot.nodes.ids[node]] = parts | {name: part for name, part in more.items() if part}
    return weighed


def _reweighted(one: FusedScore) -> FusedScore:
    parts = {name: part * _ARM_WEIGHTS.get(name, 1.0) for name, part in one.parts.items()}
    return FusedScore(id=one.id, score=sum(parts.values()), parts=parts)


def _neighbor_gains(
    snapshot: Snapshot, nodes: NDArray[np.int64], own: Floats, weight: float
) -> dict[int, float]:
    """Return what turns gain from the turns around them; of a turn in parts the best part's score counts."""
    if weight <= 0:
        return {}
    keys, which = np.unique(snapshot.turn_keys[nodes], return_inverse=True)
    best = np.zeros(len(keys))
    np.maximum.at(best, which, own)
    origins, offsets, around = snapshot.turns.around(keys, len(_BEFORE))
    # What comes after a match has the match before it.
    shares = np.array([*reversed(_AFTER), 0.0, *_BEFORE])[offsets + len(_AFTER)]
    gained = weight * shares * best[origins] * _ramp(snapshot, around, *_GAINING_TOKENS)
    reached, places = np.unique(around, return_inverse=True)
    sums = np.bincount(places, weights=gained, minlength=len(reached))
    return {node: gain for node, gain in zip(reached.tolist(), sums.tolist(), strict=True) if gain > 0}


def _ramp(snapshot: Snapshot, nodes: NDArray[np.integer], full: int, none: int) -> Floats:
    """Return 1 for turns of up to `full` tokens, falling to 0 at `none`."""
    share: Floats = np.clip((none - snapshot.nodes.tokens[nodes]) / (none - full), 0.0, 1.0)
    return share


def _substance(snapshot: Snapshot, nodes: NDArray[np.int64]) -> Floats:
    """Return which share of its score a turn keeps by its length, and where it only asks."""
    asking = _QUESTION_LOSS * snapshot.nodes.asks[nodes] * _ramp(snapshot, nodes, *_QUESTION_TOKENS)
    brief: Floats = np.minimum(1.0, snapshot.nodes.tokens[nodes] / _BRIEF_TOKENS) ** _BREVITY_POWER
    return brief * (1 - asking)


def _speaker_shares(plan: RecallPlan, nodes: NDArray[np.int64], settings: SearchConfig) -> Floats:
    """Return by which share turns gain from being said by the named speaker or by the asker."""
    authors = plan.snapshot.nodes.author[nodes]
    gain = np.zeros(len(nodes))
    if len(plan.speakers) == 1:
        gain += settings.speaker_weight * (authors == plan.speakers[0])
    if plan.askers:
        gain += settings.asker_weight * _askers_own(plan, nodes)
    return gain


def _askers_own(plan: RecallPlan, nodes: NDArray[np.int64]) -> NDArray[np.bool_]:
    return np.isin(plan.snapshot.nodes.author[nodes], plan.askers)


def covering(query: str, candidates: Sequence[RecallCandidate], weight: float) -> tuple[RecallCandidate, ...]:
    """Raise turns by how much of a query their session holds, best first.

    Args:
        candidates: The candidates; those that are no turns stay as they are.
        weight: Share of its score that a turn gains where its session holds the most.
    """
    shares = coverage(query, [one.chunk for one in candidates]) if weight > 0 else {}
    if not shares:
        return tuple(candidates)
    by_id = {one.chunk.id: one for one in candidates}
    parts = {id: {**one.fused.parts} for id, one in by_id.items()}
    for id, share in shares.items():
        parts[id]["session"] = weight * share * by_id[id].fused.score
    return tuple(replace(by_id[one.id], fused=one) for one in ranked(parts))


def coverage(query: str, chunks: Sequence[Chunk]) -> Mapping[str, float]:
    """Return for each turn, by id, how much of a query its session holds, relative to the best session.

    The rarer a word is among the chunks, the more it counts.
    """
    held = held_stems(query, chunks)
    rarity = stem_rarity(list(held.values()))
    sessions: dict[str, set[str]] = defaultdict(set)
    for chunk in chunks:
        if chunk.kind == "turn" and chunk.session:
            sessions[chunk.session] |= held[chunk.id]
    sums = {session: sum(rarity[word] for word in sorted(each)) for session, each in sessions.items()}
    most = max(sums.values(), default=0.0)
    if most <= 0:
        return {}
    return {
        chunk.id: sums[chunk.session] / most
        for chunk in chunks
        if chunk.kind == "turn" and chunk.session in sums
    }


def held_stems(query: str, chunks: Sequence[Chunk]) -> dict[str, frozenset[str]]:
    """Return by chunk id which stems of a query's words its text holds."""
    pattern = _stem_pattern(query)
    if pattern is None:
        return {chunk.id: frozenset() for chunk in chunks}
    return {chunk.id: frozenset(pattern.findall(folded(searched_text(chunk)))) for chunk in chunks}


def stem_rarity(held: Sequence[frozenset[str]]) -> dict[str, float]:
    """Return the inverse document frequency of stems among texts, as BM25 has it."""
    often = Counter(stem for each in held for stem in each)
    return {stem: math.log(1 + (len(held) - many + 0.5) / (many + 0.5)) for stem, many in often.items()}


@lru_cache(maxsize=16)
def _stem_pattern(query: str) -> re.Pattern[str] | None:
    """Compile a pattern for words that begin with a stem of the query; far faster than stemming all words."""
    stems = sorted(dict.fromkeys(words(query)[:_MOST_WORDS]), key=len, reverse=True)
    return re.compile(rf"(?<![a-z0-9])(?:{'|'.join(map(re.escape, stems))})") if stems else None
