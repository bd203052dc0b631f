"""Entries of curated files, which recall finds beside the chunks of the stores.

A file is the truth about its entries: no store has them. Each recall looks whether a file changed, and reads
it again if it did. The entries are few, so they are compared with the query in memory, by the measures of the
arms: cosine, and BM25 with the counts of the store's own index. What gives orders to the model that reads it
is left out, as `prime` leaves it out.
"""

import logging
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from hydramem.core.config import MemoryConfig
from hydramem.core.errors import StorageError
from hydramem.core.ids import content_hash
from hydramem.core.project_bounds import is_in_bounds
from hydramem.core.row_types import Chunk, CuratedEntry, Times
from hydramem.llm.contracts import Embedder
from hydramem.storage.chunk_filter import LIVE, ChunkFilter
from hydramem.storage.files.curated_files import FILES, CuratedPlace, CuratedTarget, read_curated
from hydramem.storage.vector_rows import Vector
from hydramem.text.tokens import count_tokens

log = logging.getLogger(__name__)

# A file this many times longer than its limit is a document; to embed it would hold up the recall.
_MOST_LIMITS = 10

# Two edits within one tick of a file system's clock leave the same time: a file is read again until then.
_TICK_NANOSECONDS = 2_000_000_000

_Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class CuratedEntries:
    """The entries that a recall may return.

    Attributes:
        chunks: By id.
        problems: Why files are left out, a sentence each.
    """

    chunks: Mapping[str, Chunk] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _FileRead:
    """A curated file as it was read.

    Attributes:
        stamp: Its time, size and inode before it was read.
        settled: Whether a later edit is sure to change the stamp.
        text: What it held; empty where there is a problem.
        problem: Why it is not searched; empty where it is.
    """

    stamp: _Stamp = (0, 0, 0)
    settled: bool = False
    text: str = ""
    entries: tuple[Chunk, ...] = ()
    problem: str = ""


class CuratedFiles:
    """The curated files of a store, as they were read last. Safe to use from many threads.

    Args:
        folder: The store's folder of curated files.
        settings: How long the files may be.
        most_tokens: Entries of more tokens are cut into parts, as a document is.
    """

    def __init__(self, folder: Path, settings: MemoryConfig, *, most_tokens: int) -> None:
        self._folder = folder
        self._settings = settings
        self._most_tokens = most_tokens
        self._lock = threading.Lock()
        self._files: dict[Path, _FileRead] = {}
        self._vectors: dict[tuple[str, str], Vector] = {}

    def admitted(self, where: ChunkFilter) -> CuratedEntries:
        """Return the entries that pass a filter: private notes without a session, a label or a date.

        A file says what holds now. What it said at another time is not known, so a read of another time has
        no entries. A file that cannot be read is a problem and no error.
        """
        if where.states != LIVE or not where.include_private:
            return CuratedEntries()
        files = [self._file(project, target) for project in where.projects for target in FILES]
        return CuratedEntries(
            chunks={one.id: one for each in files for one in each.entries if where.admits(one)},
            problems=tuple(each.problem for each in files if each.problem),
        )

    def entry(self, id: str) -> Chunk | None:
        """Return the entry with an id, as the file is now; None where there is none."""
        project, _, rest = id.partition("/")
        if not is_in_bounds(project):
            return None
        targets = [target for target, name in FILES.items() if rest.startswith(f"{name}#")]
        entries = (one for target in targets for one in self._file(project, target).entries)
        return next((one for one in entries if one.id == id), None)

    def cosines(self, entries: Collection[Chunk], vector: Vector, embedder: Embedder) -> Mapping[str, float]:
        """Return the cosine of each entry to a query, by id; entries that are new are embedded.

        Args:
            entries: The entries.
            vector: The query's, of unit length, shape (dimension,).
            embedder: The embedder of the vectors in use.

        Raises:
            ModelError: The embedder failed.
        """
        if not entries:
            return {}
        vectors = self._embedded([one.text for one in entries], embedder)
        found = np.clip(np.stack(vectors) @ vector, -1.0, 1.0)
        return {one.id: float(cosine) for one, cosine in zip(entries, found, strict=True)}

    def _embedded(self, texts: Sequence[str], embedder: Embedder) -> list[Vector]:
        space = embedder.fingerprint
        with self._lock:
            new = list(dict.fromkeys(text for text in texts if (space, text) not in self._vectors))
            if new:
                made = zip(new, embedder.embed_documents(new), strict=True)
                wanted = {(space, one.text) for each in self._files.values() for one in each.entries}
                wanted |= {(space, text) for text in texts}
                kept = {key: vector for key, vector in self._vectors.items() if key in wanted}
                self._vectors = kept | {(space, text): vector for text, vector in made}
            return [self._vectors[space, text] for text in texts]

    def _file(self, project: str, target: CuratedTarget) -> _FileRead:
        place = CuratedPlace(folder=self._folder, project=project, target=target, settings=self._settings)
        path = place.path
        with self._lock:
            stamp, known = _stamp(path), self._files.get(path, _FileRead())
            if stamp is None:
                self._files.pop(path, None)
                return _FileRead()
            if known.settled and known.stamp == stamp:
                return known
            read = self._files[path] = _read(place, stamp, known, self._most_tokens)
            if read.problem not in ("", known.problem):
                log.warning("a curated file is not searched: %s", read.problem)
            return read


def _stamp(path: Path) -> _Stamp | None:
    """Return a file's time, size and inode; None where there is no file."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    except OSError:
        return 0, 0, 0  # reading it tells what is wrong
    return found.st_mtime_ns, found.st_size, found.st_ino


def _read(place: CuratedPlace, stamp: _Stamp, known: _FileRead, most_tokens: int) -> _FileRead:
    settled = abs(time.time_ns() - stamp[0]) > _TICK_NANOSECONDS
    try:
        held = read_curated(place.path, limit=place.limit)
    except StorageError as error:
        return _FileRead(stamp, settled, problem=str(error))
    if held.text and held.text == known.text:
        return replace(known, stamp=stamp, settled=settled)
    if held.chars > _MOST_LIMITS * place.limit:
        problem = (
            f"{place.path}: {held.chars:,} characters are more than {_MOST_LIMITS} times its limit of "
            f"{place.limit:,}; ingest it as a document"
        )
        return _FileRead(stamp, settled, problem=problem)
    # Few stores have such files: where there is none, a recall loads none of this.
    from hydramem.ingest.screening.quarantine import threats_in
    from hydramem.text.chunking import split_turn

    safe = [entry for entry in held.entries if not threats_in(entry)]
    parts = [part for entry in safe for part in split_turn(entry, most_tokens)]
    changed_at = datetime.fromtimestamp(stamp[0] / 1e9, UTC)
    entries = tuple(_entry(part, place, number, changed_at) for number, part in enumerate(parts))
    return _FileRead(stamp, settled, text=held.text, entries=entries)


def _entry(text: str, place: CuratedPlace, position: int, changed_at: datetime) -> Chunk:
    name = FILES[place.target]
    return CuratedEntry(
        id=f"{place.project}/{name}#{content_hash(text)[:12]}",
        project=place.project,
        text=text,
        kind="note",
        position=position,
        tokens=count_tokens(text),
        source=name,
        source_type="curated",
        private=True,  # it may describe the user
        times=Times(recorded_at=changed_at),
    )
