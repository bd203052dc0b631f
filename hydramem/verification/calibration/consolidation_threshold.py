"""The cosine from which a memory is compared with a new one: fitted to the embedder.

Cosines differ between embedders: two memories of which one updates the other have cosine 0.57 by one and 0.82
by another. So the bound is fitted to pairs that are known to be related, and kept above the cosines of any
two memories of the store. It only selects what is compared: words decide (`consolidate`), and memories that
name the same things are compared however low their cosine.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import resources
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from hydramem.core.errors import InvalidInputError
from hydramem.core.results.verdicts import Calibrated
from hydramem.llm.contracts import Embedder
from hydramem.storage.schema import CHUNK
from hydramem.storage.store import GraphStore
from hydramem.verification.calibration.calibrate import (
    CalibrationRequest,
    CalibrationTarget,
    serving_calibration,
)
from hydramem.verification.calibration.saved_thresholds import Bounds, Fitted

KEPT = 0.95
"""Share of the related pairs that a fitted bound keeps."""
_BACKGROUND = 0.99
_LEAST_MEMORIES = 30
MOST_MEMORIES = 300


def fit(embedder: Embedder, memories: Sequence[str] = ()) -> Fitted:
    """Return the bound for an embedder.

    Args:
        memories: Texts of the store; any two of them count as unrelated, as nearly all are.

    Raises:
        ModelError: The embedder failed.
    """
    pairs = _pairs()
    olds = embedder.embed_documents([old for old, _ in pairs])
    news = embedder.embed_documents([new for _, new in pairs])
    touching = np.einsum("ij,ij->i", olds, news)
    own = list(dict.fromkeys(memories))[:MOST_MEMORIES]
    enough = len(own) >= _LEAST_MEMORIES
    apart = _apart(embedder.embed_documents(own) if enough else olds)
    bound = max(float(np.quantile(touching, 1 - KEPT)), float(np.quantile(apart, _BACKGROUND)))
    # Rounded down, so that what was to be kept is.
    threshold = max(0.0, np.floor(bound * 1000) / 1000)
    return Fitted(
        threshold=float(threshold),
        kept=float(np.mean(touching >= threshold)),
        passed=float(np.mean(apart >= threshold)),
        memories=len(own) if enough else 0,
    )


def _apart(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the cosines of all pairs of different rows."""
    cosines: NDArray[np.float32] = (vectors @ vectors.T)[np.triu_indices(len(vectors), k=1)]
    return cosines


def _pairs() -> list[tuple[str, str]]:
    """Return pairs of related memories: updates, duplicates, refinements, contradictions."""
    file = resources.files("hydramem") / "data" / "consolidation.json"
    return [(old, new) for old, new in json.loads(file.read_text(encoding="utf-8"))]


def calibrate_consolidation(
    place: CalibrationTarget,
    wanted: CalibrationRequest,
    *,
    bounds: Bounds,
    embedder: Embedder,
    configured: float,
) -> Calibrated:
    """Fit the threshold of consolidation, or go back to the configured one; it holds for the whole store.

    Args:
        place: The project of the call.
        wanted: Whether to write, and whether to go back.
        bounds: The thresholds of the store.
        embedder, configured: The embedder, and the configured threshold.

    Raises:
        InvalidInputError: Something else is requested too, or there is nothing to go back from.
        ModelError: The embedder failed; nothing changes.
        StorageError: The threshold cannot be written; nothing changes.
    """
    if wanted.labels is not None or wanted.export is not None or wanted.max_false_accept is not None:
        raise InvalidInputError(
            "consolidation: is calibrated by itself, without labels, export or max_false_accept"
        )
    if wanted.revert:
        fitted, threshold = bounds.revert(embedder.fingerprint, dry_run=wanted.dry_run), configured
        went = "Would go" if wanted.dry_run else "Went"
        explanation = (
            f"{went} back from the consolidation threshold {fitted.threshold:g} to the configured one"
        )
    else:
        fitted = fit(embedder, tuple(islice(_memories(place.target.graph), MOST_MEMORIES)))
        threshold = fitted.threshold
        if not wanted.dry_run:
            bounds.keep(embedder.fingerprint, fitted)
        explanation = _explanation(fitted, embedder.fingerprint, dry_run=wanted.dry_run)
    return replace(
        serving_calibration(place),
        applied=not wanted.dry_run,
        explanation=explanation,
        consolidation_threshold=threshold,
    )


def _memories(graph: GraphStore) -> Iterator[str]:
    """Yield the texts of current memories, without passages of documents, which are another kind of text."""
    for batch in graph.scan(CHUNK):
        yield from (row.text for row in batch if row.kind != "passage" and row.state == "active")


def _explanation(found: Fitted, fingerprint: str, *, dry_run: bool) -> str:
    of = f"{found.memories} of this store" if found.memories else "the labelled ones: this store has too few"
    lacking = "" if found.kept >= KEPT else f" ({KEPT:.0%} would let too many others pass)"
    sentence = (
        f"With {fingerprint}, memories from cosine {found.threshold:g} on are set against a new one: that "
        f"keeps {found.kept:.0%} of the labelled pairs that touch each other{lacking}, and "
        f"{found.passed:.1%} of pairs of any two memories, measured on {of}"
    )
    return sentence + (". Nothing was written: this was a dry run" if dry_run else "")
