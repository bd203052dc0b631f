"""Each project's own weights and thresholds, as numbered files in the store's folder.

`models/verification/<project>/` holds one file per calibration, and `current.json`, which names the one in
use. A file is written whole or not at all and never changed: going back means naming another one.
"""

import json
import logging
import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path

from hydramem.core.config import VerificationConfig
from hydramem.core.errors import HydraMemError, InvalidInputError, StorageError
from hydramem.core.ids import content_hash
from hydramem.core.results.verdicts import CalibrationMeasure
from hydramem.storage.files.durable_files import storage_errors, write_whole
from hydramem.verification.first_stage.weights import DEFAULT, Weights

log = logging.getLogger(__name__)
_CURRENT = "current.json"
_NUMBERED = re.compile(r"([0-9]{1,9})\.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The weights and threshold that verify a project's relations.

    Attributes:
        project: Whose it is.
        number: Of its file; 0 for what the package ships.
        previous: Number of the one that it replaced.
        accept_at: Probability from which it accepts; None leaves that to the configuration.
        max_false_accept: Share of false ones among the accepted that `accept_at` was chosen for.
        labels: How many labels it learned from, by who gave them.
        measures: How the weights did on labels held out of the fit.
        at: When it was made.
    """

    project: str = ""
    number: int = 0
    previous: int = 0
    weights: Weights = DEFAULT
    accept_at: float | None = None
    max_false_accept: float | None = None
    labels: Mapping[str, int] = field(default_factory=dict)
    measures: tuple[CalibrationMeasure, ...] = ()
    at: datetime | None = None

    def applied_to(self, configured: VerificationConfig) -> VerificationConfig:
        """Return settings with the threshold that the calibration chose, where it chose one."""
        if self.accept_at is None:
            return configured
        return replace(configured, accept_at=max(self.accept_at, configured.reject_below))


SHIPPED = Calibration()


class Calibrations:
    """The calibrations of one store. Safe to use from many threads.

    Args:
        folder: The store's folder; None keeps them for as long as this lives.
        names: The features of this version; a calibration of others is refused.
    """

    def __init__(self, folder: Path | None, names: tuple[str, ...]) -> None:
        self._files = SavedFiles(None if folder is None else folder / "models" / "verification")
        self._names = names
        self._lock = threading.Lock()
        self._serving: dict[str, tuple[Calibration, str | None]] = {}

    def of(self, project: str) -> Calibration:
        """Return the calibration of a project; one that cannot be used is logged, once."""
        with self._lock:
            return self._served(project)[0]

    def problem(self, project: str) -> str | None:
        """Return why a project's calibration cannot be used and the shipped one is; None where it can."""
        with self._lock:
            return self._served(project)[1]

    def keep(self, made: Calibration) -> Calibration:
        """Use a calibration for its project from now on; return it as it is stored, with its number.

        Raises:
            StorageError: It cannot be written; the one before stays in use.
        """
        project = made.project
        with self._lock:
            number = max(self._numbers(project), default=0) + 1
            weights = made.weights
            if weights is not DEFAULT:
                weights = replace(weights, version=f"{DEFAULT.version}+{number}")
            serving = self._served(project)[0].number
            kept = replace(made, number=number, previous=serving, weights=weights)
            text = json.dumps(asdict(kept), default=str, indent=1)
            self._files.save(f"{_folder_name(project)}/{number}.json", text)
            self._point(project, number)
            self._serving[project] = (kept, None)
            return kept

    def revert(self, project: str, *, dry_run: bool = False) -> Calibration:
        """Go back to the calibration before the present one; return it.

        Raises:
            InvalidInputError: The shipped one is in use already.
            StorageError: A file cannot be read or written.
        """
        with self._lock:
            serving, problem = self._served(project)
            if serving.number == 0 and problem is None:
                raise InvalidInputError(
                    f"project {project!r} has no calibration to go back from: the shipped weights serve"
                )
            # From one that cannot be used, the way back is to what serves in its place already.
            before = self._read(project, serving.previous)
            if not dry_run:
                self._point(project, before.number)
                self._serving[project] = (before, None)
            return before

    def _served(self, project: str) -> tuple[Calibration, str | None]:
        if project not in self._serving:
            try:
                self._serving[project] = (self._read(project, self._current(project)), None)
            except HydraMemError as error:
                problem = (
                    f"{error}; the shipped weights serve project {project!r} until `hydramem calibrate` "
                    "makes new ones, or `hydramem calibrate --revert` sets these aside"
                )
                log.warning("%s", problem)
                self._serving[project] = (SHIPPED, problem)
        return self._serving[project]

    def _current(self, project: str) -> int:
        path = f"{_folder_name(project)}/{_CURRENT}"
        text = self._files.load(path)
        if text is None:
            return 0
        try:
            return int(json.loads(text)["serving"])
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise StorageError(f"{self._files.place(path)}: does not name a calibration") from error

    def _point(self, project: str, number: int) -> None:
        text = json.dumps({"project": project, "serving": number})
        self._files.save(f"{_folder_name(project)}/{_CURRENT}", text)

    def _read(self, project: str, number: int) -> Calibration:
        """Return a calibration of a project by its number.

        Raises:
            StorageError: It is not there, damaged, another project's, or of other features.
        """
        from pydantic import TypeAdapter, ValidationError

        if number == 0:
            return SHIPPED
        path = f"{_folder_name(project)}/{number}.json"
        place, text = self._files.place(path), self._files.load(path)
        if text is None:
            raise StorageError(f"{place}: is not there")
        try:
            found = TypeAdapter(Calibration).validate_json(text)
            Weights.from_json(found.weights.to_json())
        except (ValidationError, InvalidInputError) as error:
            raise StorageError(f"{place}: is damaged") from error
        if found.project != project or found.number != number:
            raise StorageError(f"{place}: is number {found.number} of project {found.project[:80]!r}")
        if set(found.weights.names) != set(self._names):
            odd = sorted(set(found.weights.names).symmetric_difference(self._names))
            raise StorageError(f"{place}: was made by another version of HydraMem ({', '.join(odd)[:200]})")
        return found

    def _numbers(self, project: str) -> Iterator[int]:
        names = self._files.names(_folder_name(project))
        return (int(match[1]) for name in names if (match := _NUMBERED.fullmatch(name)))


class SavedFiles:
    """Texts by path, such as `project/1.json`: files in a folder, or in memory where there is none.

    Args:
        folder: The folder; None keeps the texts for as long as this lives.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._texts: dict[str, str] = {}

    def place(self, path: str) -> str:
        """Return how messages name a text."""
        return path if self._folder is None else str(self._folder / path)

    def names(self, subfolder: str) -> list[str]:
        """Return the names of the texts in a subfolder."""
        if self._folder is None:
            return [path.partition("/")[2] for path in self._texts if path.startswith(f"{subfolder}/")]
        folder = self._folder / subfolder
        return [part.name for part in folder.iterdir()] if folder.is_dir() else []

    def load(self, path: str) -> str | None:
        """Return a text, None where there is none.

        Raises:
            StorageError: It cannot be read.
        """
        if self._folder is None:
            return self._texts.get(path)
        file = self._folder / path
        try:
            return file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise StorageError(f"{file}: cannot be read: {error}") from error

    def save(self, path: str, text: str) -> None:
        """Write a text, whole or not at all.

        Raises:
            StorageError: It cannot be written.
        """
        if self._folder is None:
            self._texts[path] = text
            return
        file = self._folder / path
        with storage_errors(file, "cannot be written"):
            file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(file, text)

    def remove(self, path: str) -> None:
        """Remove a text, where there is one.

        Raises:
            StorageError: It cannot be removed.
        """
        self._texts.pop(path, None)
        if self._folder is not None:
            with storage_errors(self._folder, "cannot be written"):
                (self._folder / path).unlink(missing_ok=True)


def _folder_name(project: str) -> str:
    """Return a folder name that stays in its parent folder and that no other project shares."""
    readable = re.sub(r"[^a-z0-9]+", "-", project.casefold())[:40].strip("-")
    return f"{readable}-{content_hash(project)}" if readable else content_hash(project)
