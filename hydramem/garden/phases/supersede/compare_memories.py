"""Pairs of memories that were not compared yet: the classifier reads each once, the most promising first.

Imported memories, those stored with `cognitive: false`, and those written before their vector existed were
not compared when they came in; and what names no name was compared within its session alone. What the
classifier leans to becomes a link, which ends and hides nothing.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import assert_never

import numpy as np

from hydramem.core.errors import ModelError
from hydramem.core.row_types import Chunk, Link, LinkType
from hydramem.garden.phases.supersede.possible_replacements import (
    MAY_SUPERSEDE,
    PossibleReplacement,
    beginning,
    proposed_pair,
)
from hydramem.garden.phases.supersede.replacement_probability import (
    LEAST_ASKED,
    LEAST_LINKED,
    crowd_of,
    replacement_probability,
    speak_of_one_name,
)
from hydramem.garden.proposals.compared_memories import ComparedMemories
from hydramem.garden.proposals.exclusions import is_told_apart
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseWork
from hydramem.garden.proposals.proposal import Proposal, precondition_hash, quoted
from hydramem.ingest.knowledge.end_validity import said_at
from hydramem.ingest.memories.compare.neighbours import LEAST_NEAR, compatible_scopes
from hydramem.ingest.memories.consolidate.duplicate_or_update import (
    Action,
    is_repetition,
    link_action,
    may_touch,
)
from hydramem.ingest.memories.consolidate.restatement import restates
from hydramem.ingest.memories.link.link_candidates import LinkProposal, link_of
from hydramem.ingest.memories.memory_input import STEADY
from hydramem.ingest.memories.similarity import background, nearness
from hydramem.llm.pair_classifier import PairJudgement, bounds
from hydramem.storage.chunk_filter import ChunkFilter, covers
from hydramem.storage.store import Listing
from hydramem.storage.write import Write
from hydramem.text.decisive_marks import have_same_words

_MOST_MEMORIES = 20_000
"""Newest memories that are compared at all: their vectors are held at once."""

_MOST_JUDGED = 2500
"""Pairs that the classifier reads in a run; a pair takes four milliseconds of a core."""

_NEIGHBOURS = 8
"""Nearest memories of one that are looked at."""

_CROWD, _LEAST_PROMISE = 0.62, 0.05
"""How much the crowd of a memory takes from the promise of its pairs, and the least promise of a pair that
the classifier reads. Of 5,463 pairs of near memories of two authors 83 % are above it, and 99 % of those that
say the same or replace one another; nine of ten of these are among the first half."""

_ROWS_AT_ONCE, _PAIRS_AT_ONCE = 256, 250
_MOST_DOUBTFUL = 2000

_COMPARED: tuple[LinkType, ...] = (MAY_SUPERSEDE, "supersedes", "duplicates", "extends", "contradicts")
"""Links of any state that say what one memory is to another: such a pair was compared."""

_LINKED_BECAUSE = "It is of the same matter, and was told later."


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _NearPair:
    """Two memories that are near each other, with how near, and the crowd of one of them."""

    newer: Chunk
    older: Chunk
    nearness: float
    crowd: float

    @property
    def promise(self) -> float:
        """How much speaks for reading the pair: what is near to many is seldom a version of one of them."""
        return self.nearness - _CROWD * self.crowd


def compare(work: PhaseWork, compared: ComparedMemories) -> Comparison:
    """Compare the pairs of memories that earlier runs did not, the most promising first.

    Args:
        work: Counts and notes are added to it.
        compared: What earlier runs compared.
    """
    context = work.context
    where = ChunkFilter(projects=(context.project,), kinds=STEADY)
    page = context.graph.list_chunks(where, Listing(limit=_MOST_MEMORIES))
    rows = [row for row in page if covers(None, row.expires_at, context.clock)]
    earlier = compared.ids & {row.id for row in page}
    new = {row.id for row in rows} - earlier
    if not new and compared.down_to <= _LEAST_PROMISE:
        return Comparison(links={}, ids=earlier, down_to=compared.down_to)
    open_ = _open_pairs(rows, replace(compared, ids=earlier), context)
    found, done, down_to = Comparison(links={}), 0, inf
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
        down_to = _LEAST_PROMISE
    if down_to == inf:
        return replace(found, ids=earlier, down_to=compared.down_to)
    return replace(found, ids=earlier | new, down_to=down_to)


def doubtful_first(pairs: Sequence[PossibleReplacement]) -> list[PossibleReplacement]:
    """Return the pairs that are too doubtful for a link, the likeliest first, a bounded number."""
    doubtful = {pair.link.id: pair for pair in pairs if pair.link.weight < LEAST_LINKED}
    return sorted(doubtful.values(), key=lambda pair: (-pair.link.weight, pair.link.id))[:_MOST_DOUBTFUL]


def _open_pairs(rows: Sequence[Chunk], compared: ComparedMemories, context: PhaseContext) -> list[_NearPair]:
    """Return the pairs of near memories that were not compared yet, the most promising first."""
    known = _linked(rows, context)
    found: list[_NearPair] = []
    for row, near, crowd in _neighbours(rows, context):
        for other, score in near:
            both = frozenset((row.id, other.id))
            older, newer = sorted((row, other), key=_told)
            pair = _NearPair(newer=newer, older=older, nearness=score, crowd=crowd)
            was_compared = both <= compared.ids and pair.promise >= compared.down_to
            if pair.promise < _LEAST_PROMISE or was_compared or both in known or not _is_open(row, other):
                continue
            known.add(both)
            found.append(pair)
    return sorted(found, key=lambda pair: (-pair.promise, pair.newer.id, pair.older.id))


def _linked(rows: Sequence[Chunk], context: PhaseContext) -> set[frozenset[str]]:
    links: Sequence[Link] = context.graph.links([row.id for row in rows])
    return {frozenset((link.source, link.target)) for link in links if link.type in _COMPARED}


def _neighbours(
    rows: Sequence[Chunk], context: PhaseContext
) -> Iterator[tuple[Chunk, list[tuple[Chunk, float]], float]]:
    """Yield each memory with the memories near it and their nearness, nearest first, and its crowd."""
    vectors = context.vectors.vectors([row.id for row in rows])
    held = [row for row in rows if row.id in vectors]
    if not held:
        return
    least = background(context.embed)
    table = np.stack([vectors[row.id] for row in held]).astype(np.float32)
    table /= np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-12)
    for start in range(0, len(held), _ROWS_AT_ONCE):
        some = held[start : start + _ROWS_AT_ONCE]
        cosines = table[start : start + len(some)] @ table.T
        places = np.arange(len(some))
        cosines[places, start + places] = -1.0
        count = min(_NEIGHBOURS, cosines.shape[1])
        best = np.argpartition(-cosines, count - 1, axis=1)[:, :count]
        for row, values, columns in zip(some, cosines, best, strict=True):
            ordered = columns[np.argsort(-values[columns], kind="stable")]
            scored = [(held[at], nearness(float(values[at]), least)) for at in ordered.tolist()]
            crowd = crowd_of([score for _, score in scored])
            yield row, [(old, score) for old, score in scored if score >= LEAST_NEAR], crowd


def _is_open(row: Chunk, old: Chunk) -> bool:
    """Say whether the classifier is to compare two memories; the same words are left to the phase `merge`."""
    return (
        row.id != old.id
        and compatible_scopes(row, old)
        and may_touch(row, old)
        and not is_repetition(row, old)
        and not have_same_words(row.text, old.text)
        and not is_told_apart(row, old)
    )


def _with(found: Comparison, batch: Sequence[_NearPair], work: PhaseWork) -> Comparison:
    """Return what was found, with what the classifier says of some pairs.

    Raises:
        ModelError: The classifier failed.
    """
    context = work.context
    links, pairs = found.links, list(found.pairs)
    of_newer: dict[str, list[_NearPair]] = defaultdict(list)
    for pair in batch:
        of_newer[pair.newer.id].append(pair)
    for near in of_newer.values():
        judged = context.judge_pairs(near[0].newer.text, [each.older.text for each in near])
        for each, judgement in zip(near, judged, strict=True):
            if judgement is None:
                continue
            possible, action = _judged(each, judgement, context)
            if possible is not None:
                pairs.append(possible)
            if action is not None:
                proposal = _proposal(each.newer, each.older, action, context)
                if proposal.target not in work.undone:
                    links[proposal.target] = proposal
    return replace(found, links=links, pairs=tuple(pairs))


def _told(row: Chunk) -> tuple[object, ...]:
    return said_at(row), beginning(row), row.id


def _judged(
    near: _NearPair, judgement: PairJudgement, context: PhaseContext
) -> tuple[PossibleReplacement | None, Action | None]:
    """Return two memories as a possible replacement, where they may be one, and the link between them.

    Raises:
        ModelError: The classifier failed.
    """
    newer, older = near.newer, near.older
    same = restates(newer.text, older.text, judgement, context.judge_pairs)
    action = link_action(newer, older, judgement, bounds(), restated=same)
    if action is not None and (action.action == "may_supersede" or (action.action == "repeats" and not same)):
        action = None  # with both orders and the whole memory at hand there is more to judge it by
    if same is not None or beginning(newer) <= beginning(older):
        return None, action
    named = speak_of_one_name(newer, older)
    likely = replacement_probability(judgement, nearness=near.nearness, crowd=near.crowd, named=named)
    if likely < LEAST_ASKED:
        return None, action
    pair = proposed_pair(newer, older, probability=round(likely, 4), at=context.now)
    if likely >= LEAST_LINKED and (action is None or likely > (action.probability or 0.0)):
        action = _replacing(pair)
    return pair, action


def _replacing(pair: PossibleReplacement) -> Action:
    reason = pair.link.reason or _LINKED_BECAUSE
    return Action(id=pair.older.id, action="may_supersede", reason=reason, probability=pair.link.weight)


def replacement_link(pair: PossibleReplacement, context: PhaseContext) -> Proposal:
    """Return the proposal of the link of a pair that none holds yet."""
    return _proposal(pair.newer, pair.older, _replacing(pair), context)


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


def _proposal(new: Chunk, old: Chunk, action: Action, context: PhaseContext) -> Proposal:
    weight = action.probability or 0.0
    made = LinkProposal(target=old.id, type=_type(action), weight=weight, reason=action.reason)
    link = link_of(context.project, new.id, made, context.now)
    return Proposal(
        project=context.project,
        phase="supersede",
        action="link",
        target=link.id,
        text=f"{quoted(new.text)} {link.type} {quoted(old.text)}",
        reason=action.reason,
        score=weight,
        write=Write(changes=(), links=(link,)),
        # A text never changes under its id, and one of the two may end in this very run.
        expects=precondition_hash(absent=[link]),
    )
