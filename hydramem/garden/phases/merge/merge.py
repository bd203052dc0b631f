"""Merge: memories that say the same become one, and so do entities that are one thing.

Entities are merged around the one that is best known, and each must match that one itself: a chain of names
of which only neighbours are alike merges nothing. What is likely but not sure is told, and left to a person.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hydramem.core.row_types import Entity
from hydramem.garden.phases.merge.duplicate_memories import duplicates
from hydramem.garden.phases.merge.entity_matches import EntityMatch, matches
from hydramem.garden.phases.merge.name_compatibility import bearing
from hydramem.garden.proposals.exclusions import UndecidedPair, UndoneRows, is_told_apart
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseOutcome
from hydramem.garden.proposals.proposal import Proposal, precondition_hash
from hydramem.ingest.knowledge.merging.merge_entities import MOST_MERGED, EntityMerge, plan_merge
from hydramem.storage.schema import MENTIONS, RELATES
from hydramem.storage.store import GraphStore
from hydramem.storage.undo.undo_images import Address
from hydramem.storage.write import Write
from hydramem.text.names import NameParts, name_parts

_MOST_PROPOSED = 500

_MOST_ROWS = 5000

_CLEARLY = 2.0
"""Log-odds by which a short name must be nearer to one full name than to any other."""

_SHOWN = 5

_HOW = {
    "equal": "Their names have the same words.",
    "turned": "Their names have the same words in another order.",
    "alias": "One is called like the other.",
    "misspelled": "Their names differ in a letter or an ending.",
    "initials": "One name is short for the other.",
    "shorter": "One name is part of the other.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Star:
    """Entities that are one: the one that stays, and those that match it, each in itself."""

    keep: Entity
    others: tuple[EntityMatch, ...]


def merge(ground: PhaseContext) -> PhaseOutcome:
    """Make one of memories that say the same, and of entities that are one; what is not sure is told."""
    counts: Counter[str] = Counter()
    memories, unsure = duplicates(ground, counts)
    found = matches(ground)
    counts |= {"entities_looked_at": found.entities, "names_compared": found.compared}
    settings = ground.settings.garden
    open_pairs = [pair for pair in found.pairs if not is_told_apart(pair.one, pair.other)]
    unclear = ambiguous(open_pairs)
    sure = [
        pair for pair in open_pairs if pair.probability >= settings.merge_at and _key(pair) not in unclear
    ]
    groups = stars(sure)
    entities, merged = _proposals(groups, counts, ground)
    known = {_key(pair) for pair in sure}
    doubtful = [
        pair for pair in open_pairs if pair.probability >= settings.review_at and _key(pair) not in known
    ]
    counts["entities_merged"] = len(merged)
    counts["entities_maybe_one"] = len(doubtful)
    stopped = found.stopped or bool(ground.budget.over)
    notes = [_asked(doubtful)] if doubtful else []
    notes += [f"{found.cut} further pairs of names were not compared."] if found.cut else []
    notes += [f"Not everything was looked at: {ground.budget.over}."] if stopped else []
    return PhaseOutcome(
        proposals=(*entities, *memories),
        counts=dict(sorted(counts.items())),
        state="partial" if stopped else "completed",
        notes=tuple(notes),
        usage=ground.budget.usage,
        doubts=(*map(_doubt, doubtful), *unsure),
    )


def _key(pair: EntityMatch) -> tuple[str, str]:
    return pair.one.id, pair.other.id


def ambiguous(pairs: Iterable[EntityMatch]) -> set[tuple[str, str]]:
    """Return the pairs in which a short name may as well stand for another full one."""
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
    """Group pairs around the best-known entity of each; one that another of its group cannot be is left."""
    around: dict[str, list[EntityMatch]] = defaultdict(list)
    centres: dict[str, Entity] = {}
    for pair in pairs:
        for row in (pair.one, pair.other):
            around[row.id].append(pair)
            centres[row.id] = row
    taken: set[str] = set()
    found: list[Star] = []
    for keep in sorted(centres.values(), key=lambda row: (-row.mention_count, -len(row.name), row.id)):
        if keep.id in taken:
            continue
        near = [pair for pair in around[keep.id] if _other(pair, keep).id not in taken]
        others = _agreeing(keep, sorted(near, key=lambda pair: (-pair.odds, *_key(pair))))
        if others:
            taken |= {keep.id, *(_other(pair, keep).id for pair in others)}
            found.append(Star(keep=keep, others=others))
    return found


def _other(pair: EntityMatch, keep: Entity) -> Entity:
    return pair.other if pair.one.id == keep.id else pair.one


def _agreeing(keep: Entity, pairs: Sequence[EntityMatch]) -> tuple[EntityMatch, ...]:
    """Return the pairs of a centre whose other ends may all be one thing with each other."""
    chosen: list[EntityMatch] = []
    names: list[NameParts] = []
    for pair in pairs[:MOST_MERGED]:
        name = name_parts(_other(pair, keep).name)
        if all(bearing((name,), (known,)) is not None for known in names):
            chosen.append(pair)
            names.append(name)
    return tuple(chosen)


def _proposals(
    groups: Sequence[Star], counts: Counter[str], ground: PhaseContext
) -> tuple[list[Proposal], set[tuple[str, str]]]:
    """Return what merges groups, and which pairs that takes in."""
    undone = UndoneRows(ground.graph, ground.project)
    made: list[Proposal] = []
    merged: set[tuple[str, str]] = set()
    for star in groups:
        if len(made) == _MOST_PROPOSED or ground.budget.over:
            break
        others = tuple(
            pair for pair in star.others if not _parted(_other(pair, star.keep), undone, ground.graph)
        )
        rows = [star.keep, *(_other(pair, star.keep) for pair in others)]
        if sum(row.mention_count for row in rows) > _MOST_ROWS:
            counts["entities_too_large"] += 1
        elif others:
            made.append(_proposal(star.keep, others, ground))
            merged |= {_key(pair) for pair in others}
    return made, merged


def _parted(row: Entity, undone: UndoneRows, graph: GraphStore) -> bool:
    """Say whether somebody took a merge of an entity back, or split it off."""
    return row.id in undone or any(change.operation == "split" for change in graph.changes(target=row.id))


def _proposal(keep: Entity, others: Sequence[EntityMatch], ground: PhaseContext) -> Proposal:
    merging = [_other(pair, keep) for pair in others]
    made = plan_merge(keep, merging, ground.graph)
    names = " and ".join(row.name for row in merging)
    return Proposal(
        project=ground.project,
        phase="merge",
        action="merge",
        target=keep.id,
        text=f"{names} {'is' if len(merging) == 1 else 'are'} {keep.name}",
        reason=" ".join(dict.fromkeys(_why(pair) for pair in others)),
        score=min(pair.probability for pair in others),
        write=made.write,
        expects=_rests_on(made, keep, merging),
    )


def _rests_on(made: EntityMerge, keep: Entity, merging: Sequence[Entity]) -> Mapping[Address, str | None]:
    seen = precondition_hash(keep, *merging, *made.read)
    write: Write = made.write
    new = precondition_hash(
        absent=[*((MENTIONS, row) for row in write.mentions), *((RELATES, row) for row in write.relations)]
    )
    return new | seen


def _why(pair: EntityMatch) -> str:
    shared = f" {pair.shared} neighbours are related to both." if pair.shared > 1 else ""
    return f"{_HOW[pair.how]}{shared}"


def _doubt(pair: EntityMatch) -> UndecidedPair:
    return UndecidedPair(one=pair.one.id, other=pair.other.id, probability=pair.probability, why=_why(pair))


def _asked(pairs: Sequence[EntityMatch]) -> str:
    shown = "; ".join(
        f"{pair.other.name} and {pair.one.name} ({pair.probability:.2f})" for pair in pairs[:_SHOWN]
    )
    return f"May be one thing, but nothing shows it surely: {shown}{' …' if len(pairs) > _SHOWN else ''}"
