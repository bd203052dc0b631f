"""What operations return: frozen values, the same on every surface."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from hydramem.core.types import (
    Chunk,
    ChunkKind,
    Decision,
    Document,
    EdgeKind,
    Layer,
    Origin,
    Stage,
    State,
    Traversal,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PathStep:
    """One edge of a walk, as a person reads it: `Ada -[leads]-> billing`."""

    source: str
    label: str
    target: str
    forward: bool = True

    def __str__(self) -> str:
        return f"{self.source} {f'-[{self.label}]->' if self.forward else f'<-[{self.label}]-'} {self.target}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One recalled chunk.

    Attributes:
        context: The passage around the text, with it in its place, where that was asked for.
        score: Fused score, 1.0 for the best possible; ranks hits of one recall only.
        scores: The parts of it, by arm (`vector`, `text`, `graph`) and boost.
        why: One sentence: which arms found it and by which words or path.
        path: The walk from the query's entities to this chunk, where the graph led here.
    """

    id: str
    text: str
    score: float
    source: str
    kind: ChunkKind
    project: str
    layer: Layer
    document: str | None = None
    session: str | None = None
    position: int = 0
    heading_path: tuple[str, ...] = ()
    author: str | None = None
    happened_at: datetime | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    path: tuple[PathStep, ...] = ()
    why: str = ""
    context: str = ""


