"""Layers: how far what is known is trusted, raised or lowered with a reason, or by several voices.

`shared` is what distinct sources or sessions said, or what a person or an agent vouches for; `verified` is
what verification accepted or a person confirmed, and nobody else may say so.
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
from hydramem.storage.changes import record
from hydramem.storage.write import Write

VOICES = "voices"
"""In the metadata of a memory that was said again: who else said it, each with source, session and author."""

MOST_VOICES = 32

_AGENT = "mcp"

_MOST_IDS = 1000

SubjectOf = Callable[[str], str | None]
"""Maps the id of a relation to its subject; None where the project has no such relation."""


def corroborated(
    chunk: Chunk, source: str, session: str | None, author: str | None, settings: MemoryConfig
) -> Chunk:
    """Return a memory that was said again; one that enough voices say becomes `shared`. Pure.

    What counts is how many distinct sources, or else sessions, there are: the same source twice is one
    voice. A voice that is known already changes nothing, and the chunk itself is returned.

    Args:
        chunk: The memory.
        source: Where it was said this time; empty where nobody knows.
        session: Id of the session it was said in this time.
        author: Who said it this time.
        settings: `shared_by` is how many voices it takes.
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


def longest(*ends: datetime | None) -> datetime | None:
    """Return the last of the moments from which a memory is not recalled; None where one is never."""
    told = [end for end in ends if end is not None]
    return max(told) if len(told) == len(ends) else None


def _voice(source: str, session: str | None, author: str | None) -> dict[str, str | None]:
    return {"source": source, "session": session, "author": author}


def _voices(chunk: Chunk) -> list[Mapping[str, str | None]]:
    """Read the voices of a memory; metadata of other origin that has the name is left alone."""
    listed = chunk.metadata.get(VOICES)
    return [voice for voice in listed if isinstance(voice, Mapping)] if isinstance(listed, list) else []


def _independent(voices: Iterable[Mapping[str, str | None]]) -> int:
    """Count distinct sources or distinct sessions, whichever are more."""
    voices = list(voices)
    return max(len({voice.get(name) for voice in voices} - {None, ""}) for name in ("source", "session"))


def promote(
    ids: Sequence[str], layer: Layer, *, reason: str, target: Target, subject_of: SubjectOf
) -> Promoted:
    """Put memories and relations into a layer, up or down; those that are in it are left as they are.

    A relation that a person verifies carries that as its verdict, which no model changes.

    Args:
        ids: Ids of chunks and relations.
        layer: Where they belong from now on.
        reason: Why, for the history.
        target: The project.
        subject_of: Finds a relation by its id.

    Raises:
        InvalidInputError: The layer is none, the reason is missing, a row is not believed, or an agent says
            that something is verified; nothing is written.
        NotFoundError: The project has no such chunk or relation; nothing is written.
    """
    check_choice(layer, get_args(Layer), name="layer")
    why = check_reason(reason)
    if not ids or len(ids) > _MOST_IDS:
        raise InvalidInputError(f"ids: {len(ids)} are given; name 1 to {_MOST_IDS:,} chunks or relations")
    with target.one_writer:
        chunks, relations = _find(ids, target, subject_of)
        at = now()
        moving = [row for row in chunks if row.layer != layer]
        related = [row for row in relations if row.layer != layer]
        changes = (
            *(_change(row, _moved(row, layer, at), why) for row in moving),
            *(_change(row, _moved(row, layer, at), why) for row in related),
        )
        _check_authority(changes, layer)
        if changes:
            write = Write(
                changes=changes,
                chunks=tuple(_moved(row, layer, at) for row in moving),
                relations=tuple(_moved(row, layer, at) for row in related),
            )
            target.commit(write, {})
    return Promoted(
        layer=layer,
        chunks=tuple(row.id for row in moving),
        relations=tuple(row.id for row in related),
        unchanged=(
            *(row.id for row in chunks if row.layer == layer),
            *(row.id for row in relations if row.layer == layer),
        ),
    )


def _change(before: Chunk | Relation, after: Chunk | Relation, reason: str | None) -> Change:
    project = before.project
    return record("promote", project=project, target=before.id, before=before, after=after, reason=reason)


def _check_authority(changes: Sequence[Change], layer: Layer) -> None:
    """Refuse an agent that calls something verified: it would vouch for what it said itself."""
    if layer == "verified" and any(change.actor == _AGENT for change in changes):
        raise InvalidInputError(
            "layer: only verification or a person makes something verified; an agent may promote to shared"
        )


_Row = TypeVar("_Row", Chunk, Relation)


def _moved(row: _Row, layer: Layer, at: datetime) -> _Row:
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
    around = {row.id: row for row in target.graph.relations(sorted(subjects))}
    relations = tuple(around[id] for id in missing if id in around and around[id].project == target.project)
    if unknown := set(missing) - {row.id for row in relations}:
        shown = ", ".join(sorted(id[:80] for id in unknown))
        raise NotFoundError(f"{shown}: no chunk or relation of project {target.project!r} has this id")
    for chunk in chunks:
        _check_believed(chunk)
    for relation in relations:
        _check_believed(relation)
    return chunks, relations


def _check_believed(row: Chunk | Relation) -> None:
    if isinstance(row, Relation) and is_version(row):
        raise InvalidInputError(f"{row.id}: only tells what was believed before; promote the one of now")
    if row.state in ("archived", "quarantined"):
        raise InvalidInputError(f"{row.id}: is {row.state}, so nobody recalls it; revive it first")
