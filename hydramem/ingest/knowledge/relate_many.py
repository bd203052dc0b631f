"""Relations that another program asserts: stored in one write; known ones stay as they are."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from hydramem.core.errors import InvalidInputError
from hydramem.core.ids import entity_id
from hydramem.core.row_types import Change, Entity, Relation, RelationCandidate
from hydramem.core.time import now
from hydramem.ingest.extraction.findings import Name
from hydramem.ingest.extraction.name_spans import key_of
from hydramem.ingest.knowledge.end_validity import is_version
from hydramem.ingest.knowledge.graph_rows import decided, relation_change
from hydramem.ingest.knowledge.relation_input import RelationInput, new_relation
from hydramem.ingest.knowledge.relations import Functional, relate
from hydramem.ingest.knowledge.resolve import merge
from hydramem.ingest.write_target import Target
from hydramem.storage.changes import record
from hydramem.storage.write import Write

Ends = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedRelation:
    """What became of one statement.

    Attributes:
        id: Of the relation; empty where its ends are one thing.
        new: Whether the project did not have it.
        refused: Why it was not stored; empty where it was, or is known.
    """

    id: str = ""
    new: bool = False
    refused: str = ""


@dataclass(slots=True, kw_only=True)
class _Batch:
    """What one write gathers."""

    at: datetime
    ids: Mapping[str, str]
    stored: Mapping[tuple[Ends, str], list[Relation]]
    done: dict[int, StatedRelation] = field(default_factory=dict)
    rows: dict[int, Relation] = field(default_factory=dict)
    later: list[int] = field(default_factory=list)


def relate_many(
    statements: Sequence[RelationInput], *, target: Target, functional: Functional, dry_run: bool = False
) -> tuple[StatedRelation, ...]:
    """Store relations without evidence, in one write; an equal one, in any state, is left as it is.

    One of a type that has one object at a time, whose subject has another object, goes the way of `relate`,
    which decides what it ends.

    Args:
        statements: What is asserted, as `relation_input.checked` returns it.
        target: Where to store it, and what judges it.
        functional: Types that have one object at a time.
        dry_run: Write nothing, and judge nothing.
    """
    target.prepare()
    with target.one_writer:
        batch = _compared(statements, target, functional)
        if not dry_run and batch.rows:
            _store(batch, statements, target)
    for place in batch.later:
        if dry_run:
            batch.done[place] = StatedRelation(id=f"later {place}", new=True)
        else:
            batch.done[place] = _stated(statements[place], target, functional)
    return tuple(batch.done[place] for place in range(len(statements)))


def _stated(statement: RelationInput, target: Target, functional: Functional) -> StatedRelation:
    try:
        done = relate(statement, target=target, functional=functional)
    except InvalidInputError as error:
        return StatedRelation(refused=str(error))
    refused = "" if done.kept or done.verdict is None else done.verdict.explanation
    return StatedRelation(id=done.relation.id, new=done.created, refused=refused)


def _compared(statements: Sequence[RelationInput], target: Target, functional: Functional) -> _Batch:
    """Sort statements into known ones, new ones, and those that may end others."""
    names = {name for each in statements for name in (each.subject, each.object)}
    owners = target.known(sorted({key_of(name) for name in names}))
    ids = {name: owners.get(key_of(name)) or entity_id(target.project, key_of(name)) for name in names}
    batch = _Batch(at=now(), ids=ids, stored=_between(statements, ids, target))
    single = {type for type in {each.type for each in statements} if _has_one_object(type, functional)}
    objects = _objects({ids[each.subject] for each in statements if each.type in single}, target)
    seen: set[str] = set()
    for place, each in enumerate(statements):
        subject, object = ids[each.subject], ids[each.object]
        row = new_relation(each, subject, object, target.project, batch.at)
        known = _known(each, (subject, object), batch.stored)
        taken = objects.setdefault((subject, each.type), set())
        if subject == object:
            reason = f"relates {each.subject[:80]!r} to itself"
            batch.done[place] = StatedRelation(refused=reason)
        elif known is not None or row.id in seen:
            batch.done[place] = StatedRelation(id=row.id if known is None else known.id)
        elif each.type in single and taken - {object}:
            batch.later.append(place)
        else:
            seen.add(row.id)
            taken.add(object)
            batch.rows[place] = row
            batch.done[place] = StatedRelation(id=row.id, new=True)
    return batch


def _has_one_object(type: str, functional: Functional) -> bool:
    return type in functional.types or functional.seems(type)


def _between(
    statements: Iterable[RelationInput], ids: Mapping[str, str], target: Target
) -> dict[tuple[Ends, str], list[Relation]]:
    pairs = {(ids[each.subject], ids[each.object]) for each in statements}
    pairs |= {(ids[each.object], ids[each.subject]) for each in statements if each.bidirectional}
    found: dict[tuple[Ends, str], list[Relation]] = {}
    for row in target.graph.relations_between(sorted(pairs)):
        if not is_version(row):
            found.setdefault(((row.subject, row.object), row.type), []).append(row)
    return found


def _objects(subjects: set[str], target: Target) -> dict[tuple[str, str], set[str]]:
    """Return the current objects of some subjects, by subject and type."""
    found: dict[tuple[str, str], set[str]] = {}
    for row in target.graph.relations(sorted(subjects)) if subjects else ():
        if row.state == "active" and row.subject in subjects:
            found.setdefault((row.subject, row.type), set()).add(row.object)
    return found


def _known(
    statement: RelationInput, ends: Ends, stored: Mapping[tuple[Ends, str], Sequence[Relation]]
) -> Relation | None:
    rows = list(stored.get((ends, statement.type), ()))
    if statement.bidirectional:
        rows += (row for row in stored.get((ends[::-1], statement.type), ()) if row.bidirectional)
    begins = statement.valid_from
    return next((row for row in rows if begins in (None, row.times.valid_from)), None)


def _store(batch: _Batch, statements: Sequence[RelationInput], target: Target) -> None:
    """Judge and commit the new relations, with the ends that are new."""
    ends = _ends(batch, statements, target)
    known = {row.id: row for row in target.graph.entities(sorted(set(batch.ids.values())))}
    entities = known | {row.id: row for row in ends}
    candidates = [
        RelationCandidate(relation=row, subject=entities[row.subject], object=entities[row.object])
        for row in batch.rows.values()
    ]
    verdicts = [None] * len(candidates) if target.accept is None else target.accept(candidates)
    kept: list[Relation] = []
    changes: list[Change] = []
    for (place, row), verdict in zip(batch.rows.items(), verdicts, strict=True):
        judged = row if verdict is None else decided(row, verdict, batch.at)
        if verdict is not None and verdict.decision == "rejected":
            changes.append(relation_change("import", None, judged, verdict.explanation))
            batch.done[place] = StatedRelation(id=row.id, refused=verdict.explanation)
        else:
            changes.append(relation_change("import", None, judged, None))
            kept.append(judged)
    needed = {end for row in kept for end in (row.subject, row.object)}
    new = tuple(row for row in ends if row.id in needed)
    made = (record("import", project=target.project, target=row.id, after=row) for row in new)
    target.commit(Write(changes=(*made, *changes), entities=new, relations=tuple(kept)), {})


def _ends(batch: _Batch, statements: Sequence[RelationInput], target: Target) -> tuple[Entity, ...]:
    """Return the rows of entities that only these relations name."""
    names: dict[str, Name] = {}
    for place in batch.rows:
        each = statements[place]
        for name, type in ((each.subject, each.subject_type), (each.object, each.object_type)):
            names.setdefault(batch.ids[name], Name(name=name, type=type))
    stored = {row.id for row in target.graph.entities(sorted(names))}
    return tuple(
        merge(None, [name], id=id, project=target.project, mentions=0, at=batch.at)
        for id, name in names.items()
        if id not in stored
    )
