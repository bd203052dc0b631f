"""What operations that write return, and views of what they wrote."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from hydramem.core.row_types import Chunk, Decision, Document, Layer, Origin, State, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """The verdicts on the relations of a write.

    Attributes:
        deferred: Relations stored undecided; they count by their probability.
        rejected: Relations rejected; new ones are in the history only.
        notes: Why some are undecided, each reason once.
        usage: Cost of the models that read their evidence.
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
    """The result of an ingest; counts are of this call.

    Attributes:
        quarantined: Chunks that give orders or hide something: listed, not recalled.
        notes: What was left out, and why.
        pending: Steps that pending jobs do; `vectors` where the vector store could not be written and follows
            later.
        usage: Cost of extraction; `verification` has the cost of verification.
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
"""What remember did with a memory."""


NearRelation = Literal["duplicates", "extends", "may_supersede", "similar"]
"""What a new memory may be to a stored one; `similar` where nothing shows what it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMemory:
    """A stored memory that a new one may touch: the caller decides, and gives its id as `replaces`.

    Attributes:
        text: The memory, shortened.
        relation: What the new memory may be to it.
        probability: How sure that is, 0 to 1.
    """

    id: str
    text: str
    relation: NearRelation
    probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """The result of `remember` or `revise`.

    Attributes:
        id: Id of the memory; of the existing one where it was known already.
        created: False if nothing new was stored.
        action: stored (new), duplicate (known already), superseding (it replaces others), extending (it adds
            to one that stays), updated (revised).
        superseded: Ids of the memories that it replaced.
        linked: Ids of the memories that it was linked to; further links may be pending.
        near: At most three current memories that it may touch. If one of them no longer holds, remember the
            text again with its id in `replaces`.
        entities: Names of the entities that it mentions.
        scope, categories, importance: As stored; the step `classify` filled in what the call left out.
        steps: Encoding steps that ran.
        pending: Steps that pending jobs do; until then the memory can still be superseded. `vectors` where
            the vector store could not be written and follows later.
        notes: What was left out or failed, and why; the memory is stored.
        usage: Cost of the model calls; extraction and verification of several memories count for the first.
        state: `quarantined` if it gives orders or hides something: listed, not recalled.
        reasons: Why it is quarantined, and which kinds of secrets it holds.
        masked: Number of masked secrets.
        run: Id of the run, for `undo`; None if nothing changed.
    """

    id: str
    created: bool
    action: RememberAction = "stored"
    superseded: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()
    near: tuple[NearMemory, ...] = ()
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
    """A curated file: short entries for every prompt of an agent.

    Attributes:
        target: memory (`MEMORY.md`) or user (`USER.md`).
        version: Digest of the file as it was read, for `expect`.
        chars: Characters of all entries, of `limit`.
        block: The entries as a prompt shows them.
        problems: Entries that prompts leave out, and formats to correct by hand; a sentence each.
        changed: Whether this call changed the file.
        remembered: Ids of the notes that this call stored.
        forgotten: Ids of the notes that this call forgot.
        left_out: Notes that had no room.
        pending: `vectors` where the vector store could not be written and follows later; else nothing.
    """

    target: str
    path: str
    entries: tuple[str, ...] = ()
    version: str = ""
    chars: int = 0
    limit: int = 0
    block: str = ""
    problems: tuple[str, ...] = ()
    changed: bool = False
    remembered: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What forget archived, or revive restored.

    Attributes:
        dry_run: Whether nothing was changed; relations are not counted then.
        pending: `vectors` where the vector store could not be written and follows later; else nothing.
    """

    chunks: tuple[str, ...]
    relations: int = 0
    dry_run: bool = False
    pending: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationView:
    """A relation with the names of its ends.

    Attributes:
        verdict: The verdict, with `probability`, `verifier` and `verified_at`; None before verification.
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
    """The result of `relate`.

    Attributes:
        relation: The relation as it is now, or as stated if it was rejected.
        created: False if an equal one existed; it may have gained evidence.
        stored: False if verification rejected it: only the history keeps it.
        explanation: The explanation of the verdict in this call, if any.
        superseded: Relations that it ended.
        conflicts: Relations that contradict it and stay, since nothing decides between them.
        notes: Why, for each of both in order.
        pending: `vectors` where the vector store could not be written and follows later; else nothing.
    """

    relation: RelationView
    created: bool
    stored: bool = True
    explanation: str = ""
    superseded: tuple[RelationView, ...] = ()
    conflicts: tuple[RelationView, ...] = ()
    notes: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """The result of `capture`.

    Attributes:
        session: Name of the conversation.
        turns: Ids of the turns, in order; a long turn has several.
        left_out: Turns with nothing to store: empty, only recalled memory or private reasoning, or half of an
            interrupted exchange.
        repeated: Turns whose key the session has already.
        quarantined: Turns that give orders or hide something: listed, not recalled.
        entities: Names of the entities that they mention.
        notes: What failed or was skipped, and what becomes of the turns where no model distills them.
        usage: Cost of the models that were asked.
        run: Id of the run, for `undo`; None if nothing was stored.
        pending: `vectors` where the vector store could not be written and follows later; else nothing.
    """

    session: str
    turns: tuple[str, ...] = ()
    left_out: int = 0
    repeated: int = 0
    quarantined: int = 0
    entities: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    run: str | None = None
    pending: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Distilled:
    """The result of `distill`.

    Attributes:
        session: Name of the conversation.
        turns: Number of turns that a model read in this call.
        memories: What became of each fact, as `remember` returns it.
        dropped: Number of facts that were dropped, such as those whose quote is not in their turns.
        left: Number of turns that wait for the next call.
        failed: Whether the model failed after some turns; the others wait.
        notes: Why facts were dropped, and why turns wait.
        usage: Cost of all model calls.
        run: Id of the run, for `undo`; None if nothing was stored.
        pending: `vectors` where the vector store could not be written and follows later; else nothing.
    """

    session: str
    turns: int = 0
    memories: tuple[Remembered, ...] = ()
    dropped: int = 0
    left: int = 0
    failed: bool = False
    notes: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    run: str | None = None
    pending: tuple[str, ...] = ()
