"""The rows of the store: frozen values that cross every layer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

ChunkKind = Literal["passage", "note", "fact", "event", "turn"]
Layer = Literal["working", "shared", "verified"]
Tier = Literal["working", "curated", "shared", "verified"]
"""The layer of a hit, least trusted first: that of its chunk, or `curated` for an entry of a curated file."""
State = Literal["active", "superseded", "archived", "quarantined"]
Origin = Literal["extracted", "asserted", "inferred"]
VectorState = Literal["pending", "ready"]
LinkType = Literal[
    "supports", "contradicts", "extends", "supersedes", "may_supersede", "duplicates", "relates_to", "answers"
]
ANSWERS: LinkType = "answers"
"""From a memory or passage to a turn that asked for it: a session recalled it there and answered with it."""
Decision = Literal["accepted", "rejected", "deferred"]
Stage = Literal["srmkg", "vog", "person"]
Traversal = Literal["bfs", "ppr", "hybrid", "none"]
Measure = Literal["pagerank", "betweenness", "relations", "chunks"]
RecallMode = Literal["fast", "deep"]
EdgeKind = Literal["relation", "mention", "link", "synonym"]
JobState = Literal["waiting", "running", "done", "failed"]
Phase = Literal["distill", "infer", "verify", "supersede", "merge", "reuse", "prune", "review", "maintain"]
Metadata = Mapping[str, object]
"""Values that JSON can hold, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What model calls cost."""

    calls: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            reply_tokens=self.reply_tokens + other.reply_tokens,
        )

    def since(self, earlier: "Usage") -> "Usage":
        """Return the cost since an earlier sum."""
        return Usage(
            calls=self.calls - earlier.calls,
            prompt_tokens=self.prompt_tokens - earlier.prompt_tokens,
            reply_tokens=self.reply_tokens - earlier.reply_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """The four times: when it was true in the world, and when the store believed it. All UTC."""

    recorded_at: datetime
    retired_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A source that was ingested."""

    id: str
    project: str
    source: str
    source_type: str
    title: str
    content_hash: str
    state: State = "active"
    times: Times
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A piece of text, the unit of recall; a memory where its kind is not `passage`.

    Attributes:
        document: Id of the document that contains it, if any.
        session: Id of the session that it belongs to, if any.
        position: Place in the document, or sequence in the session; from 0.
        heading_path: Headings above it, outermost first.
        source: Where it came from, as a person reads it (a path, a URL, "chat").
        scope: Path such as `/infra/database`.
        importance, confidence: 0 to 1.
    """

    id: str
    project: str
    text: str
    kind: ChunkKind
    document: str | None = None
    session: str | None = None
    position: int = 0
    heading_path: tuple[str, ...] = ()
    tokens: int = 0
    source: str = ""
    source_type: str = ""
    author: str | None = None
    private: bool = False
    scope: str = "/"
    categories: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    summary: str | None = None
    importance: float = 0.5
    confidence: float = 1.0
    layer: Layer = "working"
    state: State = "active"
    event_type: str | None = None
    happened_at: datetime | None = None
    expires_at: datetime | None = None
    times: Times
    recall_count: int = 0
    last_recalled_at: datetime | None = None
    vector_state: VectorState = "pending"
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CuratedEntry(Chunk):
    """An entry of a curated file in the form of a chunk; it is read from the file, and no store has it."""

    layer: Tier = "curated"  # type: ignore[assignment]  # a layer that no stored row has


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A named thing.

    Attributes:
        key: The normalised name (`text.normalize.entity_key`).
        mention_count: Chunks that mention it.
    """

    id: str
    project: str
    key: str
    name: str
    type: str = "thing"
    aliases: tuple[str, ...] = ()
    description: str | None = None
    first_seen: datetime
    last_seen: datetime
    mention_count: int = 0
    metadata: Metadata = field(default_factory=dict)


DOUBTED = 0.3
"""Probability below which a relation has no weight in walks: verification rejects it, as it comes."""

