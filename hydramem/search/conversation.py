"""Conversation: a turn is read with the turns around it, by how much it says, and by who said it.

An answer seldom repeats its question, so short turns lean on their neighbours, most of all on the ones
before; long ones speak for themselves. A turn of few words, or one that only asks, seldom holds what is
looked for. A query that names one speaker is about what that one said; one in the first person, about
what its asker said, in few words or as a question too.
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
from hydramem.search.fusion import Fused, RecallCandidate, ranked
from hydramem.search.plan import RecallPlan
from hydramem.storage.vector_rows import searched_text
from hydramem.text.normalize import folded
from hydramem.text.search_terms import words

Floats = NDArray[np.float64]

# Shares of `neighbor_weight` that a turn gains from the turns before it and after it, nearest first.
_BEFORE = (1.0, 0.75, 0.375)
_AFTER = (0.5, 0.5, 0.25)

# An even field of weak matches around a turn must not outweigh one strong match.
_CONTRAST = 1.35

# In tokens: up to the first a turn leans on its neighbours in full, from the second on not at all.
_LEANS = (50, 130)
_ASKS = (30, 100)
_ASKING = 0.4
_BRIEF = 40
_BREVITY = 0.2

# BM25 takes a turn's length against a fixed scale, not the mean: turns of a chat are all short, and in
# one with an assistant the long answers repeat whatever was asked. `_K1` and `_B` are full text's own.
_K1, _B = 1.2, 0.75
_SATURATION, _PER_TOKEN = 0.4, 0.01

# Short turns are alike in meaning and differ in their words.
_TOLD_APART = {"text": 1.2, "vector": 0.8}
_BEST = 20


def at_turns_length(scores: Mapping[str, float], snapshot: Snapshot) -> dict[str, float]:
    """Put BM25 scores of turns on a fixed scale of length; what is no turn keeps its score."""
    mean = float(snapshot.nodes.tokens.sum()) / max(int(snapshot.nodes.is_chunk.sum()), 1)
    rescaled = dict(scores)
    for id in scores:
        node = _turn(snapshot, id)
        if node is not None:
            tokens = float(snapshot.nodes.tokens[node])
            relative = tokens / mean if mean > 0 else 1.0
            taken = 1 + _K1 * (1 - _B + _B * relative)
            rescaled[id] = scores[id] * taken / (1 + _SATURATION + _PER_TOKEN * tokens)
    return rescaled


def in_conversation(
    found: Sequence[Fused], plans: Sequence[RecallPlan], settings: SearchConfig
) -> tuple[Fused, ...]:
    """Weigh turns by what stands around them, what they say and who says it.

    Args:
        found: What the arms found; what is no turn stays as it is.
        plans: The query in each project, with the snapshot that knows its turns.
        settings: The weights.
    """
    parts = {one.id: one.parts for one in found}
    for plan in plans:
        parts |= _weighed(plan, found, settings)
    return ranked(parts)


def spoken_share(found: Sequence[Fused], plans: Sequence[RecallPlan]) -> float:
    """Return the share of turns among the best candidates, 0 to 1.

    Where a conversation answers, a walk over what single turns name only leads away from it.
    """
    best = found[:_BEST]
    spoken = sum(_turn(plan.snapshot, one.id) is not None for one in best for plan in plans)
    return spoken / len(best) if best else 0.0


def _turn(snapshot: Snapshot, id: str) -> int | None:
    node = snapshot.node(id)
    return node if node is not None and snapshot.turn_keys[node] >= 0 else None


def _weighed(plan: RecallPlan, found: Sequence[Fused], settings: SearchConfig) -> dict[str, dict[str, float]]:
    snapshot = plan.snapshot
    turns = {node: _worded(one) for one in found if (node := _turn(snapshot, one.id)) is not None}
    if not turns:
        return {}
    own = np.fromiter((one.score**_CONTRAST for one in turns.values()), np.float64, len(turns))
    nodes = np.fromiter(turns, np.int64, len(turns))
    gains = _support(snapshot, nodes, own, settings.neighbor_weight)
    reached = np.array([*turns, *(node for node in gains if node not in turns)], dtype=np.int64)
    held = np.array([gains.get(node, 0.0) for node in reached.tolist()])
    score = held.copy()
    score[: len(own)] += own
    said = score * (_substance(snapshot, reached) - 1) * ~_askers_own(plan, reached)
    spoken = (score + said) * _spoken(plan, reached, settings)
    weighed = {}
    columns = reached.tolist(), held.tolist(), said.tolist(), spoken.tolist()
    for node, neighbors, substance, speaker in zip(*columns, strict=True):
        one = turns.get(node)
        scale = one.score ** (_CONTRAST - 1) if one is not None and one.score > 0 else 0.0
        parts = {name: part * scale for name, part in one.parts.items()} if one is not None else {}
        more = {"neighbors": neighbors, "substance": substance, "speaker": speaker}
        weighed[snapshot.nodes.ids[node]] = parts | {name: part for name, part in more.items() if part}
    return weighed


def _worded(one: Fused) -> Fused:
    parts = {name: part * _TOLD_APART.get(name, 1.0) for name, part in one.parts.items()}
    return Fused(id=one.id, score=sum(parts.values()), parts=parts)


def _support(snapshot: Snapshot, nodes: NDArray[np.int64], own: Floats, weight: float) -> dict[int, float]:
    """Return what turns gain from the ones around them; a turn in parts lends its best part's score."""
    if weight <= 0:
        return {}
    keys, which = np.unique(snapshot.turn_keys[nodes], return_inverse=True)
    best = np.zeros(len(keys))
    np.maximum.at(best, which, own)
    origins, offsets, around = snapshot.turns.around(keys, len(_BEFORE))
    # What comes after a match has the match before it.
    shares = np.array([*reversed(_AFTER), 0.0, *_BEFORE])[offsets + len(_AFTER)]
    gained = weight * shares * best[origins] * _ramp(snapshot, around, *_LEANS)
    reached, places = np.unique(around, return_inverse=True)
    sums = np.bincount(places, weights=gained, minlength=len(reached))
    return {node: gain for node, gain in zip(reached.tolist(), sums.tolist(), strict=True) if gain > 0}


