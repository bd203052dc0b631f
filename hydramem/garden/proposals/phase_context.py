"""What every phase works with: its context (one project, models, a budget), its work and its outcome."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

from numpy.typing import NDArray

from hydramem.core.config import Config
from hydramem.core.results.garden_results import PhaseState, StoreHealth
from hydramem.core.row_types import Usage
from hydramem.garden.proposals.compared_memories import ComparedMemories
from hydramem.garden.proposals.exclusions import UndecidedPair, UndoneRows
from hydramem.garden.proposals.proposal import Proposal
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.ingest.write_target import Target
from hydramem.llm.contracts import Generator
from hydramem.llm.pair_classifier import PairJudgement
from hydramem.storage.store import GraphStore
from hydramem.storage.vector_rows import Vector, VectorStore
from hydramem.verification.verify import Judge

Items = TypeVar("Items", bound=Sequence[Any] | NDArray[Any])


class Budget:
    """What a phase may spend: time, model calls and tokens. Not safe for several threads."""

    def __init__(self, *, seconds: float, calls: int, tokens: int) -> None:
        self._until, self._seconds = monotonic() + seconds, seconds
        self._calls, self._tokens = calls, tokens
        self.usage = Usage()

    def spend(self, usage: Usage) -> None:
        """Add the cost of a model call."""
        self.usage += usage

    @property
    def over(self) -> str | None:
        """What is used up, in words; None while nothing is."""
        if monotonic() >= self._until:
            return "its time is over"
        if self.usage.calls >= self._calls:
            return f"its {self._calls} model calls are used up"
        if self.usage.prompt_tokens + self.usage.reply_tokens >= self._tokens:
            return f"its {self._tokens} tokens are used up"
        return None

    @property
    def left(self) -> float:
        """The share of what may be spent that is left: of the calls or tokens, or of the time."""
        spent = self.usage.prompt_tokens + self.usage.reply_tokens
        shares = (
            (self._until - monotonic()) / max(self._seconds, 1e-9),
            1 - self.usage.calls / max(self._calls, 1),
            1 - spent / max(self._tokens, 1),
        )
        return max(0.0, min(shares))


_NOT_AHEAD = timedelta(0)


def _judge_none(pairs: Sequence[tuple[str, str]]) -> Sequence[None]:
    """Judge nothing: for where no classifier is used."""
    return [None] * len(pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseContext:
    """What a phase reads and may use: one project at the start of a run. Nothing here writes to the store.

    Attributes:
        graph, vectors: The stores, read only.
        snapshot: The graph in memory, as the run found it.
        embed: Turns texts into an array of shape (texts, dimension).
        generator: Returns the model of a role, such as `infer`; None where none is configured.
        judge: Verification, calibrated for the project.
        settings: The whole configuration; phases read `garden`, `limits`, `memory` and `verification`.
        now: When the run started, as its rows record it.
        ahead: How far that is ahead of the clock, once the clock has been ahead.
        folder: Where the gardener keeps its models, plans and reports.
        saves_models: Whether a phase may save a trained model there; not where only a plan is asked for.
        budget: What the phase may spend.
        judge_pairs: Says what a new text is to an old one, of many pairs; None where it cannot.
        progress: Called with the work done and the work in all of the phase.
    """

    project: str
    graph: GraphStore
    vectors: VectorStore
    snapshot: Snapshot
    embed: Callable[[Sequence[str]], Vector]
    generator: Callable[[str], Generator | None]
    judge: Judge
    settings: Config
    now: datetime
    folder: Path
    budget: Budget
    saves_models: bool = True
    judge_pairs: Callable[[Sequence[tuple[str, str]]], Sequence[PairJudgement | None]] = _judge_none
    progress: Callable[[int, int], None] = lambda done, whole: None
    ahead: timedelta = _NOT_AHEAD

    @property
    def clock(self) -> datetime:
        """The clock's time as the run started: what is expired, old or true is read by it."""
        return self.now - self.ahead

    def read_only_target(self) -> Target:
        """Return the project as a target that is only read: nothing is written to it."""
        return Target(
            project=self.project,
            graph=self.graph,
            commit=lambda write, vectors: None,
            one_writer=nullcontext(),
            embed=self.embed,
            known=self.snapshot.names.lookup,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseOutcome:
    """The result of a phase.

    Attributes:
        proposals: What it would change, the surest first.
        counts: What it looked at and found, by name; numbers for the report.
        state: `partial` where a budget ran out or some model calls failed, `failed` where a failure left
            nothing, `skipped` where something it needs is missing.
        notes: Why, and what else a person should know; a sentence each.
        usage: What the model calls cost.
        undecided: Pairs for a person to judge, which the run saves; None where the phase looks for none.
        auc: Of the edge scorer on held-out relations; None where the phase scores none.
        compared: Which memories are compared, which the run saves once all changes are applied; None where
            the phase compares none.
        health, asked: Of the phase that counts questions: what waits, and one question in words.
    """

    proposals: tuple[Proposal, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    state: PhaseState = "completed"
    notes: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    undecided: tuple[UndecidedPair, ...] | None = None
    auc: float | None = None
    compared: ComparedMemories | None = None
    health: StoreHealth | None = None
    asked: str = ""


PhaseStep = Callable[[PhaseContext], PhaseOutcome]
"""A phase: reads its context and says what it would change."""


class PhaseWork:
    """A phase at work: its context, and what it has counted and noted so far.

    Attributes:
        counts, notes, auc: As in `PhaseOutcome`.
        stopped: Why the last `batches` stopped early; None where they did not.
    """

    def __init__(self, context: PhaseContext) -> None:
        self.context = context
        self.counts: Counter[str] = Counter()
        self.notes: list[str] = []
        self.auc: float | None = None
        self.stopped: str | None = None

    @cached_property
    def undone(self) -> UndoneRows:
        """The rows of which a person undid what the gardener last did."""
        return UndoneRows(self.context.graph, self.context.project)

    def batches(self, items: Items, size: int) -> Iterator[Items]:
        """Yield items in batches until the budget is spent, and report progress after each batch."""
        for start in range(0, len(items), size):
            self.stopped = self.context.budget.over
            if self.stopped:
                return
            batch: Any = items[start : start + size]
            yield batch
            self.context.progress(start + len(batch), len(items))

    def outcome(
        self,
        proposals: Iterable[Proposal],
        *,
        state: PhaseState | None = None,
        undecided: tuple[UndecidedPair, ...] | None = None,
    ) -> PhaseOutcome:
        """Return the outcome; without a state it is `partial` once the budget is spent, else `completed`."""
        return PhaseOutcome(
            proposals=tuple(proposals),
            counts=dict(sorted(self.counts.items())),
            state=state or ("partial" if self.context.budget.over else "completed"),
            notes=tuple(self.notes),
            usage=self.context.budget.usage,
            undecided=undecided,
            auc=self.auc,
        )
