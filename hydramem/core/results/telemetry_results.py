"""What telemetry reports: numbers about calls by day, without any text, name, id or path.

A day is a day of UTC, as YYYY-MM-DD.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hydramem.core.row_types import ChunkKind


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationUse:
    """The calls of one operation on a day, or on all days of the report.

    Attributes:
        day: None for all days.
        errors: Calls that raised.
        p50_ms, p95_ms: Milliseconds of calls that returned, within 2.5 %; None where none did.
        hits: Hits of `recall` and snippets of `prime`, in all.
        asked: Calls with a question, which can be answered or not.
        answered: Those that were answered; `answered_share` is their share.
        relevance: Mean relevance of the best hit, 0 to 1; None where nothing was found.
        tokens: Tokens of what was returned to agents, for `recall` and `prime`.
        baseline: Tokens of the whole sources of the same hits: documents and sessions.
    """

    day: str | None
    operation: str
    calls: int
    errors: int = 0
    p50_ms: float | None = None
    p95_ms: float | None = None
    hits: int = 0
    asked: int = 0
    answered: int = 0
    answered_share: float | None = None
    relevance: float | None = None
    tokens: int = 0
    baseline: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceUse:
    """The calls of one surface: cli, mcp, python, hook, hermes, tool, view, or other."""

    surface: str
    calls: int
    errors: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorCount:
    """Calls of an operation that raised an error of this class; `other` for one of another program."""

    operation: str
    error: str
    calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenDay:
    """Tokens of one day.

    Attributes:
        given: Tokens returned to agents.
        baseline: Tokens of the whole sources of the same hits, where they are known.
        saved: `baseline` less what was given in those calls; negative where the sources are shorter.
    """

    day: str
    given: int
    baseline: int
    saved: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryDay:
    """Memories of one kind that were stored on a day."""

    day: str
    kind: ChunkKind
    stored: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictDay:
    """Verdicts of `verify` on a day."""

    day: str
    accepted: int = 0
    rejected: int = 0
    deferred: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NightDay:
    """Runs of the gardener on a day, without plans.

    Attributes:
        effects: Changes made, by phase.
        auc: Mean AUC of the edge scorer on held-out relations; None where it was not measured.
    """

    day: str
    runs: int = 0
    effects: Mapping[str, int] = field(default_factory=dict)
    auc: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestDay:
    """What `ingest` and `ingest_extracted` stored on a day."""

    day: str
    documents: int = 0
    chunks: int = 0
    entities: int = 0
    relations: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetryReport:
    """What telemetry recorded in the last days.

    Attributes:
        since, until: First and last day.
        state: `on`, or `off: ` and why.
        operations: By day and operation, oldest day first.
        totals: By operation, over all days, most calls first.
        bytes: Size of the telemetry on disk.
        dropped: Calls that were not recorded, since too many waited.
    """

    since: str
    until: str
    state: str
    operations: tuple[OperationUse, ...] = ()
    totals: tuple[OperationUse, ...] = ()
    surfaces: tuple[SurfaceUse, ...] = ()
    errors: tuple[ErrorCount, ...] = ()
    tokens: tuple[TokenDay, ...] = ()
    memories: tuple[MemoryDay, ...] = ()
    verdicts: tuple[VerdictDay, ...] = ()
    nights: tuple[NightDay, ...] = ()
    ingested: tuple[IngestDay, ...] = ()
    bytes: int = 0
    dropped: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetryWiped:
    """The result of `wipe_telemetry`.

    Attributes:
        calls: Calls that were deleted, those of daily totals included.
        bytes: Size of the deleted files.
    """

    calls: int
    bytes: int
