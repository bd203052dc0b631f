"""Decides the layer of a memory or relation: how far it is trusted.

`shared` is what distinct sources or sessions state, or what a person or an agent confirms; `verified` is what
two independent sources plainly state, a model quotes or a person confirms. No agent makes anything verified.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar, get_args

from hydramem.core.argument_checks import check_choice, check_reason
from hydramem.core.config import MemoryConfig
from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.core.results.knowledge_results import Promoted
from hydramem.core.row_types import Change, Chunk, Layer, Relation, Verdict
from hydramem.core.time import now
from hydramem.ingest.knowledge.end_validity import is_version
from hydramem.ingest.knowledge.graph_rows import decided
from hydramem.ingest.write_target import Target
from hydramem.storage.changes import is_agent, record
from hydramem.storage.write import Write

VOICES = "voices"
"""In the metadata of a repeated memory: where else it was stated, each with source, session and author."""

MOST_VOICES = 32
_MOST_IDS = 1000
SubjectOf = Callable[[str], str | None]
"""Maps the id of a relation to its subject; None where the project has no such relation."""


def raised_by_voices(
    chunk: Chunk, source: str, session: str | None, author: str | None, settings: MemoryConfig
) -> Chunk:
    """Return a memory that is stated again; one with enough distinct sources becomes `shared`.

    What counts is the number of distinct sources, or else of sessions: the same source counts once. A
    known source changes nothing, and the chunk itself is returned.

    Args:
        chunk: The memory.
        source: Where it is stated this time; empty where that is unknown.
        session: Id of the session in which it is stated this time.
        author: Who states it this time.
        settings: `shared_by` is the number of sources required.
    """
    voices = _voices(chunk)
    known = [_voice(chunk.source, chunk.session, chunk.author), *voices]
    new = _voice(source, session, author)
    if new in known or not (source or session) or len(voices) >= MOST_VOICES:
        return chunk
    enough = _independent([*known, new]) >= settings.shared_by
    raised = enough and chunk.layer == "working" and chunk.state == "active"
    layer: Layer = "shared" if raised else chunk.layer
    return replace(chunk, layer=layer, metadata={**chunk.metadata, VOICES: [*voices, new]})


def sources_of(chunk: Chunk) -> frozenset[str]:
    """Return who states a chunk: its document, or its session or source and those that stated it again.

    Passages of one document are one source, as are turns of one session. All chunks without a known source
    count as one together: `""`.
    """
    if chunk.document:
        return frozenset({chunk.document})
    voices = [_voice(chunk.source, chunk.session, chunk.author), *_voices(chunk)]
    return frozenset(str(voice.get("session") or voice.get("source") or "") for voice in voices)


def latest_end(*ends: datetime | None) -> datetime | None:
    """Return the latest of the times at which memories expire; None where one does not."""
    known = [end for end in ends if end is not None]
    return max(known) if len(known) == len(ends) else None


def _voice(source: str, session: str | None, author: str | None) -> dict[str, str | None]:
    return {"source": source, "session": session, "author": author}


def _voices(chunk: Chunk) -> list[Mapping[str, str | None]]:
    """Return the sources or sessions that state a memory; other metadata under the same key is ignored."""
    listed = chunk.metadata.get(VOICES)
    return [voice for voice in listed if isinstance(voice, Mapping)] if isinstance(listed, list) else []


def _independent(voices: Iterable[Mapping[str, str | None]]) -> int:
    """Count distinct sources or distinct sessions, whichever are more."""
    voices = list(voices)
    return max(len({voice.get(name) for voice in voices} - {None, ""}) for name in ("source", "session"))


def promote(
    ids: Sequence[str], layer: Layer, *, reason: str, target: Target, subject_of: SubjectOf
) -> Promoted:
    """Put memories and relations into a layer, up or down; those that are in it stay as they are.

    What a person verifies becomes the verdict of a relation, which no model changes.

    Args:
        ids: Ids of chunks and relations.
        layer: Where they belong from now on.
        reason: Why, for the history.
        subject_of: Finds a relation by its id.

    Raises:
        InvalidInputError: There is no such layer, the reason is missing, a row is archived or quarantined, or
            an agent calls something verified; nothing is written.
        NotFoundError: The project has no such chunk or relation; nothing is written.
    """
    check_choice(layer, get_args(Layer), name="layer")
    why = check_reason(reason)
    if not ids or len(ids) > _MOST_IDS:
        raise InvalidInputError(f"ids: {len(ids)} are given; name 1 to {_MOST_IDS:,} chunks or relations")
    with target.one_writer:
        chunks, relations = _find(ids, target, subject_of)
        at = now()
        moved_chunks = [(row, _in_layer(row, layer, at)) for row in chunks if row.layer != layer]
        moved_relations = [(row, _in_layer(row, layer, at)) for row in relations if row.layer != layer]
        moved: list[tuple[Chunk | Relation, Chunk | Relation]] = [*moved_chunks, *moved_relations]
        changes = tuple(
            record("promote", project=target.project, target=old.id, before=old, after=new, reason=why)
            for old, new in moved
        )
        _check_authority(changes, layer)
        if changes:
            write = Write(
                changes=changes,
                chunks=tuple(new for _, new in moved_chunks),
                relations=tuple(new for _, new in moved_relations),
            )
            target.commit(write, {})
    return Promoted(
        layer=layer,
        chunks=tuple(row.id for row, _ in moved_chunks),
        relations=tuple(row.id for row, _ in moved_relations),
        unchanged=(
            *(row.id for row in chunks if row.layer == layer),
            *(row.id for row in relations if row.layer == layer),
        ),
    )


def _check_authority(changes: Sequence[Change], layer: Layer) -> None:
    """Refuse an agent that calls something verified: it would confirm its own statements."""
    if layer == "verified" and any(is_agent(change.actor) for change in changes):
        raise InvalidInputError(
            "layer: only verification or a person makes something verified; an agent may promote to shared"
        )


_Row = TypeVar("_Row", Chunk, Relation)


def _in_layer(row: _Row, layer: Layer, at: datetime) -> _Row:
    if isinstance(row, Relation) and layer == "verified":
        actor = record("promote", project=row.project, target=row.id).actor
        verdict = Verdict(
            decision="accepted", score=1.0, stage="person", verifier=f"person:{actor}", layer="verified"
        )
        return decided(row, verdict, at)
    return replace(row, layer=layer)


def _find(
    ids: Sequence[str], target: Target, subject_of: SubjectOf
) -> tuple[tuple[Chunk, ...], tuple[Relation, ...]]:
    wanted = dict.fromkeys(ids)
    chunks = tuple(row for row in target.graph.chunks(list(wanted)) if row.project == target.project)
    missing = [id for id in wanted if id not in {row.id for row in chunks}]
    subjects = {subject for id in missing if (subject := subject_of(id)) is not None}
    stored = {row.id: row for row in target.graph.relations(sorted(subjects))}
    relations = tuple(stored[id] for id in missing if id in stored and stored[id].project == target.project)
    if unknown := set(missing) - {row.id for row in relations}:
        shown = ", ".join(sorted(id[:80] for id in unknown))
        raise NotFoundError(f"{shown}: no chunk or relation of project {target.project!r} has this id")
    rows: list[Chunk | Relation] = [*chunks, *relations]
    for row in rows:
        _check_believed(row)
    return chunks, relations


def _check_believed(row: Chunk | Relation) -> None:
    if isinstance(row, Relation) and is_version(row):
        raise InvalidInputError(f"{row.id}: only tells what was believed before; promote the one of now")
    if row.state in ("archived", "quarantined"):
        raise InvalidInputError(f"{row.id}: is {row.state}, so nobody recalls it; revive it first")
