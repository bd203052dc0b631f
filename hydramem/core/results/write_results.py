"""What operations that write return, and the views of what they wrote."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from hydramem.core.row_types import Chunk, Decision, Document, Layer, Origin, State, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """How the relations of a write stand.

    Attributes:
        deferred: How many are stored and wait for a decision; they count as far as they are probable.
        rejected: How many were rejected; new ones are in the history alone.
        notes: Why some wait, each reason once.
        usage: What models that read their evidence cost.
    """

    deferred: int = 0
    rejected: int = 0
    notes: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedSource:
    """A source that could not be ingested, and why."""

    source: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """What an ingest did; counts are of this call.

    Attributes:
        quarantined: Chunks that are kept and listed, but not recalled: they give orders or hide something.
        notes: What was left out of what was given, and why.
        pending: Steps that follow from the queue.
        usage: What a model that extracted cost; `verification` has what it cost to verify.
    """

    documents: int = 0
    unchanged: int = 0
    chunks: int = 0
    retired_chunks: int = 0
    entities: int = 0
    relations: int = 0
    quarantined: int = 0
    skipped: tuple[SkippedSource, ...] = ()
    notes: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    seconds: float = 0.0
    verification: Decisions = field(default_factory=Decisions)
    usage: Usage = field(default_factory=Usage)


RememberAction = Literal["stored", "duplicate", "superseding", "extending", "updated"]
"""What became of a memory beside those it touches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What remember or revise did.

    Attributes:
        id: The memory's id; of the existing one where the same was known.
        created: False where nothing new was stored.
        action: stored (a new one), duplicate (the same was known), superseding (it takes the place of
            others), extending (it says more than one that stays), updated (a row was revised).
        superseded: Ids of the memories whose place it took.
        linked: Ids of the memories that it was linked to; further links may be pending.
        entities: Names of what it mentions.
        scope, categories, importance: As stored; what the call left out was found by the step `classify`.
        steps: The encoding steps that ran.
        pending: The steps that follow from the queue of jobs; until then the id may still be superseded.
        notes: What was left out or failed, and why; the memory is stored all the same.
        usage: What language models cost in this call; what verified the relations of several memories of one
            call stands with the first.
        state: `quarantined` where it gives orders or hides something: kept and listed, not recalled.
        reasons: Why it is held back, and which kinds of secrets it holds.
        masked: How many secrets were masked.
        run: Names the changes of this call, for `undo`; None where there were none.
    """

    id: str
    created: bool
    action: RememberAction = "stored"
    superseded: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    scope: str = "/"
    categories: tuple[str, ...] = ()
    importance: float = 0.5
    steps: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    state: State = "active"
    reasons: tuple[str, ...] = ()
    masked: int = 0
    run: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentView:
    """A document with its chunks in order."""

    document: Document
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curated:
    """A curated file: short entries that go into every prompt of an agent.

    Attributes:
        target: memory (`MEMORY.md`) or user (`USER.md`).
        chars: Characters of the entries together, of `limit`.
        block: The entries as a prompt shows them; empty where there are none.
        problems: Entries that prompts leave out, and a form that a person should tidy; a sentence each.
        changed: Whether this call changed the file.
        remembered: Ids of the notes that this call made of entries.
        forgotten: Ids of the notes that this call forgot with their entries.
        left_out: Notes that had no room.
    """

    target: str
    path: str
    entries: tuple[str, ...] = ()
    chars: int = 0
    limit: int = 0
    block: str = ""
    problems: tuple[str, ...] = ()
    changed: bool = False
    remembered: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What forget archived, or revive brought back.

    Attributes:
        dry_run: Whether this only tells what would be; relations are not counted then.
    """

    chunks: tuple[str, ...]
    relations: int = 0
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationView:
    """A relation with its ends named.

    Attributes:
        verdict: What verification decided, with `probability`, `verifier` and `verified_at`; None where
            nobody looked yet.
    """

    id: str
    subject: str
    type: str
    object: str
    confidence: float
    origin: Origin
    layer: Layer
    state: State
    quote: str | None = None
    evidence: tuple[str, ...] = ()
    verdict: Decision | None = None
    probability: float | None = None
    verifier: str | None = None
    verified_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    recorded_at: datetime
    retired_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """What relate did.

    Attributes:
        relation: The relation as it is now; as it was stated where it was rejected.
        created: False where an equal one was there, which may have gained evidence.
        stored: False where verification rejected it: only the history keeps it.
        explanation: What verification said of it in this call; empty where it was not asked.
        superseded: Relations that ended because of it.
        conflicts: Relations that contradict it and stay, since nothing says which of them holds.
        notes: Why, for each of both in their order.
    """

    relation: RelationView
    created: bool
    stored: bool = True
    explanation: str = ""
    superseded: tuple[RelationView, ...] = ()
    conflicts: tuple[RelationView, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """What was kept of a conversation.

    Attributes:
        session: Name of the conversation.
        turns: Ids of the turns, in order; a long turn has several.
        left_out: Turns with nothing to keep: empty, only recalled memory, only private reasoning, or half
            of an exchange that was interrupted.
        quarantined: How many give orders or hide something: kept and listed, not recalled.
        entities: Names of what they mention.
        run: Names the changes of this call, for `undo`; None where nothing was stored.
    """

    session: str
    turns: tuple[str, ...] = ()
    left_out: int = 0
    quarantined: int = 0
    entities: tuple[str, ...] = ()
    run: str | None = None
