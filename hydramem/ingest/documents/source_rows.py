"""What a source that was read becomes: its document, sessions and chunks as rows."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime

from hydramem.core.config import IngestConfig
from hydramem.core.ids import document_id, passage_id, session_id, turn_id
from hydramem.core.row_types import Chunk, Document, Session, Times
from hydramem.ingest.documents.formats.transcript import Conversation
from hydramem.ingest.documents.read import SourceText, Transcript
from hydramem.ingest.extraction.extract import Passage
from hydramem.ingest.screening.quarantine import QUARANTINED_FOR, threats_in
from hydramem.ingest.screening.spoken_text import spoken_text
from hydramem.storage.vector_rows import indexed_text
from hydramem.text.chunking import chunk, split_turn
from hydramem.text.tokens import count_tokens

Owner = Callable[[str], str | None]
"""Maps a session's id to the document that wrote it; empty for a live one, None where there is none."""


@dataclass(slots=True, kw_only=True)
class SourceRows:
    """A source as rows: what the store is to hold of it."""

    document: Document
    chunks: list[Chunk]
    sessions: list[Session] = field(default_factory=list)
    title: str | None = None

    def passages(self) -> list[Passage]:
        """Return the chunks as the extraction rules read them."""
        return [Passage(text=row.text, headings=row.heading_path, author=row.author) for row in self.chunks]


def draft(
    parsed: SourceText | Transcript, *, project: str, settings: IngestConfig, owner: Owner, at: datetime
) -> SourceRows:
    """Turn a source into rows; the same source gives the same ids."""
    if isinstance(parsed, Transcript):
        return _transcript(parsed, project, settings, owner, at)
    id = document_id(project, parsed.source)
    document = Document(
        id=id,
        project=project,
        source=parsed.source,
        source_type=parsed.source_type,
        title=parsed.title,
        content_hash=parsed.content_hash,
        times=Times(recorded_at=at),
        metadata=parsed.metadata,
    )
    return SourceRows(
        document=document, chunks=_passages(document, parsed, settings, at), title=parsed.title or None
    )


def _passages(document: Document, parsed: SourceText, settings: IngestConfig, at: datetime) -> list[Chunk]:
    pieces = chunk(
        parsed.text,
        kind=parsed.kind,
        max_tokens=settings.chunk_tokens,
        overlap_tokens=settings.overlap_tokens,
    )
    met: dict[str, int] = {}
    rows = []
    for position, piece in enumerate(pieces):
        path = piece.heading_path or ((parsed.title,) if parsed.kind == "code" else ())
        # The same words again are told apart by their turn, not by their place: text put in above moves
        # what follows, and moved chunks are the same chunks.
        words = "\n".join((*path, piece.text))
        turn = met[words] = met.get(words, -1) + 1
        rows.append(
            Chunk(
                id=passage_id(document.id, turn, words),
                project=document.project,
                text=piece.text,
                kind="passage",
                document=document.id,
                position=position,
                heading_path=path,
                tokens=piece.tokens,
                source=document.source,
                source_type=document.source_type,
                times=Times(recorded_at=at),
            )
        )
    return rows


def _transcript(
    parsed: Transcript, project: str, settings: IngestConfig, owner: Owner, at: datetime
) -> SourceRows:
    document = Document(
        id=document_id(project, parsed.source),
        project=project,
        source=parsed.source,
        source_type="transcript",
        title=parsed.title,
        content_hash=parsed.content_hash,
        times=Times(recorded_at=at),
    )
    drafted = SourceRows(document=document, chunks=[])
    for conversation in parsed.conversations:
        session = _session(conversation, document, owner, at)
        drafted.sessions.append(session)
        drafted.chunks.extend(_turns(conversation, session, document, settings, at))
    return drafted


def _session(conversation: Conversation, document: Document, owner: Owner, at: datetime) -> Session:
    """Name the session as the transcript does, unless another source already has one of that name."""
    name = conversation.name
    if owner(session_id(document.project, name)) not in (None, document.id):
        name = f"{name} ({document.source})"
    times = [turn.happened_at for turn in conversation.turns if turn.happened_at is not None]
    return Session(
        id=session_id(document.project, name),
        project=document.project,
        name=name,
        started_at=min(times, default=at),
        last_at=max(times, default=at),
        metadata={"document": document.id},
    )


