"""The plan of an undo: rows to remove, rows to put, and rows that stay because they were written since.

Pure: from traces and stored rows to a plan, which leaves no reference to a row that does not exist.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hydramem.core.results.upkeep_results import LeftAlone
from hydramem.storage.row_codec import Values, encode
from hydramem.storage.schema import (
    CHUNK,
    DOCUMENT,
    ENTITY,
    MENTIONS,
    RELATES,
    SESSION,
    Column,
    EdgeTable,
    Table,
)
from hydramem.storage.undo.current_rows import Stored
from hydramem.storage.undo.row_images import TABLES, Address, Trace, address_of, derived_columns, digest
from hydramem.text.shown_text import amount

_HOLDERS = (("Document", "document"), ("Session", "session"))
_SINCE = "was written since"


@dataclass(slots=True, kw_only=True)
class UndoPlan:
    """What an undo does, by table and key.

    Attributes:
        removed: Rows that the run made.
        put: Rows as they become, those that came back and those that only follow too.
        restored: Addresses of the rows that the run had changed or removed, and that are as they were.
        left: What stays as it is.
    """

    removed: dict[Address, Table] = field(default_factory=dict)
    put: dict[Address, Values] = field(default_factory=dict)
    restored: dict[Address, Table] = field(default_factory=dict)
    left: dict[Address, LeftAlone] = field(default_factory=dict)

    @property
    def removed_ids(self) -> dict[str, set[str]]:
        """Ids of the nodes that are removed, by table."""
        ids: dict[str, set[str]] = defaultdict(set)
        for name, key in self.removed:
            ids[name].add(key[0])
        return ids

    def forget(self, address: Address) -> None:
        """Do nothing about a row."""
        self.removed.pop(address, None)
        self.put.pop(address, None)
        self.restored.pop(address, None)
        self.left.pop(address, None)

    def leave(self, trace: Trace, why: str) -> None:
        """Leave a row as it is, and say why."""
        address = trace.address
        self.forget(address)
        id = " ".join(trace.key[:2]) if trace.table is MENTIONS else trace.key[-1]
        self.left[address] = LeftAlone(id=id, what=row_word(trace.table), why=why)


def row_word(table: Table) -> str:
    """Return what a message calls a row of a table."""
    return table.row.__name__.lower()


def plan(traces: Sequence[Trace], stored: Stored, *, force: bool) -> UndoPlan:
    """Decide what becomes of each row that a run wrote.

    Args:
        traces: What the run did to each row in the end.
        stored: The rows as they are now.
        force: Also undo what was written since. Rows that others depend on stay in any case.
    """
    made = UndoPlan()
    for trace in traces:
        _decide(trace, stored.rows.get(trace.address), made, force=force)
    by_address = {trace.address: trace for trace in traces}
    _keep_cited(by_address, stored, made, force=force)
    _keep_used(by_address, stored, made)
    _drop_edges_of_removed(by_address, made)
    _check_ends(by_address, stored, made)
    _cut_evidence(stored, made)
    _count_mentions(stored, made)
    return made


def _decide(trace: Trace, current: Values | None, made: UndoPlan, *, force: bool) -> None:
    """Decide on a row by itself."""
    address = trace.address
    if trace.before is None:
        if current is None:
            return
        made.removed[address] = trace.table
        if not force and digest(trace.table, current) != trace.digest:
            made.leave(trace, _SINCE)
        return
    if trace.whole:
        _decide_whole(trace, current, made, force=force)
    elif current is None:
        made.leave(trace, "was removed since")
    else:
        _decide_set(trace, current, made, force=force)


def _decide_whole(trace: Trace, current: Values | None, made: UndoPlan, *, force: bool) -> None:
    """Put a removed row back, unless another took its place."""
    address, back = trace.address, dict(trace.before or {})
    if current is not None and digest(trace.table, current) == digest(trace.table, back):
        return
    as_run_left_it = (
        current is None if trace.after is None else current and digest(trace.table, current) == trace.digest
    )
    if not as_run_left_it and not force:
        made.leave(trace, _SINCE if current else "was removed since")
        return
    if trace.table is CHUNK:
        back["vector_state"] = "ready"  # the vector went with the row, and is made with this write
    made.put[address] = back
    made.restored[address] = trace.table


def _decide_set(trace: Trace, current: Values, made: UndoPlan, *, force: bool) -> None:
    address = trace.address
    values, since = set_back(
        trace.table, current, before=trace.before or {}, after=trace.after or {}, force=force
    )
    if since:
        made.leave(trace, f"{_SINCE}: {', '.join(since)}")
    if values != current:
        made.put[address] = values
        if not since:
            made.restored[address] = trace.table


def _keep_cited(traces: dict[Address, Trace], stored: Stored, made: UndoPlan, *, force: bool) -> None:
    """Keep chunks that are evidence of a relation that stays; with force, the relation loses them."""
    if force:
        return
    gone = made.removed_ids["Chunk"]
    for relation in stored.relations:
        address = address_of(RELATES, relation)
        stays = address not in traces or address in made.left
        if stays and relation.evidence and gone.issuperset(relation.evidence):
            for id in relation.evidence:
                made.leave(traces[CHUNK.name, (id,)], f"relation {relation.id} rests on it since")


def _drop_edges_of_removed(traces: dict[Address, Trace], made: UndoPlan) -> None:
    """Forget edges that end in a row that is removed: they go with it."""
    gone = made.removed_ids
    for address, trace in traces.items():
        table = trace.table
        if isinstance(table, EdgeTable) and (
            trace.key[0] in gone[table.source] or trace.key[1] in gone[table.target]
        ):
            made.forget(address)


def _keep_used(traces: dict[Address, Trace], stored: Stored, made: UndoPlan) -> None:
    """Leave documents, sessions and entities that something is in which stays."""
    chunks = made.removed_ids["Chunk"]
    holding: dict[Address, Counter[str]] = defaultdict(Counter)
    for chunk in stored.chunks:
        if chunk.id not in chunks:
            holding[DOCUMENT.name, (chunk.document or "",)]["chunk"] += 1
            holding[SESSION.name, (chunk.session or "",)]["chunk"] += 1
    for mention in stored.mentions:
        if mention.chunk not in chunks and address_of(MENTIONS, mention) not in made.removed:
            holding[ENTITY.name, (mention.entity,)]["chunk"] += 1
    for row in stored.relations:
        if address_of(RELATES, row) not in made.removed:
            for end in {row.subject, row.object}:
                holding[ENTITY.name, (end,)]["relation"] += 1
    for address in [address for address in made.removed if address in holding]:
        users = " and ".join(amount(number, what) for what, number in sorted(holding[address].items()))
        made.leave(traces[address], f"is in use by {users}")


def _check_ends(traces: dict[Address, Trace], stored: Stored, made: UndoPlan) -> None:
    """Leave rows out that would refer to what is not there."""
    there = {(name, key[0]) for name, key in (*stored.rows, *made.put) if len(key) == 1}
    there -= {(name, key[0]) for name, key in made.removed if len(key) == 1}
    for address in sorted(made.put, key=lambda address: len(address[1])):  # nodes first
        trace = traces[address]
        if missing := next((end for end in _needed(trace, made.put[address]) if end not in there), None):
            made.leave(trace, f"{row_word(TABLES[missing[0]])} {missing[1]} is not there")
            if trace.whole:
                there.discard((address[0], address[1][0]))


def _needed(trace: Trace, values: Values) -> list[tuple[str, str]]:
    """Return the nodes that a row refers to anew, by table and id."""
    table = trace.table
    if isinstance(table, EdgeTable):
        return [(table.source, values["_from"]), (table.target, values["_to"])]
    if table is not CHUNK:
        return []
    changed = [(name, column) for name, column in _HOLDERS if column in (trace.before or {})]
    return [(name, values[column]) for name, column in changed if values[column]]


def _cut_evidence(stored: Stored, made: UndoPlan) -> None:
    """Take removed chunks out of the evidence of relations that stay."""
    gone, ends = made.removed_ids["Chunk"], made.removed_ids["Entity"]
    for relation in stored.relations:
        address = address_of(RELATES, relation)
        if address in made.removed or not ends.isdisjoint((relation.subject, relation.object)):
            continue
        values = made.put.get(address) or encode(RELATES, relation)
        kept = [id for id in values["evidence"] if id not in gone]
        if kept != values["evidence"]:
            made.put[address] = {**values, "evidence": kept}


def _count_mentions(stored: Stored, made: UndoPlan) -> None:
    """Have entities count the active chunks that mention them, as the undo leaves them."""
    gone = made.removed_ids["Chunk"]
    now = {key for name, key in (*stored.rows, *made.removed) if name == MENTIONS.name}
    now |= {(chunk, entity) for chunk, entities in stored.by_chunk.items() for entity in entities}
    then = {key for key in now if (MENTIONS.name, key) not in made.removed and key[0] not in gone}
    then |= {key for name, key in made.put if name == MENTIONS.name}
    more: Counter[str] = Counter()
    for chunk, entity in now:
        more[entity] -= _is_active(stored.rows.get((CHUNK.name, (chunk,))))
    for chunk, entity in then:
        address = (CHUNK.name, (chunk,))
        more[entity] += _is_active(made.put.get(address) or stored.rows.get(address))
    for id, number in more.items():
        address = (ENTITY.name, (id,))
        there = stored.rows.get(address)
        values = made.put.get(address, there)
        if values is not None and address not in made.removed:
            count = (there["mention_count"] if there else 0) + number
            if count != values["mention_count"]:
                made.put[address] = {**values, "mention_count": max(0, count)}


def _is_active(chunk: Values | None) -> bool:
    return chunk is not None and chunk["state"] == "active"


# One row, column by column ----------------------------------------------------------------------


def set_back(
    table: Table,
    current: Values,
    *,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    force: bool = False,
) -> tuple[Values, tuple[str, ...]]:
    """Return a row with some columns as they were, and the names of those that were written since.

    Lists and metadata lose what was added and gain what was taken, so that what was added since stays. A
    count goes back by as much as it rose. Where a column was written since, the row stays whole.

    Args:
        current: The row as it is.
        before, after: The columns that were set, as they were and as they became.
        force: Set back what was written since too.
    """
    derived = derived_columns(table, current)
    back: Values = {}
    since: list[str] = []
    for column in table.columns:
        name = column.name
        if name not in before or current[name] == before[name]:
            continue
        if current[name] == after[name] or (force and name not in derived):
            back[name] = before[name]
        elif name not in derived:  # those a later write set as it would have without this one
            value = _merged(column, current[name], before[name], after[name])
            if value is None:
                since.append(name)
            back[name] = value
    if since:
        back = {name: value for name, value in back.items() if name in derived}
    return {**current, **back}, tuple(since)


def _merged(column: Column, current: Any, before: Any, after: Any) -> Any:
    """Return a value without what changed between two others; None where it was changed there since."""
    if column.kind == "texts":
        return without_added(current, before, after)
    if column.kind == "json":
        return _merged_json(json.loads(current), json.loads(before), json.loads(after))
    return None


def without_added(current: Sequence[str], before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Return a list without what one change of it added, and with what that took."""
    kept = [item for item in current if item in before or item not in after]
    return [*kept, *(item for item in before if item not in after and item not in kept)]


def _merged_json(
    current: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any]
) -> str | None:
    back = dict(current)
    for name in {**before, **after}:
        was, became = before.get(name), after.get(name)
        if was == became or current.get(name) == was:
            continue
        if current.get(name) != became:
            return None
        back.pop(name, None)
        if name in before:
            back[name] = was
    return json.dumps(back)
