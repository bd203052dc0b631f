"""Memories that were not compared yet: the classifier compares each with those near it, once.

Imported memories, those stored with `cognitive: false`, and those written before their vector existed were
not compared when they came in; and what names no name was compared within its session alone. What the
classifier leans to becomes a link, which ends and hides nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
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
from hydramem.text.restated_text import can_restate

_MOST_MEMORIES = 20_000
"""Newest memories that are compared at all: their vectors are held at once."""

_MOST_JUDGED = 2500
"""Pairs that the classifier reads in a run; a pair takes three milliseconds of a core."""

_NEIGHBOURS, _JUDGED, _MORE = 12, 6, 3
"""Nearest memories of one that are looked at, how many of them the classifier reads, and how many more that
may say the same."""

_ROWS_AT_ONCE = 256
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
        failed: Whether the classifier failed.
    """

    links: dict[str, Proposal]
    pairs: tuple[PossibleReplacement, ...] = ()
    ids: frozenset[str] = frozenset()
    failed: bool = False


def compare(work: PhaseWork, compared: ComparedMemories) -> Comparison:
    """Compare the memories that earlier runs did not, the newest first.

    Args:
        work: Counts and notes are added to it.
        compared: What earlier runs compared.
    """
    context = work.context
    where = ChunkFilter(projects=(context.project,), kinds=STEADY)
    page = context.graph.list_chunks(where, Listing(limit=_MOST_MEMORIES))
    rows = [row for row in page if covers(None, row.expires_at, context.clock)]
    new = [row for row in rows if row.id not in compared.ids]
    earlier = compared.ids & {row.id for row in page}
    if not new:
        return Comparison(links={}, ids=earlier)
    found = Comparison(links={})
    known = _linked(new, context)
    done: set[str] = set()
    judged = 0
    for row, near, crowd in _neighbours(new, rows, context):
        if judged >= _MOST_JUDGED or context.budget.over:
            break
        open_ = _to_judge(row, [each for each in near if _is_open(row, each[0], known)])
        known |= {frozenset((row.id, old.id)) for old, _ in open_}
        judged += len(open_)
        try:
            found = _with(found, row, open_, crowd, work)
        except ModelError as error:
            work.notes.append(f"Memories were not compared: {error}.")
            found = replace(found, failed=True)
            break
        done.add(row.id)
        context.progress(len(done), len(new))
    work.counts["memories_compared"] = len(done)
    work.counts["memories_to_compare"] = 0 if found.failed else len(new) - len(done)
    return replace(found, ids=earlier | done)


def doubtful_first(pairs: Sequence[PossibleReplacement]) -> list[PossibleReplacement]:
    """Return the pairs that are too doubtful for a link, the likeliest first, a bounded number."""
    doubtful = [pair for pair in pairs if pair.link.weight < LEAST_LINKED]
    return sorted(doubtful, key=lambda pair: (-pair.link.weight, pair.link.id))[:_MOST_DOUBTFUL]


def _linked(rows: Sequence[Chunk], context: PhaseContext) -> set[frozenset[str]]:
    links: Sequence[Link] = context.graph.links([row.id for row in rows])
    return {frozenset((link.source, link.target)) for link in links if link.type in _COMPARED}


def _neighbours(
    new: Sequence[Chunk], rows: Sequence[Chunk], context: PhaseContext
) -> Iterator[tuple[Chunk, list[tuple[Chunk, float]], float]]:
    """Yield each new memory with the memories near it and their nearness, nearest first, and its crowd."""
    vectors = context.vectors.vectors([row.id for row in rows])
    held = [row for row in rows if row.id in vectors]
    if not held:
        return
    least = background(context.embed)
    table = np.stack([vectors[row.id] for row in held]).astype(np.float32)
    table /= np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-12)
    place_of = {row.id: place for place, row in enumerate(held)}
    waiting = [row for row in new if row.id in place_of]
    for start in range(0, len(waiting), _ROWS_AT_ONCE):
        some = waiting[start : start + _ROWS_AT_ONCE]
        places = np.array([place_of[row.id] for row in some])
        cosines = table[places] @ table.T
        cosines[np.arange(len(some)), places] = -1.0
        count = min(_NEIGHBOURS, cosines.shape[1])
        best = np.argpartition(-cosines, count - 1, axis=1)[:, :count]
        for row, values, columns in zip(some, cosines, best, strict=True):
            ordered = columns[np.argsort(-values[columns], kind="stable")]
            scored = [(held[at], nearness(float(values[at]), least)) for at in ordered.tolist()]
            crowd = crowd_of([score for _, score in scored])
            yield row, [(old, score) for old, score in scored if score >= LEAST_NEAR], crowd


def _to_judge(row: Chunk, near: Sequence[tuple[Chunk, float]]) -> list[tuple[Chunk, float]]:
    """Return the nearest, and of the next those that may say the same: others of one form are nearer."""
    more = (each for each in near[_JUDGED:] if can_restate(row.text, each[0].text))
    return [*near[:_JUDGED], *islice(more, _MORE)]


def _is_open(row: Chunk, old: Chunk, known: set[frozenset[str]]) -> bool:
    """Say whether the classifier is to compare two memories; the same words are left to the phase `merge`."""
    return (
        frozenset((row.id, old.id)) not in known
        and compatible_scopes(row, old)
        and may_touch(row, old)
        and not is_repetition(row, old)
        and not have_same_words(row.text, old.text)
        and not is_told_apart(row, old)
    )


def _with(
    found: Comparison, row: Chunk, near: Sequence[tuple[Chunk, float]], crowd: float, work: PhaseWork
) -> Comparison:
    """Return what was found, with what the classifier says of a memory and those near it.

    Raises:
        ModelError: The classifier failed.
    """
    context = work.context
    links, pairs = found.links, list(found.pairs)
    later = [(old, score) for old, score in near if _told(old) <= _told(row)]
    earlier = [(old, score) for old, score in near if _told(old) > _told(row)]
    judged = [*context.judge_pairs(row.text, [old.text for old, _ in later])]
    judged += [context.judge_pairs(new.text, [row.text])[0] for new, _ in earlier]
    sides = [*((row, old, score) for old, score in later), *((new, row, score) for new, score in earlier)]
    for (newer, older, score), judgement in zip(sides, judged, strict=True):
        if judgement is None:
            continue
        pair, action = _judged(newer, older, score, crowd, judgement, context)
        if pair is not None:
            pairs.append(pair)
        if action is not None:
            proposal = _proposal(newer, older, action, context)
            if proposal.target not in work.undone:
                links[proposal.target] = proposal
    return Comparison(links=links, pairs=tuple(pairs))


def _told(row: Chunk) -> tuple[object, ...]:
    return said_at(row), beginning(row), row.id


def _judged(
    newer: Chunk, older: Chunk, score: float, crowd: float, judgement: PairJudgement, context: PhaseContext
) -> tuple[PossibleReplacement | None, Action | None]:
    """Return two memories as a possible replacement, where they may be one, and the link between them.

    Raises:
        ModelError: The classifier failed.
    """
    same = restates(newer.text, older.text, judgement, context.judge_pairs)
    action = link_action(newer, older, judgement, bounds(), restated=same)
    if action is not None and (action.action == "may_supersede" or (action.action == "repeats" and not same)):
        action = None  # with both orders and the whole memory at hand there is more to judge it by
    if same is not None or beginning(newer) <= beginning(older):
        return None, action
    named = speak_of_one_name(newer, older)
    likely = replacement_probability(judgement, nearness=score, crowd=crowd, named=named)
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
