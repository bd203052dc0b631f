"""Change the short plain files that go into an agent's prompts, and keep notes in step with them.

The file itself decides what it holds. A change is added to the history right after the file is written; a
process that dies in between leaves the file changed and the history without it.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

from hydramem.core.argument_checks import check_text
from hydramem.core.errors import InvalidInputError
from hydramem.core.ids import content_hash
from hydramem.core.inputs import CuratedChange, MemoryInput
from hydramem.core.results.write_results import Curated
from hydramem.core.row_types import Chunk
from hydramem.core.time import clock
from hydramem.ingest.knowledge.support import matching_chunks
from hydramem.ingest.memories.emptied_curated_files import OPERATION, emptied_file, history_name
from hydramem.ingest.memories.remember import remember
from hydramem.ingest.screening.quarantine import screen, threats_in
from hydramem.ingest.write_target import Target
from hydramem.storage.changes import record
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.files.curated_files import (
    DELIMITER,
    CuratedPlace,
    CuratedText,
    block,
    changed,
    gone,
    keep_copy,
    normal,
    read_curated,
    write_curated,
    writing,
)
from hydramem.storage.store import GraphStore
from hydramem.storage.write import Write

log = logging.getLogger(__name__)
_MOST_CHANGES = 200
_MOST_ENTRIES = 2000
_MOST_ENTRY = 1_000_000
_SIGN = DELIMITER.strip()


def curated(place: CuratedPlace, graph: GraphStore) -> Curated:
    """Return what a curated file holds, as a list and as a block for a prompt.

    Args:
        place: The file.
        graph: Its history knows whether an empty file held something.

    Raises:
        StorageError: It cannot be read.
    """
    held = read_curated(place.path, limit=place.limit)
    emptied = None if held.entries else emptied_file(place, graph)
    if emptied is not None:
        log.warning("%s", emptied)
    name = place.path.name
    found = (why for entry in held.entries for why in threats_in(entry))
    threats = [f"an entry is kept out of prompts: {why}" for why in found]
    return Curated(
        target=place.target,
        path=str(place.path),
        entries=held.entries,
        version=version_of(held),
        chars=held.chars,
        limit=place.limit,
        block=block(place.target, [_prompt_entry(entry, name) for entry in held.entries], limit=place.limit),
        problems=(*filter(None, (held.drift, emptied)), *threats),
    )


def _prompt_entry(entry: str, name: str) -> str:
    """Return an entry as a prompt may hold it: one that gives orders is named, never repeated."""
    threats = threats_in(entry)
    if not threats:
        return entry
    kinds = ", ".join(dict.fromkeys(why.split(":")[0] for why in threats))
    return f"[BLOCKED: {name} entry contained threat pattern(s): {kinds}. Edit the file or remove the entry.]"


def curate(
    place: CuratedPlace,
    changes: Sequence[CuratedChange],
    *,
    entries: Sequence[str] | None,
    expect: str | None,
    to_notes: bool,
    from_notes: bool,
    target: Target,
    forget: Callable[[Sequence[str]], object],
) -> Curated:
    """Change a curated file by a batch, all of it or nothing.

    Args:
        place: Which file.
        changes: Made one after the other.
        entries: In place of changes: all entries that it then holds.
        expect: The version that the file must have.
        to_notes: Whether each entry becomes a note with the file's name as its source, and the notes of
            entries that this batch took out are forgotten.
        from_notes: Whether notes with the file's name as their source are added after the changes, the most
            important first, as far as there is room.
        target: Where notes are, and the history.
        forget: Archives notes by id.

    Raises:
        InvalidInputError: A change is wrong, ambiguous, too long or gives orders to who reads it, or a
            person left the file in a form that would not be kept; nothing is written.
        NotFoundError: No entry holds the words of a change; nothing is written.
        StorageError: The file cannot be read or written.
    """
    if len(changes) > _MOST_CHANGES:
        raise InvalidInputError(f"changes: {len(changes)}, more than the {_MOST_CHANGES} of one batch")
    if changes and entries is not None:
        raise InvalidInputError("entries: give them or changes, not both")
    screened = [_screened(change, f"changes[{index}]", place) for index, change in enumerate(changes)]
    name = place.path.name
    with writing(place.path):
        held = read_curated(place.path, limit=place.limit)
        if expect is not None and expect != version_of(held):
            raise InvalidInputError(f"expect: {name} changed since it was read; read it again")
        if held.drift and (entries is not None or any(change.action != "add" for change in screened)):
            raise _drift_error(place, held)
        if entries is None:
            after = changed(
                held, screened, limit=place.limit, name=name, shown=lambda entry: _prompt_entry(entry, name)
            )
        else:
            after = _whole(held, entries, place)
        left_out: tuple[str, ...] = ()
        if from_notes:
            after, left_out = _entries_with_notes(after, place, target.graph)
        if after != held.entries:
            write_curated(place.path, after)
            _record(place, held.entries, after, target)
    now_held = replace(curated(place, target.graph), changed=after != held.entries, left_out=left_out)
    return (
        _with_synced_notes(now_held, gone(held.entries, after), place, target, forget)
        if to_notes
        else now_held
    )


def _screened(change: CuratedChange, where: str, place: CuratedPlace) -> CuratedChange:
    if not isinstance(change, CuratedChange):
        raise InvalidInputError(f"{where}: expected a CuratedChange, got {type(change).__name__}")
    if not normal(change.content):
        return change
    screened = screen(change.content, place.settings, name=f"{where}.content", most=place.limit)
    if screened.state != "active":
        raise InvalidInputError(
            f"{where}.content: is not taken into {place.path.name}, which goes into prompts as it is: "
            f"{'; '.join(screened.reasons)}"
        )
    return replace(change, content=screened.text)


def _whole(held: CuratedText, entries: Sequence[str], place: CuratedPlace) -> tuple[str, ...]:
    """Return entries that take the place of all that a file holds; those it has are not screened again."""
    if len(entries) > _MOST_ENTRIES:
        raise InvalidInputError(f"entries: {len(entries):,}, more than {_MOST_ENTRIES:,}")
    found: list[str] = []
    for index, entry in enumerate(entries):
        where = f"entries[{index}]"
        text = normal(check_text(entry, name=where, most=_MOST_ENTRY))
        if any(line.strip(" \t") == _SIGN for line in text.split("\n")):
            raise InvalidInputError(f"{where}: holds a line that is only {_SIGN}, which parts entries")
        change = CuratedChange(action="add", content=text)
        found.append(text if text in held.entries else normal(_screened(change, where, place).content))
    after = tuple(dict.fromkeys(filter(None, found)))
    chars = len(DELIMITER.join(after))
    if chars > place.limit and chars >= held.chars:
        raise InvalidInputError(
            f"entries: {chars:,} characters, more than the {place.limit:,} of {place.path.name}"
        )
    return after


def version_of(held: CuratedText) -> str:
    """Return a digest of what a file holds, another one after every change of it."""
    return content_hash(held.text)[:16]


def _drift_error(place: CuratedPlace, held: CuratedText) -> InvalidInputError:
    copy = keep_copy(place.path, held)
    return InvalidInputError(
        f"{place.path}: was edited into a form that writing it back would not keep: {held.drift}. A copy is "
        f"{copy.name}; edit the file into entries parted by lines that hold only §, then try again"
    )


def _record(place: CuratedPlace, before: Sequence[str], after: Sequence[str], target: Target) -> None:
    change = record(
        OPERATION,
        project=place.project,
        target=history_name(place.path),
        before={"entries": list(before)},
        after={"entries": list(after)},
    )
    target.commit(Write(changes=(change,)), {})


def _entries_with_notes(
    entries: tuple[str, ...], place: CuratedPlace, graph: GraphStore
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a file's entries with the notes that it lacks, most important first, and what had no room."""
    notes = sorted(_notes(place, graph), key=lambda note: (-note.importance, note.times.recorded_at))
    texts = dict.fromkeys(normal(note.text) for note in notes)
    left_out: list[str] = []
    for text in texts:
        if text in entries:
            continue
        longer = (*entries, text)
        too_long = len(DELIMITER.join(longer)) > place.limit
        if too_long or _splits(text, place.limit) or threats_in(text):
            left_out.append(text)
        else:
            entries = longer
    return entries, tuple(left_out)


