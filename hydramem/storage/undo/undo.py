"""Undo: take back what one run wrote, or one change of it, as far as nothing came after; itself a write.

Every transaction leaves an image of what it did on its first Change (`undo_images`). The images of a
run, joined, say what it did to each row in the end; that is set against the rows as they are, and what is as
the run left it goes back. What was written since stays and is listed. Undo writes its own Changes and images,
so that it can be undone the same way.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.core.results.upkeep_results import Undone
from hydramem.core.row_types import Change
from hydramem.storage.changes import in_one_run, no_longer_known, purged_by, purges, record
from hydramem.storage.outbox import Mirror, worth_a_vector
from hydramem.storage.schema import CHUNK, ENTITY, LINKS, RELATES, EdgeTable, Table
from hydramem.storage.store import GraphStore
from hydramem.storage.undo.current_rows import Stored, look_up, row_of
from hydramem.storage.undo.undo_images import TABLES, Address, Trace, joined
from hydramem.storage.undo.undo_plan import UndoPlan, plan
from hydramem.storage.vector_rows import indexed_text
from hydramem.storage.write import Removal, Write
from hydramem.storage.write_validation import batches
from hydramem.text.shown_text import amount

OPERATION = "undo"

# One transaction as long as memory holds it; beyond, pieces that another undo can go on from.
_MOST_ROWS = 5000

_PIECE = 2000

_FIELDS = {
    "Document": "documents",
    "Session": "sessions",
    "Entity": "entities",
    "Chunk": "chunks",
    "MENTIONS": "mentions",
    "RELATES": "relations",
    "LINKS": "links",
}

_OUTSIDE = {
    "curate": "`MEMORY.md` and `USER.md` are files and stay as they are; `curate` changes them.",
    "calibrate": "Fitted weights are files and stay as they are; `calibrate` with `revert` goes back.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _UndoRequest:
    """What is to be undone.

    Attributes:
        changes: All of a run, or the one change.
        images: Of the whole run, oldest first.
    """

    id: str
    changes: tuple[Change, ...]
    images: tuple[str, ...]

    @property
    def operations(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(change.operation for change in self.changes))


def undo(id: str, *, graph: GraphStore, mirror: Mirror, force: bool = False) -> Undone:
    """Take back what a run wrote, or one change of it.

    Args:
        id: Of a run or of a change.
        graph: What it wrote to.
        mirror: The way to write.
        force: Take back too what was written since.

    Raises:
        NotFoundError: Nothing has that id.
        InvalidInputError: It was undone already, or left nothing to undo it by; nothing is written.
    """
    with mirror.one_writer, in_one_run() as run:
        asked = _find(id, run, graph)
        undone = _check_standing(asked, graph, force=force)
        every = joined((*asked.images, *undone))
        stored = look_up(every, graph)
        traces = _of_changes(asked, every, stored)
        if not traces:
            why = "changed no rows, or was written before writes could be undone"
            if any(purged_by(change) for change in asked.changes):
                why = "took out changes that were too old, and those are gone for good"
            raise InvalidInputError(f"{id}: {'was undone already, bit by bit' if undone else why}")
        made = plan(traces, stored, force=force)
        _commit(asked, made, stored, mirror, force=force)
    return Undone(
        run=run,
        of=id,
        operations=asked.operations,
        removed=_counts(made.removed),
        restored=_counts(made.restored),
        left=tuple(made.left[address] for address in sorted(made.left)),
        notes=tuple(_outside(asked)),
    )


def is_undone(run: str, graph: GraphStore) -> bool:
    """Say whether a run was taken back, and stayed so."""
    return bool(_undoing(run, graph))


def _outside(asked: _UndoRequest) -> Iterator[str]:
    """Yield what is not undone, a sentence each."""
    yield from (_OUTSIDE[name] for name in asked.operations if name in _OUTSIDE)
    gone = sum(purged.changes for change in asked.changes if (purged := purged_by(change)) is not None)
    if gone:
        yield f"{amount(gone, 'change')} that limits.change_days keeps no longer went in it, and stay gone."


def _find(id: str, current: str, graph: GraphStore) -> _UndoRequest:
    if id == current:
        raise InvalidInputError(f"{id}: is the run that asks for it")
    changes = graph.changes(run=id)
    if not changes and not (changes := graph.changes(id=id)):
        raise NotFoundError(f"{id[:80]!r}: no run and no change has this id{no_longer_known(graph)}")
    whole = changes if changes[0].run == id else graph.changes(run=changes[0].run)
    if any(gone.part_of and gone.part_of in (id, changes[0].run) for _, gone in purges(graph)):
        raise InvalidInputError(f"{id}: part of it is gone, being too old (limits.change_days)")
    images = tuple(change.image for change in whole if change.image)
    return _UndoRequest(id=id, changes=changes, images=images)


def _check_standing(asked: _UndoRequest, graph: GraphStore, *, force: bool) -> tuple[str, ...]:
    """Check that this is not undone already; what was left alone then can still be forced.

    Returns:
        The images of undoing it before, whose work is not to be done twice.

    Raises:
        InvalidInputError: It is undone already.
    """
    runs: dict[str, None] = {}
    for id in dict.fromkeys((asked.id, asked.changes[0].run or asked.id)):
        undone = _undoing(id, graph)
        for change in undone:
            told = _told(change)
            if not told.get("part") and (told.get("force") or not (force and told.get("left"))):
                raise InvalidInputError(
                    f"{id}: was undone at {change.at:%Y-%m-%d %H:%M} UTC; to have it back, undo {change.run}"
                )
        runs.update(dict.fromkeys(change.run for change in undone if change.run))
    return tuple(change.image for run in runs for change in graph.changes(run=run) if change.image)


def _undoing(id: str, graph: GraphStore) -> list[Change]:
    """Return the changes that undid a run or change and stand, oldest first."""
    leads = [change for change in graph.changes(target=id) if _told(change).get("finished")]
    done = [change for change in leads if change.operation == OPERATION and change.run]
    return [change for change in done if not _undoing(str(change.run), graph)]


def _told(change: Change) -> dict[str, Any]:
    told = json.loads(change.after or "null")
    return told if isinstance(told, dict) else {}


def _is_lead(change: Change) -> bool:
    """Say whether a change tells of an undo as a whole, and of no row."""
    return change.operation == OPERATION and "finished" in _told(change)


def _of_changes(asked: _UndoRequest, every: Sequence[Trace], stored: Stored) -> list[Trace]:
    """Return the traces of what is asked for: of one change, the rows it names and what rests on them."""
    if asked.id == asked.changes[0].run:
        return list(every)
    named = set(_texts([_read(asked.changes[0].before), _read(asked.changes[0].after)]))
    named.add(asked.changes[0].target)
    chunks = {trace.key[0] for trace in every if trace.table is CHUNK and trace.key[0] in named}
    about = {row.entity for row in stored.mentions if row.chunk in chunks}
    return [trace for trace in every if _belongs(trace, named, chunks, about, stored)]


def _belongs(trace: Trace, named: set[str], chunks: set[str], about: set[str], stored: Stored) -> bool:
    if trace.key[-1] in named and trace.table is not ENTITY:
        return True
    if trace.table is ENTITY:
        return trace.key[0] in about or trace.key[0] in named
    if trace.table is RELATES:
        row = stored.rows.get((RELATES.name, trace.key)) or trace.before or {}
        return not chunks.isdisjoint(row.get("evidence") or ())
    ends = trace.key[:2] if trace.table is LINKS else trace.key[:1]
    return isinstance(trace.table, EdgeTable) and not chunks.isdisjoint(ends)


def _read(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value: ids are among them."""
    match value:
        case str():
            yield value
        case Mapping():
            yield from _texts(list(value.values()))
        case list():
            for item in value:
                yield from _texts(item)
        case _:
            pass


