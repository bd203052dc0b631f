"""Duplicates: memories of one scope that say the same, of which one is kept.

Cosine similarity finds the candidates, consolidation (`ingest.memories.consolidate`) decides. Similar
memories of which nothing shows whether they say the same are left to a person.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from hydramem.core.row_types import Chunk
from hydramem.garden.phases.merge.merge_memories import MemoryPair, keeping_rank, merge_memories
from hydramem.garden.proposals.exclusions import UndecidedPair, is_told_apart, reused
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseWork
from hydramem.garden.proposals.proposal import Proposal, precondition_hash, quoted
from hydramem.ingest.knowledge.end_validity import is_version
from hydramem.ingest.legacy_update_rules.update_reading import reading
from hydramem.ingest.memories.consolidate.duplicate_or_update import Comparison, compare
from hydramem.ingest.memories.memory_input import STEADY
from hydramem.storage.chunk_filter import ChunkFilter, covers
from hydramem.storage.store import Listing

_NEWEST = 5000
_AT_ONCE = 256
_MOST_PAIRS = 20_000
_MOST_PROPOSED = 500
_MOST_IN_ONE = 20
_MARGIN = 0.1
"""How far under the threshold of consolidation a cosine may be for a person to be asked."""

_MOST_LOOKED_AT = 2000
_MOST_ASKED = 100
_WHY_ASKED = "They are near each other, and nothing shows whether they say the same."
_WORD = re.compile(r"[^\W_]+")


def duplicates(work: PhaseWork) -> tuple[list[Proposal], list[UndecidedPair]]:
    """Return what merges memories that say the same, and pairs for a person to judge."""
    context = work.context
    where = ChunkFilter(projects=(context.project,), kinds=STEADY)
    newest = context.graph.list_chunks(where, Listing(limit=_NEWEST))
    rows = [row for row in newest if not is_version(row) and covers(None, row.expires_at, context.now)]
    work.counts["memories_looked_at"] = len(rows)
    often, scopes = reused([row.id for row in rows], context.graph), _scopes(rows)
    pairs_of: dict[str, list[MemoryPair]] = {}
    going: set[str] = set()
    for pair in _sure_pairs(scopes, often, context):
        work.counts["memories_alike"] += 1
        if len(going) == _MOST_PROPOSED or context.budget.over:
            break
        kept, gone = pair.kept.id, pair.gone.id
        is_free = kept not in going and gone not in going and gone not in pairs_of
        if is_free and gone not in work.undone and len(pairs_of.get(kept, ())) < _MOST_IN_ONE:
            pairs_of.setdefault(kept, []).append(pair)
            going.add(gone)
    taken = going | pairs_of.keys()
    asked = [
        UndecidedPair(one=min(pair), other=max(pair), probability=None, why=_WHY_ASKED, of="memories")
        for pair in islice((pair for pair in _borderline(scopes, context) if not pair & taken), _MOST_ASKED)
    ]
    work.counts["memories_maybe_alike"] = len(asked)
    return [_proposal(pairs, context) for pairs in pairs_of.values()], asked


def _scopes(rows: Sequence[Chunk]) -> list[list[Chunk]]:
    """Return memories by scope; those alone in theirs are left out."""
    scopes: dict[tuple[str, bool], list[Chunk]] = defaultdict(list)
    for row in rows:
        scopes[row.scope, row.private].append(row)
    return [group for _, group in sorted(scopes.items()) if len(group) > 1]


def _sure_pairs(
    scopes: Sequence[Sequence[Chunk]], often: frozenset[str], context: PhaseContext
) -> Iterator[MemoryPair]:
    """Yield pairs of memories that say the same, scope by scope, the most similar first."""
    least = context.settings.memory.consolidation_threshold
    for group in scopes:
        for one, other, cosine in _similar(group, context, least=least, most=_MOST_PAIRS):
            found = _compared(one, other)
            if found.action == "duplicate" and found.sure and not is_told_apart(one, other):
                kept, gone = sorted((one, other), key=lambda row: keeping_rank(row, often))
                if gone.id not in often and gone.layer != "verified":
                    yield MemoryPair(kept=kept, gone=gone, cosine=cosine, reason=found.reason)


def _borderline(scopes: Sequence[Sequence[Chunk]], context: PhaseContext) -> Iterator[frozenset[str]]:
    """Yield pairs of memories that may say the same, scope by scope, the most similar first.

    Either their words say the same and their vectors are not similar enough; or their vectors are, and their
    words show neither that they say the same nor a name, number or negation that differs.
    """
    bound = context.settings.memory.consolidation_threshold
    for group in scopes:
        if context.budget.over:
            return
        for one, other, cosine in _similar(group, context, least=bound - _MARGIN, most=_MOST_LOOKED_AT):
            if "verified" in (one.layer, other.layer) or is_told_apart(one, other):
                continue
            found = _compared(one, other).action
            is_open = (
                found == "duplicate" if cosine < bound else found == "unrelated" and same_marks(one, other)
            )
            if is_open and one.kind == other.kind and _name_the_same(one, other, context):
                yield frozenset((one.id, other.id))


def _compared(one: Chunk, other: Chunk) -> Comparison:
    old, new = sorted((one, other), key=lambda row: (row.times.recorded_at, row.id))
    return compare(new, old)


def same_marks(one: Chunk, other: Chunk) -> bool:
    """Say whether two texts have the same capitalised words, numbers and negations."""
    mine, yours = reading(one.text), reading(other.text)
    negated = mine.negations % 2 == yours.negations % 2
    return negated and mine.marks == yours.marks and _names(one.text) == _names(other.text)


def _names(text: str) -> frozenset[str]:
    """Return the words of a text that may be names or numbers; a capital at its beginning shows nothing."""
    words = _WORD.findall(text)
    return frozenset(
        word.casefold()
        for place, word in enumerate(words)
        if any(map(str.isdigit, word)) or (place and word[0] != word[0].casefold())
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
