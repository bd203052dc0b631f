"""A memory as a caller gives it: its fields checked, its text screened, and made the row that is stored."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, get_args

from hydramem.core.argument_checks import check_choice, check_name, check_scope, check_share, check_text
from hydramem.core.config import MemoryConfig
from hydramem.core.errors import InvalidInputError
from hydramem.core.ids import session_id
from hydramem.core.inputs import MemoryInput
from hydramem.core.row_types import Chunk, ChunkKind, Metadata, Times
from hydramem.core.time import check_interval, now
from hydramem.ingest.extraction.extract import Passage, extract
from hydramem.ingest.extraction.findings import Found, Name
from hydramem.ingest.knowledge.end_validity import DISTILLED_FROM, said_at
from hydramem.ingest.screening.quarantine import QUARANTINED_FOR, Screened, screen
from hydramem.ingest.screening.strip_recalled_blocks import spoken_text
from hydramem.storage.chunk_filter import within_scope
from hydramem.text.dates.caller_dates import moment_or_none
from hydramem.text.tokens import count_tokens

MOST_AT_ONCE = 1000
"""Most memories of one call."""

MOST_LABELS = 50
"""Most categories, keywords or entities that one memory is given."""

MOST_REPLACED = 50
"""Most memories that one takes the place of."""

SCOPE_FOUND = "scope_found"
"""In the metadata of a memory: whether its scope was found for it, where that is not plain.

A found scope parts a memory from no other. Without the entry, the root was found and any other scope given.
"""

MOST_SUMMARY = 2000
"""Most characters of a summary that a caller gives."""

_MOST_METADATA = 20_000
OPEN_FIELDS = ("scope", "categories", "importance", "keywords", "summary")
"""Fields that are found where the caller leaves them open."""

MEMORIES: tuple[ChunkKind, ...] = ("note", "fact", "event", "turn")
"""The kinds that are memories of their own, not part of a document."""

STEADY: tuple[ChunkKind, ...] = ("note", "fact")
"""Kinds that say how something is: another may take their place, while what happened stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidatedMemory:
    """A memory that was checked and screened.

    Attributes:
        given: As the caller gave it.
        row: As it is to be stored, but for its id and place; open fields have their defaults.
        open: Names of the fields that are to be found, in the order of `OPEN_FIELDS`.
        found: What it names and states; nothing where it is quarantined.
        stored: Its row where it is stored already and encoded only now; it touches what is older.
    """

    given: MemoryInput
    row: Chunk
    open: tuple[str, ...] = ()
    screened: Screened
    found: Found
    stored: Chunk | None = None

    @property
    def touches_before(self) -> datetime | None:
        """The time before which a memory must be said for this one to change it; None for any time."""
        row = self.row if self.stored is None else self.stored
        return None if self.stored is None and DISTILLED_FROM not in row.metadata else said_at(row)

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
        """Whether it is of a kind that others may take the place of."""
        return self.row.kind in STEADY

    @property
    def searched_within(self) -> str:
        """The path at or under which its neighbours are: where a scope is found for it, else anywhere."""
        return self.given.within if "scope" in self.open else "/"

    def is_encoded(self, settings: MemoryConfig) -> bool:
        """Say whether it is classified and compared with others, or stored as it is given."""
        return settings.cognitive and self.active and self.row.kind != "turn"

    def placed(
        self, id: str, *, project: str, at: datetime, position: int = 0, embedded: bool = True
    ) -> Chunk:
        """Return the row with its id, its place in its session, and the time of the write."""
        session = self.given.session
        return replace(
            self.row,
            id=id,
            project=project,
            session=None if session is None else session_id(project, session),
            position=position,
            times=replace(self.row.times, recorded_at=at),
            vector_state="ready" if embedded else "pending",
        )


