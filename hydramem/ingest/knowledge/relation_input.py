"""A relation as a caller states it: its checks, its evidence, and the row that it makes or adds to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from hydramem.core.argument_checks import MAX_PROSE, check_name, check_reason, check_share, check_text
from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.core.ids import relation_id
from hydramem.core.row_types import Chunk, Entity, Mention, Relation, Times
from hydramem.core.time import check_interval, not_ahead
from hydramem.ingest.extraction.findings import Name
from hydramem.ingest.knowledge.end_validity import is_version, returned
from hydramem.ingest.knowledge.graph_rows import MOST_EVIDENCE
from hydramem.ingest.knowledge.resolve import merge, resolve
from hydramem.ingest.write_target import Target
from hydramem.storage.chunk_filter import covers


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationInput:
    """A relation as a caller states it; fields as in `Memory.relate`."""

    subject: str
    type: str
    object: str
    quote: str | None = None
    evidence: tuple[str, ...] = ()
    confidence: float = 1.0
    bidirectional: bool = False
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    subject_type: str = "thing"
    object_type: str = "thing"
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationDraft:
    """The rows that a statement makes.

    Attributes:
        relation: The new row, or the stored one with what the statement adds.
        stored: The stored relation that it repeats; None where there is none.
        ends: Subject and object, their mentions counted.
        before: Those of the ends that are stored, by id, as stored.
        mentions: Those of the ends that the evidence did not have yet.
        passages: The chunks of the evidence.
        others: The subject's relations of that type, of every state.
    """

    relation: Relation
    stored: Relation | None
    ends: tuple[Entity, Entity]
    before: Mapping[str, Entity]
    mentions: tuple[Mention, ...]
    passages: tuple[Chunk, ...]
    others: tuple[Relation, ...]


def checked(statement: RelationInput) -> RelationInput:
    """Return a statement with its fields in their stored form.

    Raises:
        InvalidInputError: A field is wrong; the message names it.
    """
    quote = statement.quote
    done = replace(
        statement,
        subject=name_of(statement.subject, "subject"),
        type=relation_type(statement.type),
        object=name_of(statement.object, "object"),
        quote=None if quote is None else check_text(quote, name="quote", most=MAX_PROSE).strip(),
        evidence=tuple(dict.fromkeys(statement.evidence)),
        confidence=check_share(statement.confidence, name="confidence"),
        subject_type=check_name(statement.subject_type, name="subject_type").lower(),
        object_type=check_name(statement.object_type, name="object_type").lower(),
        reason=check_reason(statement.reason),
    )
    if len(done.evidence) > MOST_EVIDENCE:
        raise InvalidInputError(f"evidence: {len(done.evidence)} chunks, more than {MOST_EVIDENCE}")
    check_interval(done.valid_from, done.valid_to, name="valid_from, valid_to")
    return done


def name_of(value: object, name: str) -> str:
    """Return an entity's name as it is stored: one line, single spaces."""
    return " ".join(check_name(value, name=name).split())


def relation_type(value: object, *, name: str = "type") -> str:
    """Return a relation's type as it is stored: lower case, words joined by underscores."""
    return "_".join(check_name(value, name=name).lower().split())


def draft(statement: RelationInput, target: Target, at: datetime) -> RelationDraft:
    """Look up what a statement names and repeats, and build the rows that it makes.

    Args:
        statement: What is stated, checked.
        target: Where it goes; the writer lock is held.
        at: When it was stated.
    """
    passages = _evidence(statement, target)
    names = (
        Name(name=statement.subject, type=statement.subject_type),
        Name(name=statement.object, type=statement.object_type),
    )
    ids = resolve(names, project=target.project, known=target.known)
    subject, object = ids[statement.subject], ids[statement.object]
    if subject == object:
        raise InvalidInputError(
            f"subject, object: {statement.subject[:80]!r} and {statement.object[:80]!r} are one entity"
        )
    mentions = _mentions(statement.evidence, (subject, object), target)
    before = {row.id: row for row in target.graph.entities([subject, object])}
    first, second = (
        merge(
            before.get(id),
            [name],
            id=id,
            project=target.project,
            mentions=sum(mention.entity == id for mention in mentions),
            at=at,
        )
        for id, name in zip((subject, object), names, strict=True)
    )
    others = _outgoing(statement, subject, target)
    equal = [row for row in others if _repeats(statement, (subject, object), row)]
    stored = _same(statement, equal, at)
    ended = stored is None and bool(equal) and not _dated(statement)
    dated = replace(statement, valid_from=not_ahead(at)) if ended else statement  # what had ended begins anew
    new = new_relation(dated, subject, object, target.project, at)
    return RelationDraft(
        relation=new if stored is None else _gained(stored, statement),
        stored=stored,
        ends=(first, second),
        before=before,
        mentions=mentions,
        passages=passages,
        others=tuple(others),
    )


