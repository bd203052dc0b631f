"""What recall and prime return."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from hydramem.core.results.graph_views import PathStep
from hydramem.core.results.verdicts import VerifiedRelation
from hydramem.core.row_types import Chunk, ChunkKind, LinkType, State, Tier, Traversal


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkView:
    """A link as one of its ends sees it.

    Attributes:
        weight: 0 to 1.
        other: Id of the memory at the other end; `text` is its beginning.
        forward: Whether it leads from this memory to the other.
    """

    id: str
    type: LinkType
    weight: float
    reason: str
    other: str
    text: str
    forward: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedChunk(Chunk):
    """A chunk, or an entry of a curated file, with its links.

    Attributes:
        layer: As in a hit.
        links: Its strongest links to current memories, and to those that it superseded.
    """

    layer: Tier = "working"  # type: ignore[assignment]  # an entry has a layer that no stored row has
    links: tuple[LinkView, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherVersion:
    """A memory that says something else of the same matter, told earlier or later.

    Attributes:
        text: Its beginning.
        probability: How sure it is that only the later of the two holds; 1 where the older one was ended.
    """

    id: str
    text: str
    probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One recalled chunk, or entry of a curated file.

    Attributes:
        layer: The chunk's layer of trust; `curated` for an entry of a curated file, which `source` names.
        context: The chunk within the passage around it, if requested.
        relevance: Probability, 0 to 1, that it bears on the query, comparable between recalls and stores;
            None where nothing was asked. The first hit's is the highest.
        score: Fused score, at most 1.0; comparable within one recall only.
        scores: Parts of the score by arm (`vector`, `text`, `graph`) and boost.
        why: One sentence: which arms found it, by which words or path.
        path: The path from an entity of the query, or the link from another hit, that led here.
        links: Its strongest links.
        newer: A later memory that may supersede this one, if one does.
        older: An earlier memory that this one supersedes, or may supersede.
        also: Ids of other memories that were found and say the same in other words, and of turns of its
            session that it kept; it stands for them.
    """

    id: str
    text: str
    score: float
    source: str
    kind: ChunkKind
    project: str
    layer: Tier
    document: str | None = None
    session: str | None = None
    position: int = 0
    heading_path: tuple[str, ...] = ()
    author: str | None = None
    scope: str = "/"
    happened_at: datetime | None = None
    relevance: float | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    path: tuple[PathStep, ...] = ()
    links: tuple[LinkView, ...] = ()
    newer: OtherVersion | None = None
    older: OtherVersion | None = None
    also: tuple[str, ...] = ()
    why: str = ""
    context: str = ""


Shape = Literal["fact", "multi-hop", "comparison", "time", "list"]
"""Kind of answer that a question asks for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedDate:
    """A stretch of time in a query, from `start` to before `end`; in any year if `every_year`."""

    text: str
    start: datetime
    end: datetime
    every_year: bool


FoundBy = Literal["name", "alias", "spelling", "embedding"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedEntity:
    """An entity that a query is about.

    Attributes:
        found_by: What in the query matches it: its name, an alias, another spelling, or the meaning of its
            name.
        chunks: Chunks that mention it.
        rarity: 0 if every chunk mentions it, 1 if only one does.
    """

    entity: str
    found_by: FoundBy
    chunks: int
    rarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedArm:
    """One arm of the search: its weight, its candidates, and how many of them became hits."""

    arm: str
    weight: float
    candidates: int
    hits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedCandidate:
    """A candidate with the parts of its score; `rank` is its place among the hits."""

    rank: int | None
    id: str
    score: float
    scores: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """How the hits of a recall were found.

    Attributes:
        traversal: How the graph arm walked.
        shape: Kind of answer that the query asks for; for information only.
        dates: Stretches of time in the query.
        fused: Number of candidates of all arms.
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
class Recall:
    """The result of a recall.

    Attributes:
        answered: Whether the best hit's relevance reaches the floor: `min_relevance` of the call, else
            `search.min_relevance`. False says that nothing here seems to bear on the query, and never
            that something is not so.
        floor: That relevance.
        entities: Names of the entities that the query is about.
        milliseconds: Time by stage.
        explanation: How the hits were found, if requested.
        skipped: Requested stages that did not run and curated files that were not searched, each with the
            reason.
        relations: In deep mode, the relations among the entities of query and hits, each verified now.
    """

    query: str
    hits: tuple[Hit, ...]
    answered: bool = True
    floor: float = 0.0
    entities: tuple[str, ...] = ()
    relations: tuple[VerifiedRelation, ...] = ()
    milliseconds: Mapping[str, float] = field(default_factory=dict)
    explanation: Explanation | None = None
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledMemory:
    """A hit that a session recalled, and the question that it answered.

    Attributes:
        id: Id of the chunk; `text` is its beginning.
        state: Its state now.
        session: Name of the session.
        at: When it was recalled.
        rank: Its place among the hits, from 1.
        query: What was asked. A session that somebody named keeps its last 20 questions, unless it is
            private; None for others.
    """

    id: str
    text: str
    kind: ChunkKind
    state: State
    source: str
    session: str
    at: datetime
    rank: int
    query: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """The memory of a snippet in a prompt block; its escaped text is in the block only.

    Attributes:
        layer: `agent-` or `project-`, then working, curated, shared or verified.
        relevance: As its hit has it; None at the start of a session.
    """

    id: str
    project: str
    layer: str
    relevance: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A block for a prompt; its text is empty if nothing bears on the query or nothing fits.

    Attributes:
        snippets: The memories in it, in order.
    """

    text: str
    tokens: int
    snippets: tuple[Snippet, ...] = ()
