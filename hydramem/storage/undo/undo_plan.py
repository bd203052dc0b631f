"""What taking a run back comes to: rows to remove, rows to put, and rows that were written since.

Pure: traces and what is stored come in, a plan goes out. Nothing is left that refers to what is not there.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from hydramem.core.results.upkeep_results import LeftAlone
from hydramem.storage.row_codec import Values, encode
from hydramem.storage.schema import CHUNK, DOCUMENT, ENTITY, MENTIONS, RELATES, SESSION, EdgeTable, Table
from hydramem.storage.undo.column_restore import set_back
from hydramem.storage.undo.current_rows import Stored
from hydramem.storage.undo.undo_images import Address, Trace, digest
from hydramem.text.shown_text import amount

WORDS = {
    "Document": "document",
    "Session": "session",
    "Entity": "entity",
    "Chunk": "chunk",
    "MENTIONS": "mention",
    "RELATES": "relation",
    "LINKS": "link",
}
"""What a row of a table is called."""

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
        address = (trace.table.name, trace.key)
        self.forget(address)
        id = " ".join(trace.key[:2]) if trace.table is MENTIONS else trace.key[-1]
        self.left[address] = LeftAlone(id=id, what=WORDS[trace.table.name], why=why)


def plan(traces: Sequence[Trace], stored: Stored, *, force: bool) -> UndoPlan:
    """Decide what becomes of each row that a run wrote.

    Args:
        traces: What the run did to each row in the end.
        stored: The rows as they are now.
        force: Take back what was written since too. What others are in, stays all the same.
    """
    made = UndoPlan()
    for trace in traces:
        _decide(trace, stored.rows.get((trace.table.name, trace.key)), made, force=force)
    by_address = {(trace.table.name, trace.key): trace for trace in traces}
    _keep_cited(by_address, stored, made, force=force)
    _keep_used(by_address, stored, made)
    _drop_edges_of_removed(by_address, made)
    _check_ends(by_address, stored, made)
    _cut_evidence(stored, made)
    _count_mentions(stored, made)
    return made


def _decide(trace: Trace, current: Values | None, made: UndoPlan, *, force: bool) -> None:
    """Decide on a row by itself."""
    address = (trace.table.name, trace.key)
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
    address, back = (trace.table.name, trace.key), dict(trace.before or {})
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
    address = (trace.table.name, trace.key)
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
    """Leave chunks that a relation which stays rests on alone; with force, it loses them."""
    if force:
        return
    gone = made.removed_ids["Chunk"]
    for relation in stored.relations:
        address = (RELATES.name, (relation.subject, relation.object, relation.id))
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
        if (
            mention.chunk not in chunks
            and (MENTIONS.name, (mention.chunk, mention.entity)) not in made.removed
        ):
            holding[ENTITY.name, (mention.entity,)]["chunk"] += 1
    for row in stored.relations:
        if (RELATES.name, (row.subject, row.object, row.id)) not in made.removed:
            for end in {row.subject, row.object}:
                holding[ENTITY.name, (end,)]["relation"] += 1
    for address in [address for address in made.removed if address in holding]:
        told = " and ".join(amount(number, what) for what, number in sorted(holding[address].items()))
        made.leave(traces[address], f"is in use by {told}")


def _check_ends(traces: dict[Address, Trace], stored: Stored, made: UndoPlan) -> None:
    """Leave rows out that would refer to what is not there."""
    there = {(name, key[0]) for name, key in (*stored.rows, *made.put) if len(key) == 1}
    there -= {(name, key[0]) for name, key in made.removed if len(key) == 1}
    for address in sorted(made.put, key=lambda address: len(address[1])):  # nodes first
        trace = traces[address]
        if missing := next((end for end in _needed(trace, made.put[address]) if end not in there), None):
            made.leave(trace, f"{WORDS[missing[0]]} {missing[1]} is not there")
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
        address = (RELATES.name, (relation.subject, relation.object, relation.id))
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