def _counts(addresses: Mapping[Address, Table]) -> Mapping[str, int]:
    return dict(sorted(Counter(_FIELDS[name] for name, _ in addresses).items()))


# Writing ----------------------------------------------------------------------------------------
def _commit(asked: _UndoRequest, made: UndoPlan, stored: Stored, mirror: Mirror, *, force: bool) -> None:
    pieces = _pieces(made)
    for place, piece in enumerate(pieces):
        last = place == len(pieces) - 1
        told = _leads(asked, made, force=force, finished=last)
        changes = (*told, *_mirrored(asked, made)) if last else told
        write = replace(piece, changes=changes)
        mirror.commit(write, mirror.embed_by_id(_to_embed(write, stored)))


def _pieces(made: UndoPlan) -> list[Write]:
    """Return the writes of a plan, without their changes: rows before the edges between them."""
    tables = list(TABLES)
    steps = [("put", address) for address in sorted(made.put, key=lambda each: tables.index(each[0]))]
    steps += [
        ("remove", address)
        for address in sorted(made.removed, key=lambda each: tables.index(each[0]), reverse=True)
    ]
    size = max(1, len(steps) if len(steps) <= _MOST_ROWS else _PIECE)
    return [_piece(part, made) for part in batches(steps, size)] or [Write(changes=())]


