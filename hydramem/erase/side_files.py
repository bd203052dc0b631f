"""The store's files beside graph and vectors: which are written anew, which go, and which a person must edit.

Reports and plans of the gardener, rows that were lost, cached replies of models and fitted weights are the
store's own. Curated files belong to a person: they are only named.
"""

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hydramem.core.errors import StorageError
from hydramem.core.ids import content_hash
from hydramem.core.results.erasure_results import FileToEdit
from hydramem.erase.erasure import Erasure
from hydramem.erase.traces import Traces
from hydramem.garden.edges.edge_scoring import MODEL
from hydramem.garden.phases.lasting_communities import FILE as COMMUNITIES
from hydramem.storage.files.curated_files import curated_file
from hydramem.storage.repair.lost_rows import FOLDER_OF_LOST
from hydramem.storage.repair.reindex import FIRST_FOLDER
from hydramem.telemetry.recorder import FILE as TELEMETRY
from hydramem.text.normalize import folded

REPLIES = Path("models") / "vog_replies.db"
_OWN = frozenset(
    {"graph", "models", "garden", "curated", "backups", "hooks", FOLDER_OF_LOST, "owner.lock", "owner.json"}
    | {"telemetry.damaged.db", *(f"{TELEMETRY}{side}" for side in ("", "-wal", "-shm"))}
)
"""Parts of a store that have their own way; telemetry holds numbers, and no text that could be erased."""
_VECTORS = re.compile(rf"{FIRST_FOLDER}(-[0-9a-f]{{12}}|\.damaged-.*)?")
_MOST_READ = 64 << 20


@dataclass(slots=True, kw_only=True)
class Staging:
    """New files on their way into a store.

    Attributes:
        folder: The store.
        staged: Where new files are made, under the paths that they are to have.
        within: The part of the store that is worked on, such as a folder kept by `restore`; empty for all.
        replaced, deleted: Paths relative to the store.
        to_edit: What a person must do.
    """

    folder: Path
    staged: Path
    within: Path = Path()
    replaced: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    to_edit: list[FileToEdit] = field(default_factory=list)

    @property
    def root(self) -> Path:
        """The folder that is worked on."""
        return self.folder / self.within

    def parts(self, pattern: str) -> list[Path]:
        """Return the paths in the worked-on folder that match a pattern, by name."""
        return sorted(self.root.glob(pattern))

    def place(self, path: Path | str) -> Path:
        """Return where the new content of a path is to be made; from now on it replaces the old."""
        name = self.within / path
        made = self.staged / name
        made.parent.mkdir(parents=True, exist_ok=True)
        self.replaced.append(name.as_posix())
        return made

    def delete(self, path: Path) -> None:
        """Have a path of the store go."""
        self.deleted.append(path.relative_to(self.folder).as_posix())

    def name(self, path: Path, why: str) -> None:
        """Have a person look at a file."""
        self.to_edit.append(FileToEdit(path=str(path), why=why))


def vector_folders(staging: Staging) -> list[Path]:
    """Return the folders of vectors, in use or not, damaged or whole: all derive from a graph."""
    found = staging.parts(f"{FIRST_FOLDER}*")
    return [path for path in found if path.is_dir() and _VECTORS.fullmatch(path.name)]


def stage_side_files(staging: Staging, erasure: Erasure) -> None:
    """Stage every file of a store beside graph, vectors and backups.

    Raises:
        OSError: A file cannot be read or written.
        StorageError: The cached replies cannot be written anew.
    """
    traces = erasure.file_traces
    _stage_garden(staging, erasure, traces)
    _stage_lost(staging, erasure)
    _stage_replies(staging, erasure, traces)
    _stage_waiting_turns(staging, erasure, traces)
    for project in erasure.projects:
        for folder in staging.parts(f"models/*/*{content_hash(project)}"):
            staging.delete(folder)
    _name_curated(staging, erasure, traces)
    _name_others(staging, traces)


def _stage_garden(staging: Staging, erasure: Erasure, traces: Traces) -> None:
    # A model wrote what such a community is about from what was erased too; the next run finds it again.
    summarised = Traces((*erasure.ids, *erasure.entities_after))
    own = {content_hash(project)[:16] for project in erasure.projects}
    touched = {content_hash(project)[:16] for project in erasure.touched}
    for folder in staging.parts("garden/*"):
        if folder.name in own:
            staging.delete(folder)
            continue
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            # What was learned from erased rows; the next run learns again.
            if file.name == MODEL and folder.name in touched:
                staging.delete(file)
            elif file.name == COMMUNITIES:
                _stage_json(staging, file, traces, summarised)
            elif file.suffix in (".json", ".jsonl"):
                _stage_json(staging, file, traces)


