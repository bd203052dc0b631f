"""The report of a run: made from what its phases returned, and kept as a file for each of the last runs."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import get_args

from hydramem.core.errors import StorageError
from hydramem.core.results.garden_results import (
    SHOWN_CHANGES,
    Gardened,
    NightHealth,
    NightState,
    PhaseReport,
    ProposedChange,
    RefusedChange,
)
from hydramem.core.row_types import Phase
from hydramem.garden.night.apply import Applied
from hydramem.garden.proposals.phase_context import PhaseOutcome
from hydramem.garden.proposals.proposal import SHOWN_FIELDS, Proposal
from hydramem.storage.files.durable_files import write_whole

_KEPT = 30


@dataclass(slots=True, kw_only=True)
class PhaseResults:
    """What the phases of a run returned.

    Attributes:
        outcomes, seconds: Of each phase that ran.
        dropped: How many proposals of a phase conflict with those of an earlier one.
        proposals: All others.
    """

    outcomes: dict[Phase, PhaseOutcome] = field(default_factory=dict)
    seconds: dict[Phase, float] = field(default_factory=dict)
    dropped: dict[Phase, int] = field(default_factory=dict)
    proposals: tuple[Proposal, ...] = ()


def report_of(
    results: PhaseResults,
    applied: Applied | None,
    *,
    project: str,
    started_at: datetime,
    seconds: float,
    run: str | None = None,
) -> Gardened:
    """Return the report of a run.

    Args:
        results: What its phases returned.
        applied: What became of the proposals; None where only a plan was asked for.
        project, started_at, seconds: Of the run.
        run: The run's id, where it wrote something.
    """
    phases = [phase for phase in get_args(Phase) if phase in results.outcomes]
    if not results.outcomes:
        planned = {each.phase for each in results.proposals}
        phases = [phase for phase in get_args(Phase) if phase in planned]
    reports = tuple(_phase_report(phase, results, applied) for phase in phases)
    refused = {} if applied is None else applied.refused
    return Gardened(
        project=project,
        run=run,
        started_at=started_at,
        seconds=seconds,
        state="planned" if applied is None else _worst_state(reports),
        phases=reports,
        health=next((one.health for one in results.outcomes.values() if one.health is not None), None),
        changes=tuple(
            ProposedChange(**{name: getattr(each, name) for name in SHOWN_FIELDS})
            for each in results.proposals[:SHOWN_CHANGES]
        ),
        refused=tuple(
            RefusedChange(id=each.id, text=each.text, why=refused[each.id])
            for each in results.proposals
            if each.id in refused
        ),
    )


def _phase_report(phase: Phase, results: PhaseResults, applied: Applied | None) -> PhaseReport:
    outcome = results.outcomes.get(phase, PhaseOutcome())
    own = {each.id for each in results.proposals if each.phase == phase}
    dropped, became = results.dropped.get(phase, 0), applied or Applied()
    counted = {
        "applied": len(own.intersection(became.made)),
        "refused": len(own.intersection(became.refused)),
        "standing": len(own.intersection(became.standing)),
    }
    left = len(own) - sum(counted.values())
    return PhaseReport(
        phase=phase,
        state="partial" if applied is not None and left and outcome.state == "completed" else outcome.state,
        proposals=len(own) + dropped,
        dropped=dropped,
        left=left,
        counts=outcome.counts,
        notes=outcome.notes,
        usage=outcome.usage,
        auc=outcome.auc,
        seconds=results.seconds.get(phase, 0.0),
        **counted,
    )


def _worst_state(reports: Sequence[PhaseReport]) -> NightState:
    states = {report.state for report in reports}
    return "failed" if "failed" in states else "partial" if "partial" in states else "completed"


def save_report(report: Gardened, folder: Path) -> None:
    """Save a report; of each project the last thirty are kept.

    Raises:
        StorageError: It cannot be written.
    """
    name = f"{report.started_at:%Y%m%dT%H%M%S.%f}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(asdict(report), ensure_ascii=True, indent=1, default=datetime.isoformat)
        write_whole(folder / name, text)
        for old in sorted(folder.glob("*.json"))[:-_KEPT]:
            old.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(f"{folder}: the report cannot be kept: {error.strerror or error}") from error


def last_reports(folder: Path, most: int) -> tuple[Gardened, ...]:
    """Return the reports of the last runs, the newest first.

    Raises:
        StorageError: A file is damaged.
    """
    from pydantic import TypeAdapter, ValidationError

    found: list[Gardened] = []
    for file in sorted(folder.glob("*.json"), reverse=True)[:most]:
        try:
            found.append(TypeAdapter(Gardened).validate_json(file.read_bytes()))
        except (ValidationError, OSError) as error:
            raise StorageError(f"{file}: is no report of the gardener any more; delete it") from error
    return tuple(found)


def trend_of(reports: Sequence[Gardened]) -> tuple[NightHealth, ...]:
    """Return the health after each of some runs that measured it, in their order."""
    return tuple(
        NightHealth(started_at=report.started_at, run=report.run, health=report.health)
        for report in reports
        if report.health is not None
    )