def _splits(text: str, limit: int) -> bool:
    """Say whether the file would not return a text as the one entry that it is."""
    probe = [CuratedChange(action="add", content=text)]
    try:
        return changed(CuratedText(), probe, limit=limit, name="", shown=str) != (text,)
    except InvalidInputError:
        return True


def _notes(place: CuratedPlace, graph: GraphStore) -> list[Chunk]:
    where = ChunkFilter(projects=(place.project,), kinds=("note",), at=clock())
    return [note for note in matching_chunks(where, graph) if note.source == place.path.name]


def _with_synced_notes(
    now_held: Curated,
    removed: Sequence[str],
    place: CuratedPlace,
    target: Target,
    forget: Callable[[Sequence[str]], object],
) -> Curated:
    """Make a note of each entry, and forget those of entries that were taken out."""
    source = place.path.name
    old = [note.id for note in _notes(place, target.graph) if note.text in removed] if removed else []
    if old:
        forget(old)
    # Word for word: an entry that says what another note says is still an entry of this file.
    settings = replace(place.settings, cognitive=False)
    made = [
        remember(MemoryInput(text=entry, source=source), target=target, settings=settings)
        for entry in now_held.entries
    ]
    new = tuple(one.id for one in made if one.created)
    return replace(now_held, remembered=new, forgotten=tuple(old))
