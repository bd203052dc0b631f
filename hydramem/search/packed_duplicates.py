"""What says the same is one hit of recall, which names the others.

Memories are joined by links `duplicates`, as a night or `remember` stored them; a turn is joined to the
memory of its session that kept its words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hydramem.core.row_types import Chunk
from hydramem.search.candidate_scores import RecallCandidate
from hydramem.search.conversation.behind_memories import MEMORY_KINDS
from hydramem.search.conversation.kept_turns import keeps
from hydramem.search.other_versions import VersionLink, told
from hydramem.text.restated_text import (
    CONFIRMED_SAME,
    SURELY_SAME,
    anchor_count,
    can_restate,
    nothing_decisive_differs,
    nothing_opposes,
)
from hydramem.text.search_terms import words

DUPLICATE = "duplicate"
"""The part of a score that a text has from other matches that say the same; it may be below 0."""

# How far the best score of some that say the same goes towards the mean of the others: the best of several
# wordings alone is a second chance, which a memory told once does not have.
_OF_OTHERS = 0.25


def without_duplicates(
    candidates: Sequence[RecallCandidate], links: Sequence[VersionLink], query: str = ""
) -> tuple[RecallCandidate, ...]:
    """Leave one of the candidates that say the same, with nearly the best score of them; it names the others.

    The text with most numbers and names leads, and of several the one told last. Texts that differ in a
    number or a name, or fill one frame otherwise, stay two, and so do those of a doubtful link. A memory
    leads turns of its session that it kept.

    Args:
        candidates: Best first.
        links: As `version_links` returns them.
        query: What was asked; a turn that alone has a word of it stays.
    """
    pairs = {
        frozenset((one.newer, one.older)): one.probability
        for one in links
        if one.type == "duplicates" and one.probability >= SURELY_SAME
    }
    turns = _kept(candidates, frozenset(words(query)))
    if not (pairs or turns):
        return tuple(candidates)
    packed: list[list[RecallCandidate]] = []
    for one in candidates:
        if one.chunk.id in turns:
            continue
        group = next((group for group in packed if _says_again(one, group, pairs)), None)
        if group is None:
            packed.append([one])
        else:
            group.append(one)
    for group in packed:
        ids = {each.chunk.id for each in group}
        group += [turn for turn, memory in turns.values() if memory in ids]
    places = {one.chunk.id: place for place, one in enumerate(candidates)}
    packed.sort(key=lambda group: min(places[each.chunk.id] for each in group))
    return _in_order([_leading(group) for group in packed])


def _kept(
    candidates: Sequence[RecallCandidate], asked: frozenset[str]
) -> dict[str, tuple[RecallCandidate, str]]:
    """Return the turns that a memory among the candidates kept, each with the id of the best such one."""
    memories: dict[str, list[Chunk]] = {}
    for one in candidates:
        if one.chunk.session is not None and one.chunk.kind in MEMORY_KINDS:
            memories.setdefault(one.chunk.session, []).append(one.chunk)
    found: dict[str, tuple[RecallCandidate, str]] = {}
    for one in candidates:
        if one.chunk.kind == "turn":
            mine = memories.get(one.chunk.session or "", ())
            if (memory := next((each for each in mine if keeps(each, one.chunk, asked)), None)) is not None:
                found[one.chunk.id] = (one, memory.id)
    return found


def _says_again(
    one: RecallCandidate, group: Sequence[RecallCandidate], pairs: Mapping[frozenset[str], float]
) -> bool:
    """Say whether a candidate is linked to one of a group, and can say the same as every one of it."""
    mine = (one.chunk.id, *one.also)
    theirs = [id for each in group for id in (each.chunk.id, *each.also)]
    if not any(frozenset((id, other)) in pairs for id in mine for other in theirs):
        return False
    return all(_can_say_the_same(one.chunk, each.chunk, pairs) for each in group)


def _can_say_the_same(one: Chunk, other: Chunk, pairs: Mapping[frozenset[str], float]) -> bool:
    """Say whether the words of two texts let them say the same: the surer a link, the less they decide."""
    probability = pairs.get(frozenset((one.id, other.id)), 0.0)
    if probability >= CONFIRMED_SAME:
        return nothing_opposes(one.text, other.text)
    if probability:
        return nothing_decisive_differs(one.text, other.text)
    return can_restate(one.text, other.text)


def _leading(group: Sequence[RecallCandidate]) -> RecallCandidate:
    """Return the leading one of candidates that say the same, with a score of all and the others' ids.

    A turn takes nothing from the score of the memory that kept it, which goes at least where the turn was.
    """
    if len(group) == 1:
        return group[0]
    memories = [each for each in group if each.chunk.kind != "turn"] or group
    lead = max(memories, key=lambda each: (anchor_count(each.chunk.text), *told(each.chunk)))
    ids = dict.fromkeys(id for each in group for id in (each.chunk.id, *each.also))
    *others, best = sorted(each.fused.score for each in memories)
    score = best - _OF_OTHERS * (best - sum(others) / len(others)) if others else best
    score = max([score, *(each.fused.score for each in group if each.chunk.kind == "turn")])
    fused = lead.fused.with_score(score, DUPLICATE)
    return replace(lead, fused=fused, also=tuple(id for id in ids if id != lead.chunk.id))


def _in_order(packed: Sequence[RecallCandidate]) -> tuple[RecallCandidate, ...]:
    """Put candidates that stand for others behind what has a better score; the rest keeps its order."""
    ordered: list[RecallCandidate] = []
    for one in packed:
        place = len(ordered)
        while place and ordered[place - 1].also and ordered[place - 1].fused.score < one.fused.score:
            place -= 1
        ordered.insert(place, one)
    return tuple(ordered)
