"""What recall and prime return."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from hydramem.core.results.graph_views import PathStep
from hydramem.core.results.verdicts import VerifiedRelation
from hydramem.core.row_types import Chunk, ChunkKind, Layer, LinkType, Traversal


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkView:
    """A link as one of its ends sees it.

    Attributes:
        weight: 0 to 1.
        other: Id of the memory at the other end; `text` is the beginning of it.
        forward: Whether it leads from here to the other: this one extends, supports or supersedes that one.
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
    """A chunk with what it is linked to.

    Attributes:
        links: Its strongest links, to what holds and to what it took the place of.
    """

    links: tuple[LinkView, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One recalled chunk.

    Attributes:
        context: The passage around the text, with it in its place, where that was asked for.
        score: Fused score, 1.0 for the best possible; ranks hits of one recall only.
        scores: The parts of it, by arm (`vector`, `text`, `graph`) and boost.
        why: One sentence: which arms found it and by which words or path.
        path: The walk from the query's entities, or the link from another match, that led here.
        links: The strongest links of this memory.
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
    links: tuple[LinkView, ...] = ()
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


FoundBy = Literal["name", "alias", "spelling", "embedding"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedEntity:
    """An entity that a query was understood to be about.

    Attributes:
        found_by: What of it the query holds: its name, an alias, either spelled otherwise; or its name means
            what the query does.
        chunks: Chunks that mention it.
        rarity: 0 where every chunk mentions it, 1 where only one does.
    """

    entity: str
    found_by: FoundBy
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