def _evidence(statement: RelationInput, target: Target) -> tuple[Chunk, ...]:
    chunks = target.graph.chunks(statement.evidence)
    unknown = set(statement.evidence) - {chunk.id for chunk in chunks if chunk.project == target.project}
    if unknown:
        shown = ", ".join(sorted(id[:80] for id in unknown))
        raise NotFoundError(f"evidence: {shown}: no chunk of project {target.project!r} has this id")
    for chunk in chunks:
        if chunk.state != "active":
            raise InvalidInputError(f"evidence: {chunk.id} is {chunk.state}; revive it, or name another")
    if statement.quote and chunks:
        quote = " ".join(statement.quote.split())
        if not any(quote in " ".join(chunk.text.split()) for chunk in chunks):
            raise InvalidInputError(f"quote: {statement.quote[:80]!r} does not occur in the evidence")
    return chunks


def _mentions(evidence: Sequence[str], ends: tuple[str, str], target: Target) -> tuple[Mention, ...]:
    """Return the mentions of the ends that the evidence lacks."""
    had = {(mention.chunk, mention.entity) for mention in target.graph.mentions(evidence)}
    pairs = ((chunk, end) for chunk in evidence for end in ends)
    return tuple(Mention(chunk=chunk, entity=end) for chunk, end in pairs if (chunk, end) not in had)


def _outgoing(statement: RelationInput, subject: str, target: Target) -> list[Relation]:
    """Return the subject's relations of the stated type, of every state, without versions."""
    rows = (row for row in target.graph.relations([subject]) if row.subject == subject or row.bidirectional)
    return [row for row in rows if row.type == statement.type and not is_version(row)]


def _repeats(statement: RelationInput, ends: tuple[str, str], row: Relation) -> bool:
    turned = row.bidirectional and statement.bidirectional and (row.object, row.subject) == ends
    return (row.subject, row.object) == ends or turned


def _dated(statement: RelationInput) -> bool:
    return statement.valid_from is not None or statement.valid_to is not None


def _same(statement: RelationInput, equal: Sequence[Relation], at: datetime) -> Relation | None:
    """Return the stored relation that a statement repeats.

    It is the one of its time; where it names no time, the current one, else one that was taken out.
    """
    if _dated(statement):
        return next((row for row in equal if row.times.valid_from == statement.valid_from), None)
    current = [row for row in equal if covers(row.times.valid_from, row.times.valid_to, at)]
    return next(iter(sorted(current, key=lambda row: row.state == "archived")), None)


def new_relation(statement: RelationInput, subject: str, object: str, project: str, at: datetime) -> Relation:
    """Return the row of a statement that no stored relation makes; its ends are ids of entities."""
    return Relation(
        id=relation_id(project, subject, statement.type, object, statement.valid_from),
        project=project,
        subject=subject,
        type=statement.type,
        object=object,
        bidirectional=statement.bidirectional,
        confidence=statement.confidence,
        origin="asserted",
        evidence=statement.evidence,
        quote=statement.quote,
        times=Times(recorded_at=at, valid_from=statement.valid_from, valid_to=statement.valid_to),
    )


def _gained(old: Relation, statement: RelationInput) -> Relation:
    """Return a stored relation with what a statement adds, but for its end."""
    return replace(
        returned(old) if old.state == "archived" else old,
        evidence=tuple(dict.fromkeys((*old.evidence, *statement.evidence)))[-MOST_EVIDENCE:],
        confidence=max(old.confidence, statement.confidence),
        quote=old.quote or statement.quote,
        bidirectional=old.bidirectional or statement.bidirectional,
        origin="asserted",
    )