Shape = Literal["fact", "multi-hop", "comparison", "time", "list"]
"""What kind of answer a question asks for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedDate:
    """A stretch of time that a query names: `start` to before `end`; of any year where `every_year`."""

    text: str
    start: datetime
    end: datetime
    every_year: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedEntity:
    """An entity that a query was understood to be about.

    Attributes:
        found_by: What of it the query holds: its name, or an alias.
        chunks: Chunks that mention it.
        rarity: 0 where every chunk mentions it, 1 where only one does.
    """

    entity: str
    found_by: Literal["name", "alias"]
    chunks: int
    rarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedArm:
    """One way of looking: how much it counted, the candidates it brought, and how many became hits."""

    arm: str
    weight: float
    candidates: int
    hits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedCandidate:
    """A chunk that was considered, with the parts of its score; `rank` is its place among the hits."""

    rank: int | None
    id: str
    score: float
    scores: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """How the hits of a recall came about.

    Attributes:
        traversal: How the graph arm walked.
        shape: What kind of answer the query asks for, going by its words; for the reader, no weight follows.
        dates: Stretches of time that it names.
        fused: How many candidates the arms brought together.
        candidates: The best of them, best first.
    """

    traversal: Traversal
    shape: Shape = "fact"
    dates: tuple[ExplainedDate, ...] = ()
    entities: tuple[ExplainedEntity, ...] = ()
    arms: tuple[ExplainedArm, ...] = ()
    fused: int = 0
    candidates: tuple[ExplainedCandidate, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedRelation:
    """What verification says of one relation.

    Attributes:
        id: Of the stored relation; None where the claim is not stored.
        score: Probability that it is true.
        stage: Who decided: the graph and the text (`srmkg`), a model that read the evidence (`vog`), or a
            person; `verifier` says with what.
        layer, state: As it stands now.
        explanation: Why, in words.
        quote: The words that state it, where any were found.
    """

    id: str | None
    subject: str
    type: str
    object: str
    decision: Decision
    score: float
    stage: Stage
    verifier: str
    layer: Layer
    state: State
    explanation: str = ""
    quote: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """What a recall found.

    Attributes:
        entities: Names of the entities that the query was understood to be about.
        milliseconds: Time by stage.
        explanation: How the hits came about, where that was asked for.
        skipped: Stages that were asked for and did not run, each with its reason.
        relations: In deep mode, those among its entities and those of its hits, each verified now.
    """

    query: str
    hits: tuple[Hit, ...]
    entities: tuple[str, ...] = ()
    relations: tuple[VerifiedRelation, ...] = ()
    milliseconds: Mapping[str, float] = field(default_factory=dict)
    explanation: Explanation | None = None
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """Which memory a snippet of a prompt block is; what it says stands in the block alone, escaped.

    Attributes:
        layer: Whose and how trusted: `agent-` or `project-` and working, shared or verified.
    """

    id: str
    project: str
    layer: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A block for a prompt; its text is empty where nothing was found or nothing fits.

    Attributes:
        snippets: The memories in it, in their order there.
    """

    text: str
    tokens: int
    snippets: tuple[Snippet, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """How the relations of a write stand.

    Attributes:
        deferred: How many are stored and wait for a decision; they count as far as they are probable.
        rejected: How many were rejected; new ones are in the history alone.
        notes: Why some wait, each reason once.
    """

    deferred: int = 0
    rejected: int = 0
    notes: tuple[str, ...] = ()


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
    """

    documents: int = 0
    unchanged: int = 0
    chunks: int = 0
    retired_chunks: int = 0
    entities: int = 0
    relations: int = 0
    quarantined: int = 0
    skipped: tuple[SkippedSource, ...] = ()
    seconds: float = 0.0
    verification: Decisions = field(default_factory=Decisions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What remember did.

    Attributes:
        id: The memory's id; of the existing one where an equal memory was current.
        created: False where an equal current memory was returned.
        steps: The encoding steps that ran.
        state: `quarantined` where it gives orders or hides something: kept and listed, not recalled.
        reasons: Why it is held back, and which kinds of secrets it holds.
        masked: How many secrets were masked.
    """

    id: str
    created: bool
    entities: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    state: State = "active"
    reasons: tuple[str, ...] = ()
    masked: int = 0


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
    """What forget archived, or revive brought back."""

    chunks: tuple[str, ...]
    relations: int = 0


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
class Verified:
    """What a verification decided.

    Attributes:
        relations: What it looked at; nothing is hidden, decided or not.
        accepted, rejected, deferred: How many of them are which now.
        calls, prompt_tokens, reply_tokens: What models cost; 0 where none was asked.
        reasons: Why relations wait that a model should have read, each reason once.
    """

    relations: tuple[VerifiedRelation, ...] = ()
    accepted: int = 0
    rejected: int = 0
    deferred: int = 0
    calls: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """What a change did to one field, as text; None where there was, or is, nothing."""

    field: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """One change of a thing.

    Attributes:
        actor: Who made it; empty where nothing tells.
        operation: What made it.
        reason: Why, where somebody said so.
        created: Whether the thing came to be by it.
        run: The run of a long operation that it belongs to.
        through: Id of the document or memory that it came with, where it was not changed by itself.
    """

    at: datetime
    actor: str
    operation: str
    reason: str | None = None
    created: bool = False
    fields: tuple[FieldChange, ...] = ()
    run: str | None = None
    through: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """The life of one thing, oldest first.

    Attributes:
        kind: What it is: relation, entity, document, or the kind of a chunk.
        text: What it says, or its name.
    """

    id: str
    kind: str
    text: str
    entries: tuple[HistoryEntry, ...]


ConflictKind = Literal["relation", "number", "date", "name", "negation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictSide:
    """One of two things that cannot both be true.

    Attributes:
        id: The relation, or the chunk that says it.
        text: What it says.
        quote: The words of its evidence that say so, where there are any.
        evidence: Ids of the chunks that state it.
        source: Where these came from.
        said_at: When the newest of it was said or recorded.
    """

    id: str
    text: str
    quote: str | None = None
    evidence: tuple[str, ...] = ()
    source: str = ""
    said_at: datetime
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Two things that cannot both be true, the one said later second.

    Attributes:
        kind: Relations with different objects, or sentences that differ in a number, date, name or negation.
        entity: What both are about, where that is a known name.
        score: How certain it is that they conflict, 0 to 1.
        judged_by: `rules`, or the model that read both.
    """

    kind: ConflictKind
    entity: str | None = None
    older: ConflictSide
    newer: ConflictSide
    score: float
    explanation: str
    judged_by: str = "rules"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflicts:
    """What contradicts what, most certain first.

    Attributes:
        chunks: How many chunks were compared.
        notes: What was left out or could not be judged, one sentence each.
    """

    conflicts: tuple[Conflict, ...] = ()
    chunks: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbor:
    """An entity next to another: the relations that join them, or the chunks that mention both."""

    entity: str
    type: str
    distance: int
    via: tuple[PathStep, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """The shortest way between two entities; no steps and `found` false where there is none.

    Attributes:
        others: The next best ways, shortest first, where more than one was asked for.
    """

    start: str
    end: str
    found: bool
    steps: tuple[PathStep, ...] = ()
    others: tuple[tuple[PathStep, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedEntity:
    """An entity that lies around where a walk started.

    Attributes:
        score: How much leads there, 1 for the most; ranks one walk's finds only.
        via: The steps of a shortest way from a start.
    """

    entity: str
    type: str
    distance: int
    score: float
    via: tuple[PathStep, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedChunk:
    """A chunk that lies around where a walk started; `score` and `via` as of an entity."""

    id: str
    text: str
    source: str
    kind: ChunkKind
    layer: Layer
    author: str | None = None
    happened_at: datetime | None = None
    distance: int
    score: float
    via: tuple[PathStep, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What lies around some entities and chunks, best first.

    Attributes:
        starts: Names of the entities and ids of the chunks that the walk started from.
        tokens: Tokens of the chunks' texts.
        left_out: How many entities and chunks were reached but are not shown.
    """

    starts: tuple[str, ...]
    entities: tuple[ReachedEntity, ...] = ()
    chunks: tuple[ReachedChunk, ...] = ()
    tokens: int = 0
    left_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CentralEntity:
    """How central an entity is.

    Attributes:
        pagerank: Share of a random walk's time among the project's entities.
        relations, chunks: Relations at it, and chunks that mention it.
    """

    entity: str
    type: str
    pagerank: float
    relations: int
    chunks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Community:
    """Entities that hang together more than chance would have it.

    Attributes:
        id: Made from the most central member, so that it lasts while that one leads.
        entities, chunks: How many of each belong to it.
        central: Names of the most central members.
        members: Names of members, most central first, as many as were asked for.
    """

    id: str
    entities: int
    chunks: int
    central: tuple[str, ...]
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNode:
    """A node of a drawn graph.

    Attributes:
        name: The entity's name, or the beginning of the chunk's text.
        type: The entity's type, or the chunk's kind.
        distance: Steps from the centre; None where there is none.
    """

    id: str
    name: str
    kind: Literal["entity", "chunk"]
    type: str
    distance: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphEdge:
    """An edge of a drawn graph, by the ids of its ends; `id` is empty for mentions."""

    source: str
    target: str
    kind: EdgeKind
    type: str
    weight: float
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphView:
    """A part of the graph as node-link data, which drawing libraries and NetworkX read.

    Attributes:
        center: The entity that it lies around; None for the best connected part of the project.
        left_out: How many more nodes the whole project has, or lie within the depth.
    """

    center: str | None
    nodes: tuple[GraphNode, ...] = ()
    edges: tuple[GraphEdge, ...] = ()
    left_out: int = 0
    directed: bool = True
    multigraph: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectView:
    """A project and what it holds."""

    name: str
    documents: int
    chunks: int
    memories: int
    entities: int
    relations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Rows by table, within a project or in all."""

    documents: int = 0
    chunks: int = 0
    memories: int = 0
    entities: int = 0
    relations: int = 0
    mentions: int = 0
    links: int = 0
    sessions: int = 0
    changes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """What the store holds and where."""

    path: str
    engine: str
    schema_version: int
    embedder: str
    dimension: int
    generator: str | None
    counts: Counts
    projects: tuple[ProjectView, ...]
    pending: int
    disk_bytes: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """Whether the two stores agree.

    Attributes:
        missing: Rows that the vectors lack.
        stale: Rows that the vectors hold in another version.
        orphaned: Rows that only the vectors hold.
        pending: Outbox rows still to be delivered.
        repaired: Rows rebuilt by this call.
        problems: One sentence each; empty where all is well.
        unfinished_reindex: Fingerprint that an interrupted reindex moves to; the old vectors serve meanwhile.
    """

    healthy: bool
    chunks_in_graph: int
    chunks_in_vectors: int
    entities_in_graph: int
    entities_in_vectors: int
    missing: int = 0
    stale: int = 0
    orphaned: int = 0
    pending: int = 0
    repaired: int = 0
    problems: tuple[str, ...] = ()
    unfinished_reindex: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reindexed:
    """What a reindex did.

    Attributes:
        before, after: Fingerprints of the embedder before and after.
        changed: False where the store had that embedder already, and nothing was done.
        chunks, entities: Rows that the vectors hold.
        made: Rows made by this call.
        resumed: Rows that an interrupted call had made.
        notes: What is left to do, one sentence each.
    """

    before: str
    after: str
    changed: bool
    chunks: int
    entities: int
    made: int = 0
    resumed: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationMeasure:
    """How weights of verification do on labels that they were not fitted to.

    Each label counts for as many relations as it stands for.

    Attributes:
        weights: Which: `shipped` with the package, or `fitted` to the project's labels.
        auc: Area under the ROC curve: how well probabilities order true before false, 0.5 for chance.
        brier: Mean squared error of the probabilities; lower is better.
        accept_at: Probability from which relations are accepted; None where none is.
        false_accept: Share of false ones among the accepted; None where none is accepted.
        accepted: Share of relations that are accepted without a model.
        decided: Share that is accepted or rejected without a model (coverage).
    """

    weights: str
    auc: float
    brier: float
    accept_at: float | None
    false_accept: float | None
    accepted: float
    decided: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """What calibrate did.

    Attributes:
        applied: Whether other weights or another threshold serve from now on.
        explanation: What was done or why nothing was, in a sentence or two.
        weights: Version of the weights that serve now.
        accept_at: Threshold that serves now; None where nothing is accepted without a model.
        reject_below: Threshold that serves now.
        people, models: Labels by who gave them.
        true, false: Labels by what they say.
        imported: Reviews that this call stored.
        exported: Relations that this call wrote for review.
        measures: The weights before and after, on labels that they were not fitted to.
        notes: What else is to know, one sentence each.
    """

    applied: bool
    explanation: str
    weights: str
    accept_at: float | None
    reject_below: float
    people: int = 0
    models: int = 0
    true: int = 0
    false: int = 0
    imported: int = 0
    exported: int = 0
    measures: tuple[CalibrationMeasure, ...] = ()
    notes: tuple[str, ...] = ()