def validate(
    given: Sequence[MemoryInput], settings: MemoryConfig, *, listed: bool = False
) -> list[ValidatedMemory]:
    """Check and screen memories, and find what they name.

    Args:
        settings: What is accepted.
        listed: Whether they are the list of one call: errors then begin with a place, such as `memories[3]`.

    Raises:
        InvalidInputError: One is wrong, or is nothing but recalled memory.
    """
    if listed:
        _check_list(given)
    rows, screened = [], []
    for place, one in enumerate(given):
        with _named_place(place, listed=listed):
            rows.append(_checked_row(one))
    for place, row in enumerate(rows):
        with _named_place(place, listed=listed):
            screened.append(_screened(row, settings))
    active = [place for place, one in enumerate(screened) if one.state == "active"]
    passages = [Passage(text=screened[place].text, author=rows[place].author) for place in active]
    found = dict(zip(active, extract(passages, parser=settings.parser), strict=True)) if active else {}
    return [
        ValidatedMemory(
            given=one,
            row=_screened_row(rows[place], screened[place]),
            open=tuple(name for name in OPEN_FIELDS if getattr(one, name) is None),
            screened=screened[place],
            found=_with_given_names(found[place], one.entities) if place in found else Found(),
        )
        for place, one in enumerate(given)
    ]


def validate_stored(row: Chunk, payload: Mapping[str, Any], settings: MemoryConfig) -> ValidatedMemory:
    """Return a memory that was stored and is encoded only now, as it was given.

    Args:
        row: Its row.
        payload: Of its job: the fields that were left open, and what the row does not hold.
        settings: What is accepted.

    Raises:
        InvalidInputError: It is not accepted any more.
    """
    screened = screen(row.text, settings, name="text")
    (found,) = extract([Passage(text=screened.text, author=row.author)], parser=settings.parser)
    return ValidatedMemory(
        given=MemoryInput(
            text=row.text, source=payload["source"], session=payload["session"], within=payload["within"]
        ),
        row=replace(row, text=screened.text),
        open=tuple(name for name in OPEN_FIELDS if name in payload["open"]),
        screened=screened,
        found=found if screened.state == "active" else Found(),
        stored=row,
    )


def labels(values: Sequence[str] | None, name: str) -> tuple[str, ...] | None:
    """Check labels, each once; None where none are given.

    Raises:
        InvalidInputError: One is no name; the message names the argument.
    """
    if values is None:
        return None
    given = (values,) if isinstance(values, str) else values
    return tuple(dict.fromkeys(check_name(value, name=name) for value in given))


def _check_list(given: Sequence[MemoryInput]) -> None:
    if isinstance(given, str | MemoryInput) or not isinstance(given, Sequence):
        raise InvalidInputError("memories: expected a list of memories")
    if not 1 <= len(given) <= MOST_AT_ONCE:
        raise InvalidInputError(f"memories: {len(given)} are given; give 1 to {MOST_AT_ONCE:,}")


@contextmanager
def _named_place(place: int, *, listed: bool) -> Iterator[None]:
    """Put the place of a memory in a list before the message of an error."""
    try:
        yield
    except InvalidInputError as error:
        if not listed:
            raise
        raise InvalidInputError(f"memories[{place}]: {error}") from error


def _checked_row(given: MemoryInput) -> Chunk:
    """Return a memory as a row, with its text as given.

    Raises:
        InvalidInputError: A field is wrong; the message names it.
    """
    if not isinstance(given, MemoryInput):
        raise InvalidInputError(f"expected a MemoryInput, got {type(given).__name__}")
    within = check_scope(given.within)
    row = Chunk(
        id="",
        project="",
        text=given.text,
        kind=check_choice(given.kind, get_args(ChunkKind), name="kind"),
        source=given.source or given.session or given.kind,
        source_type="session" if given.session else "remember",
        author=given.author,
        private=given.private,
        scope=within if given.scope is None else check_scope(given.scope),
        categories=labels(given.categories, "categories") or (),
        importance=0.5 if given.importance is None else check_share(given.importance, name="importance"),
        keywords=labels(given.keywords, "keywords") or (),
        summary=given.summary,
        confidence=check_share(given.confidence, name="confidence"),
        event_type=given.event_type,
        happened_at=moment_or_none(given.happened_at, "happened_at"),
        expires_at=moment_or_none(given.expires_at, "expires_at"),
        times=Times(
            recorded_at=now(),
            valid_from=moment_or_none(given.valid_from, "valid_from"),
            valid_to=moment_or_none(given.valid_to, "valid_to"),
        ),
        metadata=_metadata(given.metadata) | ({SCOPE_FOUND: False} if given.scope == "/" else {}),
    )
    _check_names(given)
    check_interval(row.times.valid_from, row.times.valid_to, name="valid_from, valid_to")
    if not within_scope(row.scope, within):
        raise InvalidInputError(f"scope: {row.scope!r} is not within {within!r}")
    _check_kind(row, given)
    _check_metadata(row.metadata)
    return row


