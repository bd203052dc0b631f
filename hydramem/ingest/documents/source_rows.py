"""A source as rows: its document, sessions and chunks, and how they differ from what is stored of it."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime

from hydramem.core.config import IngestConfig, Parser
from hydramem.core.ids import document_id, passage_id, session_id, turn_id
from hydramem.core.row_types import Chunk, Document, Session, Times
from hydramem.ingest.documents.formats.document_text import without_place_lines, without_places
from hydramem.ingest.documents.formats.transcript import Conversation
from hydramem.ingest.documents.read import SourceText, Transcript
from hydramem.ingest.extraction.extract import Passage, extract
from hydramem.ingest.extraction.findings import Found
from hydramem.ingest.knowledge.support import document_chunks, in_state
from hydramem.ingest.screening.quarantine import QUARANTINED_FOR, reasons_to_hold
from hydramem.ingest.screening.strip_recalled_blocks import spoken_text
from hydramem.storage.store import GraphStore
from hydramem.storage.vector_rows import indexed_text
from hydramem.text.chunking import chunk, split_turn
from hydramem.text.tokens import count_tokens

UNFINISHED = "unfinished"
"""In the metadata of a chunk that is archived because its document is not stored as a whole yet."""

Owner = Callable[[str], str | None]
"""Maps a session's id to the document that wrote it; empty for a live one, None where there is none."""


@dataclass(slots=True, kw_only=True)
class SourceRows:
    """A source as the rows that the store is to have of it."""

    document: Document
    chunks: list[Chunk]
    sessions: list[Session] = field(default_factory=list)
    title: str | None = None

    def extracted(self, parser: Parser = "none") -> dict[str, Found]:
        """Return what the extraction rules, and a parser where one is used, find in each chunk, by its id."""
        passages = [
            Passage(
                text=without_place_lines(row.text, row.source_type),
                headings=without_places(row.heading_path, row.source_type),
                author=row.author,
            )
            for row in self.chunks
        ]
        found = extract(
            passages, title=self.title, document=self.document.source_type != "transcript", parser=parser
        )
        return {row.id: each for row, each in zip(self.chunks, found, strict=True)}


def source_rows(
    parsed: SourceText | Transcript, *, project: str, settings: IngestConfig, owner: Owner, at: datetime
) -> SourceRows:
    """Turn a source into rows; the same source gives the same ids."""
    document = Document(
        id=document_id(project, parsed.source),
        project=project,
        source=parsed.source,
        source_type=parsed.source_type,
        title=parsed.title,
        content_hash=parsed.content_hash,
        times=Times(recorded_at=at),
        metadata=parsed.metadata,
    )
    if isinstance(parsed, SourceText):
        chunks = _passages(document, parsed, settings)
        return SourceRows(document=document, chunks=chunks, title=parsed.title or None)
    rows = SourceRows(document=document, chunks=[])
    for conversation in parsed.conversations:
        session = _session(conversation, document, owner)
        rows.sessions.append(session)
        rows.chunks.extend(_turns(conversation, session, document, settings))
    return rows


def _passages(document: Document, parsed: SourceText, settings: IngestConfig) -> list[Chunk]:
    pieces = chunk(
        parsed.text,
        kind=parsed.kind,
        max_tokens=settings.chunk_tokens,
        overlap_tokens=settings.overlap_tokens,
    )
    paths = [piece.heading_path or ((parsed.title,) if parsed.kind == "code" else ()) for piece in pieces]
    ids = passage_ids(document, ((*path, piece.text) for path, piece in zip(paths, pieces, strict=True)))
    return [
        Chunk(
            id=id,
            project=document.project,
            text=piece.text,
            kind="passage",
            document=document.id,
            position=position,
            heading_path=path,
            tokens=piece.tokens,
            source=document.source,
            source_type=document.source_type,
            happened_at=parsed.happened_at,
            times=document.times,
        )
        for position, (id, path, piece) in enumerate(zip(ids, paths, pieces, strict=True))
    ]


def passage_ids(document: Document, texts: Iterable[Sequence[str]]) -> list[str]:
    """Return an id for each text of a document, whatever its position.

    Text that is inserted above moves what follows, and moved chunks are the same chunks. Repeated texts are
    numbered in their order.

    Args:
        document: The document.
        texts: What identifies each text: its words, headings and the like.
    """
    counts: dict[str, int] = {}
    ids = []
    for parts in texts:
        words = "\n".join(parts)
        number = counts[words] = counts.get(words, -1) + 1
        ids.append(passage_id(document.id, number, words))
    return ids


