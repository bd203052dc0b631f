"""What verification, history and conflicts return."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from hydramem.core.row_types import Decision, Layer, Stage, State


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedRelation:
    """What verification says of one relation.

    Attributes:
        id: Of the stored relation; None where the claim is not stored.
        score: Probability that it is true.
        stage: Who decided: the graph and the text (`srmkg`), a model that read the evidence (`vog`), or a
            person; `verifier` says with what.
        layer, state: As it stands now.
        explanation: Why, in words.
        quote: The words that state it, where any were found.
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
    """What a verification decided.

    Attributes:
        relations: What it looked at; nothing is hidden, decided or not.
        accepted, rejected, deferred: How many of them are which now.
        calls, prompt_tokens, reply_tokens: What models cost; 0 where none was asked.
        reasons: Why relations wait that a model should have read, each reason once.
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
    """What a change did to one field, as text; None where there was, or is, nothing."""

    field: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """One change of a thing.

    Attributes:
        actor: Who made it; empty where nothing tells.
        operation: What made it.
        reason: Why, where somebody said so.
        created: Whether the thing came to be by it.
        run: The run of a long operation that it belongs to.
        through: Id of the document or memory that it came with, where it was not changed by itself.
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
class History:
    """The life of one thing, oldest first.

    Attributes:
        kind: What it is: relation, entity, document, or the kind of a chunk.
        text: What it says, or its name.
    """

    id: str
    kind: str
    text: str
    entries: tuple[HistoryEntry, ...]


ConflictKind = Literal["relation", "number", "date", "name", "negation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictSide:
    """One of two things that cannot both be true.

    Attributes:
        id: The relation, or the chunk that says it.
        text: What it says.
        quote: The words of its evidence that say so, where there are any.
        evidence: Ids of the chunks that state it.
        source: Where these came from.
        said_at: When the newest of it was said or recorded.
    """

    id: str
    text: str
    quote: str | None = None
    evidence: tuple[str, ...] = ()
    source: str = ""
    said_at: datetime
    valid_from: datetime | None = None
    valid_to: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Two things that cannot both be true, the one said later second.

    Attributes:
        kind: Relations with different objects, or sentences that differ in a number, date, name or negation.
        entity: What both are about, where that is a known name.
        score: How certain it is that they conflict, 0 to 1.
        judged_by: `rules`, or the model that read both.
    """

    kind: ConflictKind
    entity: str | None = None
    older: ConflictSide
    newer: ConflictSide
    score: float
    explanation: str
    judged_by: str = "rules"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflicts:
    """What contradicts what, most certain first.

    Attributes:
        chunks: How many chunks were compared.
        notes: What was left out or could not be judged, one sentence each.
    """

    conflicts: tuple[Conflict, ...] = ()
    chunks: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationMeasure:
    """How weights of verification do on labels that they were not fitted to.

    Each label counts for as many relations as it stands for.

    Attributes:
        weights: Which: `shipped` with the package, or `fitted` to the project's labels.
        auc: Area under the ROC curve: how well probabilities order true before false, 0.5 for chance.
        brier: Mean squared error of the probabilities; lower is better.
        accept_at: Probability from which relations are accepted; None where none is.
        false_accept: Share of false ones among the accepted; None where none is accepted.
        accepted: Share of relations that are accepted without a model.
        decided: Share that is accepted or rejected without a model (coverage).
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
    """What calibrate did.

    Attributes:
        applied: Whether other weights or another threshold serve from now on.
        explanation: What was done or why nothing was, in a sentence or two.
        weights: Version of the weights that serve now.
        accept_at: Threshold that serves now; None where nothing is accepted without a model.
        reject_below: Threshold that serves now.
        people, models: Labels by who gave them.
        true, false: Labels by what they say.
        imported: Reviews that this call stored.
        exported: Relations that this call wrote for review.
        measures: The weights before and after, on labels that they were not fitted to.
        consolidation_threshold: Cosine from which a new memory is set against one that is there, where that
            was what was asked for.
        notes: What else is to know, one sentence each.
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
