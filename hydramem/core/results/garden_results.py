"""What the gardener returns: runs with their phases and changes, training, and reviews."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from hydramem.core.row_types import Phase, Usage

PhaseState = Literal["completed", "partial", "failed", "skipped"]
NightState = Literal["planned", "completed", "partial", "failed", "interrupted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedChange:
    """One change that a phase proposes.

    Attributes:
        action: What it does to its target, such as archive or merge.
        target: Id of the row.
        text: The change in words.
        score: Confidence of the phase, 0 to 1.
    """

    id: str
    phase: Phase
    action: str
    target: str
    text: str
    reason: str
    score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedChange:
    """A change that was refused, and why: a row that it depends on has changed."""

    id: str
    text: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseReport:
    """One phase of a run. A proposal is applied, refused, already made, dropped or left.

    Attributes:
        proposals: Changes that it proposed.
        applied: Changes that were made.
        refused: Changes whose rows had changed.
        standing: Changes that an earlier try had made.
        dropped: Changes to rows of an earlier phase; the next run looks again.
        left: Changes that were not tried, in a plan or an interrupted run.
        counts: What it read and found, by name.
        notes: Further notes, a sentence each.
        usage: Cost of its model calls.
        auc: AUC of the edge scorer on held-out relations; None in phases that score none.
    """

    phase: Phase
    state: PhaseState
    proposals: int = 0
    applied: int = 0
    refused: int = 0
    standing: int = 0
    dropped: int = 0
    left: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    auc: float | None = None


_ENDINGS = {
    "completed": "completed in",
    "partial": "done in part, in",
    "failed": "failed after",
    "interrupted": "interrupted after",
}
SummaryKind = Literal["joined", "ended", "learned", "linked", "judged", "weighed", "pruned", "asked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryLine:
    """What a run did of one kind, with one example.

    Attributes:
        count: How many changes of this kind it made, or how many questions wait.
        what: The count in words: "2 memories, 1 entity".
        example: One of them in words; empty where all concern private memories.
        command: What undoes the example alone, or answers the questions; None where only the run is undone.
    """

    kind: SummaryKind
    count: int
    what: str
    example: str = ""
    command: str | None = None

    def __str__(self) -> str:
        example = f": {self.example}" if self.example else ""
        return f"{self.kind:<8} {self.what}{example}{f' ({self.command})' if self.command else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreHealth:
    """What waits in a project for a person or a later run.

    Attributes:
        duplicates: Pairs of memories that may be the same.
        stale_pairs: Pairs of memories or relations of which the newer may replace the older.
        split_names: Pairs of entities that may be one.
        doubtful_relations: Relations that verification left open.
        questions: All questions that wait, those of quarantined memories too.
    """

    duplicates: int = 0
    stale_pairs: int = 0
    split_names: int = 0
    doubtful_relations: int = 0
    questions: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NightHealth:
    """The health of a project after one run; see `StoreHealth`."""

    started_at: datetime
    run: str | None
    health: StoreHealth


@dataclass(frozen=True, slots=True, kw_only=True)
class Gardened:
    """A run of the gardener, or its plan. As text it is its summary.

    Attributes:
        run: Id of the run, for `history` and `undo`; None if it wrote nothing.
        state: The worst state of its phases; `planned` for a plan, `interrupted` where a store failed before
            all changes were made: the next run makes the rest.
        resumed: Changes of an interrupted run, `resumed_run`, that this one made first.
        taken_back: Whether `undo` has taken it back.
        notes: Notes on the whole run, a sentence each.
        changes: The proposed changes by phase, at most `SHOWN_CHANGES` of a run.
        file: File of the plan.
        plan: Id of the plan that the store keeps, for `apply_kept`; None where it keeps none.
        summary: What was done, one line a kind, with an example; empty in a plan.
        health: What waited once the run was done; None where the phase `review` did not run.
        trend: Of `status`: the health after each of the last runs, the newest first.
    """

    project: str
    run: str | None
    started_at: datetime
    seconds: float
    state: NightState
    phases: tuple[PhaseReport, ...] = ()
    resumed: int = 0
    resumed_run: str | None = None
    taken_back: bool = False
    notes: tuple[str, ...] = ()
    changes: tuple[ProposedChange, ...] = ()
    refused: tuple[RefusedChange, ...] = ()
    file: str | None = None
    plan: str | None = None
    summary: tuple[SummaryLine, ...] = ()
    health: StoreHealth | None = None
    trend: tuple[NightHealth, ...] = ()

    def __str__(self) -> str:
        """Return at most ten lines: the headline, what was done of each kind, and what undoes all of it."""
        undo = (f"  to undo all of it: hydramem undo {self.run}",) if self.run and not self.taken_back else ()
        return "\n".join((self.headline, *(f"  {line}" for line in self.summary), *undo))

    @property
    def headline(self) -> str:
        """Which run it was, and how it ended."""
        if self.state == "planned":
            return f"{self.project}: a plan, made in {self.seconds:.1f} s; nothing is changed"
        at = f"{self.started_at:%Y-%m-%d %H:%M} UTC"
        run = f", run {self.run}" if self.run else ", nothing was changed"
        run += ", undone since" if self.taken_back else ""
        return f"{self.project}: the run of {at}, {_ENDINGS[self.state]} {self.seconds:.1f} s{run}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """The result of training the edge scorer.

    Attributes:
        relations: Relations that it learned from.
        labels: How many of them people had judged.
        auc: Probability that a held-out relation scores above a random wrong one.
        calibration: Mean squared error of its probabilities on those (Brier score).
        file: File of the model.
    """

    project: str
    scorer: str
    relations: int
    labels: int
    auc: float
    calibration: float
    seconds: float
    file: str


SHOWN_CHANGES = 1000
QuestionKind = Literal["relation", "conflict", "may_supersede", "same_entity", "same_memory", "quarantined"]
YES_NO = ("yes", "no")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A case that only a person can decide.

    Attributes:
        id: The id that an answer names.
        kind: Whether a relation is true, which of two holds, whether a memory replaces an older
            one, whether two entities or memories are the same, or whether a quarantined memory may be
            recalled.
        text: The question.
        reason: Why it is asked.
        rows: Ids of the rows that it is about.
        evidence: What to read before answering, passages first.
        probability: Probability of yes, if one was computed.
        choices: The possible answers: yes and no; the one that holds (1, 2, both or neither); or what
            becomes of an older memory (replaces, both, older or neither).
    """

    id: str
    kind: QuestionKind
    project: str
    text: str
    reason: str
    rows: tuple[str, ...]
    evidence: tuple[str, ...] = ()
    probability: float | None = None
    choices: tuple[str, ...] = YES_NO


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A person's answer to a question.

    Attributes:
        id: Id of the question, or of a conflict that `conflicts` lists.
        yes: The answer to a yes-or-no question.
        choice: The answer to another question: one of its `choices`, or of two rows the id of the one that
            holds.
        reviewer: Who answers; the caller by default.
        note: Why; kept in the history.
    """

    id: str
    yes: bool | None = None
    choice: str | None = None
    reviewer: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotTaken:
    """An answer that had no effect, and why."""

    id: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """The result of a review.

    Attributes:
        answered: Answers that were applied.
        not_taken: Answers to questions that are no longer open.
        waiting: Number of open questions.
        questions: The first of them, the most uncertain first.
        exported: Questions written to the file.
    """

    answered: int = 0
    not_taken: tuple[NotTaken, ...] = ()
    waiting: int = 0
    questions: tuple[Question, ...] = ()
    exported: int = 0
