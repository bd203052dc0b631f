"""One memory of two: what becomes of them, and of what rests on the one that goes."""

from dataclasses import dataclass, replace
from datetime import datetime

from hydramem.core.config import MemoryConfig
from hydramem.core.ids import link_id
from hydramem.core.types import Chunk, Link, Relation, Times
from hydramem.ingest.promote import VOICES, heard
from hydramem.ingest.statement import MOST_EVIDENCE
from hydramem.ingest.supersede import corrected, is_version
from hydramem.storage.store import GraphStore, Write

_TRUST = ("working", "shared", "verified")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two memories that are one: the one that stays, the one that goes, and why."""

    kept: Chunk
    gone: Chunk
    cosine: float
    reason: str


def standing(row: Chunk, held: frozenset[str]) -> tuple[bool, int, object, str]:
    """Rank which of two memories stays: what is reused, then what is trusted more, then what is older.

    Args:
        row: One of them.
        held: Ids of what is reused.
    """
    return row.id not in held, -_TRUST.index(row.layer), row.times.recorded_at, row.id


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeOne:
    """What becomes of two memories that are one: the write, without Changes, and the rows as they were."""

    write: Write
    rests_on: tuple[Chunk | Relation, ...]


def made_one(pair: Pair, graph: GraphStore, settings: MemoryConfig, at: datetime) -> MadeOne:
    """Say what becomes of two memories that are one; nothing is written.

    Args:
        pair: Which stays, which goes, and why.
        graph: Where what rests on them is read.
        settings: How many voices a memory needs.
        at: Now.
    """
    kept, gone = pair.kept, pair.gone
    after = _said_by_both(kept, gone, settings)
    resting = _resting(gone, graph)
    link = Link(
        id=link_id(kept.project, kept.id, "supersedes", gone.id),
        source=kept.id,
        target=gone.id,
        type="supersedes",
        weight=min(1.0, max(0.0, pair.cosine)),
        reason=pair.reason,
        times=Times(recorded_at=at),
    )
    stored = any(row.id == link.id for row in graph.links([gone.id]))
    write = Write(
        changes=(),
        chunks=(*((after,) if after != kept else ()), corrected(gone, at=at, by=kept.id)),
        relations=tuple(_moved(row, gone.id, kept.id) for row in resting),
        links=() if stored else (link,),
    )
    return MadeOne(write=write, rests_on=(kept, gone, *resting))


def _said_by_both(kept: Chunk, gone: Chunk, settings: MemoryConfig) -> Chunk:
    """Return the memory that stays, with whoever said the other as further voices."""
    after = heard(kept, gone.source, gone.session, gone.author, settings)
    listed = gone.metadata.get(VOICES)
    for voice in listed if isinstance(listed, list) else ():
        if isinstance(voice, dict):
            source, session, author = (voice.get(name) for name in ("source", "session", "author"))
            after = heard(after, source or "", session, author, settings)
    return replace(after, importance=max(kept.importance, gone.importance))


def _resting(gone: Chunk, graph: GraphStore) -> tuple[Relation, ...]:
    """Return the relations that rest on a memory that goes."""
    named = [mention.entity for mention in graph.mentions([gone.id])]
    around = graph.relations(named) if named else ()
    return tuple(row for row in around if gone.id in row.evidence and not is_version(row))


def _moved(row: Relation, gone: str, kept: str) -> Relation:
    """Let a relation rest on the memory that stays."""
    evidence = dict.fromkeys(kept if id == gone else id for id in row.evidence)
    return replace(row, evidence=tuple(evidence)[-MOST_EVIDENCE:])
