"""Duplicates: memories of one scope that say the same, of which one is kept.

Cosine similarity finds the candidates. Equal wording merges. What the pair classifier calls a duplicate is
merged only where the two have the same words in the same order, apart from articles: so neither a number, a
name, a negation nor a role can differ. Other duplicates are left to a person.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from hydramem.core.errors import ModelError
from hydramem.core.row_types import Chunk
from hydramem.garden.phases.merge.merge_memories import MemoryPair, keeping_rank, merge_memories
from hydramem.garden.proposals.exclusions import UndecidedPair, is_told_apart, reused
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseWork
from hydramem.garden.proposals.proposal import Proposal, precondition_hash, quoted
from hydramem.ingest.knowledge.end_validity import is_version
from hydramem.ingest.memories.consolidate.duplicate_or_update import is_repetition
from hydramem.ingest.memories.memory_input import STEADY
from hydramem.llm.pair_classifier import bounds, can_judge
from hydramem.storage.chunk_filter import ChunkFilter, covers
from hydramem.storage.store import Listing
from hydramem.text.decisive_marks import differ_in_marks, have_same_words

_NEWEST = 5000
_AT_ONCE = 256
_MOST_PAIRS = 20_000
_MOST_PROPOSED = 500
_MOST_IN_ONE = 20
_MARGIN = 0.1
"""How far under the threshold of consolidation a cosine may be for a person to be asked."""

_MOST_LOOKED_AT = 2000
_MOST_JUDGED = 500
"""Pairs of memories of the same words that the classifier reads in a run."""

_MOST_ASKED = 100
_WHY_ASKED = "They are near each other, and seem to say the same in other words."
_EQUAL = "They say the same in the same words."
_SAME_WORDS = "They say the same in the same words, but for articles."


@dataclass(slots=True)
class _Duplicates:
    """What the classifier calls duplicates: as links say, which the phase before and each write make.

    Of the same words there is no link; the classifier reads a bounded number of such pairs here.
    """

    work: PhaseWork
    linked: Mapping[frozenset[str], float]
    judged: int = 0

    def probability(self, one: Chunk, other: Chunk) -> float | None:
        """Return how likely two memories say the same, 0 where no link says so; None where none can."""
        unlinked = 0.0 if can_judge(one.text, other.text) else None
        return self.linked.get(frozenset((one.id, other.id)), unlinked)

    def say_the_same(self, one: Chunk, other: Chunk) -> bool:
        """Say whether two memories of the same words are duplicates."""
        linked = self.linked.get(frozenset((one.id, other.id)))
        if linked is not None or self.judged == _MOST_JUDGED:
            return (linked or 0.0) >= bounds().duplicate
        self.judged += 1
        older, newer = sorted((one, other), key=lambda row: (row.times.recorded_at, row.id))
        try:
            (judgement,) = self.work.context.judge_pairs([(newer.text, older.text)])
        except ModelError as error:
            self.judged = _MOST_JUDGED
            self.work.notes.append(f"Memories were not compared: {error}.")
            return False
        return judgement is not None and judgement.duplicate >= bounds().duplicate


def duplicates(work: PhaseWork) -> tuple[list[Proposal], list[UndecidedPair]]:
    """Return what merges memories that say the same, and pairs for a person to judge."""
    context = work.context
    where = ChunkFilter(projects=(context.project,), kinds=STEADY)
    newest = context.graph.list_chunks(where, Listing(limit=_NEWEST))
    rows = [row for row in newest if not is_version(row) and covers(None, row.expires_at, context.clock)]
    work.counts["memories_looked_at"] = len(rows)
    often, scopes = reused([row.id for row in rows], context.graph), _scopes(rows)
    known = _Duplicates(work, _linked(rows, context))
    pairs_of: dict[str, list[MemoryPair]] = {}
    going: set[str] = set()
    for pair in _sure_pairs(scopes, often, known):
        work.counts["memories_alike"] += 1
        if len(going) == _MOST_PROPOSED or context.budget.over:
            break
        kept, gone = pair.kept.id, pair.gone.id
        is_free = kept not in going and gone not in going and gone not in pairs_of
        if is_free and gone not in work.undone and len(pairs_of.get(kept, ())) < _MOST_IN_ONE:
            pairs_of.setdefault(kept, []).append(pair)
            going.add(gone)
    taken = going | pairs_of.keys()
    open_ = (pair for pair in _borderline(scopes, known) if taken.isdisjoint((pair.one, pair.other)))
    asked = list(islice(open_, _MOST_ASKED))
    work.counts["memories_maybe_alike"] = len(asked)
    return [_proposal(pairs, context) for pairs in pairs_of.values()], asked


def _scopes(rows: Sequence[Chunk]) -> list[list[Chunk]]:
    """Return memories by scope; those alone in theirs are left out."""
    scopes: dict[tuple[str, bool], list[Chunk]] = defaultdict(list)
    for row in rows:
        scopes[row.scope, row.private].append(row)
    return [group for _, group in sorted(scopes.items()) if len(group) > 1]


def _linked(rows: Sequence[Chunk], context: PhaseContext) -> dict[frozenset[str], float]:
    """Return the pairs of memories that active links call duplicates, with their probability."""
    links = context.graph.links([row.id for row in rows]) if rows else ()
    return {
        frozenset((link.source, link.target)): link.weight
        for link in links
        if link.type == "duplicates" and link.state == "active"
    }


def _sure_pairs(
    scopes: Sequence[Sequence[Chunk]], often: frozenset[str], known: _Duplicates
) -> Iterator[MemoryPair]:
    """Yield pairs of memories that say the same, scope by scope, the most similar first."""
    context = known.work.context
    least = context.settings.memory.consolidation_threshold
    for group in scopes:
        for one, other, cosine in _similar(group, context, least=least, most=_MOST_PAIRS):
            reason = _why_same(one, other, known)
            if reason is not None and not is_told_apart(one, other):
                kept, gone = sorted((one, other), key=lambda row: keeping_rank(row, often))
                if gone.id not in often and gone.layer != "verified":
                    yield MemoryPair(kept=kept, gone=gone, cosine=cosine, reason=reason)


def _why_same(one: Chunk, other: Chunk, known: _Duplicates) -> str | None:
    """Say why two memories are surely the same; None where they are not."""
    older, newer = sorted((one, other), key=lambda row: (row.times.recorded_at, row.id))
    if is_repetition(newer, older):
        return _EQUAL
    same = _of_one_moment(one, other) and have_same_words(one.text, other.text)
    return _SAME_WORDS if same and known.say_the_same(one, other) else None


def _of_one_moment(one: Chunk, other: Chunk) -> bool:
    """Say whether two memories are of one kind, speaker and time."""
    keys = [
        (row.kind, row.author, row.happened_at, row.times.valid_from, row.times.valid_to)
        for row in (one, other)
    ]
    return keys[0] == keys[1]


def _borderline(scopes: Sequence[Sequence[Chunk]], known: _Duplicates) -> Iterator[UndecidedPair]:
    """Yield pairs of memories that may say the same, scope by scope, the most similar first.

    The classifier calls them duplicates, or cannot judge similar ones; no number, name or negation differs.
    """
    context = known.work.context
    bound = context.settings.memory.consolidation_threshold
    for group in scopes:
        if context.budget.over:
            return
        for one, other, cosine in _similar(group, context, least=bound - _MARGIN, most=_MOST_LOOKED_AT):
            if "verified" in (one.layer, other.layer) or is_told_apart(one, other):
                continue
            if one.kind != other.kind or differ_in_marks(one.text, other.text):
                continue
            likely = known.probability(one, other)
            is_open = cosine >= bound if likely is None else likely >= bounds().duplicate
            if is_open and _name_the_same(one, other, context):
                pair = sorted((one.id, other.id))
                yield UndecidedPair(
                    one=pair[0], other=pair[1], probability=likely, why=_WHY_ASKED, of="memories"
                )


def _name_the_same(one: Chunk, other: Chunk, context: PhaseContext) -> bool:
    """Say whether two memories name the same entities."""
    named: dict[str, set[str]] = {one.id: set(), other.id: set()}
    for mention in context.graph.mentions(list(named)):
        named[mention.chunk].add(mention.entity)
    return named[one.id] == named[other.id]


def _similar(
    rows: Sequence[Chunk], context: PhaseContext, *, least: float, most: int
) -> list[tuple[Chunk, Chunk, float]]:
    """Return pairs of memories with similar vectors, the most similar first, computed in blocks of rows."""
    vectors = context.vectors.vectors([row.id for row in rows])
    known = [row for row in rows if row.id in vectors]
    if len(known) < 2:
        return []
    table = np.stack([vectors[row.id] for row in known]).astype(np.float32)
    table /= np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-12)
    found: list[tuple[Chunk, Chunk, float]] = []
    for start in range(0, len(known), _AT_ONCE):
        cosines = table[start : start + _AT_ONCE] @ table[start:].T
        places = np.argwhere(np.triu(cosines, 1) >= least)
        values = cosines[places[:, 0], places[:, 1]]
        if len(places) > most:
            nearest = np.argpartition(-values, most)[:most]
            places, values = places[nearest], values[nearest]
        for (first, second), cosine in zip(places.tolist(), values.tolist(), strict=True):
            found.append((known[start + first], known[start + second], float(cosine)))
    return sorted(found, key=lambda pair: (-pair[2], pair[0].id, pair[1].id))[:most]


def _proposal(pairs: Sequence[MemoryPair], context: PhaseContext) -> Proposal:
    kept, gone = pairs[0].kept, pairs[0].gone
    made = merge_memories(pairs, context.graph, context.settings.memory, context.now)
    reason = " ".join(dict.fromkeys(pair.reason for pair in pairs))
    more = f" and {len(pairs) - 1} more" if len(pairs) > 1 else ""
    return Proposal(
        project=context.project,
        phase="merge",
        action="merge",
        target=gone.id,
        text=f"{quoted(gone.text)}{more} {'are' if more else 'is'} one with {quoted(kept.text)}",
        reason=f"{reason} It is kept once.",
        score=min(1.0, max(0.0, min(pair.cosine for pair in pairs))),
        write=made.write,
        expects=precondition_hash(*made.rests_on, absent=made.write.links),
    )
