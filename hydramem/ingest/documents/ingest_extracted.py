"""Stores what an agent extracted itself: chunks, entities and relations, all checked before any write."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import get_args

from hydramem.core.argument_checks import check_choice, check_name, check_share, check_text
from hydramem.core.config import IngestConfig, MemoryConfig
from hydramem.core.errors import InvalidInputError
from hydramem.core.ids import content_hash, document_id
from hydramem.core.inputs import ExtractedChunk, ExtractedEntity, ExtractedKind, ExtractedRelation
from hydramem.core.results.write_results import Ingested
from hydramem.core.row_types import Chunk, Document, Times
from hydramem.core.time import check_interval, now
from hydramem.ingest.documents.batches import DocumentBatches
from hydramem.ingest.documents.source_rows import SourceRows, compare, passage_ids
from hydramem.ingest.extraction.findings import Claim, Found, Name, folded_words
from hydramem.ingest.knowledge.entities import MOST_DESCRIPTION
from hydramem.ingest.knowledge.relation_input import name_of, relation_type
from hydramem.ingest.screening.quarantine import QUARANTINED_FOR, Screened, screen, threats_in
from hydramem.ingest.write_target import Target
from hydramem.text.chunking import split_turn
from hydramem.text.dates.caller_dates import moment_or_none
from hydramem.text.normalize import entity_key
from hydramem.text.tokens import count_tokens

_MOST_CHARS = 1_000_000


def ingest_extracted(
    source: str,
    chunks: Sequence[ExtractedChunk],
    *,
    entities: Sequence[ExtractedEntity] = (),
    relations: Sequence[ExtractedRelation] = (),
    title: str | None = None,
    target: Target,
    settings: IngestConfig,
    screening: MemoryConfig,
) -> Ingested:
    """Store a document that an agent extracted; the same source again replaces it.

    A relation's evidence is the chunks that hold its quote, or both its names, or else the first one. Chunks
    other than passages are screened like memories, and so are quotes and descriptions; of what is quarantined
    nothing is made in the graph.

    Args:
        source: Where the text came from.
        chunks: Its text, in order.
        entities: Named things in it; those that only a relation names are added.
        relations: Typed edges between them.
        title: The document's title.
        target, settings: As for `ingest`.
        screening: How chunks other than passages are screened.

    Raises:
        InvalidInputError: A field is wrong; the message names it, and nothing was written.
    """
    started = perf_counter()
    source = check_text(source, name="source", most=1000).strip()
    if not chunks:
        raise InvalidInputError("chunks: is empty")
    names = [_name(entity, f"entities[{index}]") for index, entity in enumerate(entities)]
    claims = [_claim(relation, f"relations[{index}]") for index, relation in enumerate(relations)]
    screened = [_screened(chunk, f"chunks[{index}]", screening) for index, chunk in enumerate(chunks)]
    hashed = content_hash(repr((title, [chunk for chunk, _ in screened], names, claims)))
    document = _document(source, title, target.project, hashed)
    rows = _rows(document, screened, claims, settings)
    names, claims, notes = _without_orders(names, claims)
    stored = next(iter(target.graph.documents([document.id])), None)
    if stored and stored.state == "active" and stored.content_hash == document.content_hash:
        return Ingested(unchanged=1, notes=notes, seconds=perf_counter() - started)
    work = compare(SourceRows(document=document, chunks=rows, title=title), stored, target.graph)
    # The agent may say more of the same text, so all of it is read again; mentions are counted once.
    difference = replace(work.difference, read=frozenset(row.id for row in rows))
    with DocumentBatches(target=target, settings=settings) as batches:
        batches.add(replace(work, difference=difference, found=_findings(rows, names, claims)))
        batches.flush()
    return replace(batches.done, notes=notes, seconds=perf_counter() - started)


def _document(source: str, title: str | None, project: str, hashed: str) -> Document:
    return Document(
        id=document_id(project, source),
        project=project,
        source=source,
        source_type="extracted",
        title=check_name(title, name="title") if title else "",
        content_hash=hashed,
        times=Times(recorded_at=now()),
    )


def _name(entity: ExtractedEntity, where: str) -> Name:
    description = entity.description
    return Name(
        name=name_of(entity.name, f"{where}.name"),
        type=check_name(entity.type, name=f"{where}.type").lower(),
        description=description
        and check_text(description, name=f"{where}.description", most=MOST_DESCRIPTION),
        aliases=tuple(check_name(alias, name=f"{where}.aliases") for alias in entity.aliases),
    )


def _claim(relation: ExtractedRelation, where: str) -> Claim:
    subject = name_of(relation.subject, f"{where}.subject")
    object = name_of(relation.object, f"{where}.object")
    if entity_key(subject) == entity_key(object):
        raise InvalidInputError(f"{where}: relates {subject[:80]!r} to itself")
    start = moment_or_none(relation.valid_from, f"{where}.valid_from")
    end = moment_or_none(relation.valid_to, f"{where}.valid_to")
    check_interval(start, end, name=where)
    return Claim(
        subject=subject,
        type=relation_type(relation.type, name=f"{where}.type"),
        object=object,
        confidence=check_share(relation.confidence, name=f"{where}.confidence"),
        quote=check_text(relation.quote, name=f"{where}.quote", most=10_000) if relation.quote else None,
        valid_from=start,
        valid_to=end,
    )


def _screened(chunk: ExtractedChunk, where: str, screening: MemoryConfig) -> tuple[ExtractedChunk, Screened]:
    """Return a chunk with its fields in their stored form, and what screening found in it."""
    if check_choice(chunk.kind, get_args(ExtractedKind), name=f"{where}.kind") == "passage":
        # Passages are a document's own words.
        screened = Screened(text=check_text(chunk.text, name=f"{where}.text", most=_MOST_CHARS))
    else:
        screened = screen(chunk.text, screening, name=f"{where}.text", most=_MOST_CHARS)
    checked = replace(
        chunk,
        text=screened.text,
        heading_path=tuple(check_name(each, name=f"{where}.heading_path") for each in chunk.heading_path),
        author=None if chunk.author is None else check_name(chunk.author, name=f"{where}.author"),
        happened_at=moment_or_none(chunk.happened_at, f"{where}.happened_at"),
    )
    return checked, screened


def _rows(
    document: Document,
    screened: Sequence[tuple[ExtractedChunk, Screened]],
    claims: Sequence[Claim],
    settings: IngestConfig,
) -> list[Chunk]:
    """Return the chunks as rows; those that a quote with orders in it comes from are quarantined too."""
    parts = [
        (chunk, found.reasons if found.state == "quarantined" else (), text)
        for chunk, found in screened
        for text in split_turn(chunk.text, settings.chunk_tokens)
    ]
    ids = passage_ids(document, ((chunk.kind, *chunk.heading_path, text) for chunk, _, text in parts))
    rows = [
        _quarantined(_row(document, chunk, text, position, id), reasons)
        for position, (id, (chunk, reasons, text)) in enumerate(zip(ids, parts, strict=True))
    ]
    for quote in dict.fromkeys(claim.quote for claim in claims if claim.quote):
        if reasons := threats_in(quote):
            words = folded_words(quote)
            rows = [_quarantined(row, reasons) if words in folded_words(row.text) else row for row in rows]
    return rows


def _quarantined(row: Chunk, reasons: Sequence[str]) -> Chunk:
    """Return a chunk quarantined for some reasons, itself where there is none."""
    if not reasons:
        return row
    return replace(row, state="quarantined", metadata={**row.metadata, QUARANTINED_FOR: list(reasons)})


def _row(document: Document, chunk: ExtractedChunk, text: str, position: int, id: str) -> Chunk:
    return Chunk(
        id=id,
        project=document.project,
        text=text,
        kind=chunk.kind,
        document=document.id,
        position=position,
        heading_path=chunk.heading_path,
        tokens=count_tokens(text),
        source=document.source,
        source_type=document.source_type,
        author=chunk.author,
        happened_at=moment_or_none(chunk.happened_at, "happened_at"),
        times=document.times,
        metadata=chunk.metadata,
    )


def _without_orders(
    names: Sequence[Name], claims: Sequence[Claim]
) -> tuple[list[Name], list[Claim], tuple[str, ...]]:
    """Leave out descriptions and relations whose words give orders or hide something, each with a note."""
    notes: list[str] = []
    safe = []
    for index, name in enumerate(names):
        threats = threats_in(name.description or "")
        if threats:
            notes.append(f"entities[{index}].description is left out: {'; '.join(threats)}")
        safe.append(replace(name, description=None) if threats else name)
    stated = []
    for index, claim in enumerate(claims):
        if threats := threats_in(claim.quote or ""):
            notes.append(f"relations[{index}] is left out, its quote: {'; '.join(threats)}")
        else:
            stated.append(claim)
    return safe, stated, tuple(notes)


def _findings(chunks: Sequence[Chunk], names: Sequence[Name], claims: Sequence[Claim]) -> dict[str, Found]:
    """Give each name and claim to the active chunks that contain it, else to the first of them."""
    words = {
        chunk.id: folded_words(" ".join((*chunk.heading_path, chunk.author or "", chunk.text)))
        for chunk in chunks
    }
    active = [chunk.id for chunk in chunks if chunk.state == "active"]
    known = {name.name: name for name in names}
    held: dict[str, dict[str, Name]] = {id: {} for id in active}
    stated: dict[str, list[Claim]] = {id: [] for id in active}

    def places(found: Sequence[str]) -> list[str]:
        return [id for id in found if id in held] if found else active[:1]

    for name in names:
        for id in places(_containing(words, (name.name, *name.aliases))):
            held[id][name.name] = name
    for claim in claims:
        for id in places(_evidence(words, claim)):
            stated[id].append(claim)
            for end in (claim.subject, claim.object):
                held[id].setdefault(end, known.get(end, Name(name=end)))
    return {id: Found(names=tuple(held[id].values()), claims=tuple(stated[id])) for id in active}


def _containing(words: Mapping[str, str], names: Sequence[str]) -> list[str]:
    folded = [folded_words(name) for name in names]
    return [id for id, text in words.items() if any(name in text for name in folded)]


def _evidence(words: Mapping[str, str], claim: Claim) -> list[str]:
    quoted = _containing(words, [claim.quote]) if claim.quote else []
    both = set(_containing(words, [claim.subject])) & set(_containing(words, [claim.object]))
    return quoted or [id for id in words if id in both]
