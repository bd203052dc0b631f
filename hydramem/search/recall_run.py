"""One recall: where it looks, what it looks for, and how long each of its stages takes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from time import perf_counter

from hydramem.core.config import SearchConfig
from hydramem.core.row_types import Traversal
from hydramem.core.stages import StageObserver, current_observer
from hydramem.graph.snapshot.registry import Snapshots
from hydramem.llm.contracts import Embedder
from hydramem.search.conversation.turn_order import TurnScorer, by_weights
from hydramem.search.curated_entries import CuratedEntries, CuratedFiles
from hydramem.search.relevance.relevance import Anchors
from hydramem.search.rerank.rerank import Reranker
from hydramem.storage.chunk_filter import LIVE, ChunkFilter
from hydramem.storage.store import GraphStore
from hydramem.storage.vector_rows import VectorStore
from hydramem.text.dates.dates_in_text import Dated
from hydramem.text.dates.past_questions import asks_for_past


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallSources:
    """Where a recall looks, and with what.

    Attributes:
        graph, vectors, snapshots: The stores, and the graphs in memory.
        embedder: The model of the vectors.
        settings: Weights and bounds.
        anchors: What the embedder's cosines mean; asked when they are needed.
        curated: The curated files; None searches none.
        reranker: Reorders the best candidates; None leaves their order.
        turn_scorer: Orders the turns of a conversation.
    """

    graph: GraphStore
    vectors: VectorStore
    snapshots: Snapshots
    embedder: Embedder
    settings: SearchConfig
    anchors: Callable[[], Anchors]
    curated: CuratedFiles | None = None
    reranker: Reranker | None = None
    turn_scorer: TurnScorer = by_weights


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRun:
    """One recall: what it looks for, where, and how long each stage takes.

    Attributes:
        curated: The entries of curated files that it may return.
        observer: Who observes its stages, which run in several threads.
    """

    query: str
    sources: RecallSources
    where: ChunkFilter
    limit: int
    traversal: Traversal
    dates: tuple[Dated, ...]
    curated: CuratedEntries = field(default_factory=CuratedEntries)
    milliseconds: dict[str, float] = field(default_factory=dict)
    observer: StageObserver | None = field(default_factory=current_observer)

    @property
    def wants_newest(self) -> bool:
        """Whether of several versions it asks for the last one, not for one of a time or of before."""
        return not self.dates and not asks_for_past(self.query)

    @property
    def about_now(self) -> bool:
        """Whether it asks for what holds now, not for what was true, believed or said at a time."""
        return self.wants_newest and self.where.states == LIVE

    @property
    def most_found(self) -> int:
        """How many chunks an arm may find."""
        return max(self.sources.settings.candidates, self.limit)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Note how long a stage takes."""
        with nullcontext() if self.observer is None else self.observer(stage):
            started = perf_counter()
            yield
            self.milliseconds[stage] = (perf_counter() - started) * 1000
