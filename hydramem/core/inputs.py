"""What a caller gives to an operation, beyond plain values, and what an operation reports meanwhile."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from hydramem.core.row_types import ChunkKind, Metadata
from hydramem.core.time import When

# Read by pydantic where JSON becomes these: a mistyped field is an error, not a field lost in silence.
_STRICT: Any = {"extra": "forbid"}
ExtractedKind = Literal["passage", "note", "fact", "event"]
CuratedAction = Literal["add", "replace", "remove"]
NamespaceMatch = Literal["prefix", "suffix"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryInput:
    """A memory to remember; fields as in `remember`.

    Attributes:
        text: What to remember.
        kind: note, fact, event (give `happened_at`) or turn (give `session`).
        source: Where it came from, as a person reads it.
        author: Who said it.
        session: Name of the conversation it belongs to.
        scope: Path such as /infra/database; found where not given.
        within: The path that a found scope is at or under.
        categories, keywords: Labels to filter by, and words to look for; found where not given.
        importance: 0 to 1; found where not given.
        summary: One sentence; found where not given.
        entities: Names of things that it is about, besides those that it names.
        confidence: 0 to 1.
        event_type: What kind of event, such as deployment.
        happened_at: When the event took place.
        valid_from, valid_to: From when and until when it is true in the world.
        expires_at: When it stops being recalled.
        private: Keep it out of recall that leaves private memories out.
        metadata: Values of your own that come back with it.
        replaces: Ids of memories that hold no longer now that this one does; they end, with history.
    """

    __pydantic_config__ = _STRICT

    text: str
    kind: ChunkKind = "note"
    source: str = ""
    author: str | None = None
    session: str | None = None
    scope: str | None = None
    within: str = "/"
    categories: Sequence[str] | None = None
    importance: float | None = None
    keywords: Sequence[str] | None = None
    summary: str | None = None
    entities: Sequence[str] = ()
    confidence: float = 1.0
    event_type: str | None = None
    happened_at: When | None = None
    valid_from: When | None = None
    valid_to: When | None = None
    expires_at: When | None = None
    private: bool = False
    metadata: Mapping[str, object] | None = None
    replaces: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidTurn:
    """What one side said.

    Attributes:
        author: Who said it: user, assistant, or a name.
        happened_at: When it was said; now where not given.
        key: Its id where it was said. A session takes each key once, so that a log can be captured again.
    """

    __pydantic_config__ = _STRICT

    author: str
    text: str
    happened_at: When | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CuratedChange:
    """One change of a curated file.

    Attributes:
        content: The new entry; empty for `remove`.
        old_text: Words that one entry alone holds: the entry to replace or remove; empty for `add`.
    """

    __pydantic_config__ = _STRICT

    action: CuratedAction
    content: str = ""
    old_text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedChunk:
    """A piece of text, as the agent cut it; one over the configured tokens is cut further.

    Attributes:
        heading_path: Headings above it, outermost first.
        author: Who said it.
        happened_at: When it was said or happened.
    """

    __pydantic_config__ = _STRICT

    text: str
    kind: ExtractedKind = "passage"
    heading_path: tuple[str, ...] = ()
    author: str | None = None
    happened_at: When | None = None
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedEntity:
    """A named thing in the text."""

    __pydantic_config__ = _STRICT

    name: str
    type: str = "thing"
    description: str | None = None
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedRelation:
    """A typed edge between two entities, by name.

    Attributes:
        confidence: 0 to 1.
        quote: The words of the text that state it.
        valid_from, valid_to: When it was true in the world.
    """

    __pydantic_config__ = _STRICT

    subject: str
    type: str
    object: str
    confidence: float = 1.0
    quote: str | None = None
    valid_from: When | None = None
    valid_to: When | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far an ingest is: how many of all sources are stored or need not be, and the last one read."""

    done: int
    total: int
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemInput:
    """A JSON value to put under a key, or a key to delete.

    Attributes:
        namespace: Labels, outermost first, such as ["users", "ada"].
        key: The name of the item within its namespace, as you choose it.
        value: A JSON object; without one the item is deleted.
        search_paths: Where the texts are that become searchable memories, such as title, author.name or
            notes[*].text; $ is the whole value as JSON. Without any, the item is found by key and filter.
        ttl: Minutes after which it expires where it is neither put nor read; it is kept by default.
    """

    __pydantic_config__ = _STRICT

    namespace: Sequence[str]
    key: str
    value: Mapping[str, object] | None = None
    search_paths: Sequence[str] = ()
    ttl: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceCondition:
    """What the labels of a namespace must begin or end with.

    Attributes:
        match: prefix or suffix.
        labels: Labels; * stands for any one label.
    """

    __pydantic_config__ = _STRICT

    match: NamespaceMatch
    labels: Sequence[str]
