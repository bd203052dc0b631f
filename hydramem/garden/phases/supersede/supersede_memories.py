"""Memories that may supersede older ones, or say them again: a model settles the open pairs.

Only what the model calls a replacement twice, asked in different words, ends, where the classifier finds that
likely too. Where it does not, or two of three answers say so, the pair is linked: the newer one comes first
at recall, and a person is asked. What the model calls the same is linked, and is one hit of recall. Of what
it leaves open a person is asked. Without a model nothing ends.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from math import log1p

from hydramem.core.row_types import Link
from hydramem.garden.phases.supersede.ask_about_pairs import (
    FOR_CHECKS,
    FOR_VERSIONS,
    PairQuestions,
    versions_apart,
)
from hydramem.garden.phases.supersede.near_pairs import memories_that_count, nearest_to
from hydramem.garden.phases.supersede.possible_replacements import (
    PossibleReplacement,
    beginning,
    may_end_unasked,
    possible_repetitions,
    possible_replacements,
    proposed_pairs,
    replaced,
    settled_link,
)
from hydramem.garden.phases.supersede.replacement_probability import LEAST_LINKED
from hydramem.garden.phases.supersede.replacement_prompt import MOST_CHARS
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseWork
from hydramem.garden.proposals.proposal import Proposal, precondition_hash, quoted
from hydramem.ingest.memories.link.link_candidates import LinkProposal, link_of
from hydramem.storage.write import Write
from hydramem.text.restated_text import CONFIRMED_SAME

_MOST_READ = 2000
"""Open pairs that are read in a run; the budget says of how many of them a model is asked."""

_BY_MODEL = "A model reads it so; the pair classifier finds it unlikely."
_LIKELY_SAME = 0.8
"""Probability that two memories say the same where one answer of a model denies it, and two say so."""

_ROUNDS = 2
"""How often further versions of what changed are looked for."""

_DOUBTED = 0.5
"""Least weight of a link that a model asks for: by it the newer memory comes first at recall."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settling:
    """What settles pairs of memories.

    Attributes:
        proposals: Of ends, of links that are taken away, and of pairs that say the same.
        linked: The pairs that are to be linked, though the classifier alone would not.
        asked: Ids of the links of pairs that a model has answered.
        failed: Whether some calls of the model failed.
    """

    proposals: tuple[Proposal, ...] = ()
    linked: tuple[PossibleReplacement, ...] = ()
    asked: Collection[str] = ()
    failed: bool = False


def settled_pairs(
    work: PhaseWork, found: Sequence[PossibleReplacement] = (), *, without: Collection[str] = ()
) -> Settling:
    """Return what settles pairs of memories by a model.

    Args:
        work: Counts and notes are added to it.
        found: Pairs that no link holds yet.
        without: Ids of links that this run changes already.
    """
    context = work.context
    stored = [
        pair
        for find in (possible_replacements, possible_repetitions)
        for pair in find(context.graph, context.snapshot, at=context.clock, most=_MOST_READ)
    ]
    pairs = [
        pair
        for pair in sorted([*stored, *found], key=_pays, reverse=True)
        if _may_be_asked(pair, work)
        and (pair.repeats is None or pair.repeats.id not in without)
        and (pair.link.id not in without or not pair.is_stored)
    ]
    work.counts["memories_maybe_replaced"] = sum(_may_replace(pair) for pair in pairs)
    generator = context.generator("consolidate") if pairs else None
    if generator is None:
        return Settling()
    questions = PairQuestions(work, generator)
    questions.ask(pairs, keep=FOR_VERSIONS + FOR_CHECKS)
    for _ in range(_ROUNDS):
        known = {pair.link.id for pair in pairs}
        more = _further_versions(pairs, questions)
        if not more:
            break  # what was asked stays as it is, so another look finds nothing either
        questions.ask(more, keep=FOR_CHECKS)
        pairs += [pair for pair in more if pair.link.id not in known]
    work.notes += dict.fromkeys(questions.failures)
    made = _proposals(pairs, questions, context)
    proposals = tuple(each for each in made if each.target not in work.undone)
    work.counts["memories_ended"] = sum(each.target.startswith("c") for each in proposals)
    settled = {link.id for each in proposals for link in each.write.links}
    return Settling(
        proposals=proposals,
        linked=tuple(
            _stated_by_model(pair, questions)
            for pair in pairs
            if not pair.is_stored and questions.verdict(pair) == "REPLACES" and pair.link.id not in settled
        ),
        asked={pair.link.id for pair in pairs if questions.verdict(pair) is not None},
        failed=bool(questions.failures),
    )


def _further_versions(
    pairs: Sequence[PossibleReplacement], questions: PairQuestions
) -> list[PossibleReplacement]:
    """Return what may be further versions of matters that changed, and was not asked about.

    First come versions of one matter that were not compared with each other; then what is near to one of
    them, however unlikely the classifier finds it: what changed once changes again. A pair that the
    classifier did not propose a model alone may link.
    """
    context = questions.work.context
    verdicts = {pair.link.id: questions.verdict(pair) for pair in pairs}
    changed = {row.id for pair in pairs if verdicts.get(pair.link.id) == "REPLACES" for row in pair.rows}
    near = nearest_to(changed, memories_that_count(context), context) if changed else []
    known = {frozenset(row.id for row in pair.rows): pair for pair in pairs}
    found = dict.fromkeys((newer.id, older.id) for newer, older in (*versions_apart(pairs, verdicts), *near))
    open_ = [pair for both in found if (pair := known.get(frozenset(both))) and not verdicts[pair.link.id]]
    new = [(*both, _DOUBTED) for both in found if frozenset(both) not in known]
    return open_ + [
        replace(pair, link=replace(pair.link, reason=_BY_MODEL))
        for pair in proposed_pairs(new, context.graph, at=context.now)
        if _may_be_asked(pair, questions.work)
    ]