MAY_BE = "may_be"
"""Type of the relations that runs of the gardener make between two names that may be of one thing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A typed edge between two entities of one project.

    Attributes:
        subject, object: Entity ids.
        confidence: Confidence of its source, 0 to 1.
        evidence: Ids of the chunks that state it.
        quote: The words that state it.
        verdict: What the last verification decided; None where there was none.
        probability: Probability that it is true, by the verifier, and by what its passages state beside it.
        verifier: Who decided and with what: `srmkg:<weights>`, `vog:<model>`, `person:<actor>`.
        verified_at: When.
        scores: Parts of the verifier's score by name.
    """

    id: str
    project: str
    subject: str
    type: str
    object: str
    bidirectional: bool = False
    confidence: float = 1.0
    origin: Origin
    evidence: tuple[str, ...] = ()
    quote: str | None = None
    verdict: Decision | None = None
    probability: float | None = None
    verifier: str | None = None
    verified_at: datetime | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    layer: Layer = "working"
    state: State = "active"
    times: Times
    metadata: Metadata = field(default_factory=dict)

    @property
    def weight(self) -> float:
        """How much a walk along it counts: its confidence, times its probability unless it is vouched for.

        What was asserted is, and what a person, or a model that read the evidence, accepted. What is
        `DOUBTED` has no weight: it is stored and listed, and no walk follows it.
        """
        by_reader = self.verdict == "accepted" and (self.verifier or "").startswith(("person:", "vog:"))
        if self.probability is None or self.origin == "asserted" or by_reader:
            return self.confidence
        return self.confidence * self.probability if self.probability >= DOUBTED else 0.0

    @property
    def supposed(self) -> bool:
        """Whether nothing states it: it was inferred, no quote supports it, and nobody confirmed it."""
        return self.origin == "inferred" and self.quote is None and self.layer != "verified"


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationCandidate:
    """A relation to be verified, with what it can be judged by.

    Attributes:
        subject, object: Its ends.
        passages: The chunks that it depends on, stored already or about to be.
    """

    relation: Relation
    subject: Entity
    object: Entity
    passages: tuple[Chunk, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What verification decided on a relation, and why.

    Attributes:
        score: Probability that it is true.
        stage: Which stage decided: topology and text (`srmkg`), a model that read the evidence (`vog`),
            or a person.
        verifier: As in `Relation`.
        scores: Parts of the score by name.
        quote: The words of the evidence that support it; None where no stage found any.
        explanation: One sentence for a person.
        layer: Where the relation belongs with this verdict; None leaves it where it is.
    """

    decision: Decision
    score: float
    stage: Stage
    verifier: str
    scores: Mapping[str, float] = field(default_factory=dict)
    quote: str | None = None
    explanation: str = ""
    layer: Layer | None = None


ABOUT = 8
"""How many mentions a name in a heading counts as: the chunk under it is about what the heading names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A chunk names an entity; `count` is how often, and `ABOUT` more if its title or heading names it."""

    chunk: str
    entity: str
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A typed edge between two chunks."""

    id: str
    source: str
    target: str
    type: LinkType
    weight: float
    reason: str = ""
    state: State = "active"
    times: Times


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One agent conversation."""

    id: str
    project: str
    name: str
    started_at: datetime
    last_at: datetime
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """A chunk was recalled in a session: the reuse signal."""

    session: str
    chunk: str
    rank: int
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A JSON value that a program keeps: under a namespace and a key, or in the order of a session.

    Attributes:
        namespace: Labels, outermost first; empty for an item of a session.
        key: The program's own name of it within the namespace; empty for an item of a session.
        session: Name of the session; None for an item that has a key.
        position: Place in the session, greater than that of every earlier item; 0 for an item with a key.
        value: JSON, as text; that of an item of a session is as it was given, byte for byte.
        chunks: Ids of the passages that hold its searchable texts.
        ttl: Minutes that it is kept after it was last written or read; None keeps it.
        expires_at: When reads stop returning it.
    """

    id: str
    project: str
    namespace: tuple[str, ...] = ()
    key: str = ""
    session: str | None = None
    position: int = 0
    value: str
    chunks: tuple[str, ...] = ()
    ttl: float | None = None
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The audit record of one write.

    Attributes:
        target: Id of the row that changed.
        before, after: The row as JSON text; None where it did not exist or no longer does.
        reason: Why, in words, where the writer gave a reason.
        run: Groups the changes of one call, or of one run of a long operation.
        request: Id by which a retried write happens once.
        image: On the first Change of a transaction, what undoing all of it takes, as JSON text
            (`storage.undo.undo_images`): rows made, columns before and after, rows removed.
    """

    id: str
    project: str
    actor: str
    operation: str
    target: str
    before: str | None
    after: str | None
    at: datetime
    reason: str | None = None
    run: str | None = None
    request: str | None = None
    image: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A pending job that survives a restart."""

    id: str
    project: str
    kind: str
    payload: str
    state: JobState = "waiting"
    attempts: int = 0
    error: str | None = None
    created_at: datetime
    updated_at: datetime