def _session(conversation: Conversation, document: Document, owner: Owner) -> Session:
    """Name the session as the transcript does, unless another source already has one of that name."""
    name, at = conversation.name, document.times.recorded_at
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
    conversation: Conversation, session: Session, document: Document, settings: IngestConfig
) -> list[Chunk]:
    # A turn of which nothing is kept leaves a gap: the positions of the others are in their ids.
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
            times=document.times,
            metadata={**turn.metadata, QUARANTINED_FOR: list(threats)} if threats else turn.metadata,
        )
        for sequence, turn in enumerate(conversation.turns)
        if (kept := spoken_text(turn.text, author=turn.author))
        # A turn that gives orders is quarantined alone; the rest of the document is not.
        for threats in (reasons_to_hold(kept, learned=settings.learned_screening),)
        for part, text in enumerate(split_turn(kept, settings.chunk_tokens))
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkDifference:
    """How a document's chunks change.

    Attributes:
        write: Rows to store, new or changed.
        fresh: Ids among them whose mentions are not counted yet.
        read: Ids among them whose text is new or counts again: names and relations are extracted from it.
        embed: Ids among them that need a vector.
        retire: Rows to store that are no longer in the document.
    """

    write: tuple[Chunk, ...]
    fresh: frozenset[str] = frozenset()
    read: frozenset[str]
    embed: frozenset[str] = frozenset()
    retire: tuple[Chunk, ...] = ()

    def without(self, ids: Set[str]) -> "ChunkDifference":
        """Return the difference with some chunks left as they are."""
        return ChunkDifference(
            write=tuple(row for row in self.write if row.id not in ids),
            fresh=self.fresh - ids,
            read=self.read - ids,
            embed=self.embed - ids,
            retire=tuple(row for row in self.retire if row.id not in ids),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A source to store.

    Attributes:
        rows: Its rows.
        document: Its document as stored; None where it is new.
        difference: What changes.
        stored: Ids of its chunks that the store has, of every state.
        found: What its new chunks name and state, by chunk id.
        at: When it was compared with the store.
    """

    rows: SourceRows
    document: Document | None
    difference: ChunkDifference
    stored: frozenset[str]
    found: Mapping[str, Found] = field(default_factory=dict)
    at: datetime


def compare(rows: SourceRows, document: Document | None, graph: GraphStore) -> Work:
    """Compare a source with what is stored of it.

    Args:
        rows: The source, read as of the time of the comparison.
        document: Its document as stored; None where it is new.
        graph: Where its chunks are stored.
    """
    at = rows.document.times.recorded_at
    stored = {} if document is None else {row.id: row for row in document_chunks(document.id, graph)}
    write: list[Chunk] = []
    fresh, read, embed = set[str](), set[str](), set[str]()
    keeps_forgotten = document is not None and document.state == "active"
    for row in rows.chunks:
        old = stored.get(row.id)
        if old is None:
            write.append(row)
            for ids in (fresh, read, embed):
                ids.add(row.id)
            continue
        # What a person forgot stays forgotten when its document is edited elsewhere.
        forgotten = old.state in ("archived", "quarantined") and UNFINISHED not in old.metadata
        if forgotten and keeps_forgotten and old.text == row.text:
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
    kept = {row.id for row in rows.chunks}
    gone = (old for old in stored.values() if old.id not in kept and old.state == "active")
    difference = ChunkDifference(
        write=tuple(write),
        fresh=frozenset(fresh),
        read=frozenset(read),
        embed=frozenset(embed),
        # Superseded, not archived: reviving what a person forgot must not bring these back.
        retire=tuple(in_state(old, "superseded", at) for old in gone),
    )
    return Work(rows=rows, document=document, difference=difference, stored=frozenset(stored), at=at)


def _merged(old: Chunk, row: Chunk) -> Chunk:
    """Return the stored row with what the source now says of it; what was learned of it stays."""
    as_before = old.state == "active" and old.text == row.text
    metadata = dict(row.metadata)
    if as_before:  # a chunk that a person revived after reading it is not quarantined again
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
