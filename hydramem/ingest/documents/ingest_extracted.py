"""Store what an agent extracted itself: chunks, entities, relations; all checked before any write."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from time import perf_counter
from typing import Any, Literal, get_args

from hydramem.core.argument_checks import check_choice, check_name, check_share, check_text
from hydramem.core.config import IngestConfig, MemoryConfig
from hydramem.core.errors import InvalidInputError
from hydramem.core.ids import content_hash, document_id, passage_id
from hydramem.core.results.write_results import Ingested
from hydramem.core.row_types import Chunk, Document, Metadata, State, Times
from hydramem.core.time import When, check_interval, now
from hydramem.ingest.documents.batches import DocumentBatches, Work
from hydramem.ingest.documents.source_rows import SourceRows, compare
from hydramem.ingest.extraction.findings import Claim, Found, Name
from hydramem.ingest.knowledge.support import document_chunks
from hydramem.ingest.screening.quarantine import QUARANTINED_FOR, Screened, screen, threats_in
from hydramem.ingest.write_target import Target
from hydramem.storage.store import GraphStore
from hydramem.text.chunking import split_turn
from hydramem.text.dates.caller_dates import moment
from hydramem.text.normalize import entity_key
from hydramem.text.tokens import count_tokens

_MOST_CHARS = 1_000_000

# Read by pydantic where JSON becomes these: a mistyped field is an error, not a fact lost in silence.
_STRICT: Any = {"extra": "forbid"}

ExtractedKind = Literal["passage", "note", "fact", "event"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedChunk:
    """A piece of text, as the agent cut it; one over the configured tokens is cut further.

    Attributes:
        heading_path: Headings above it, outermost first.
        author: Who said it.
        happened_at: When it was said or happened.
    """

    __pydantic_config__ = _STRICT

    text: str
    kind: ExtractedKind = "passage"
    heading_path: tuple[str, ...] = ()
    author: str | None = None
    happened_at: When | None = None
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedEntity:
    """A named thing in the text."""

    __pydantic_config__ = _STRICT

    name: str
    type: str = "thing"
    description: str | None = None
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedRelation:
    """A typed edge between two entities, by name.

    Attributes:
        confidence: 0 to 1.
        quote: The words of the text that state it.
        valid_from, valid_to: When it was true in the world.
    """

    __pydantic_config__ = _STRICT

    subject: str
    type: str
    object: str
    confidence: float = 1.0
    quote: str | None = None
    valid_from: When | None = None
    valid_to: When | None = None


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
    drafted = _draft(source, chunks, title, names, claims, target.project, settings, screening)
    names, claims, notes = _without_orders(names, claims)
    work = _work(drafted, names, claims, target.graph)
    if work is None:
        return Ingested(unchanged=1, notes=notes, seconds=perf_counter() - started)
    with DocumentBatches(target=target, settings=settings) as storing:
        storing.add(work)
        storing.flush()
    counts = storing.counts
    return Ingested(
        documents=counts.documents,
        chunks=counts.chunks,
        retired_chunks=counts.retired,
        entities=counts.entities,
        relations=counts.relations,
        quarantined=counts.quarantined,
        notes=notes,
        seconds=perf_counter() - started,
    )


def _name(entity: ExtractedEntity, where: str) -> Name:
    return Name(
        name=" ".join(check_name(entity.name, name=f"{where}.name").split()),
        type=check_name(entity.type, name=f"{where}.type").lower(),
        description=entity.description
        and check_text(entity.description, name=f"{where}.description", most=10_000),
        aliases=tuple(check_name(alias, name=f"{where}.aliases") for alias in entity.aliases),
    )


def _claim(relation: ExtractedRelation, where: str) -> Claim:
    subject = " ".join(check_name(relation.subject, name=f"{where}.subject").split())
    object = " ".join(check_name(relation.object, name=f"{where}.object").split())
    if entity_key(subject) == entity_key(object):
        raise InvalidInputError(f"{where}: relates {subject[:80]!r} to itself")
    start = _when(relation.valid_from, f"{where}.valid_from")
    end = _when(relation.valid_to, f"{where}.valid_to")
    check_interval(start, end, name=where)
    return Claim(
        subject=subject,
        type="_".join(check_name(relation.type, name=f"{where}.type").lower().split()),
        object=object,
        confidence=check_share(relation.confidence, name=f"{where}.confidence"),
        quote=check_text(relation.quote, name=f"{where}.quote", most=10_000) if relation.quote else None,
        valid_from=start,
        valid_to=end,
    )


def _when(value: When | None, name: str) -> datetime | None:
    return None if value is None else moment(value, name=name)


def _draft(
    source: str,
    chunks: Sequence[ExtractedChunk],
    title: str | None,
    names: Sequence[Name],
    claims: Sequence[Claim],
    project: str,
    settings: IngestConfig,
    screening: MemoryConfig,
) -> SourceRows:
    at = now()
    screened = [_screened(chunk, f"chunks[{index}]", screening) for index, chunk in enumerate(chunks)]
    checked = [
        _checked(chunk, found, f"chunks[{index}]")
        for index, (chunk, found) in enumerate(zip(chunks, screened, strict=True))
    ]
    document = Document(
        id=document_id(project, source),
        project=project,
        source=source,
        source_type="extracted",
        title=check_name(title, name="title") if title else "",
        content_hash=content_hash(repr((title, checked, names, claims))),
        times=Times(recorded_at=at),
    )
    rows: list[Chunk] = []
    met: dict[str, int] = {}
    for chunk, found in zip(checked, screened, strict=True):
        for text in split_turn(chunk.text, settings.chunk_tokens):
            rows.append(_held(_row(document, chunk, text, len(rows), met), found.state, found.reasons))
    return SourceRows(document=document, chunks=_quoted_held(rows, claims), title=title)


def _screened(chunk: ExtractedChunk, where: str, screening: MemoryConfig) -> Screened:
    if check_choice(chunk.kind, get_args(ExtractedKind), name=f"{where}.kind") == "passage":
        # Passages are a document's own words.
        return Screened(text=check_text(chunk.text, name=f"{where}.text", most=_MOST_CHARS))
    return screen(chunk.text, screening, name=f"{where}.text", most=_MOST_CHARS)


def _held(row: Chunk, state: State, reasons: Sequence[str]) -> Chunk:
    if state == "active":
        return row
    return replace(row, state=state, metadata={**row.metadata, QUARANTINED_FOR: list(reasons)})


def _quoted_held(rows: Sequence[Chunk], claims: Sequence[Claim]) -> list[Chunk]:
    """Hold back the chunks whose words a quote picks out that gives orders or hides something."""
    held = list(rows)
    for quote in dict.fromkeys(claim.quote for claim in claims if claim.quote):
        if reasons := threats_in(quote):
            words = _folded(quote)
            held = [_held(row, "quarantined", reasons) if words in _folded(row.text) else row for row in held]
    return held


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


def _checked(chunk: ExtractedChunk, screened: Screened, where: str) -> ExtractedChunk:
    return replace(
        chunk,
        text=screened.text,
        heading_path=tuple(check_name(each, name=f"{where}.heading_path") for each in chunk.heading_path),
        author=None if chunk.author is None else check_name(chunk.author, name=f"{where}.author"),
        happened_at=_when(chunk.happened_at, f"{where}.happened_at"),
    )


def _row(document: Document, chunk: ExtractedChunk, text: str, position: int, met: dict[str, int]) -> Chunk:
    words = "\n".join((chunk.kind, *chunk.heading_path, text))
    turn = met[words] = met.get(words, -1) + 1
    return Chunk(
        id=passage_id(document.id, turn, words),
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
        happened_at=_when(chunk.happened_at, "happened_at"),
        times=document.times,
        metadata=chunk.metadata,
    )


def _work(
    drafted: SourceRows, names: Sequence[Name], claims: Sequence[Claim], graph: GraphStore
) -> Work | None:
    id = drafted.document.id
    document = next(iter(graph.documents([id])), None)
    unchanged = document is not None and document.state == "active"
    if document is not None and unchanged and document.content_hash == drafted.document.content_hash:
        return None
    stored = {row.id: row for row in document_chunks(id, graph)} if document is not None else {}
    difference = compare(drafted.chunks, stored, document, drafted.document.times.recorded_at)
    # The agent may say more of the same text, so all of it is read again; mentions are counted once.
    kept = frozenset(row.id for row in drafted.chunks)
    return Work(
        draft=drafted,
        document=document,
        difference=replace(difference, read=kept),
        found=_spread(drafted.chunks, names, claims),
        stored=frozenset(stored),
        at=drafted.document.times.recorded_at,
    )


def _spread(chunks: Sequence[Chunk], names: Sequence[Name], claims: Sequence[Claim]) -> dict[str, Found]:
    """Give each name and claim to the chunks that hold it."""
    words = {
        chunk.id: _folded(" ".join((*chunk.heading_path, chunk.author or "", chunk.text))) for chunk in chunks
    }
    used = {chunk.id: words[chunk.id] for chunk in chunks if chunk.state == "active"}
    first = next(iter(used), None)
    known = {name.name: name for name in names}
    held: dict[str, dict[str, Name]] = {id: {} for id in used}
    stated: dict[str, list[Claim]] = {id: [] for id in used}
    for name in names:
        for id in _in_use(_holding(words, (name.name, *name.aliases)), used, first):
            held[id][name.name] = name
    for claim in claims:
        for id in _in_use(_evidence(words, claim), used, first):
            stated[id].append(claim)
            for end in (claim.subject, claim.object):
                held[id].setdefault(end, known.get(end, Name(name=end)))
    return {id: Found(names=tuple(held[id].values()), claims=tuple(stated[id])) for id in used}


def _in_use(found: Sequence[str], used: Mapping[str, str], first: str | None) -> list[str]:
    """Return the chunks that something is given to: those that hold it, else the first; none quarantined."""
    if not found:
        return [] if first is None else [first]
    return [id for id in found if id in used]


def _holding(words: Mapping[str, str], names: Sequence[str]) -> list[str]:
    folded = [_folded(name) for name in names]
    return [id for id, text in words.items() if any(name in text for name in folded)]


def _evidence(words: Mapping[str, str], claim: Claim) -> list[str]:
    quoted = _holding(words, [claim.quote]) if claim.quote else []
    both = set(_holding(words, [claim.subject])) & set(_holding(words, [claim.object]))
    return quoted or [id for id in words if id in both]


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