def _turns(
    conversation: Conversation, session: Session, document: Document, settings: IngestConfig, at: datetime
) -> list[Chunk]:
    # A turn of which nothing is kept leaves a gap: the places of the others are their ids.
    return [
        Chunk(
            id=turn_id(session.id, sequence, part),
            project=document.project,
            text=text,
            kind="turn",
            document=document.id,
            session=session.id,
            position=sequence,
            tokens=count_tokens(text),
            source=document.source,
            source_type=document.source_type,
            author=turn.author,
            happened_at=turn.happened_at,
            state="quarantined" if threats else "active",
            times=Times(recorded_at=at),
            metadata={**turn.metadata, QUARANTINED_FOR: list(threats)} if threats else turn.metadata,
        )
        for sequence, turn in enumerate(conversation.turns)
        if (said := spoken_text(turn.text, author=turn.author))
        # What somebody said is held back alone where it gives orders; the document is not.
        for threats in (threats_in(said),)
        for part, text in enumerate(split_turn(said, settings.chunk_tokens))
    ]


# A chunk with this key in its metadata is archived because its document is not stored as a whole yet.
UNFINISHED = "unfinished"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkDifference:
    """How a document's chunks change.

    Attributes:
        write: Rows to store, each new or changed, all active.
        fresh: Ids among them whose mentions are not counted yet.
        read: Ids among them whose words are new or count again: what they name must be found.
        embed: Ids among them that need a vector.
        retire: Rows to store that are no longer in the document.
    """

    write: tuple[Chunk, ...]
    fresh: frozenset[str]
    read: frozenset[str]
    embed: frozenset[str]
    retire: tuple[Chunk, ...]

    def without(self, ids: Set[str]) -> "ChunkDifference":
        """Return the difference with some chunks left alone."""
        return ChunkDifference(
            write=tuple(row for row in self.write if row.id not in ids),
            fresh=self.fresh - ids,
            read=self.read - ids,
            embed=self.embed - ids,
            retire=tuple(row for row in self.retire if row.id not in ids),
        )


def compare(
    chunks: Sequence[Chunk], stored: Mapping[str, Chunk], document: Document | None, at: datetime
) -> ChunkDifference:
    """Compare the chunks of a source with those stored of it.

    Args:
        chunks: The source's chunks, all of them.
        stored: What the store has of the document, of every state, by id.
        document: The document's row as stored; None where it is new.
        at: The time of the write.
    """
    write: list[Chunk] = []
    fresh, read, embed = set[str](), set[str](), set[str]()
    forgetful = document is not None and document.state == "active"
    for row in chunks:
        old = stored.get(row.id)
        if old is None:
            write.append(row)
            fresh.add(row.id)
            read.add(row.id)
            embed.add(row.id)
            continue
        # What a person forgot stays forgotten when its document is edited elsewhere.
        forgotten = old.state in ("archived", "quarantined") and UNFINISHED not in old.metadata
        if forgotten and forgetful and old.text == row.text:
            continue
        merged = _merged(old, row)
        if merged != old:
            write.append(merged)
            if old.state != "active" or old.text != row.text or old.author != row.author:
                read.add(row.id)
            if old.state != "active" and UNFINISHED not in old.metadata:
                fresh.add(row.id)
            if old.vector_state != "ready" or indexed_text(old) != indexed_text(row):
                embed.add(row.id)
    kept = {row.id for row in chunks}
    gone = tuple(
        removed_chunks(old, at) for old in stored.values() if old.id not in kept and old.state == "active"
    )
    return ChunkDifference(
        write=tuple(write),
        fresh=frozenset(fresh),
        read=frozenset(read),
        embed=frozenset(embed),
        retire=gone,
    )


def _merged(old: Chunk, row: Chunk) -> Chunk:
    """Return the stored row with what the source now says of it; what was learned of it stays."""
    as_before = old.state == "active" and old.text == row.text
    # What a person brought back after reading it is held back no more.
    metadata = dict(row.metadata)
    if as_before:
        metadata.pop(QUARANTINED_FOR, None)
    return replace(
        old,
        text=row.text,
        position=row.position,
        heading_path=row.heading_path,
        tokens=row.tokens,
        source=row.source,
        source_type=row.source_type,
        author=row.author,
        happened_at=row.happened_at,
        state="active" if as_before else row.state,
        times=replace(old.times, retired_at=None),
        metadata=metadata,
    )


def removed_chunks(chunk: Chunk, at: datetime) -> Chunk:
    """Return a chunk that its document no longer has.

    It is superseded, not archived: reviving what a person forgot must not bring it back.
    """
    return replace(chunk, state="superseded", times=replace(chunk.times, retired_at=at))


def unfinished(chunk: Chunk, at: datetime) -> Chunk:
    """Return a new chunk of a document that is not stored as a whole yet: nothing recalls it."""
    return replace(
        chunk,
        state="archived",
        times=replace(chunk.times, retired_at=at),
        metadata={**chunk.metadata, UNFINISHED: True},
    )
