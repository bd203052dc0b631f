"""What walks over the graph return."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from hydramem.core.row_types import ChunkKind, EdgeKind, Layer


@dataclass(frozen=True, slots=True, kw_only=True)
class PathStep:
    """One edge of a walk, as a person reads it: `Ada -[leads]-> billing`.

    Attributes:
        inferred: Whether no words state it and nobody confirmed it: `Ada -[leads, inferred]-> billing`.
    """

    source: str
    label: str
    target: str
    forward: bool = True
    inferred: bool = False

    def __str__(self) -> str:
        label = f"{self.label}, inferred" if self.inferred else self.label
        return f"{self.source} {f'-[{label}]->' if self.forward else f'<-[{label}]-'} {self.target}"


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
        id: Made from the most central member; a group that goes on from one of last night's keeps its id.
        name: Of its central members, or as a model named it in a night.
        summary: What it is about, where a model said so in a night.
        entities, chunks: How many of each belong to it.
        central: Names of the most central members.
        members: Names of members, most central first, as many as were asked for.
    """

    id: str
    name: str
    entities: int
    chunks: int
    central: tuple[str, ...]
    members: tuple[str, ...]
    summary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNode:
    """A node of a drawn graph.

    Attributes:
        name: The entity's name, or the beginning of the chunk's text.
        type: The entity's type, or the chunk's kind.
        distance: Steps from the centre; None where there is none.
        community: Id of the entity's community as of the last night; empty where it is in none.
    """

    id: str
    name: str
    kind: Literal["entity", "chunk"]
    type: str
    distance: int | None = None
    community: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphEdge:
    """An edge of a drawn graph, by the ids of its ends; `id` is empty for mentions and synonyms.

    Attributes:
        inferred: Whether no words state it and nobody confirmed it.
    """

    source: str
    target: str
    kind: EdgeKind
    type: str
    weight: float
    id: str = ""
    inferred: bool = False


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
