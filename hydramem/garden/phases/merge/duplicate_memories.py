"""Duplicates: memories that say the same, where one is enough; what tells them apart in any way keeps both.

Cosine names the candidates, within one project and scope; consolidation (`ingest.consolidate`) decides.
What is near, of which nothing shows that it differs, but nothing that it says the same either, is told.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from hydramem.core.row_types import Chunk
from hydramem.garden.phases.merge.merge_memories import Pair, made_one, stored_rows
from hydramem.garden.proposals.exclusions import UndecidedPair, UndoneRows, is_told_apart, reused
from hydramem.garden.proposals.phase_context import PhaseContext
from hydramem.garden.proposals.proposal import Proposal, precondition_hash
from hydramem.ingest.knowledge.end_validity import is_version
from hydramem.ingest.legacy_update_rules.update_reading import reading
from hydramem.ingest.memories.consolidate.consolidate import Comparison, compare
from hydramem.ingest.memories.memory_input import STEADY
from hydramem.storage.chunk_filter import ChunkFilter, covers
from hydramem.storage.schema import LINKS
from hydramem.storage.store import Listing
from hydramem.text.shown_text import one_line

_NEWEST = 5000

_AT_ONCE = 256

_MOST_PAIRS = 20_000

_MOST_PROPOSED = 500

_MOST_IN_ONE = 20

_MARGIN = 0.1
"""How far under the threshold of consolidation vectors may be for a person to be asked."""

_MOST_LOOKED_AT = 2000

_MOST_ASKED = 100

_UNSHOWN = "They are near each other, and nothing shows whether they say the same."

_TEXT_SHOWN = 80

_WORD = re.compile(r"[^\W_]+")


def duplicates(ground: PhaseContext, counts: Counter[str]) -> tuple[list[Proposal], list[UndecidedPair]]:
    """Return what would make one memory of those that say the same, and what a person may know.

    Args:
        ground: What is looked at.
        counts: Gains what was looked at and found.
    """
    where = ChunkFilter(projects=(ground.project,), kinds=STEADY)
    newest = ground.graph.list_chunks(where, Listing(limit=_NEWEST))
    rows = [row for row in newest if not is_version(row) and covers(None, row.expires_at, ground.now)]
    counts["memories_looked_at"] = len(rows)
    held, scopes = reused([row.id for row in rows], ground.graph), _scopes(rows)
    undone = UndoneRows(ground.graph, ground.project)
    around: dict[str, list[Pair]] = {}
    going: set[str] = set()
    for pair in _pairs(scopes, held, ground):
        counts["memories_alike"] += 1
        if len(going) == _MOST_PROPOSED or ground.budget.over:
            break
        free = pair.kept.id not in going and pair.gone.id not in going and pair.gone.id not in around
        if free and pair.gone.id not in undone and len(around.get(pair.kept.id, ())) < _MOST_IN_ONE:
            around.setdefault(pair.kept.id, []).append(pair)
            going.add(pair.gone.id)
    proposals = [_proposal(pairs, ground) for pairs in around.values()]
    taken = going | around.keys()
    asked = list(islice((pair for pair in _borderline(scopes, ground) if not pair & taken), _MOST_ASKED))
    counts["memories_maybe_alike"] = len(asked)
    return proposals, [
        UndecidedPair(one=min(pair), other=max(pair), probability=None, why=_UNSHOWN, of="memories")
        for pair in asked
    ]


def _scopes(rows: Sequence[Chunk]) -> list[list[Chunk]]:
    """Return memories by scope, those that have none beside them left out."""
    scopes: dict[tuple[str, bool], list[Chunk]] = defaultdict(list)
    for row in rows:
        scopes[row.scope, row.private].append(row)
    return [group for _, group in sorted(scopes.items()) if len(group) > 1]


def _pairs(scopes: Sequence[Sequence[Chunk]], held: frozenset[str], ground: PhaseContext) -> Iterator[Pair]:
    """Yield memories that say the same, by scope, the nearest first."""
    least = ground.settings.memory.consolidation_threshold
    for group in scopes:
        for one, other, cosine in _near(group, ground, least=least, most=_MOST_PAIRS):
            found = _compared(one, other)
            if found.action == "duplicate" and found.sure and not is_told_apart(one, other):
                kept, gone = sorted((one, other), key=lambda row: stored_rows(row, held))
                if gone.id not in held and gone.layer != "verified":
                    yield Pair(kept=kept, gone=gone, cosine=cosine, reason=found.reason)


def _borderline(scopes: Sequence[Sequence[Chunk]], ground: PhaseContext) -> Iterator[frozenset[str]]:
    """Yield pairs of memories that may say the same, by scope, the nearest first.

    Their words say the same and their vectors are not near enough, or their vectors are, and their words show
    nothing: neither that they say the same, nor a name, number or negation that tells them apart.
    """
    bound = ground.settings.memory.consolidation_threshold
    for group in scopes:
        if ground.budget.over:
            return
        for one, other, cosine in _near(group, ground, least=bound - _MARGIN, most=_MOST_LOOKED_AT):
            if "verified" in (one.layer, other.layer) or is_told_apart(one, other):
                continue
            found = _compared(one, other).action
            alike = (
                found == "duplicate" if cosine < bound else found == "unrelated" and same_marks(one, other)
            )
            if alike and one.kind == other.kind and _together(one, other, ground):
                yield frozenset((one.id, other.id))


def _compared(one: Chunk, other: Chunk) -> Comparison:
    old, new = sorted((one, other), key=lambda row: (row.times.recorded_at, row.id))
    return compare(new, old)


def same_marks(one: Chunk, other: Chunk) -> bool:
    """Say whether no capitalised word, number or negation is in one of two texts alone."""
    mine, yours = reading(one.text), reading(other.text)
    negated = mine.negations % 2 == yours.negations % 2
    return negated and mine.marks == yours.marks and _names(one.text) == _names(other.text)


def _names(text: str) -> frozenset[str]:
    """Return the words of a text that may name or number something; its first word may only begin it."""
    words = _WORD.findall(text)
    return frozenset(
        word.casefold()
        for place, word in enumerate(words)
        if any(map(str.isdigit, word)) or (place and word[0] != word[0].casefold())
    )


def _together(one: Chunk, other: Chunk, ground: PhaseContext) -> bool:
    """Say whether two memories speak of the same things."""
    named: dict[str, set[str]] = {one.id: set(), other.id: set()}
    for mention in ground.graph.mentions(list(named)):
        named[mention.chunk].add(mention.entity)
    return named[one.id] == named[other.id]


def _near(
    rows: Sequence[Chunk], ground: PhaseContext, *, least: float, most: int
) -> list[tuple[Chunk, Chunk, float]]:
    """Return pairs of memories whose vectors are near, the nearest first; a block of rows at a time."""
    vectors = ground.vectors.vectors([row.id for row in rows])
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


def _proposal(pairs: Sequence[Pair], ground: PhaseContext) -> Proposal:
    kept, gone = pairs[0].kept, pairs[0].gone
    made = made_one(pairs, ground.graph, ground.settings.memory, ground.now)
    reason = " ".join(dict.fromkeys(pair.reason for pair in pairs))
    more = f" and {len(pairs) - 1} more" if len(pairs) > 1 else ""
    return Proposal(
        project=ground.project,
        phase="merge",
        action="merge",
        target=gone.id,
        text=f"{_shown(gone)}{more} {'are' if more else 'is'} one with {_shown(kept)}",
        reason=f"{reason} It is kept once.",
        score=min(1.0, max(0.0, min(pair.cosine for pair in pairs))),
        write=made.write,
        expects=precondition_hash(*made.rests_on, absent=[(LINKS, link) for link in made.write.links]),
    )


def _shown(row: Chunk) -> str:
    return f'"{one_line(row.text, _TEXT_SHOWN)}"'
