"""Undo what one run wrote, or one change of it, where nothing was written since; itself a write.

Every write leaves an image of what it did on its first Change (`row_images`). The images of a run, joined,
say what it did to each row in the end; that is set against the rows as they are, and what is as the run left
it goes back. What was written since stays and is listed. Undo writes its own Changes and images, so that it
can be undone the same way.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.core.results.upkeep_results import Undone
from hydramem.core.row_types import Change
from hydramem.storage.changes import (
    ERASE,
    erasure_of,
    in_one_run,
    no_longer_known,
    purged_by,
    purges,
    record,
)
from hydramem.storage.chunk_filter import RowFilter
from hydramem.storage.outbox import Mirror, worth_a_vector
from hydramem.storage.schema import CHANGE, CHUNK, ENTITY, LINKS, RELATES, EdgeTable, Table
from hydramem.storage.store import GraphStore
from hydramem.storage.undo.current_rows import Stored, look_up, row_of
from hydramem.storage.undo.row_images import TABLES, Address, Trace, joined
from hydramem.storage.undo.rows_to_restore import UndoPlan, plan
from hydramem.storage.vector_rows import indexed_text
from hydramem.storage.write import Removal, Write
from hydramem.storage.write_validation import batches
from hydramem.text.shown_text import amount

OPERATION = "undo"

# One transaction as long as memory holds it; beyond, pieces that another undo can go on from.
_MOST_ROWS = 5000
_PIECE = 2000

_NOT_UNDONE = {
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
    def run(self) -> str:
        return self.changes[0].run or self.id

    @property
    def projects(self) -> list[str]:
        return sorted({change.project for change in self.changes})

    @property
    def operations(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(change.operation for change in self.changes))


def undo(id: str, *, graph: GraphStore, mirror: Mirror, force: bool = False) -> Undone:
    """Undo what a run wrote, or one change of it.

    Args:
        id: Of a run or of a change.
        graph, mirror: The store, and the mirror that commits the write.
        force: Also undo what was written since.

    Raises:
        NotFoundError: Nothing has that id.
        InvalidInputError: It was undone already, or left nothing to undo it by; nothing is written.
    """
    with in_one_run() as run, mirror.one_writer.of(_find_request(id, run, graph).projects):
        request = _find_request(id, run, graph)  # once more: its run may have gone on
        undone = _check_not_undone(request, graph, force=force)
        every = joined((*request.images, *undone))
        stored = look_up(every, graph)
        traces = _traces_of(request, every, stored)
        if not traces:
            why = "changed no rows, or was written before writes could be undone"
            if any(purged_by(change) for change in request.changes):
                why = "took out changes that were too old, and those are gone for good"
            if any(change.operation == ERASE for change in request.changes):
                why = "erased for good what it names; erased things do not come back"
            _check_not_erased(request.run, graph)
            raise InvalidInputError(f"{id}: {'was undone already, bit by bit' if undone else why}")
        made = plan(traces, stored, force=force)
        _commit(request, made, stored, mirror, force=force)
    return Undone(
        run=run,
        of=id,
        operations=request.operations,
        removed=_counts(made.removed),
        restored=_counts(made.restored),
        left=tuple(made.left[address] for address in sorted(made.left)),
        notes=tuple(_notes(request, graph)),
    )


def is_undone(run: str, graph: GraphStore) -> bool:
    """Say whether a run was undone, and the undo was not undone."""
    return bool(_standing_undos(run, graph))


def undone_runs(runs: Sequence[str], graph: GraphStore) -> frozenset[str]:
    """Return those of some runs that were undone, where the undo was not undone."""
    where = RowFilter(one_of={"target": runs}, equal={"operation": OPERATION})
    leads = graph.select(CHANGE, where, order=("at",)) if runs else ()
    named = {change.target for change in leads if _undo_record(change).get("finished")}
    return frozenset(run for run in named if _standing_undos(run, graph))


def _check_not_erased(run: str, graph: GraphStore) -> None:
    """Raise InvalidInputError where what a run wrote was erased."""
    if (erasure := erasure_of(run, graph)) is not None:
        raise InvalidInputError(
            f"{run}: what it wrote was erased at {erasure.at:%Y-%m-%d %H:%M} UTC (receipt {erasure.id}); "
            "erased things do not come back"
        )


def _notes(request: _UndoRequest, graph: GraphStore) -> Iterator[str]:
    """Yield what is not undone, a sentence each."""
    if (erasure := erasure_of(request.run, graph)) is not None:
        at = f"{erasure.at:%Y-%m-%d %H:%M} UTC"
        yield f"A part of what it wrote was erased at {at} (receipt {erasure.id}) and does not come back."
    yield from (_NOT_UNDONE[name] for name in request.operations if name in _NOT_UNDONE)
    gone = sum(purged.changes for change in request.changes if (purged := purged_by(change)) is not None)
    if gone:
        yield f"{amount(gone, 'change')} that limits.change_days keeps no longer went in it, and stay gone."


def _find_request(id: str, current: str, graph: GraphStore) -> _UndoRequest:
    if id == current:
        raise InvalidInputError(f"{id}: is the run that asks for it")
    changes = graph.changes(run=id)
    if not changes and not (changes := graph.changes(id=id)):
        _check_not_erased(id, graph)
        raise NotFoundError(f"{id[:80]!r}: no run and no change has this id{no_longer_known(graph)}")
    whole = changes if changes[0].run == id else graph.changes(run=changes[0].run)
    if any(gone.part_of and gone.part_of in (id, changes[0].run) for _, gone in purges(graph)):
        raise InvalidInputError(f"{id}: part of it is gone, being too old (limits.change_days)")
    images = tuple(change.image for change in whole if change.image)
    return _UndoRequest(id=id, changes=changes, images=images)


def _check_not_undone(request: _UndoRequest, graph: GraphStore, *, force: bool) -> tuple[str, ...]:
    """Check that this is not undone already; what an earlier undo left can still be forced.

    Returns:
        The images of earlier undos, whose work is not repeated.

    Raises:
        InvalidInputError: It is undone already.
    """
    runs: dict[str, None] = {}
    for id in dict.fromkeys((request.id, request.changes[0].run or request.id)):
        undone = _standing_undos(id, graph)
        for change in undone:
            earlier = _undo_record(change)
            if not earlier.get("part") and (earlier.get("force") or not (force and earlier.get("left"))):
                raise InvalidInputError(
                    f"{id}: was undone at {change.at:%Y-%m-%d %H:%M} UTC; to have it back, undo {change.run}"
                )
        runs.update(dict.fromkeys(change.run for change in undone if change.run))
    return tuple(change.image for run in runs for change in graph.changes(run=run) if change.image)


def _standing_undos(id: str, graph: GraphStore) -> list[Change]:
    """Return the changes that undid a run or change and were not undone themselves, oldest first."""
    leads = [change for change in graph.changes(target=id) if _undo_record(change).get("finished")]
    done = [change for change in leads if change.operation == OPERATION and change.run]
    return [change for change in done if not _standing_undos(str(change.run), graph)]


def _undo_record(change: Change) -> dict[str, Any]:
    values = json.loads(change.after or "null")
    return values if isinstance(values, dict) else {}


def _is_undo_record(change: Change) -> bool:
    """Say whether a change describes an undo as a whole, and not one row."""
    return change.operation == OPERATION and "finished" in _undo_record(change)


def _traces_of(request: _UndoRequest, every: Sequence[Trace], stored: Stored) -> list[Trace]:
    """Return the requested traces: of one change, those of the rows it names and of what depends on them."""
    if request.id == request.changes[0].run:
        return list(every)
    named = set(_texts_in([_from_json(request.changes[0].before), _from_json(request.changes[0].after)]))
    named.add(request.changes[0].target)
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


def _from_json(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def _texts_in(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value: ids are among them."""
    match value:
        case str():
            yield value
        case Mapping():
            yield from _texts_in(list(value.values()))
        case list():
            for item in value:
                yield from _texts_in(item)
        case _:
            pass


