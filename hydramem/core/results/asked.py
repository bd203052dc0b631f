"""What the gardener asks a person, and what came of the answers."""

from dataclasses import dataclass
from typing import Literal

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
