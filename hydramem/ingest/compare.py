"""What changes when a source is stored again: chunks to write, to leave alone and to retire. Pure."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime

from hydramem.core.row_types import Chunk, Document
from hydramem.ingest.screen.screen import QUARANTINED_FOR
from hydramem.storage.vector_rows import indexed_text

# A chunk with this key in its metadata is archived because its document is not stored as a whole yet.
UNFINISHED = "unfinished"


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
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

    def without(self, ids: Set[str]) -> "Difference":
        """Return the difference with some chunks left alone."""
        return Difference(
            write=tuple(row for row in self.write if row.id not in ids),
            fresh=self.fresh - ids,
            read=self.read - ids,
            embed=self.embed - ids,
            retire=tuple(row for row in self.retire if row.id not in ids),
        )


def compare(
    chunks: Sequence[Chunk], stored: Mapping[str, Chunk], document: Document | None, at: datetime
) -> Difference:
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
    gone = tuple(left(old, at) for old in stored.values() if old.id not in kept and old.state == "active")
    return Difference(
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


def left(chunk: Chunk, at: datetime) -> Chunk:
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