def _counts(addresses: Mapping[Address, Table]) -> Mapping[str, int]:
    return dict(sorted(Counter(TABLES[name].plural for name, _ in addresses).items()))


# Writing ----------------------------------------------------------------------------------------
def _commit(request: _UndoRequest, made: UndoPlan, stored: Stored, mirror: Mirror, *, force: bool) -> None:
    pieces = _writes(made)
    for place, piece in enumerate(pieces):
        last = place == len(pieces) - 1
        changes = _undo_changes(request, made, force=force, finished=last)
        if last:
            changes = (*changes, *_reversed_changes(request, made))
        write = replace(piece, changes=changes)
        mirror.commit(write, mirror.embed_by_id(_texts_to_embed(write, stored)))


def _writes(made: UndoPlan) -> list[Write]:
    """Return the writes of a plan, without their changes: rows before the edges between them."""
    tables = list(TABLES)
    steps = [("put", address) for address in sorted(made.put, key=lambda each: tables.index(each[0]))]
    steps += [
        ("remove", address)
        for address in sorted(made.removed, key=lambda each: tables.index(each[0]), reverse=True)
    ]
    size = max(1, len(steps) if len(steps) <= _MOST_ROWS else _PIECE)
    return [_write_of(part, made) for part in batches(steps, size)] or [Write(changes=())]


