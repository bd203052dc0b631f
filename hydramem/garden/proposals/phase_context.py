"""What a phase of the gardener looks at: a view of one project, its budget, and the models it may ask."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from time import monotonic

from hydramem.core.config import Config
from hydramem.core.results.garden_results import PhaseState
from hydramem.core.row_types import Usage
from hydramem.garden.proposals.exclusions import UndecidedPair
from hydramem.garden.proposals.proposal import Proposal
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.llm.contracts import Generator
from hydramem.storage.store import GraphStore, VectorStore
from hydramem.storage.vector_rows import Vector
from hydramem.verification.verify import Judge


class Budget:
    """What a phase may spend: time, model calls and tokens. One thread spends it."""

    def __init__(self, *, seconds: float, calls: int, tokens: int) -> None:
        self._until = monotonic() + seconds
        self._calls, self._tokens = calls, tokens
        self.usage = Usage()

    def spend(self, usage: Usage) -> None:
        """Count what a model call cost."""
        self.usage += usage

    @property
    def over(self) -> str | None:
        """What has run out, in words; None as long as nothing has."""
        if monotonic() >= self._until:
            return "its time is over"
        if self.usage.calls >= self._calls:
            return f"its {self._calls} model calls are used up"
        if self.usage.prompt_tokens + self.usage.reply_tokens >= self._tokens:
            return f"its {self._tokens} tokens are used up"
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseContext:
    """One project as the gardener sees it when a run begins. Nothing here writes.

    Attributes:
        graph, vectors: The stores, read only.
        snapshot: The graph in memory, at the beginning of the run.
        embed: Turns texts into an array of shape (texts, dimension).
        generator: The model of a role, such as `infer`; None where none is configured.
        judge: Verification as the project has it calibrated.
        settings: The whole configuration; phases read `garden`, `limits`, `memory` and `verification`.
        now: The moment that the run counts from.
        folder: Where the gardener keeps its models, plans and reports.
        keeps: Whether a phase may keep a model there; not where only a plan is asked for.
        budget: What the phase at hand may spend.
        progress: Called with what is done, of how much, in the phase at hand.
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
    keeps: bool = True
    progress: Callable[[int, int], None] = lambda done, whole: None


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseOutcome:
    """What a phase came to.

    Attributes:
        proposals: What it would change, the surest first.
        counts: What it looked at and found, by name; numbers for the report.
        state: `partial` where a budget ran out or some model calls failed, `failed` where it came to nothing
            because of a failure, `skipped` where something that it needs is not there.
        notes: Why, and what else a person should know; a sentence each.
        usage: What the model calls cost.
        doubts: Pairs that a person may know more of, for the night to keep; None where none were sought.
    """

    proposals: tuple[Proposal, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    state: PhaseState = "completed"
    notes: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    doubts: tuple[UndecidedPair, ...] | None = None


PhaseStep = Callable[[PhaseContext], PhaseOutcome]
"""A phase: looks at the ground and says what it would change."""
