"""A memory as a caller gives it: checked, screened, and turned into the row that is stored."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from hydramem.core.argument_checks import check_name, check_text
from hydramem.core.config import MemoryConfig
from hydramem.core.errors import InvalidInputError
from hydramem.core.ids import session_id
from hydramem.core.row_types import Chunk, ChunkKind, Layer, Metadata, Times
from hydramem.core.time import check_interval
from hydramem.ingest.extraction.extract import Passage, extract
from hydramem.ingest.extraction.findings import Found, Name
from hydramem.ingest.screening.quarantine import QUARANTINED_FOR, Screened, screen
from hydramem.ingest.screening.spoken_text import spoken_text
from hydramem.storage.chunk_filter import within_scope
from hydramem.text.tokens import count_tokens

MOST_LABELS = 50
"""Most categories, keywords or entities that one memory is given."""

MOST_SUMMARY = 2000

_MOST_METADATA = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryDraft:
    """A memory as a caller gives it; fields as in `Chunk`, None where the caller left one open.

    Attributes:
        session: By name.
        within: The scope at or under which one is found where none is given.
        entities: Names of things that it is about, besides those that the text names.
    """

    text: str
    kind: ChunkKind
    source: str = ""
    author: str | None = None
    session: str | None = None
    scope: str | None = None
    within: str = "/"
    categories: tuple[str, ...] | None = None
    importance: float | None = None
    keywords: tuple[str, ...] | None = None
    summary: str | None = None
    entities: tuple[str, ...] = ()
    confidence: float = 1.0
    event_type: str | None = None
    happened_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    private: bool = False
    layer: Layer = "working"
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidatedMemory:
    """A memory that was checked and screened.

    Attributes:
        draft: With the text as it is to be stored.
        found: What it names and states; nothing where it is quarantined.
        stored: Its row where it is stored already and only now encoded; it touches what is older.
    """

    draft: MemoryDraft
    screened: Screened
    found: Found
    stored: Chunk | None = None

    @property
    def active(self) -> bool:
        """Whether it will be recalled."""
        return self.screened.state == "active"

    @property
    def states(self) -> bool:
        """Whether it states something that is judged before it is stored."""
        return self.active and bool(self.found.claims)

    @property
    def is_steady(self) -> bool:
        """Whether it is of a kind that others may take the place of: no event, nothing said in a session."""
        return self.draft.kind in ("note", "fact")


def validate(
    drafts: Sequence[MemoryDraft], settings: MemoryConfig, *, listed: bool = False
) -> list[ValidatedMemory]:
    """Check and screen memories, and find what they name.

    Args:
        drafts: The memories.
        settings: What is accepted.
        listed: Whether errors name the place of a memory among them.

    Raises:
        InvalidInputError: One is wrong, or is nothing but recalled memory.
    """
    screened = [
        _screened(draft, settings, f"memories[{place}]: text" if listed else "text")
        for place, draft in enumerate(drafts)
    ]
    drafts = [replace(draft, text=one.text) for draft, one in zip(drafts, screened, strict=True)]
    active = [place for place, one in enumerate(screened) if one.state == "active"]
    passages = [Passage(text=drafts[place].text, author=drafts[place].author) for place in active]
    found = dict(zip(active, extract(passages), strict=True)) if active else {}
    return [
        ValidatedMemory(
            draft=draft, screened=one, found=_with_given(found[place], draft) if place in found else Found()
        )
        for place, (draft, one) in enumerate(zip(drafts, screened, strict=True))
    ]


def _screened(draft: MemoryDraft, settings: MemoryConfig, name: str) -> Screened:
    check(draft)
    if draft.kind != "turn" or not isinstance(draft.text, str) or not draft.text.strip():
        return screen(draft.text, settings, name=name)
    if not (said := spoken_text(draft.text, author=draft.author)):
        raise InvalidInputError(f"{name}: is only what was recalled from this memory, or private reasoning")
    return screen(said, settings, name=name)


def check(draft: MemoryDraft) -> None:
    """Check the fields of a memory that only make sense together, and its names.

    Raises:
        InvalidInputError: One is wrong; the message names it.
    """
    for name in ("source", "author", "session", "event_type"):
        if value := getattr(draft, name):
            check_name(value, name=name)
    for name in ("categories", "keywords", "entities"):
        values = getattr(draft, name) or ()
        if len(values) > MOST_LABELS:
            raise InvalidInputError(f"{name}: {len(values)}, more than the {MOST_LABELS} of one memory")
        for value in values:
            check_name(value, name=name)
    if draft.summary is not None:
        check_text(draft.summary, name="summary", most=MOST_SUMMARY)
    check_interval(draft.valid_from, draft.valid_to, name="valid_from, valid_to")
    if draft.scope is not None and not within_scope(draft.scope, draft.within):
        raise InvalidInputError(f"scope: {draft.scope!r} is not within {draft.within!r}")
    _check_kind(draft)
    _check_metadata(draft.metadata)


def _check_kind(draft: MemoryDraft) -> None:
    if draft.kind == "passage":
        raise InvalidInputError("kind: a passage belongs to a document; ingest it, or remember a note")
    if draft.kind == "turn" and draft.session is None:
        raise InvalidInputError("session: a turn belongs to one; name it")
    if draft.kind == "event" and draft.happened_at is None:
        raise InvalidInputError("happened_at: an event has a time; give it, or remember a note")
    if draft.event_type and draft.kind != "event":
        raise InvalidInputError(f"event_type: a {draft.kind} has none; remember an event")


def _check_metadata(metadata: Metadata) -> None:
    if not metadata:
        return
    try:
        size = len(json.dumps(dict(metadata), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"metadata: JSON cannot hold it: {error}") from error
    if size > _MOST_METADATA:
        raise InvalidInputError(f"metadata: {size:,} characters as JSON, more than {_MOST_METADATA:,}")


def _with_given(found: Found, draft: MemoryDraft) -> Found:
    known = {name.name.casefold() for name in found.names}
    given = dict.fromkeys(name.strip() for name in draft.entities)
    more = tuple(Name(name=name) for name in given if name.casefold() not in known)
    return replace(found, names=(*found.names, *more)) if more else found


def chunk_of(
    taken: ValidatedMemory,
    *,
    id: str = "",
    project: str = "",
    position: int = 0,
    at: datetime,
    embedded: bool = True,
) -> Chunk:
    """Return the row of a memory; fields that are still open get their defaults.

    Args:
        taken: The memory.
        id, project, position: Where it goes; what the embedder reads needs none of it.
        at: The time of the write.
        embedded: Whether its vector is there.
    """
    draft, screened = taken.draft, taken.screened
    held_back = {} if taken.active else {QUARANTINED_FOR: list(screened.reasons)}
    return Chunk(
        id=id,
        project=project,
        text=draft.text,
        kind=draft.kind,
        session=None if draft.session is None else session_id(project, draft.session),
        position=position,
        tokens=count_tokens(draft.text),
        source=draft.source or draft.session or draft.kind,
        source_type="session" if draft.session else "remember",
        author=draft.author,
        private=draft.private,
        scope=draft.within if draft.scope is None else draft.scope,
        categories=draft.categories or (),
        keywords=draft.keywords or (),
        summary=draft.summary,
        importance=0.5 if draft.importance is None else draft.importance,
        confidence=draft.confidence,
        layer=draft.layer,
        event_type=draft.event_type,
        happened_at=draft.happened_at,
        expires_at=draft.expires_at,
        times=Times(recorded_at=at, valid_from=draft.valid_from, valid_to=draft.valid_to),
        state=screened.state,
        vector_state="ready" if embedded else "pending",
        metadata={**draft.metadata, **held_back},
    )
