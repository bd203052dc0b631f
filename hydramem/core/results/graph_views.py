"""What walks over the graph return."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from hydramem.core.row_types import ChunkKind, EdgeKind, Layer, State


@dataclass(frozen=True, slots=True, kw_only=True)
class PathStep:
    """One edge of a path, printed as `Ada -[leads]-> billing`.

    Attributes:
        inferred: Whether it is neither stated nor confirmed: `Ada -[leads, inferred]-> billing`.
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
    """An entity connected to another, over relations or over chunks that mention both."""

    entity: str
    type: str
    distance: int
    via: tuple[PathStep, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """The shortest path between two entities; `found` is false where there is none.

    Attributes:
        others: The next best paths, shortest first.
    """

    start: str
    end: str
    found: bool
    steps: tuple[PathStep, ...] = ()
    others: tuple[tuple[PathStep, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedEntity:
    """An entity that a walk reached.

    Attributes:
        score: Strength of its connection, 1 for the strongest; comparable within one walk only.
        via: A shortest path from a start.
    """

    entity: str
    type: str
    distance: int
    score: float
    via: tuple[PathStep, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedChunk:
    """A chunk that a walk reached; `score` and `via` as in `ReachedEntity`."""

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
    """The entities and chunks around some starts, best first.

    Attributes:
        starts: Names of entities and ids of chunks at which the walk started.
        tokens: Tokens of all chunks.
        left_out: Number of entities and chunks that were reached and are not returned.
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
        pagerank: Share of a random walk's time among the project's entities; 0 for a hub, which half of the
            chunks or sources mention.
        betweenness: Share of the pairs of other entities whose shortest paths pass it, estimated on large
            graphs; 0 for a hub.
        relations, chunks: Number of its relations, and of chunks that mention it.
    """

    entity: str
    type: str
    pagerank: float
    betweenness: float
    relations: int
    chunks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Community:
    """Entities that are closely connected; hubs, which half of the chunks or sources mention, are in none.

    Attributes:
        id: Derived from the most central member; a community that continues one of the last run keeps its id.
        name: The names of central members, or a name that a model gave.
        summary: A description that a model gave.
        entities, chunks: How many belong to it.
        central: Names of the most central members.
        members: Names of members, most central first, as many as requested.
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
        name: Name of the entity, or the beginning of the chunk.
        type: Type of the entity, or kind of the chunk.
        distance: Steps from the centre; None without a centre.
        community: Id of the entity's community in the gardener's last run; empty if it has none.
        degree: Number of edges at it that may be seen, whether their other ends are drawn or not.
    """

    id: str
    name: str
    kind: Literal["entity", "chunk"]
    type: str
    distance: int | None = None
    community: str = ""
    degree: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphEdge:
    """An edge of a drawn graph between two ids; its own `id` is empty for mentions and synonyms.

    Attributes:
        inferred: Whether it is neither stated nor confirmed.
        layer, state: Those of a relation or link; None for mentions and synonyms.
        valid_from, valid_to: When it was true in the world; None where no bound is known.
    """

    source: str
    target: str
    kind: EdgeKind
    type: str
    weight: float
    id: str = ""
    inferred: bool = False
    layer: Layer | None = None
    state: State | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphView:
    """A part of the graph as node-link data, which drawing libraries and NetworkX read.

    Attributes:
        center: Name of the entity, or id of the chunk or document, in the centre; None for the best connected
            part of the project.
        left_out: Number of further nodes in the project, or within the depth.
    """

    center: str | None
    nodes: tuple[GraphNode, ...] = ()
    edges: tuple[GraphEdge, ...] = ()
    left_out: int = 0
    directed: bool = True
    multigraph: bool = True