def _stage_json(staging: Staging, file: Path, traces: Traces, summarised: Traces | None = None) -> None:
    """Leave the items of a list, or the lines of a file, with traces out; a report with any goes whole.

    Args:
        staging, file, traces: The file, and what it may hold.
        summarised: Of an item with a summary also these are traces.
    """

    def stays(item: Any) -> bool:
        if traces.in_value(item):
            return False
        by_model = isinstance(item, dict) and bool(item.get("summary"))
        return summarised is None or not (by_model and summarised.in_value(item))

    text = file.read_text(encoding="utf-8", errors="replace")
    try:
        if file.suffix == ".jsonl":
            _stage_lines(staging, file, text, stays)
            return
        value = json.loads(text)
    except ValueError:
        if traces.in_text(text):
            staging.delete(file)
        return
    if isinstance(value, list):
        if len(kept := list(filter(stays, value))) < len(value):
            staging.place(file.relative_to(staging.root)).write_text(json.dumps(kept), encoding="utf-8")
    elif not stays(value):
        staging.delete(file)


def _stage_lines(staging: Staging, file: Path, text: str, stays: Callable[[Any], bool]) -> None:
    lines = text.splitlines()
    kept = [line for line in lines if not line.strip() or stays(json.loads(line))]
    if not kept:
        staging.delete(file)
    elif len(kept) < len(lines):
        place = staging.place(file.relative_to(staging.root))
        place.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")


def _stage_lost(staging: Staging, erasure: Erasure) -> None:
    """Leave erased rows out of the files of lost rows, which hold the last copy of the others."""
    texts = [folded(text) for text in erasure.texts if text.strip()]

    def stays(row: Any) -> bool:
        if row.get("id") in erasure.ids or row.get("project") in erasure.projects:
            return False
        words = folded(str(row.get("text") or row.get("name") or ""))
        return not any(text in words for text in texts)

    for file in staging.parts(f"{FOLDER_OF_LOST}/*.jsonl"):
        try:
            _stage_lines(staging, file, file.read_text(encoding="utf-8"), stays)
        except ValueError:
            staging.name(file, "it is damaged, so that rows cannot be told apart; look at it, and delete it")


def _stage_replies(staging: Staging, erasure: Erasure, traces: Traces) -> None:
    """Copy the cached replies without those about erased chunks, in a fresh file."""
    source = staging.root / REPLIES
    if not source.is_file():
        return
    place = staging.place(REPLIES)
    try:
        with _database(source) as old:
            old.execute("VACUUM INTO ?", (str(place),))
        with _database(place) as copy:
            copy.execute("PRAGMA secure_delete = ON")
            places = {
                row[0]
                for row in copy.execute("SELECT place, chunk FROM read_from")
                if row[1] in erasure.chunks
            }
            replies = copy.execute("SELECT place, reply FROM replies")
            places |= {row[0] for row in replies if traces.in_text(row[1] or "")}
            for table in ("read_from", "replies"):
                copy.executemany(f"DELETE FROM {table} WHERE place = ?", [(one,) for one in places])  # noqa: S608
            copy.commit()
            copy.execute("VACUUM")
    except sqlite3.DatabaseError as error:
        raise StorageError(
            f"{source}: cannot be written anew: {error}; delete it, models are asked again"
        ) from error


def _stage_waiting_turns(staging: Staging, erasure: Erasure, traces: Traces) -> None:
    """Have turns go that hooks of hosts keep until the memory has them; their other files hold no words."""
    for file in staging.parts("hooks/waiting/*.json"):
        try:
            turns = json.loads(file.read_text(encoding="utf-8"))
        except ValueError:
            staging.delete(file)
            continue
        if turns.get("project") in erasure.projects or traces.in_value(turns):
            staging.delete(file)


@contextmanager
def _database(file: Path) -> Iterator[sqlite3.Connection]:
    """Open a database and close it, which `sqlite3` itself does not."""
    connection = sqlite3.connect(file)
    try:
        yield connection
    finally:
        connection.close()


def _name_curated(staging: Staging, erasure: Erasure, traces: Traces) -> None:
    folder = staging.root / "curated"
    own = {curated_file(folder, project, "memory").parent for project in erasure.projects}
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        if file.parent in own:
            staging.name(file, "it is a curated file of the erased project: delete it if it is to go too")
        elif _has_trace(file, traces):
            staging.name(file, "it is a curated file that states something of the erased text: edit it")


def _name_others(staging: Staging, traces: Traces) -> None:
    """Name files that are not the store's own where they hold erased words."""
    for path in staging.parts("*"):
        kept = path.name.startswith((".", "replaced-")) or _VECTORS.fullmatch(path.name)
        if path.name in _OWN or (kept and path.is_dir()):
            continue
        for file in _files(path):
            if _has_trace(file, traces):
                staging.name(file, "it is no file of the store and holds erased words: edit or delete it")


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir() and not path.is_symlink():
        yield from sorted(each for each in path.rglob("*") if each.is_file())
    elif path.is_file():
        yield path


def _has_trace(file: Path, traces: Traces) -> bool:
    with file.open("rb") as data:
        text = data.read(_MOST_READ).decode("utf-8", "replace")
    return traces.in_text(text)