def _ramp(snapshot: Snapshot, nodes: NDArray[np.integer], full: int, none: int) -> Floats:
    share: Floats = np.clip((none - snapshot.nodes.tokens[nodes]) / (none - full), 0.0, 1.0)
    return share


def _substance(snapshot: Snapshot, nodes: NDArray[np.int64]) -> Floats:
    asking = _ASKING * snapshot.nodes.asks[nodes] * _ramp(snapshot, nodes, *_ASKS)
    brief: Floats = np.minimum(1.0, snapshot.nodes.tokens[nodes] / _BRIEF) ** _BREVITY
    return brief * (1 - asking)


def _spoken(plan: RecallPlan, nodes: NDArray[np.int64], settings: SearchConfig) -> Floats:
    authors = plan.snapshot.nodes.author[nodes]
    gain = np.zeros(len(nodes))
    if len(plan.speakers) == 1:
        gain += settings.speaker_weight * (authors == plan.speakers[0])
    if plan.askers:
        gain += settings.asker_weight * _askers_own(plan, nodes)
    return gain


def _askers_own(plan: RecallPlan, nodes: NDArray[np.int64]) -> NDArray[np.bool_]:
    return np.isin(plan.snapshot.nodes.author[nodes], plan.askers)


_MOST_WORDS = 32


def covering(query: str, candidates: Sequence[RecallCandidate], weight: float) -> tuple[RecallCandidate, ...]:
    """Weigh turns by how much of a query their session holds, best first.

    Args:
        query: What was asked.
        candidates: What was found; what is no turn stays as it is.
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
    """Say for each turn, by id, how much of a query its session holds, beside the one that holds most.

    A word counts as much as it is rare among the chunks.
    """
    begins = _begins(query)
    if begins is None:
        return {}
    held = {chunk.id: frozenset(begins.findall(folded(searched_text(chunk)))) for chunk in chunks}
    often = Counter(word for each in held.values() for word in each)
    rarity = {word: math.log(1 + (len(chunks) - many + 0.5) / (many + 0.5)) for word, many in often.items()}
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


@lru_cache(maxsize=16)
def _begins(query: str) -> re.Pattern[str] | None:
    """Compile what finds the stems of a query's words where words begin; many times quicker than stemming."""
    stems = sorted(dict.fromkeys(words(query)[:_MOST_WORDS]), key=len, reverse=True)
    return re.compile(rf"(?<![a-z0-9])(?:{'|'.join(map(re.escape, stems))})") if stems else None
