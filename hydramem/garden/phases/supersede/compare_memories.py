"""Pairs of memories that were not compared yet: the classifier reads each once, the most promising first.

Imported memories, those stored with `cognitive: false`, and those written before their vector existed were
not compared when they came in; and what names no name was compared within its session alone. What the
classifier leans to becomes a link, which ends and hides nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import assert_never

from hydramem.core.errors import ModelError
from hydramem.core.row_types import LinkType
from hydramem.garden.phases.supersede.near_pairs import (
    LEAST_PROMISE,
    NearPair,
    memories_that_count,
    open_pairs,
)
from hydramem.garden.phases.supersede.possible_replacements import (
    MAY_SUPERSEDE,
    PossibleReplacement,
    beginning,
    proposed_pair,
    settled_link,
)
from hydramem.garden.phases.supersede.replacement_probability import (
    LEAST_ASKED,
    LEAST_LINKED,
    replacement_probability,
    speak_of_one_name,
)
from hydramem.garden.phases.supersede.same_probability import (
    LEAST_DUPLICATE,
    LEAST_JOINED,
    same_features,
    same_probability,
)
from hydramem.garden.proposals.compared_memories import ComparedMemories
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseWork
from hydramem.garden.proposals.proposal import Proposal, precondition_hash, quoted
from hydramem.ingest.memories.consolidate.duplicate_or_update import (
    SAYS_THE_SAME,
    Action,
    link_action,
)
from hydramem.ingest.memories.consolidate.restatement import surely_restates
from hydramem.ingest.memories.link.link_candidates import LinkProposal, link_of
from hydramem.llm.pair_classifier import PairJudgement, bounds
from hydramem.storage.write import Write
from hydramem.text.restated_text import MOST_UNCONFIRMED, can_restate, nothing_decisive_differs, overlap

_MOST_JUDGED = 2500
"""Pairs that the classifier reads in a run; a pair takes four milliseconds of a core."""

_PAIRS_AT_ONCE = 250
_MOST_DOUBTFUL = 2000

_LINKED_BECAUSE = "It is of the same matter, and was told later."


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryComparison:
    """What a run found by comparing.

    Attributes:
        links: Proposals of links, by the id of the link.
        pairs: Pairs of which the later may take the earlier one's place, linked or not.
        ids: The memories that are compared by now, in this run or an earlier one; none that is gone.
        down_to: Least promise of their pairs that were compared.
        failed: Whether the classifier failed.
    """

    links: dict[str, Proposal]
    pairs: tuple[PossibleReplacement, ...] = ()
    ids: frozenset[str] = frozenset()
    down_to: float = 0.0
    failed: bool = False


def compare(work: PhaseWork, compared: ComparedMemories) -> MemoryComparison:
    """Compare the pairs of memories that earlier runs did not, the most promising first.

    Args:
        work: Counts and notes are added to it.
        compared: What earlier runs compared.
    """
    context = work.context
    rows = memories_that_count(context)
    earlier = compared.ids & {row.id for row in rows}
    new = {row.id for row in rows} - earlier
    if not new and compared.down_to <= LEAST_PROMISE:
        return MemoryComparison(links={}, ids=earlier, down_to=compared.down_to)
    open_ = open_pairs(rows, replace(compared, ids=earlier), context)
    found, done, down_to = MemoryComparison(links={}), 0, inf
    try:
        while done < min(len(open_), _MOST_JUDGED) and not context.budget.over:
            batch = open_[done : done + _PAIRS_AT_ONCE]
            found = _with(found, batch, work)
            done += len(batch)
            down_to = batch[-1].promise
            context.progress(done, min(len(open_), _MOST_JUDGED))
    except ModelError as error:
        work.notes.append(f"Memories were not compared: {error}.")
        found = replace(found, failed=True)
    work.counts["memories_compared"] = len(new)
    work.counts["pairs_to_compare"] = 0 if found.failed else len(open_) - done
    if done == len(open_):
        down_to = LEAST_PROMISE
    if down_to == inf:
        return replace(found, ids=earlier, down_to=compared.down_to)
    return replace(found, ids=earlier | new, down_to=down_to)


def doubtful_first(pairs: Sequence[PossibleReplacement]) -> list[PossibleReplacement]:
    """Return the pairs that are too doubtful for a link, the likeliest first, a bounded number."""
    doubtful = {pair.link.id: pair for pair in pairs if pair.link.weight < LEAST_LINKED}
    return sorted(doubtful.values(), key=lambda pair: (-pair.link.weight, pair.link.id))[:_MOST_DOUBTFUL]


def _with(found: MemoryComparison, batch: Sequence[NearPair], work: PhaseWork) -> MemoryComparison:
    """Return what was found, with what the classifier says of some pairs.

    Raises:
        ModelError: The classifier failed.
    """
    context = work.context
    links, pairs = found.links, list(found.pairs)
    forth = context.judge_pairs([(each.newer.text, each.older.text) for each in batch])
    judged = [(each, judgement) for each, judgement in zip(batch, forth, strict=True) if judgement]
    same = _same(judged, context)
    for place, (each, judgement) in enumerate(judged):
        possible, action = _judged(each, judgement, same.get(place), context)
        if possible is not None:
            pairs.append(possible)
        if action is not None:
            proposal = _proposal(each, action, context)
            if proposal.target not in work.undone:
                links[proposal.target] = proposal
    return replace(found, links=links, pairs=tuple(pairs))


def _judged(
    near: NearPair, forth: PairJudgement, same: float | None, context: PhaseContext
) -> tuple[PossibleReplacement | None, Action | None]:
    """Return two memories as a possible replacement, where they may be one, and the link between them.

    Args:
        near: The two.
        forth: What the classifier says of the newer to the older.
        same: How surely they say the same; None where that is not sure.
        context: Where both are stored.
    """
    newer, older = near.newer, near.older
    if same is not None:
        return None, Action(id=older.id, action="repeats", reason=SAYS_THE_SAME, probability=same)
    if near.links:
        return None, None
    action = link_action(newer, older, forth, bounds())
    if action is not None and action.action in ("may_supersede", "repeats"):
        action = None  # with both orders and the whole memory at hand there is more to judge it by
    if beginning(newer) <= beginning(older):
        return None, action
    named = speak_of_one_name(newer, older)
    likely = replacement_probability(forth, nearness=near.nearness, crowd=near.crowds[0], named=named)
    if likely < LEAST_ASKED:
        return None, action
    pair = proposed_pair(newer, older, probability=round(likely, 4), at=context.now)
    if likely >= LEAST_LINKED and (action is None or likely > (action.probability or 0.0)):
        action = _replacing(pair)
    return pair, action


def _same(judged: Sequence[tuple[NearPair, PairJudgement]], context: PhaseContext) -> dict[int, float]:
    """Return how surely pairs say the same, by their places: of those that are sure enough to be joined.

    The other order is judged of those alone that may be.

    Raises:
        ModelError: The classifier failed.
    """
    open_ = [
        place
        for place, (near, forth) in enumerate(judged)
        if forth.duplicate >= LEAST_DUPLICATE and nothing_decisive_differs(near.newer.text, near.older.text)
    ]
    backs = context.judge_pairs(
        [(judged[place][0].older.text, judged[place][0].newer.text) for place in open_]
    )
    found = {
        place: _likely_same(*judged[place], back)
        for place, back in zip(open_, backs, strict=True)
        if back is not None
    }
    return {place: likely for place, likely in found.items() if likely is not None}


def _likely_same(near: NearPair, forth: PairJudgement, back: PairJudgement) -> float | None:
    """Return how surely two memories say the same; None where that is not sure enough to join them."""
    newer, older = near.newer.text, near.older.text
    surely = surely_restates(newer, older, forth, back)
    features = same_features(
        forth,
        back,
        nearness=near.nearness,
        crowds=near.crowds,
        nearest=near.nearest,
        may_restate=can_restate(newer, older),
        shared=overlap(newer, older),
    )
    likely = round(min(same_probability(features), MOST_UNCONFIRMED), 3)
    return surely if surely is not None or likely < LEAST_JOINED else likely


def _replacing(pair: PossibleReplacement) -> Action:
    reason = pair.link.reason or _LINKED_BECAUSE
    return Action(id=pair.older.id, action="may_supersede", reason=reason, probability=pair.link.weight)


def replacement_link(pair: PossibleReplacement, context: PhaseContext) -> Proposal:
    """Return the proposal of the link of a pair that none holds yet."""
    near = NearPair(newer=pair.newer, older=pair.older, nearness=0.0, crowds=(0.0, 0.0), nearest=0)
    return _proposal(near, _replacing(pair), context)


def _type(action: Action) -> LinkType:
    match action.action:
        case "may_supersede":
            return "may_supersede"
        case "repeats" | "duplicate":
            return "duplicates"
        case "refine":
            return "extends"
        case "contradict":
            return "contradicts"
        case "update" | "delete":
            raise AssertionError(action)  # the classifier alone ends nothing
        case _:
            assert_never(action.action)


def _proposal(near: NearPair, action: Action, context: PhaseContext) -> Proposal:
    newer, older = near.newer, near.older
    weight = action.probability or 0.0
    made = LinkProposal(target=older.id, type=_type(action), weight=weight, reason=action.reason)
    link = link_of(context.project, newer.id, made, context.now)
    stored = {each.id: each for each in near.links}
    settled = [settled_link(each, context.now) for each in near.links if each.type == MAY_SUPERSEDE]
    if link.id in stored:
        link = replace(stored[link.id], weight=weight, reason=action.reason)
    return Proposal(
        project=context.project,
        phase="supersede",
        action="link",
        target=link.id,
        text=f"{quoted(newer.text)} {link.type} {quoted(older.text)}",
        reason=action.reason,
        score=weight,
        write=Write(changes=(), links=(link, *settled)),
        # A text never changes under its id, and one of the two may end in this very run.
        expects=precondition_hash(*stored.values(), absent=() if link.id in stored else (link,)),
    )
