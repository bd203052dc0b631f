"""What readers of other programs' files yield: plain records, each with its place in the file."""

from dataclasses import dataclass, field
from datetime import datetime

from hydramem.core.inputs import MemoryInput
from hydramem.core.results.exchange_results import SkippedRecord
from hydramem.ingest.documents.read import SourceText, Transcript


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecord:
    """A memory.

    Attributes:
        memory: With a scope, so that none has to be found.
        id: Its id, where HydraMem wrote the file.
    """

    place: str
    memory: MemoryInput
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityRecord:
    """A named thing."""

    place: str
    name: str
    type: str = "thing"
    aliases: tuple[str, ...] = ()
    description: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationRecord:
    """A typed edge between two named things."""

    place: str
    subject: str
    type: str
    object: str
    confidence: float = 1.0
    bidirectional: bool = False
    quote: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRecord:
    """A note that is a document, or a conversation."""

    place: str
    parsed: SourceText | Transcript


@dataclass(frozen=True, slots=True, kw_only=True)
class OmittedRecord:
    """Something that is left out by intention, such as a system message.

    Attributes:
        reason: Why, in the same words for all of its kind.
    """

    reason: str
    count: int = 1


StoredRecord = MemoryRecord | EntityRecord | RelationRecord | DocumentRecord
Record = StoredRecord | OmittedRecord | SkippedRecord


@dataclass(slots=True)
class Meter:
    """How far a reader is.

    Attributes:
        done, total: Bytes, files or rows, as its format has them.
        notes: What the reader has to say of the source as a whole.
    """

    done: int = 0
    total: int = 0
    notes: list[str] = field(default_factory=list)
