"""Calibrate: a project's own weights and thresholds, from labels that verification did not give itself.

Read the reviews, gather the labels, fit, measure on held-out labels, choose the threshold, store.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from hydramem.core.argument_checks import check_share, check_text
from hydramem.core.config import VerificationConfig
from hydramem.core.errors import InvalidInputError
from hydramem.core.ids import content_hash
from hydramem.core.results.verdicts import Calibrated
from hydramem.core.row_types import Relation
from hydramem.core.time import now
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.ingest.write_target import Target
from hydramem.storage.store import GraphStore
from hydramem.verification.calibration.fit import Examples, Trial, shown, try_out
from hydramem.verification.calibration.labels import (
    MOST,
    PERSON,
    JudgedRelations,
    candidates,
    examples,
    features,
    is_scored,
    judged_relations,
    truth,
)
from hydramem.verification.calibration.reviews import (
    Review,
    apply_reviews,
    read_reviews,
    relations_of_reviews,
    write_reviews,
)
from hydramem.verification.calibration.saved_calibrations import SHIPPED, Calibration, Calibrations
from hydramem.verification.first_stage import first_stage

LEAST_LABELS, LEAST_OF_EACH = 40, 10
MOST_EXPORTED = 200

# One exported relation in so many is drawn from all of them: thresholds are not learned from uncertain
# relations alone.
_ONE_IN = 5
_MOST_UNSCORED = 2000
_MOST_PATH = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationTarget:
    """A project to calibrate.

    Attributes:
        target: The project, and how to write to it.
        calibrations: The calibrations of the store.
    """

    target: Target
    snapshot: Snapshot
    calibrations: Calibrations
    settings: VerificationConfig

    @property
    def project(self) -> str:
        """The project's name."""
        return self.target.project

    @property
    def serving(self) -> Calibration:
        """The calibration in use."""
        return self.calibrations.of(self.project)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationRequest:
    """The arguments of `Memory.calibrate`."""

    labels: str | None = None
    export: str | None = None
    max_false_accept: float | None = None
    dry_run: bool = False
    revert: bool = False


def run_calibration(place: CalibrationTarget, wanted: CalibrationRequest) -> Calibrated:
    """Do one of the three things that calibrate does: learn, write relations for review, or go back.

    Raises:
        InvalidInputError: The arguments exclude each other, or one is wrong.
        StorageError: A file of a calibration cannot be read or written.
    """
    learning = wanted.labels is not None or wanted.max_false_accept is not None
    if sum((learning, wanted.export is not None, wanted.revert)) > 1:
        raise InvalidInputError(
            "calibrate learns (labels, max_false_accept), exports or reverts: ask for one of these at a time"
        )
    if wanted.revert:
        return revert(place, dry_run=wanted.dry_run)
    if wanted.export is not None:
        return export(place, _path(wanted.export, "export"), dry_run=wanted.dry_run)
    rate = wanted.max_false_accept
    return calibrate(
        place,
        labels=None if wanted.labels is None else _path(wanted.labels, "labels"),
        max_false_accept=None if rate is None else check_share(rate, name="max_false_accept"),
        dry_run=wanted.dry_run,
    )


def _path(given: str, name: str) -> Path:
    path = Path(check_text(str(given), name=name, most=_MOST_PATH))
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise InvalidInputError(f"{name}: {given[:200]!r} names a user who is not here") from error


def calibrate(
    place: CalibrationTarget, *, labels: Path | None, max_false_accept: float | None, dry_run: bool
) -> Calibrated:
    """Store a file's reviews, and fit the first stage to all labels of a project.

    Args:
        place, labels: The project, and a file of reviews.
        max_false_accept: Largest share of false relations among those accepted without a model; where None,
            the last one requested, else the configured threshold stays.
        dry_run: Report what would be done, and write nothing.

    Raises:
        InvalidInputError: A line of the file is wrong; nothing is written.
        StorageError: The calibration cannot be written; the one before stays in use.
    """
    graph, snapshot, serving = place.target.graph, place.snapshot, place.serving
    everything = judged_relations(graph, place.project)
    imported: tuple[Relation, ...] = ()
    if labels is not None:
        found = relations_of_reviews(read_reviews(labels), everything, snapshot, path=labels)
        scores = scores_of(found, graph, snapshot)
        imported = apply_reviews(found, scores, place.target, dry_run=dry_run)
    labelled, rows = examples(
        everything.having(imported),
        weights=serving.weights,
        settings=serving.applied_to(place.settings),
        graph=graph,
        snapshot=snapshot,
    )
    people = sum((row.verifier or "").startswith(PERSON) for row in rows)
    result = serving_calibration(place)
    cut = (f"only the {MOST:,} relations recorded last were looked at",) if everything.cut else ()
    result = replace(
        result,
        imported=0 if dry_run else len(imported),
        people=people,
        models=len(rows) - people,
        true=int(labelled.true.sum()),
        false=int((~labelled.true).sum()),
        notes=(*result.notes, *cut),
    )
    if lacking := _lacking(result):
        return replace(result, explanation=lacking)
    rate = serving.max_false_accept if max_false_accept is None else max_false_accept
    return _fitted(place, labelled, result, rate=rate, dry_run=dry_run)


def scores_of(
    found: Mapping[str, tuple[Review, Relation]], graph: GraphStore, snapshot: Snapshot
) -> dict[str, dict[str, float]]:
    """Return the present features, by id and name, of the relations that have none on record."""
    bare = [row for _, row in found.values() if not is_scored(row)]
    rows = features(bare, graph, snapshot)
    return {
        row.id: {
            name: round(float(value), 4)
            for name, value in zip(first_stage.NAMES, values, strict=True)
            if value
        }
        for row, values in zip(bare, rows, strict=True)
        if np.isfinite(values).all()
    }


