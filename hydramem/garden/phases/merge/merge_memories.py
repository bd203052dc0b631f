"""Merging memories that say the same: the merged memory, its links, and the relations of those that go."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from hydramem.core.config import MemoryConfig
from hydramem.core.row_types import Chunk, Link, Relation
from hydramem.ingest.knowledge.end_validity import corrected, is_version
from hydramem.ingest.knowledge.graph_rows import MOST_EVIDENCE
from hydramem.ingest.knowledge.trust_layers import VOICES, latest_end, raised_by_voices
from hydramem.ingest.memories.apply_plan import link_weight
from hydramem.ingest.memories.link.link_candidates import LinkProposal, link_of
from hydramem.storage.store import GraphStore
from hydramem.storage.write import Write

_TRUST = ("working", "shared", "verified")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPair:
    """Two memories that say the same: the one that stays, the one that goes, and why."""

    kept: Chunk
    gone: Chunk
    cosine: float
    reason: str


def keeping_rank(row: Chunk, reused: frozenset[str]) -> tuple[bool, int, object, str]:
    """Rank which of two memories stays: a reused one, then a more trusted one, then an older one.

    Args:
        row: One of them.
        reused: Ids of reused memories.
    """
    return row.id not in reused, -_TRUST.index(row.layer), row.times.recorded_at, row.id


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedMemories:
    """The write of a merge, without Changes, and the rows that it depends on."""

    write: Write
    rests_on: tuple[Chunk | Relation, ...]


def merge_memories(
    pairs: Sequence[MemoryPair], graph: GraphStore, settings: MemoryConfig, at: datetime
) -> MergedMemories:
    """Compute the merge of memories; nothing is written.

    Args:
        pairs: Those that go and why; the one that stays is the same in all.
        graph: Where their relations are stored.
        settings: How many distinct sources make a memory shared.
    """
    kept = after = pairs[0].kept
    links = [_link(pair, at) for pair in pairs]
    known = {row.id for row in graph.links([pair.gone.id for pair in pairs])}
    before = {row.id: row for pair in pairs for row in _relations_of(pair.gone, graph)}
    relations = dict(before)
    for pair in pairs:
        after = _with_voices(after, pair.gone, settings)
        relations = {id: _rebased(row, pair.gone.id, kept.id) for id, row in relations.items()}
    write = Write(
        changes=(),
        chunks=(
            *((after,) if after != kept else ()),
            *(corrected(pair.gone, at=at, by=kept.id) for pair in pairs),
        ),
        relations=tuple(relations.values()),
        links=tuple(link for link in links if link.id not in known),
    )
    rests_on: tuple[Chunk | Relation, ...] = (kept, *(pair.gone for pair in pairs), *before.values())
    return MergedMemories(write=write, rests_on=rests_on)


def _link(pair: MemoryPair, at: datetime) -> Link:
    weight = link_weight(pair.cosine)
    made = LinkProposal(target=pair.gone.id, type="supersedes", weight=weight, reason=pair.reason)
    return link_of(pair.kept.project, pair.kept.id, made, at)


def _with_voices(kept: Chunk, gone: Chunk, settings: MemoryConfig) -> Chunk:
    """Return the memory that stays, with the sources of the other, and the longer life of both."""
    after = raised_by_voices(kept, gone.source, gone.session, gone.author, settings)
    voices = gone.metadata.get(VOICES)
    for voice in voices if isinstance(voices, list) else ():
        if isinstance(voice, dict):
            source, session, author = (voice.get(name) for name in ("source", "session", "author"))
            after = raised_by_voices(after, source or "", session, author, settings)
    return replace(
        after,
        importance=max(kept.importance, gone.importance),
        expires_at=latest_end(kept.expires_at, gone.expires_at),
    )


def _relations_of(gone: Chunk, graph: GraphStore) -> tuple[Relation, ...]:
    """Return the relations whose evidence a memory is."""
    named = [mention.entity for mention in graph.mentions([gone.id])]
    relations = graph.relations(named) if named else ()
    return tuple(row for row in relations if gone.id in row.evidence and not is_version(row))


def _rebased(row: Relation, gone: str, kept: str) -> Relation:
    """Return a relation with the memory that stays as evidence."""
    evidence = dict.fromkeys(kept if id == gone else id for id in row.evidence)
    return replace(row, evidence=tuple(evidence)[-MOST_EVIDENCE:])
