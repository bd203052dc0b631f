"""Duplicates: memories that say the same, where one is enough; what tells them apart in any way keeps both.

Cosine names the candidates, within one project and scope; consolidation (`ingest.consolidate`) decides.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hydramem.core.ids import link_id
from hydramem.core.shorten import one_line
from hydramem.core.types import Chunk, Link, Relation, Times
from hydramem.garden.expect import expected
from hydramem.garden.ground import Ground
from hydramem.garden.proposal import Proposal
from hydramem.garden.protected import reused
from hydramem.garden.undone import Undone
from hydramem.ingest.around import STEADY
from hydramem.ingest.consolidate import compare, telling_of
from hydramem.ingest.promote import VOICES, heard
from hydramem.ingest.statement import MOST_EVIDENCE
from hydramem.ingest.supersede import corrected, is_version
from hydramem.storage.schema import LINKS
from hydramem.storage.store import ChunkFilter, Listing, Write

_NEWEST = 5000
_AT_ONCE = 256
_MOST_PAIRS = 20_000
_MOST_PROPOSED = 500
_TEXT_SHOWN = 80
_TRUST = ("working", "shared", "verified")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    kept: Chunk
    gone: Chunk
    cosine: float
    reason: str


def duplicates(ground: Ground, counts: Counter[str]) -> list[Proposal]:
    """Return what would make one memory of those that say the same.

    Args:
        ground: What is looked at.
        counts: Gains what was looked at and found.
    """
    where = ChunkFilter(projects=(ground.project,), kinds=STEADY)
    rows = [row for row in ground.graph.list_chunks(where, Listing(limit=_NEWEST)) if not is_version(row)]
    counts["memories looked at"] = len(rows)
    held = reused([row.id for row in rows], ground.graph)
    undone = Undone(ground.graph, ground.project)
    taken: set[str] = set()
    proposals: list[Proposal] = []
    for pair in _pairs(rows, held, ground):
        counts["memories that say the same"] += 1
        if len(proposals) == _MOST_PROPOSED or ground.budget.over:
            break
        if not {pair.kept.id, pair.gone.id} & taken and pair.gone.id not in undone:
            taken |= {pair.kept.id, pair.gone.id}
            proposals.append(_proposal(pair, ground))
    return proposals


def _pairs(rows: Sequence[Chunk], held: frozenset[str], ground: Ground) -> Iterator[_Pair]:
    """Yield memories that say the same, by scope, the nearest first."""
    scopes: dict[tuple[str, bool], list[Chunk]] = defaultdict(list)
    for row in rows:
        scopes[row.scope, row.private].append(row)
    for _, group in sorted(scopes.items()):
        near = _near(group, ground) if len(group) > 1 else []
        for one, other, cosine in near:
            old, new = sorted((one, other), key=lambda row: (row.times.recorded_at, row.id))
            found = compare(telling_of(new), telling_of(old), cosine)
            if found.action == "duplicate" and found.sure:
                kept, gone = sorted((old, new), key=lambda row: _standing(row, held))
                if gone.id not in held and gone.layer != "verified":
                    yield _Pair(kept=kept, gone=gone, cosine=cosine, reason=found.reason)


def _standing(row: Chunk, held: frozenset[str]) -> tuple[bool, int, object, str]:
    """Rank which of two stays: what is reused, then what is trusted more, then what is older."""
    return row.id not in held, -_TRUST.index(row.layer), row.times.recorded_at, row.id


def _near(rows: Sequence[Chunk], ground: Ground) -> list[tuple[Chunk, Chunk, float]]:
    """Return pairs of memories whose vectors are near, the nearest first; a block of rows at a time."""
    vectors = ground.vectors.vectors([row.id for row in rows])
    known = [row for row in rows if row.id in vectors]
    if len(known) < 2:
        return []
    table = np.stack([vectors[row.id] for row in known]).astype(np.float32)
    table /= np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-12)
    least = ground.settings.memory.consolidation_threshold
    found: list[tuple[Chunk, Chunk, float]] = []
    for start in range(0, len(known), _AT_ONCE):
        cosines = table[start : start + _AT_ONCE] @ table[start:].T
        for first, second in np.argwhere(np.triu(cosines, 1) >= least)[:_MOST_PAIRS].tolist():
            found.append((known[start + first], known[start + second], float(cosines[first, second])))
    return sorted(found, key=lambda pair: (-pair[2], pair[0].id, pair[1].id))[:_MOST_PAIRS]


def _proposal(pair: _Pair, ground: Ground) -> Proposal:
    kept, gone = pair.kept, pair.gone
    after = _said_by_both(kept, gone, ground)
    resting = _resting(gone, ground)
    moved = tuple(_moved(row, gone.id, kept.id) for row in resting)
    reason = f"{pair.reason} It is kept once."
    link = Link(
        id=link_id(ground.project, kept.id, "supersedes", gone.id),
        source=kept.id,
        target=gone.id,
        type="supersedes",
        weight=min(1.0, max(0.0, pair.cosine)),
        reason=pair.reason,
        times=Times(recorded_at=ground.now),
    )
    stored = [row for row in ground.graph.links([gone.id]) if row.id == link.id]
    write = Write(
        changes=(),
        chunks=(*((after,) if after != kept else ()), corrected(gone, at=ground.now, by=kept.id)),
        relations=moved,
        links=() if stored else (link,),
    )
    return Proposal(
        project=ground.project,
        phase="merge",
        action="merge",
        target=gone.id,
        text=f"{_shown(gone)} is one with {_shown(kept)}",
        reason=reason,
        score=min(1.0, max(0.0, pair.cosine)),
        write=write,
        expects=expected(kept, gone, *resting, absent=() if stored else [(LINKS, link)]),
    )


def _said_by_both(kept: Chunk, gone: Chunk, ground: Ground) -> Chunk:
    """Return the memory that stays, with whoever said the other as further voices."""
    settings = ground.settings.memory
    after = heard(kept, gone.source, gone.session, gone.author, settings)
    listed = gone.metadata.get(VOICES)
    for voice in listed if isinstance(listed, list) else ():
        if isinstance(voice, dict):
            source, session, author = (voice.get(name) for name in ("source", "session", "author"))
            after = heard(after, source or "", session, author, settings)
    return replace(after, importance=max(kept.importance, gone.importance))


def _resting(gone: Chunk, ground: Ground) -> tuple[Relation, ...]:
    """Return the relations that rest on a memory that goes."""
    named = [mention.entity for mention in ground.graph.mentions([gone.id])]
    around = ground.graph.relations(named) if named else ()
    return tuple(row for row in around if gone.id in row.evidence and not is_version(row))


def _moved(row: Relation, gone: str, kept: str) -> Relation:
    """Let a relation rest on the memory that stays."""
    evidence = dict.fromkeys(kept if id == gone else id for id in row.evidence)
    return replace(row, evidence=tuple(evidence)[-MOST_EVIDENCE:])


def _shown(row: Chunk) -> str:
    return f'"{one_line(row.text, _TEXT_SHOWN)}"'
