"""Merge: memories that say the same become one, and so do entities that are the same thing.

Entities are merged around the best-known one, and each must match that one itself: a chain of names in which
only neighbours match merges nothing. Likely but uncertain pairs are reported, and left to a person; until one
decides, walks cross from one to the other by a link of their probability.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hydramem.core.row_types import Entity
from hydramem.core.runtime.freed_memory import return_freed_memory
from hydramem.garden.phases.merge.duplicate_memories import duplicates
from hydramem.garden.phases.merge.entity_matches import (
    EntityMatch,
    matches,
    project_entities,
    prominence,
)
from hydramem.garden.phases.merge.likely_links import likely_links
from hydramem.garden.phases.merge.likely_same import likely_pairs
from hydramem.garden.phases.merge.name_compatibility import NameMatch, name_match
from hydramem.garden.proposals.exclusions import UndecidedPair, is_told_apart
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseOutcome, PhaseWork
from hydramem.garden.proposals.proposal import Proposal, precondition_hash
from hydramem.ingest.knowledge.merging.merge_entities import MOST_MERGED, EntityMerge, plan_merge
from hydramem.text.names.name_comparison import NameParts, name_parts

_MOST_PROPOSED = 500
_MOST_MENTIONS = 5000
"""Mentions of all entities of a merge; larger merges are left."""

_CLEARLY = 2.0
"""Log odds by which a short name must match one full name better than any other."""

_SHOWN_PAIRS = 5

_REASONS: Mapping[NameMatch, str] = {
    "equal": "Their names have the same words.",
    "turned": "Their names have the same words in another order.",
    "alias": "One is called like the other.",
    "misspelled": "Their names differ in a letter or an ending.",
    "initials": "One name is short for the other.",
    "shorter": "One name is part of the other.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Star:
    """Entities to merge: the one that stays, and its pairs with the others."""

    keep: Entity
    others: tuple[EntityMatch, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedMerge:
    """A merge of entities as a run proposes it, with the rows that it makes."""

    plan: EntityMerge
    proposal: Proposal


def merge(context: PhaseContext) -> PhaseOutcome:
    """Propose merges of equal memories and of entities that are the same; a person decides unsure ones."""
    work, settings = PhaseWork(context), context.settings.garden
    memories, undecided = duplicates(work)
    return_freed_memory()  # what each step compared is larger than what it found
    everything = project_entities(context)
    found, cut = matches(everything, work)
    return_freed_memory()
    pairs = [pair for pair in found if not is_told_apart(pair.one, pair.other)]
    unclear = ambiguous(pairs)
    sure = [pair for pair in pairs if pair.probability >= settings.merge_at and _key(pair) not in unclear]
    merges = _merges(stars(sure), work)
    decided = set(map(_key, sure))
    likely = [pair for pair in pairs if pair.probability >= settings.review_at and _key(pair) not in decided]
    work.counts["entities_maybe_one"] = len(likely)
    links = _links(everything, merges, work)
    stopped = bool(work.stopped or context.budget.over)
    work.notes += [_likely_note(likely)] if likely else []
    work.notes += [f"{cut} further pairs of names were not compared."] if cut else []
    work.notes += [f"Not everything was looked at: {context.budget.over}."] if stopped else []
    return work.outcome(
        (*(each.proposal for each in merges), *memories, *links),
        state="partial" if stopped else "completed",
        undecided=(*map(_undecided, likely), *undecided),
    )


def _key(pair: EntityMatch) -> tuple[str, str]:
    return pair.one.id, pair.other.id


def ambiguous(pairs: Iterable[EntityMatch]) -> set[tuple[str, str]]:
    """Return the pairs in which a short name may also be short for another full name."""
    full: dict[str, list[EntityMatch]] = defaultdict(list)
    for pair in pairs:
        if pair.how in ("shorter", "initials"):
            short = min(pair.one, pair.other, key=lambda row: (len(row.name.split()), len(row.name)))
            full[short.id].append(pair)
    unclear: set[tuple[str, str]] = set()
    for several in full.values():
        first, *others = sorted(several, key=lambda pair: -pair.odds)
        unclear |= {_key(pair) for pair in others}
        if others and first.odds - others[0].odds < _CLEARLY:
            unclear.add(_key(first))
    return unclear


def stars(pairs: Iterable[EntityMatch]) -> list[Star]:
    """Group pairs around the best-known entity of each; the names of a group must all be compatible."""
    pairs_of: dict[str, list[EntityMatch]] = defaultdict(list)
    centres: dict[str, Entity] = {}
    for pair in pairs:
        for row in (pair.one, pair.other):
            pairs_of[row.id].append(pair)
            centres[row.id] = row
    taken: set[str] = set()
    found: list[Star] = []
    for keep in sorted(centres.values(), key=prominence):
        if keep.id in taken:
            continue
        free = [pair for pair in pairs_of[keep.id] if _other(pair, keep).id not in taken]
        others = _compatible(keep, sorted(free, key=lambda pair: (-pair.odds, *_key(pair))))
        if others:
            taken |= {keep.id, *(_other(pair, keep).id for pair in others)}
            found.append(Star(keep=keep, others=others))
    return found


def _other(pair: EntityMatch, keep: Entity) -> Entity:
    return pair.other if pair.one.id == keep.id else pair.one


def _compatible(keep: Entity, pairs: Sequence[EntityMatch]) -> tuple[EntityMatch, ...]:
    """Return the pairs of a centre whose other names are all compatible with each other."""
    chosen: list[EntityMatch] = []
    names: list[NameParts] = []
    for pair in pairs[:MOST_MERGED]:
        name = name_parts(_other(pair, keep).name)
        if all(name_match((name,), (known,)) is not None for known in names):
            chosen.append(pair)
            names.append(name)
    return tuple(chosen)


def _merges(groups: Sequence[Star], work: PhaseWork) -> list[PlannedMerge]:
    """Return what merges groups, without entities whose merge was undone or split before."""
    context = work.context
    split = {each.target for each in context.graph.changes(project=context.project, operation="split")}
    made: list[PlannedMerge] = []
    merged = 0
    for star in groups:
        if len(made) == _MOST_PROPOSED or context.budget.over:
            break
        others = [
            pair
            for pair in star.others
            if (id := _other(pair, star.keep).id) not in split and id not in work.undone
        ]
        rows = [star.keep, *(_other(pair, star.keep) for pair in others)]
        if sum(row.mention_count for row in rows) > _MOST_MENTIONS:
            work.counts["entities_too_large"] += 1
        elif others:
            made.append(_planned(star.keep, others, context))
            merged += len(others)
    work.counts["entities_merged"] = merged
    return made


def _links(rows: Sequence[Entity], merges: Sequence[PlannedMerge], work: PhaseWork) -> list[Proposal]:
    """Return what links entities that are likely the same, as the merges leave them."""
    after = {each.plan.keep.id: each.plan.after for each in merges}
    replaced = {part.entity.id: each.plan.keep.id for each in merges for part in each.plan.parts}
    left = [after.get(row.id, row) for row in rows if row.id not in replaced]
    pairs = likely_pairs(left, work, replaced=replaced)
    return likely_links(pairs, work, changed=after.keys(), replaced=replaced.keys())


def _planned(keep: Entity, others: Sequence[EntityMatch], context: PhaseContext) -> PlannedMerge:
    merging = [_other(pair, keep) for pair in others]
    made = plan_merge(keep, merging, context.graph)
    created = precondition_hash(absent=(*made.write.mentions, *made.write.relations))
    names = " and ".join(row.name for row in merging)
    proposal = Proposal(
        project=context.project,
        phase="merge",
        action="merge",
        target=keep.id,
        text=f"{names} {'is' if len(merging) == 1 else 'are'} {keep.name}",
        reason=" ".join(dict.fromkeys(_why(pair) for pair in others)),
        score=min(pair.probability for pair in others),
        write=made.write,
        expects=created | precondition_hash(keep, *merging, *made.read),
    )
    return PlannedMerge(plan=made, proposal=proposal)


def _why(pair: EntityMatch) -> str:
    shared = f" {pair.shared} neighbours are related to both." if pair.shared > 1 else ""
    return f"{_REASONS[pair.how]}{shared}"


def _undecided(pair: EntityMatch) -> UndecidedPair:
    return UndecidedPair(one=pair.one.id, other=pair.other.id, probability=pair.probability, why=_why(pair))


def _likely_note(pairs: Sequence[EntityMatch]) -> str:
    shown = "; ".join(
        f"{pair.other.name} and {pair.one.name} ({pair.probability:.2f})" for pair in pairs[:_SHOWN_PAIRS]
    )
    more = " …" if len(pairs) > _SHOWN_PAIRS else ""
    return f"May be one thing, but nothing shows it surely: {shown}{more}"
