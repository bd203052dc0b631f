"""Memories that may supersede older ones: a model settles the open pairs.

Only what the model calls a replacement ends, and of what it leaves open a person is asked. Without a model
nothing ends.
"""

from collections.abc import Iterator, Mapping, Sequence

from hydramem.core.errors import ModelError, ModelReplyError
from hydramem.core.row_types import Usage
from hydramem.garden.phases.supersede.possible_replacements import (
    PossibleReplacement,
    may_end_unasked,
    possible_replacements,
    replaced,
    settled_link,
)
from hydramem.garden.phases.supersede.replacement_prompt import (
    MOST_CHARS,
    PAIRS_IN_ONE,
    Settled,
    answered,
    ask,
)
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseWork
from hydramem.garden.proposals.proposal import Proposal, precondition_hash, quoted
from hydramem.llm.contracts import Generator
from hydramem.storage.write import Write

_MOST_ASKED = 200
"""Pairs that a model is asked about in a run."""


def settled_pairs(work: PhaseWork) -> tuple[list[Proposal], bool]:
    """Return what settles pairs of memories by a model, and whether some of its calls failed."""
    context = work.context
    pairs = [
        pair
        for pair in possible_replacements(context.graph, context.snapshot, at=context.clock, most=_MOST_ASKED)
        if pair.older.id not in work.undone and pair.link.id not in work.undone and _may_be_shown(pair)
    ]
    work.counts["memories_maybe_replaced"] = len(pairs)
    generator = context.generator("consolidate") if pairs else None
    if generator is None:
        return [], False
    verdicts, failures = _verdicts(pairs, generator, work)
    work.notes += failures
    proposals = list(_proposals(pairs, verdicts, context, by=generator.name))
    work.counts["memories_ended"] = sum(each.target.startswith("c") for each in proposals)
    return proposals, bool(failures)


def _may_be_shown(pair: PossibleReplacement) -> bool:
    return may_end_unasked(pair) and all(len(row.text) <= MOST_CHARS for row in pair.rows)


def _verdicts(
    pairs: Sequence[PossibleReplacement], generator: Generator, work: PhaseWork
) -> tuple[Mapping[str, Settled], list[str]]:
    """Return a model's verdicts by link, those of earlier runs among them, and what failed."""
    budget, replies = work.context.budget, work.context.judge.replies
    verdicts = dict(answered(pairs, generator, replies))
    open_ = [pair for pair in pairs if pair.link.id not in verdicts]
    failures: list[str] = []
    for batch in work.batches(open_, PAIRS_IN_ONE):
        try:
            found = ask(batch, generator, replies)
        except ModelReplyError as error:
            budget.spend(Usage(calls=1))
            failures.append(f"The model's reply was refused: {error}.")
            continue
        except ModelError as error:
            failures.append(f"The model cannot be asked: {error}.")
            break
        budget.spend(found.usage)
        verdicts |= found.verdicts
    return verdicts, list(dict.fromkeys(failures))


def _proposals(
    pairs: Sequence[PossibleReplacement],
    verdicts: Mapping[str, Settled],
    context: PhaseContext,
    *,
    by: str,
) -> Iterator[Proposal]:
    """Yield what settles pairs; a memory takes part in one replacement of a run."""
    taken: set[str] = set()
    for pair in pairs:
        ids = {row.id for row in pair.rows}
        match verdicts.get(pair.link.id):
            case "REPLACES" if taken.isdisjoint(ids):
                taken |= ids
                yield _replacement(pair, context, by=by)
            case "BOTH":
                yield _both_hold(pair, context, by=by)


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
        *(link for link in write.links if link.id != pair.link.id),
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
        expects=precondition_hash(older, newer, pair.link, *known, absent=created),
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
        expects=precondition_hash(pair.link),
    )
