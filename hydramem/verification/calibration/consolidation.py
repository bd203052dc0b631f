"""Calibrate the cosine from which a new memory is set against one that is there, for the store's embedder."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from hydramem.core.errors import InvalidInputError
from hydramem.core.results.verdicts import Calibrated
from hydramem.ingest.bound import KEPT, MOST_MEMORIES, Bounds, Fitted, fit
from hydramem.llm.contracts import Embedder
from hydramem.storage.schema import CHUNK
from hydramem.storage.store import GraphStore
from hydramem.verification.calibration.calibrate import (
    CalibrationRequest,
    CalibrationTarget,
    serving_calibration,
)


def tend_consolidation(
    place: CalibrationTarget,
    wanted: CalibrationRequest,
    *,
    bounds: Bounds,
    embedder: Embedder,
    configured: float,
) -> Calibrated:
    """Fit the threshold of consolidation, or go back to the configured one; it is the whole store's.

    Args:
        place: The project that is asked from.
        wanted: Whether to write, and whether to go back.
        bounds: The thresholds of the store.
        embedder: Whose cosines are meant.
        configured: The threshold that serves where none was fitted.

    Raises:
        InvalidInputError: Other things are asked for too, or there is nothing to go back from.
        ModelError: The embedder failed; what served before serves.
        StorageError: The threshold cannot be written; what served before serves.
    """
    if wanted.labels is not None or wanted.export is not None or wanted.max_false_accept is not None:
        raise InvalidInputError(
            "consolidation: is calibrated by itself, without labels, export or max_false_accept"
        )
    now_serving = serving_calibration(place)
    if wanted.revert:
        served = bounds.revert(embedder.fingerprint, dry_run=wanted.dry_run)
        went = "Would go" if wanted.dry_run else "Went"
        said = f"{went} back from the consolidation threshold {served.threshold:g} to the configured one"
        return replace(
            now_serving,
            applied=not wanted.dry_run,
            explanation=said,
            consolidation_threshold=configured,
        )
    found = fit(embedder, tuple(islice(_memories(place.target.graph), MOST_MEMORIES)))
    if not wanted.dry_run:
        bounds.keep(embedder.fingerprint, found)
    return replace(
        now_serving,
        applied=not wanted.dry_run,
        explanation=_said(found, embedder.fingerprint, dry_run=wanted.dry_run),
        consolidation_threshold=found.threshold,
    )


def _memories(graph: GraphStore) -> Iterator[str]:
    """Yield the texts of current memories; what stands in documents is another kind of text."""
    for batch in graph.scan(CHUNK):
        yield from (row.text for row in batch if row.kind != "passage" and row.state == "active")


def _said(found: Fitted, fingerprint: str, *, dry_run: bool) -> str:
    of = f"{found.memories} of this store" if found.memories else "the labelled ones: this store has too few"
    lacking = "" if found.kept >= KEPT else f" ({KEPT:.0%} would let too many others pass)"
    said = (
        f"With {fingerprint}, memories from cosine {found.threshold:g} on are set against a new one: that "
        f"keeps {found.kept:.0%} of the labelled pairs that touch each other{lacking}, and "
        f"{found.passed:.1%} of pairs of any two memories, measured on {of}"
    )
    return said + (". Nothing was written: this was a dry run" if dry_run else "")
