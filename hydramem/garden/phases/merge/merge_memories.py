"""One memory of several: what becomes of them, and of what rests on those that go."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from hydramem.core.config import MemoryConfig
from hydramem.core.ids import link_id
from hydramem.core.row_types import Chunk, Link, Relation, Times
from hydramem.ingest.knowledge.end_validity import corrected, is_version
from hydramem.ingest.knowledge.relation_input import MOST_EVIDENCE
from hydramem.ingest.knowledge.trust_layers import VOICES, corroborated, longest
from hydramem.storage.store import GraphStore
from hydramem.storage.write import Write

_TRUST = ("working", "shared", "verified")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two memories that are one: the one that stays, the one that goes, and why."""

    kept: Chunk
    gone: Chunk
    cosine: float
    reason: str


def stored_rows(row: Chunk, held: frozenset[str]) -> tuple[bool, int, object, str]:
    """Rank which of two memories stays: what is reused, then what is trusted more, then what is older.

    Args:
        row: One of them.
        held: Ids of what is reused.
    """
    return row.id not in held, -_TRUST.index(row.layer), row.times.recorded_at, row.id


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeOne:
    """What becomes of memories that are one: the write, without Changes, and the rows as they were."""

    write: Write
    rests_on: tuple[Chunk | Relation, ...]


def made_one(pairs: Sequence[Pair], graph: GraphStore, settings: MemoryConfig, at: datetime) -> MadeOne:
    """Say what becomes of memories that are one; nothing is written.

    Args:
        pairs: Which goes and why, of one that stays in all of them.
        graph: Where what rests on them is read.
        settings: How many voices a memory needs.
        at: Now.
    """
    kept = after = pairs[0].kept
    links = [_link(pair, at) for pair in pairs]
    known = {row.id for row in graph.links([pair.gone.id for pair in pairs])}
    resting = {row.id: row for pair in pairs for row in _resting(pair.gone, graph)}
    moved = dict(resting)
    for pair in pairs:
        after = _said_by_both(after, pair.gone, settings)
        moved = {id: _moved(row, pair.gone.id, kept.id) for id, row in moved.items()}
    write = Write(
        changes=(),
        chunks=(
            *((after,) if after != kept else ()),
            *(corrected(pair.gone, at=at, by=kept.id) for pair in pairs),
        ),
        relations=tuple(moved.values()),
        links=tuple(link for link in links if link.id not in known),
    )
    return MadeOne(write=write, rests_on=(kept, *(pair.gone for pair in pairs), *resting.values()))


def _link(pair: Pair, at: datetime) -> Link:
    return Link(
        id=link_id(pair.kept.project, pair.kept.id, "supersedes", pair.gone.id),
        source=pair.kept.id,
        target=pair.gone.id,
        type="supersedes",
        weight=min(1.0, max(0.0, pair.cosine)),
        reason=pair.reason,
        times=Times(recorded_at=at),
    )


def _said_by_both(kept: Chunk, gone: Chunk, settings: MemoryConfig) -> Chunk:
    """Return the memory that stays, with whoever said the other as further voices, for as long as either."""
    after = corroborated(kept, gone.source, gone.session, gone.author, settings)
    listed = gone.metadata.get(VOICES)
    for voice in listed if isinstance(listed, list) else ():
        if isinstance(voice, dict):
            source, session, author = (voice.get(name) for name in ("source", "session", "author"))
            after = corroborated(after, source or "", session, author, settings)
    return replace(
        after,
        importance=max(kept.importance, gone.importance),
        expires_at=longest(kept.expires_at, gone.expires_at),
    )


def _resting(gone: Chunk, graph: GraphStore) -> tuple[Relation, ...]:
    """Return the relations that rest on a memory that goes."""
    named = [mention.entity for mention in graph.mentions([gone.id])]
    around = graph.relations(named) if named else ()
    return tuple(row for row in around if gone.id in row.evidence and not is_version(row))


def _moved(row: Relation, gone: str, kept: str) -> Relation:
    """Let a relation rest on the memory that stays."""
    evidence = dict.fromkeys(kept if id == gone else id for id in row.evidence)
    return replace(row, evidence=tuple(evidence)[-MOST_EVIDENCE:])
