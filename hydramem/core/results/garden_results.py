"""What a night of the gardener returns: each phase, what it would change, and what came of that."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from hydramem.core.row_types import Phase, Usage

PhaseState = Literal["completed", "partial", "failed", "skipped"]

NightState = Literal["planned", "completed", "partial", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedChange:
    """One change that a phase proposes.

    Attributes:
        action: What it does to its target, such as archive or merge.
        target: Id of the row that it is about.
        text: The same in names.
        score: How sure the phase is, 0 to 1.
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
    """A change that was not made, and why: a row that it rests on is not as it was."""

    id: str
    text: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseReport:
    """One phase of a night. Proposals are applied, refused, there already, dropped, or left.

    Attributes:
        proposals: Changes that it proposed.
        applied: Those that were made.
        refused: Those whose rows had changed by then.
        standing: Those that an earlier try had made already.
        dropped: Those that touch what an earlier phase of the night touches; the next night looks again.
        left: Those that were not tried: only a plan was asked for, or the run was interrupted.
        counts: What it looked at and found, by name.
        notes: What else a person should know; a sentence each.
        usage: What its model calls cost.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Gardened:
    """A night, or the plan of one.

    Attributes:
        run: Id of what it wrote, for `history` and `undo`; None where it wrote nothing.
        state: The worst of its phases; `planned` where nothing was to be changed.
        resumed: Changes of an interrupted night that this one made first, and `resumed_run` the run that they
            belong to.
        taken_back: Whether `undo` took it back since.
        notes: What else a person should know of the night as a whole; a sentence each.
        changes: What was proposed, in the order of the phases; at most `SHOWN_CHANGES` of a night.
        file: Where the plan was written, or read from.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """What training the scorer of relations came to.

    Attributes:
        relations: How many it learned from.
        labels: Of how many relations it learned what people said of them.
        auc: Chance that a held-out relation looks better than a drawn wrong one.
        calibration: Mean squared distance of its probabilities from the truth on those (Brier score).
        file: Where the model is.
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

QuestionKind = Literal["relation", "conflict", "same_entity", "same_memory", "quarantined"]

YES_NO = ("yes", "no")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A case that only a person can decide.

    Attributes:
        id: What an answer names.
        kind: Whether a relation is true, which of two holds, whether two entities are one thing or two
            memories say the same, whether a memory that was held back may be recalled.
        text: The question in names.
        reason: Why it is asked.
        rows: Ids of what it is about.
        evidence: What there is to read before answering, passages first.
        probability: That the answer is yes, where something computed it.
        choices: What it can be answered by: yes and no, or the relation that holds (1, 2, or both).
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
    """What a person says to a question.

    Attributes:
        id: Of the question.
        yes: The answer, true or false.
        choice: The answer where the question is not one of yes and no: one of its `choices`.
        reviewer: Who says so; whoever calls where not given.
        note: Why, for the history.
    """

    id: str
    yes: bool | None = None
    choice: str | None = None
    reviewer: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotTaken:
    """An answer that nothing came of, and why."""

    id: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """What a review came to.

    Attributes:
        answered: Answers that were taken.
        not_taken: Answers to what does not wait any more.
        waiting: Questions that wait now, of those that were looked for.
        questions: The first of them, the most uncertain first.
        exported: Questions written to the file.
    """

    answered: int = 0
    not_taken: tuple[NotTaken, ...] = ()
    waiting: int = 0
    questions: tuple[Question, ...] = ()
    exported: int = 0
