"""What verification, history, conflicts and calibration return."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from hydramem.core.row_types import Decision, Layer, Stage, State


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedRelation:
    """The verdict on one relation.

    Attributes:
        id: Id of the stored relation; None for a claim that is not stored.
        score: Probability that it is true.
        stage: Which stage decided: graph and text (`srmkg`), a model that read the evidence (`vog`), or a
            person.
        verifier: Who or what decided.
        layer, state: Its layer and state now.
        explanation: Why, in words.
        quote: The words that state it, if any were found.
    """

    id: str | None
    subject: str
    type: str
    object: str
    decision: Decision
    score: float
    stage: Stage
    verifier: str
    layer: Layer
    state: State
    explanation: str = ""
    quote: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """The result of a verification.

    Attributes:
        relations: Every relation it read, decided or not.
        accepted, rejected, deferred: How many relations have this verdict now.
        calls, prompt_tokens, reply_tokens: Cost of the model calls; 0 without a model.
        reasons: Why relations stay open that a model should have read, each reason once.
    """

    relations: tuple[VerifiedRelation, ...] = ()
    accepted: int = 0
    rejected: int = 0
    deferred: int = 0
    calls: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """The change of one field, as text; None where it was or is empty."""

    field: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """One change of a thing.

    Attributes:
        actor: Who made it; empty if unknown.
        operation: The operation that made it.
        reason: Why, if a reason was given.
        created: Whether it created the thing.
        run: Id of its run.
        through: Id of the document or memory that the change came with.
    """

    at: datetime
    actor: str
    operation: str
    reason: str | None = None
    created: bool = False
    fields: tuple[FieldChange, ...] = ()
    run: str | None = None
    through: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryVersion:
    """One of the texts that a memory had; each is a memory with an id of its own.

    Attributes:
        text: Its first 2,000 characters, on one line.
        ended_at: When it was withdrawn or, where the world changed, when it stopped being true.
    """

    id: str
    text: str
    state: State
    recorded_at: datetime
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Every change of one thing, oldest first.

    Attributes:
        kind: relation, entity, document, or the kind of a chunk.
        text: Its text or name.
        versions: The texts of a memory that was corrected or superseded, or took the place of another, oldest
            first; it is one of them.
    """

    id: str
    kind: str
    text: str
    entries: tuple[HistoryEntry, ...]
    versions: tuple[MemoryVersion, ...] = ()


ConflictKind = Literal["relation", "number", "date", "name", "negation", "statement"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictSide:
    """One of two things that cannot both be true.

    Attributes:
        id: Id of the relation, or of the chunk that states it.
        text: The statement.
        quote: The words of its evidence that state it, if any.
        evidence: Ids of the chunks that state it.
        source: Where these came from.
        said_at: When the newest of them was said or recorded.
    """

    id: str
    text: str
    quote: str | None = None
    evidence: tuple[str, ...] = ()
    source: str = ""
    said_at: datetime
    valid_from: datetime | None = None
    valid_to: datetime | None = None


def conflict_id(one: str, other: str) -> str:
    """Return the id of a conflict of two relations or two chunks, by their ids in any order."""
    return f"conflict:{'+'.join(sorted((one, other)))}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Two things that cannot both be true; `newer` was said later.

    Attributes:
        id: The id that an answer of `review` names.
        kind: Relations with different objects, or sentences that differ in a number, date, name or negation,
            or in other words (`statement`).
        entity: The entity that both are about, if it has a known name.
        score: Certainty of the conflict, 0 to 1.
        judged_by: `rules`, a `link` between the two, the pair `classifier`, or the model that read both.
    """

    id: str
    kind: ConflictKind
    entity: str | None = None
    older: ConflictSide
    newer: ConflictSide
    score: float
    explanation: str
    judged_by: str = "rules"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflicts:
    """The conflicts of a project, most certain first.

    Attributes:
        chunks: Number of chunks compared.
        notes: What was left out or could not be judged, a sentence each.
    """

    conflicts: tuple[Conflict, ...] = ()
    chunks: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationMeasure:
    """How weights of verification do on labels that they were not fitted to, weighted by relations.

    Attributes:
        weights: `shipped` with the package, or `fitted` to the project's labels.
        auc: Area under the ROC curve: how well probabilities rank true above false, 0.5 for chance.
        brier: Mean squared error of the probabilities; lower is better.
        accept_at: Probability from which relations are accepted; None if none is.
        false_accept: Share of false relations among the accepted; None if none is accepted.
        accepted: Share of relations accepted without a model.
        decided: Share of relations accepted or rejected without a model (coverage).
    """

    weights: str
    auc: float
    brier: float
    accept_at: float | None
    false_accept: float | None
    accepted: float
    decided: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """The result of `calibrate`.

    Attributes:
        applied: Whether the weights or a threshold changed.
        explanation: What was done or why nothing was, in a sentence or two.
        weights: Version of the weights in use.
        accept_at: Accept threshold in use; None if nothing is accepted without a model.
        reject_below: Reject threshold in use.
        people, models: Labels by who gave them.
        true, false: Labels by value.
        imported: Reviews that this call stored.
        exported: Relations that this call wrote for review.
        measures: The weights before and after, on labels that they were not fitted to.
        consolidation_threshold: Cosine from which a new memory is compared with another, if that was fitted.
        notes: Further notes, a sentence each.
    """

    applied: bool
    explanation: str
    weights: str
    accept_at: float | None
    reject_below: float
    people: int = 0
    models: int = 0
    true: int = 0
    false: int = 0
    imported: int = 0
    exported: int = 0
    measures: tuple[CalibrationMeasure, ...] = ()
    consolidation_threshold: float | None = None
    notes: tuple[str, ...] = ()
