"""What a source that was read becomes: its document, sessions and chunks as rows."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from hydramem.core.config import IngestConfig
from hydramem.core.ids import document_id, passage_id, session_id, turn_id
from hydramem.core.row_types import Chunk, Document, Session, Times
from hydramem.ingest.extract.rules import Passage
from hydramem.ingest.read import SourceText, Transcript
from hydramem.ingest.screen.screen import QUARANTINED_FOR, threats_in
from hydramem.ingest.screen.spoken import spoken
from hydramem.ingest.transcript import Conversation
from hydramem.text.chunking import chunk, split_turn
from hydramem.text.tokens import count_tokens

Owner = Callable[[str], str | None]
"""Maps a session's id to the document that wrote it; empty for a live one, None where there is none."""


@dataclass(slots=True, kw_only=True)
class Draft:
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
) -> Draft:
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
    return Draft(
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
) -> Draft:
    document = Document(
        id=document_id(project, parsed.source),
        project=project,
        source=parsed.source,
        source_type="transcript",
        title=parsed.title,
        content_hash=parsed.content_hash,
        times=Times(recorded_at=at),
    )
    drafted = Draft(document=document, chunks=[])
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
        if (said := spoken(turn.text, author=turn.author))
        # What somebody said is held back alone where it gives orders; the document is not.
        for threats in (threats_in(said),)
        for part, text in enumerate(split_turn(said, settings.chunk_tokens))
    ]
