"""The searchable texts of items: passages in the scope of the item's namespace, which expire with it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from hydramem.core.config import MemoryConfig
from hydramem.core.ids import item_text_id
from hydramem.core.row_types import Chunk, Times
from hydramem.core.time import now
from hydramem.ingest.extraction.extract import Passage, extract
from hydramem.ingest.extraction.findings import Found
from hydramem.ingest.items.item_values import CheckedItem, scope_of
from hydramem.ingest.screening.quarantine import QUARANTINED_FOR, screen
from hydramem.ingest.write_target import Target
from hydramem.storage.undo.row_images import ITEM_TEXT
from hydramem.storage.vector_rows import Vector, indexed_text
from hydramem.text.chunking import split_turn
from hydramem.text.tokens import count_tokens

ITEM_ID = "item"
"""Key of a passage's metadata: the id of the item whose text it holds."""
_MOST_TEXT = 8_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemText:
    """A passage of an item that has no id and no times yet, what it names, and its vector."""

    row: Chunk
    found: Found
    vector: Vector


def item_texts(
    items: Sequence[CheckedItem], *, target: Target, settings: MemoryConfig, most_tokens: int
) -> dict[str, list[ItemText]]:
    """Screen, cut, read and embed the texts of items, by id of the item; all in one call of the embedder.

    Args:
        items: What is put.
        target: The project, and its embedder.
        settings: What is quarantined and masked.
        most_tokens: Tokens from which a text is cut into several passages.

    Raises:
        InvalidInputError: A text cannot be stored.
        ModelError: The embedder failed.
    """
    rows = [row for item in items for row in _rows(item, target.project, settings, most_tokens)]
    if not rows:
        return {}
    found = extract([Passage(text=row.text) for row in rows], document=True)
    vectors = target.embed([indexed_text(row) for row in rows])
    texts: dict[str, list[ItemText]] = {}
    for row, each, vector in zip(rows, found, vectors, strict=True):
        named = each if row.state == "active" else Found()  # nothing is made of what is quarantined
        texts.setdefault(row.id, []).append(ItemText(row=row, found=named, vector=vector))
    return texts


def _rows(item: CheckedItem, project: str, settings: MemoryConfig, most_tokens: int) -> list[Chunk]:
    """Return the passages of an item; their ids are that of the item for now."""
    rows: list[Chunk] = []
    source = "/".join((*item.namespace, item.key))
    for text in dict.fromkeys(item.texts):
        screened = screen(text, settings, name="text", most=_MOST_TEXT)
        reasons = {} if screened.state == "active" else {QUARANTINED_FOR: list(screened.reasons)}
        rows += [
            Chunk(
                id=item.id,
                project=project,
                text=part,
                kind="passage",
                position=place,
                tokens=count_tokens(part),
                source=source,
                source_type=ITEM_TEXT,
                scope=scope_of(item.namespace),
                state=screened.state,
                times=Times(recorded_at=now()),
                vector_state="ready",
                metadata={ITEM_ID: item.id, **reasons},
            )
            for place, part in enumerate(split_turn(screened.text, most_tokens), start=len(rows))
        ]
    return rows


def placed(text: ItemText, *, at: datetime, expires_at: datetime | None) -> Chunk:
    """Return the passage as it is stored at a time."""
    row = text.row
    id = item_text_id(row.id, row.position, at, row.text)
    return replace(row, id=id, expires_at=expires_at, times=Times(recorded_at=at))