def _stated_by_model(pair: PossibleReplacement, questions: PairQuestions) -> PossibleReplacement:
    """Return a pair with a link by which the newer comes first; what the classifier doubts too never ends."""
    reason = "" if _may_replace(pair) and questions.is_sure(pair) else _BY_MODEL
    return replace(pair, link=replace(pair.link, weight=max(pair.link.weight, _DOUBTED), reason=reason))


def _pays(pair: PossibleReplacement) -> float:
    """Return what an answer is worth: the likelier the pair, and the more its memories are recalled."""
    recalls = sum(row.recall_count for row in pair.rows)
    return pair.link.weight * (1 + log1p(recalls))


def _may_be_asked(pair: PossibleReplacement, work: PhaseWork) -> bool:
    """Say whether a model may settle a pair: a person undid none of it, and both can be shown whole."""
    undone = pair.older.id in work.undone or pair.link.id in work.undone
    return not undone and may_end_unasked(pair) and all(len(row.text) <= MOST_CHARS for row in pair.rows)


def _proposals(
    pairs: Sequence[PossibleReplacement], questions: PairQuestions, context: PhaseContext
) -> Iterator[Proposal]:
    """Yield what settles pairs; a memory takes part in one replacement of a run.

    Of several states of one matter each ends where the next begins, from the last one on.
    """
    taken: set[str] = set()
    by = questions.generator.name
    for pair in sorted(pairs, key=_last_first, reverse=True):
        ids = {row.id for row in pair.rows}
        match questions.verdict(pair):
            case "REPLACES" if taken.isdisjoint(ids) and questions.is_sure(pair) and _is_likely(pair):
                taken |= ids
                yield _replacement(pair, context, by=by)
            case "SAME":
                likely = CONFIRMED_SAME if questions.is_sure(pair) else _LIKELY_SAME
                yield _say_the_same(pair, likely, context, by=by)
            case "BOTH":
                yield _both_hold(pair, context, by=by)


def _is_likely(pair: PossibleReplacement) -> bool:
    """Say whether the classifier finds a replacement likely too."""
    return _may_replace(pair) and pair.link.reason != _BY_MODEL


def _may_replace(pair: PossibleReplacement) -> bool:
    return pair.link.weight >= LEAST_LINKED and pair.repeats is None


def _last_first(pair: PossibleReplacement) -> tuple[object, ...]:
    return beginning(pair.newer), beginning(pair.older), pair.link.id


def _replacement(pair: PossibleReplacement, context: PhaseContext, *, by: str) -> Proposal:
    reason = f"{by} read both: the newer takes the place of the older."
    older, newer = pair.rows
    made = replaced(
        pair, target=context.read_only_target(), at=context.now, reason=reason, operation="garden"
    )
    # Applying the proposal records the changes and counts mentions; they are no part of it.
    write = Write(changes=(), chunks=made.chunks, relations=made.relations, links=made.links)
    subjects = sorted({row.subject for row in write.relations})
    stored = {row.id: row for row in (context.graph.relations(subjects) if subjects else ())}
    known = [stored[row.id] for row in write.relations if row.id in stored]
    created = [
        *(row for row in write.chunks if row.id not in (newer.id, older.id)),
        *(row for row in write.relations if row.id not in stored),
        *(link for link in write.links if link.id != pair.link.id or not pair.is_stored),
    ]
    return Proposal(
        project=context.project,
        phase="supersede",
        action="change",
        target=older.id,
        text=f"{quoted(older.text)} gives way to {quoted(newer.text)}",
        reason=reason,
        score=pair.link.weight,
        write=write,
        expects=precondition_hash(older, newer, *_stored_link(pair), *known, absent=created),
    )


def _say_the_same(pair: PossibleReplacement, likely: float, context: PhaseContext, *, by: str) -> Proposal:
    older, newer = pair.rows
    reason = f"{by} read both: they say the same in other words."
    link = pair.repeats
    if link is None:
        made = LinkProposal(target=older.id, type="duplicates", weight=likely, reason=reason)
        link = link_of(context.project, newer.id, made, context.now)
    known = _known_links(pair)
    created = [each for each in (pair.link, link) if each not in known]
    link = replace(link, weight=likely, reason=reason)
    return Proposal(
        project=context.project,
        phase="supersede",
        action="link",
        target=link.id,
        text=f"{quoted(newer.text)} duplicates {quoted(older.text)}",
        reason=reason,
        score=likely,
        write=Write(changes=(), links=(link, settled_link(pair.link, context.now))),
        expects=precondition_hash(*known, absent=created),
    )


def _both_hold(pair: PossibleReplacement, context: PhaseContext, *, by: str) -> Proposal:
    older, newer = pair.rows
    return Proposal(
        project=context.project,
        phase="supersede",
        action="change",
        target=pair.link.id,
        text=f"{quoted(newer.text)} leaves {quoted(older.text)} as it is",
        reason=f"{by} read both: both can be true.",
        score=None,
        write=Write(changes=(), links=(settled_link(pair.link, context.now),)),
        expects=precondition_hash(*_stored_link(pair), absent=() if pair.is_stored else (pair.link,)),
    )


def _stored_link(pair: PossibleReplacement) -> tuple[Link, ...]:
    return (pair.link,) if pair.is_stored else ()


def _known_links(pair: PossibleReplacement) -> tuple[Link, ...]:
    return (*_stored_link(pair), *(() if pair.repeats is None else (pair.repeats,)))