def _piece(steps: Iterable[tuple[str, Address]], made: UndoPlan) -> Write:
    rows: dict[str, list[Any]] = {field: [] for field in _FIELDS.values()}
    gone: dict[str, list[Any]] = {field: [] for field in _FIELDS.values()}
    for step, (name, key) in steps:
        if step == "put":
            rows[_FIELDS[name]].append(row_of(TABLES[name], made.put[name, key]))
        else:
            gone[_FIELDS[name]].append(key[0] if len(key) == 1 else key)
    written: dict[str, Any] = {field: tuple(items) for field, items in rows.items()}
    return Write(
        changes=(), **written, removed=Removal(**{field: tuple(keys) for field, keys in gone.items()})
    )


def _leads(asked: _UndoRequest, made: UndoPlan, *, force: bool, finished: bool) -> tuple[Change, ...]:
    """Tell of the undo as a whole, once for each project that it writes to."""
    after = {
        "removed": _counts(made.removed),
        "restored": _counts(made.restored),
        "left": len(made.left),
        "force": force,
        "finished": finished,
    }
    first = asked.changes[0]
    projects = dict.fromkeys(change.project for change in asked.changes)
    targets = {asked.id: after}
    if first.run is not None and first.run != asked.id:
        targets[first.run] = after | {"part": asked.id}  # so that undoing the run knows of it
    before = {"operations": asked.operations}
    return tuple(
        record(OPERATION, project=name, target=target, before=before, after=told)
        for name in projects
        for target, told in targets.items()
    )


def _mirrored(asked: _UndoRequest, made: UndoPlan) -> Iterator[Change]:
    """Tell of each thing that went back, newest first, with before and after exchanged."""
    left = {each.id for each in made.left.values()}
    for change in reversed(asked.changes):
        if change.target in left or _is_lead(change) or change.before is change.after:
            continue
        yield record(
            OPERATION,
            project=change.project,
            target=change.target,
            before=_read(change.after),
            after=_read(change.before),
            reason=f"undo of {asked.id}",
        )


def _to_embed(write: Write, stored: Stored) -> dict[str, str]:
    """Return the texts whose vector is not held: of names that count again, and of texts that change."""
    texts: dict[str, str] = {}
    for entity in write.entities:
        held = stored.rows.get((ENTITY.name, (entity.id,)))
        same = held is not None and held["name"] == entity.name and worth_a_vector(held["mention_count"])
        if worth_a_vector(entity.mention_count) and not same:
            texts[entity.id] = entity.name
    for chunk in write.chunks:
        held = stored.rows.get((CHUNK.name, (chunk.id,)))
        was = None if held is None else row_of(CHUNK, held)
        if was is not None and chunk.vector_state == "ready" and indexed_text(was) != indexed_text(chunk):
            texts[chunk.id] = indexed_text(chunk)
    return texts