def _lacking(counted: Calibrated) -> str | None:
    """Return why labels are too few to learn from, None where they are enough."""
    count = counted.true + counted.false
    if count >= LEAST_LABELS and min(counted.true, counted.false) >= LEAST_OF_EACH:
        return None
    return (
        f"Not calibrated: of the {LEAST_LABELS} labels by people and models that it takes, "
        f"{LEAST_OF_EACH} of each kind at least, "
        f"there are {count} ({counted.true} true, {counted.false} false). "
        "Review what `hydramem calibrate --export FILE` writes; verify with a model gives labels too"
    )


def _fitted(
    place: CalibrationTarget, labelled: Examples, result: Calibrated, *, rate: float | None, dry_run: bool
) -> Calibrated:
    """Fit, and store the calibration where it is better or a threshold was requested."""
    problem = place.calibrations.problem(place.project)
    trial = try_out(labelled, place.settings, max_false_accept=rate)
    worth = trial.better or trial.accept_at is not None
    serving = place.serving
    if worth:
        serving = Calibration(
            project=place.project,
            weights=trial.weights,
            accept_at=trial.accept_at,
            max_false_accept=rate,
            labels={name: getattr(result, name) for name in ("people", "models", "true", "false")},
            measures=trial.measures,
            at=now(),
        )
        serving = serving if dry_run else place.calibrations.keep(serving)
    return replace(
        result,
        applied=worth and not dry_run,
        explanation=_explanation(trial, rate=rate, dry_run=dry_run and worth),
        weights=serving.weights.version,
        accept_at=shown(serving.applied_to(place.settings).accept_at),
        measures=trial.measures,
        # A stored calibration that could not be used is replaced now.
        notes=tuple(note for note in result.notes if note != problem or not worth or dry_run),
    )


def _explanation(trial: Trial, *, rate: float | None, dry_run: bool) -> str:
    how = "better" if trial.better else "no better"
    parts = [f"Weights fitted to the labels do {how} on labels held out than the shipped ones"]
    if trial.accept_at is not None and rate is not None:
        parts.append(
            f"no threshold is known to keep false ones to {rate:g} of the accepted, so nothing is accepted "
            "without a model: more labels may show one"
            if shown(trial.accept_at) is None
            else f"from probability {trial.accept_at:.3f} at most {rate:g} of the accepted are false"
        )
    return "; ".join(parts) + (". Nothing was written: this was a dry run" if dry_run else "")


def export(place: CalibrationTarget, path: Path, *, dry_run: bool) -> Calibrated:
    """Write the relations whose review helps most, among those without an independent verdict.

    Raises:
        InvalidInputError: The file exists, or cannot be written.
    """
    chosen = worth_reviewing(judged_relations(place.target.graph, place.project), place)
    found = candidates([row for row, _ in chosen], place.target.graph)
    rows = [(found[row.id], chance) for row, chance in chosen if row.id in found]
    if not dry_run:
        write_reviews(path, rows)
    done = f"{len(rows)} relations {'would be' if dry_run else 'were'} written to {path}"
    how = "fill in `label` with true or false, then `hydramem calibrate FILE`"
    return replace(
        serving_calibration(place),
        explanation=f"{done}; {how}" if rows else done,
        exported=0 if dry_run else len(rows),
    )


def worth_reviewing(everything: JudgedRelations, place: CalibrationTarget) -> list[tuple[Relation, float]]:
    """Choose relations without a label, with their probability: the most uncertain, and some at random."""
    rows = [row for row in everything if truth(row) is None and row.state in ("active", "superseded")]
    unscored = (row for row in rows if not is_scored(row))
    bare = sorted(unscored, key=lambda row: -row.times.recorded_at.timestamp())[:_MOST_UNSCORED]
    rows = [*(row for row in rows if is_scored(row)), *bare]
    found = features(rows, place.target.graph, place.snapshot)
    chances = first_stage.probabilities(found, place.serving.weights)
    scored = [(row, float(chance)) for row, chance in zip(rows, chances, strict=True) if np.isfinite(chance)]
    scored.sort(key=lambda item: (abs(item[1] - 0.5), item[0].id))
    doubtful = scored[: MOST_EXPORTED - MOST_EXPORTED // _ONE_IN]
    rest = sorted(scored[len(doubtful) :], key=lambda item: content_hash(item[0].id))
    return [*doubtful, *rest[: MOST_EXPORTED // _ONE_IN]]


def revert(place: CalibrationTarget, *, dry_run: bool) -> Calibrated:
    """Go back to the calibration before the one in use, in the end to the shipped one.

    Raises:
        InvalidInputError: The shipped one is in use already.
        StorageError: A file cannot be read or written.
    """
    left = place.serving
    back = place.calibrations.revert(place.project, dry_run=dry_run)
    named = (
        "the shipped weights and the configured threshold"
        if back == SHIPPED
        else f"calibration {back.number}"
    )
    done = f"{'Would go' if dry_run else 'Went'} back from calibration {left.number} to {named}"
    return replace(
        serving_calibration(place, back),
        applied=not dry_run,
        explanation=done,
        measures=back.measures,
        notes=(),
    )


def serving_calibration(place: CalibrationTarget, serving: Calibration | None = None) -> Calibrated:
    """Describe a calibration; the one in use where None is given."""
    serving = serving or place.serving
    settings = serving.applied_to(place.settings)
    problem = place.calibrations.problem(place.project)
    return Calibrated(
        applied=False,
        explanation="",
        weights=serving.weights.version,
        accept_at=shown(settings.accept_at),
        reject_below=settings.reject_below,
        notes=() if problem is None else (problem,),
    )
