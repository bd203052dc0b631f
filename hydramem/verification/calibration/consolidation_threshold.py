"""From which cosine a memory is near enough to be looked at: a figure of the embedder, fitted to it.

Cosines of one embedder mean nothing to another: two memories of which one updates the other are 0.57 apart
by one and 0.82 by the next. So the bound is learned from pairs that are known to touch each other, and
held above what any two memories of the store have in common. What is near is only looked at; words decide
(`consolidate`), and what they name is looked at too, however far it is.
"""

import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import resources
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hydramem.core.config import MemoryConfig
from hydramem.core.errors import HydraMemError, InvalidInputError, StorageError
from hydramem.core.ids import content_hash
from hydramem.core.results.verdicts import Calibrated
from hydramem.llm.contracts import Embedder
from hydramem.storage.files.durable_files import write_whole
from hydramem.storage.schema import CHUNK
from hydramem.storage.store import GraphStore
from hydramem.verification.calibration.calibrate import (
    CalibrationRequest,
    CalibrationTarget,
    serving_calibration,
)

log = logging.getLogger(__name__)
KEPT = 0.95
"""Share of the pairs known to touch each other that a fitted bound keeps."""
_BACKGROUND = 0.99
_LEAST_MEMORIES = 30
MOST_MEMORIES = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """A bound and how it does.

    Attributes:
        threshold: Cosine from which a memory is near.
        kept: Share of the pairs that touch each other which reach it.
        passed: Share of pairs of any two memories which reach it too.
        memories: How many of the store's own memories that was measured on; 0 where they were too few.
        previous: The bound that it took the place of; None for the configured one.
    """

    threshold: float
    kept: float
    passed: float
    memories: int = 0
    previous: float | None = None


def fit(embedder: Embedder, memories: Sequence[str] = ()) -> Fitted:
    """Return the bound for an embedder.

    Args:
        embedder: Whose cosines are meant.
        memories: Texts of the store; any two of them are taken to have nothing to do with each other, as
            nearly all have not.

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
    """Return pairs of memories that touch each other: updates, duplicates, refinements, contradictions."""
    file = resources.files("hydramem") / "data" / "consolidation.json"
    return [(old, new) for old, new in json.loads(file.read_text(encoding="utf-8"))]


class Bounds:
    """The fitted bounds of one store, a file for each embedder.

    Args:
        folder: The store's folder; None keeps them for as long as this lives.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = None if folder is None else folder / "models" / "consolidation"
        self._held: dict[str, Fitted | None] = {}

    def of(self, fingerprint: str) -> Fitted | None:
        """Return what was fitted to an embedder, None where nothing was; damage is said in the log."""
        if fingerprint not in self._held:
            try:
                self._held[fingerprint] = self._read(fingerprint)
            except HydraMemError as error:
                log.warning("%s; the configured threshold serves", error)
                self._held[fingerprint] = None
        return self._held[fingerprint]

    def applied_to(self, settings: MemoryConfig, fingerprint: str) -> MemoryConfig:
        """Return settings with the bound that was fitted to an embedder, where one was."""
        found = self.of(fingerprint)
        return settings if found is None else replace(settings, consolidation_threshold=found.threshold)

    def keep(self, fingerprint: str, made: Fitted) -> Fitted:
        """Let a bound serve from now on.

        Raises:
            StorageError: It cannot be written; what served before serves.
        """
        before = self.of(fingerprint)
        made = replace(made, previous=None if before is None else before.threshold)
        self._write(fingerprint, made)
        self._held[fingerprint] = made
        return made

    def revert(self, fingerprint: str, *, dry_run: bool = False) -> Fitted:
        """Let the configured bound serve again; return what served.

        Raises:
            InvalidInputError: The configured one serves already.
            StorageError: The file cannot be removed.
        """
        served = self.of(fingerprint)
        if served is None:
            raise InvalidInputError("no consolidation threshold was fitted: the configured one serves")
        if not dry_run:
            if self._folder is not None:
                try:
                    self._path(self._folder, fingerprint).unlink(missing_ok=True)
                except OSError as error:
                    raise StorageError(f"{self._folder}: cannot be written: {error.strerror}") from error
            self._held[fingerprint] = None
        return served

    def _read(self, fingerprint: str) -> Fitted | None:
        from pydantic import TypeAdapter, ValidationError

        if self._folder is None:
            return None
        path = self._path(self._folder, fingerprint)
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise StorageError(f"{path}: cannot be read: {error}") from error
        try:
            found = TypeAdapter(Fitted).validate_json(text)
        except ValidationError as error:
            raise StorageError(f"{path}: is damaged") from error
        if not 0 <= found.threshold <= 1:
            raise StorageError(f"{path}: is damaged: a threshold is from 0 to 1")
        return found

    def _write(self, fingerprint: str, made: Fitted) -> None:
        if self._folder is None:
            return
        path = self._path(self._folder, fingerprint)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, json.dumps(asdict(made), indent=1))
        except OSError as error:
            raise StorageError(f"{path}: cannot be written: {error.strerror}") from error

    @staticmethod
    def _path(folder: Path, fingerprint: str) -> Path:
        return folder / f"{content_hash(fingerprint)}.json"


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