def _write_of(steps: Iterable[tuple[str, Address]], made: UndoPlan) -> Write:
    rows: dict[str, list[Any]] = {table.plural: [] for table in TABLES.values()}
    gone: dict[str, list[Any]] = {table.plural: [] for table in TABLES.values()}
    for step, (name, key) in steps:
        if step == "put":
            rows[TABLES[name].plural].append(row_of(TABLES[name], made.put[name, key]))
        else:
            gone[TABLES[name].plural].append(key[0] if len(key) == 1 else key)
    written: dict[str, Any] = {field: tuple(items) for field, items in rows.items()}
    return Write(
        changes=(), **written, removed=Removal(**{field: tuple(keys) for field, keys in gone.items()})
    )


def _undo_changes(
    request: _UndoRequest, made: UndoPlan, *, force: bool, finished: bool
) -> tuple[Change, ...]:
    """Return the changes that describe the undo as a whole, one for each project that it writes to."""
    after = {
        "removed": _counts(made.removed),
        "restored": _counts(made.restored),
        "left": len(made.left),
        "force": force,
        "finished": finished,
    }
    first = request.changes[0]
    projects = dict.fromkeys(change.project for change in request.changes)
    targets = {request.id: after}
    if first.run is not None and first.run != request.id:
        targets[first.run] = after | {"part": request.id}  # so that an undo of the run takes it into account
    before = {"operations": request.operations}
    return tuple(
        record(OPERATION, project=name, target=target, before=before, after=summary)
        for name in projects
        for target, summary in targets.items()
    )


def _reversed_changes(request: _UndoRequest, made: UndoPlan) -> Iterator[Change]:
    """Yield a change for each one that is undone, newest first, with before and after exchanged."""
    left = {each.id for each in made.left.values()}
    for change in reversed(request.changes):
        if change.target in left or _is_undo_record(change) or change.before is change.after:
            continue
        yield record(
            OPERATION,
            project=change.project,
            target=change.target,
            before=_from_json(change.after),
            after=_from_json(change.before),
            reason=f"undo of {request.id}",
        )


def _texts_to_embed(write: Write, stored: Stored) -> dict[str, str]:
    """Return texts that need a vector: names that are embedded again, and texts that change."""
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
