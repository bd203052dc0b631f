"""The consolidation thresholds that were fitted to the embedders of a store, as files in its folder."""

import json
import logging
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from hydramem.core.config import MemoryConfig
from hydramem.core.errors import HydraMemError, InvalidInputError, StorageError
from hydramem.core.ids import content_hash
from hydramem.verification.calibration.saved_calibrations import SavedFiles

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """A bound and how it does.

    Attributes:
        threshold: Cosine from which a memory is near.
        kept: Share of the related pairs that reach it.
        passed: Share of pairs of any two memories that reach it.
        memories: How many of the store's own memories `passed` was measured on; 0 where they were too few.
        previous: The bound that it replaced; None for the configured one.
    """

    threshold: float
    kept: float
    passed: float
    memories: int = 0
    previous: float | None = None


class Bounds:
    """The fitted bounds of one store, a file for each embedder.

    Args:
        folder: The store's folder; None keeps them for as long as this lives.
    """

    def __init__(self, folder: Path | None) -> None:
        self._files = SavedFiles(None if folder is None else folder / "models" / "consolidation")
        self._loaded: dict[str, Fitted | None] = {}

    def of(self, fingerprint: str) -> Fitted | None:
        """Return the bound of an embedder, None where none was fitted; damage is logged."""
        if fingerprint not in self._loaded:
            try:
                self._loaded[fingerprint] = self._read(fingerprint)
            except HydraMemError as error:
                log.warning("%s; the configured threshold serves", error)
                self._loaded[fingerprint] = None
        return self._loaded[fingerprint]

    def applied_to(self, settings: MemoryConfig, fingerprint: str) -> MemoryConfig:
        """Return settings with the bound of an embedder, where one was fitted."""
        found = self.of(fingerprint)
        return settings if found is None else replace(settings, consolidation_threshold=found.threshold)

    def keep(self, fingerprint: str, made: Fitted) -> Fitted:
        """Use a bound from now on.

        Raises:
            StorageError: It cannot be written; the one before stays in use.
        """
        before = self.of(fingerprint)
        made = replace(made, previous=None if before is None else before.threshold)
        self._files.save(_file_name(fingerprint), json.dumps(asdict(made), indent=1))
        self._loaded[fingerprint] = made
        return made

    def revert(self, fingerprint: str, *, dry_run: bool) -> Fitted:
        """Go back to the configured bound; return the fitted one.

        Raises:
            InvalidInputError: The configured one is in use already.
            StorageError: The file cannot be removed.
        """
        fitted = self.of(fingerprint)
        if fitted is None:
            raise InvalidInputError("no consolidation threshold was fitted: the configured one serves")
        if not dry_run:
            self._files.remove(_file_name(fingerprint))
            self._loaded[fingerprint] = None
        return fitted

    def _read(self, fingerprint: str) -> Fitted | None:
        from pydantic import TypeAdapter, ValidationError

        name = _file_name(fingerprint)
        text = self._files.load(name)
        if text is None:
            return None
        try:
            found = TypeAdapter(Fitted).validate_json(text)
        except ValidationError as error:
            raise StorageError(f"{self._files.place(name)}: is damaged") from error
        if not 0 <= found.threshold <= 1:
            raise StorageError(f"{self._files.place(name)}: is damaged: a threshold is from 0 to 1")
        return found


def _file_name(fingerprint: str) -> str:
    return f"{content_hash(fingerprint)}.json"