def _check_names(given: MemoryInput) -> None:
    for name in ("source", "author", "session", "event_type"):
        if value := getattr(given, name):
            check_name(value, name=name)
    for name in ("categories", "keywords", "entities"):
        values = labels(getattr(given, name), name) or ()
        if len(values) > MOST_LABELS:
            raise InvalidInputError(f"{name}: {len(values)}, more than the {MOST_LABELS} of one memory")
    replaced = labels(given.replaces, "replaces") or ()
    if replaced and given.kind == "turn":
        raise InvalidInputError("replaces: a turn is kept as it was said; remember a note")
    if len(replaced) > MOST_REPLACED:
        raise InvalidInputError(f"replaces: {len(replaced)}, more than the {MOST_REPLACED} of one memory")
    if given.summary is not None:
        check_text(given.summary, name="summary", most=MOST_SUMMARY)


def _check_kind(row: Chunk, given: MemoryInput) -> None:
    if row.kind == "passage":
        raise InvalidInputError("kind: a passage belongs to a document; ingest it, or remember a note")
    if row.kind == "turn" and given.session is None:
        raise InvalidInputError("session: a turn belongs to one; name it")
    if row.kind == "event" and row.happened_at is None:
        raise InvalidInputError("happened_at: an event has a time; give it, or remember a note")
    if row.event_type and row.kind != "event":
        raise InvalidInputError(f"event_type: a {row.kind} has none; remember an event")


def _metadata(given: object) -> dict[str, object]:
    if given is not None and not isinstance(given, Mapping):
        raise InvalidInputError(f"metadata: must be a mapping, not {type(given).__name__}")
    return dict(given or {})


def _check_metadata(metadata: Metadata) -> None:
    if not metadata:
        return
    try:
        size = len(json.dumps(dict(metadata), allow_nan=False, ensure_ascii=False).encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"metadata: JSON cannot hold it: {error}") from error
    if size > _MOST_METADATA:
        raise InvalidInputError(f"metadata: {size:,} bytes as JSON, more than {_MOST_METADATA:,}")


def _screened(row: Chunk, settings: MemoryConfig) -> Screened:
    if row.kind != "turn" or not isinstance(row.text, str) or not row.text.strip():
        return screen(row.text, settings, name="text")
    if not (spoken := spoken_text(row.text, author=row.author)):
        raise InvalidInputError("text: is only what was recalled from this memory, or private reasoning")
    return screen(spoken, settings, name="text")


def _screened_row(row: Chunk, screened: Screened) -> Chunk:
    reasons = {} if screened.state == "active" else {QUARANTINED_FOR: list(screened.reasons)}
    return replace(
        row,
        text=screened.text,
        tokens=count_tokens(screened.text),
        state=screened.state,
        metadata={**row.metadata, **reasons},
    )


def _with_given_names(found: Found, entities: Sequence[str]) -> Found:
    known = {name.name.casefold() for name in found.names}
    given = dict.fromkeys(name.strip() for name in labels(entities, "entities") or ())
    more = tuple(Name(name=name) for name in given if name.casefold() not in known)
    return replace(found, names=(*found.names, *more)) if more else found
