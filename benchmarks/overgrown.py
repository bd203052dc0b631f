"""A memory as years of use leave it, made up: what a night of the gardener has to do with, of any size.

Things belong to groups and relate mostly within theirs, a few to what everybody knows; a small share of the
relations is false. Half of the relations are told by passages and memories. Some things have two names, some
memories say the same, some were recalled again and again, some expired, some links are weak.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Literal

import hydramem
from hydramem.core.config import VerificationConfig
from hydramem.core.ids import document_id, entity_id, link_id, passage_id, relation_id, session_id
from hydramem.core.row_types import (
    Change,
    Chunk,
    ChunkKind,
    Decision,
    Document,
    Entity,
    Layer,
    Link,
    Mention,
    Recalled,
    Relation,
    Session,
    Times,
)
from hydramem.core.time import now
from hydramem.llm.hash_embedder import HashEmbedder
from hydramem.storage.changes import record
from hydramem.storage.outbox import worth_a_vector
from hydramem.storage.write import Write
from hydramem.storage.write_validation import batches
from hydramem.text.normalize import entity_key

PROJECT = "overgrown"
Engine = Literal["ladybug", "kuzu"]
EACH = 5
"""Relations for each entity."""

_TYPES = (
    *(("knows", "person", "person"), ("uses", "company", "product"), ("studies", "person", "topic")),
    *(("works_for", "person", "company"), ("makes", "company", "product"), ("buys", "person", "product")),
    *(("part_of", "topic", "topic"), ("partner_of", "company", "company"), ("near", "place", "place")),
    *(("located_in", "company", "place"), ("born_in", "person", "place"), ("led_by", "company", "person")),
    *(("about", "product", "topic"), ("depends_on", "product", "product"), ("visits", "person", "place")),
)
_KINDS = ("person", "person", "person", "company", "company", "place", "product", "topic")
_ONE_AT_A_TIME = VerificationConfig().functional
_GROUP = 60
_AT_HOME, _FALSE, _TWICE, _CLASHING = 0.75, 0.03, 0.02, 0.02
_TOLD_TOGETHER = 5
_MEMORY_SHARE, _SAME_SHARE, _EXPIRED_SHARE, _LINK_SHARE = 0.2, 0.03, 0.01, 1.0
_BATCH = 5000
_IN_DOCUMENT = 40


@dataclass(slots=True, kw_only=True)
class _Grown:
    entities: dict[str, Entity] = field(default_factory=dict)
    relations: dict[str, Relation] = field(default_factory=dict)
    chunks: list[Chunk] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    sessions: list[Session] = field(default_factory=list)
    recalled: list[Recalled] = field(default_factory=list)


def grow(path: Path, entities: int, *, engine: Engine = "ladybug") -> None:
    """Fill a new store.

    Args:
        path: Its folder.
        entities: How many; there are five relations for each, and a chunk for two.
        engine: Of the graph.
    """
    chance, at = random.Random(entities), now()
    grown = _Grown()
    names = _things(grown, entities, chance, at)
    _relate(grown, EACH * entities, chance, at)
    _tell(grown, names, chance, at)
    _live(grown, chance, at)
    config = hydramem.Config(storage=replace(hydramem.Config().storage, graph=engine))
    with hydramem.connect(path, config=config, embedder=HashEmbedder(), project=PROJECT) as memory:
        store = memory._opened
        for write in _writes(grown):
            texts = {row.id: row.text for row in write.chunks}
            texts |= {row.id: row.name for row in write.entities if worth_a_vector(row.mention_count)}
            store.mirror.commit(write, store.mirror.embed_by_id(texts))
        store.vectors.maintain(force=True)
        store.graph.checkpoint()


def _things(grown: _Grown, count: int, chance: random.Random, at: datetime) -> dict[str, str]:
    """Make entities, some of them twice under names that are much alike; return the names by id."""
    words = [_word(chance) for _ in range(max(200, count // 8))]
    shares = [1 / (place + 10) ** 0.7 for place in range(len(words))]
    drawn = iter(chance.choices(words, shares, k=6 * count))
    while len(grown.entities) < count:
        kind = _KINDS[len(grown.entities) % len(_KINDS)]
        name = _name(kind, drawn, chance)
        row = _entity(name, kind, chance, at)
        grown.entities.setdefault(row.id, row)
        if chance.random() < _TWICE and len(grown.entities) < count:
            again = _entity(_misnamed(name, chance), kind, chance, at)
            grown.entities.setdefault(again.id, again)
    return {id: row.name for id, row in grown.entities.items()}


def _word(chance: random.Random) -> str:
    return "".join(
        chance.choice("bdfgklmnprstvz") + chance.choice("aeiou") for _ in range(chance.randint(2, 4))
    )


def _name(kind: str, drawn: Iterator[str], chance: random.Random) -> str:
    first, second = next(drawn).capitalize(), next(drawn).capitalize()
    match kind:
        case "company":
            return f"{first} {second} {chance.choice(('Labs', 'Group', 'Systems', 'Works'))}"
        case "product":
            return f"{first} {second} {chance.randint(1, 9)}"
        case "topic":
            return f"{first.lower()} {second.lower()}"
        case _:
            return (
                f"{first} {second}"
                if chance.random() < 0.7
                else f"{first} {next(drawn).capitalize()} {second}"
            )


def _misnamed(name: str, chance: random.Random) -> str:
    place = chance.randrange(1, len(name) - 1)
    match chance.randrange(3):
        case 0:
            return name[:place] + name[place + 1 :]
        case 1:
            return " ".join(reversed(name.split()))
        case _:
            first, *rest = name.split()
            return " ".join((f"{first[0]}.", *rest))


def _entity(name: str, kind: str, chance: random.Random, at: datetime) -> Entity:
    key, seen = entity_key(name), at - timedelta(days=chance.uniform(2, 400))
    return Entity(
        id=entity_id(PROJECT, key),
        project=PROJECT,
        key=key,
        name=name,
        type=kind,
        first_seen=seen,
        last_seen=seen,
    )


def _relate(grown: _Grown, count: int, chance: random.Random, at: datetime) -> None:
    rows = list(grown.entities.values())
    kinds: dict[str, list[Entity]] = defaultdict(list)
    homes: dict[tuple[int, str], list[Entity]] = defaultdict(list)
    for place, row in enumerate(rows):
        kinds[row.type].append(row)
        homes[place // _GROUP, row.type].append(row)
    group = {row.id: place // _GROUP for place, row in enumerate(rows)}
    shares = [1 / (place + 1) for place in range(len(_TYPES))]
    taken: set[tuple[str, str]] = set()
    while len(grown.relations) < count:
        type, subject_kind, object_kind = chance.choices(_TYPES, shares)[0]
        subject = _one_of(kinds[subject_kind], chance, known=0.3)
        home = homes[group[subject.id], object_kind]
        if chance.random() < _FALSE:
            object = chance.choice(rows)
        elif home and chance.random() < _AT_HOME:
            object = chance.choice(home)
        else:
            object = _one_of(kinds[object_kind], chance, known=0.8)
        slot = (subject.id, type)
        free = type not in _ONE_AT_A_TIME or slot not in taken or chance.random() < _CLASHING
        if free and subject.id != object.id:
            taken.add(slot)
            made = _relation(subject.id, type, object.id, chance, at)
            grown.relations.setdefault(made.id, made)


def _one_of(rows: Sequence[Entity], chance: random.Random, *, known: float) -> Entity:
    """Draw a row; in a share of cases by how well it is known, the first ones most of all."""
    return rows[int(len(rows) * chance.random() ** (4 if chance.random() < known else 1))]


def _relation(subject: str, type: str, object: str, chance: random.Random, at: datetime) -> Relation:
    recorded = at - timedelta(days=chance.uniform(1, 400))
    asserted, open_ = chance.random() < 0.1, chance.random() < 0.04
    verdict: Decision | None = None if asserted else "deferred" if open_ else "accepted"
    layers: tuple[Layer, ...] = ("working", "shared", "verified")
    probability = chance.uniform(0.3, 0.7) if open_ else chance.uniform(0.7, 0.99)
    return Relation(
        id=relation_id(PROJECT, subject, type, object, None),
        project=PROJECT,
        subject=subject,
        type=type,
        object=object,
        origin="asserted" if asserted else "extracted",
        verdict=verdict,
        probability=None if asserted else probability,
        verifier=None if asserted else "srmkg:default",
        verified_at=None if asserted else recorded,
        layer=chance.choices(layers, (16, 3, 1))[0],
        times=Times(recorded_at=recorded),
    )


def _tell(grown: _Grown, names: dict[str, str], chance: random.Random, at: datetime) -> None:
    """Tell half of the relations in chunks, those of a thing together; some are told twice."""
    told = sorted(grown.relations.values(), key=lambda row: row.subject)[: len(grown.relations) // 2]
    for place, part in enumerate(batches(told, _TOLD_TOGETHER)):
        chunk = _chunk(place, part, names, chance, at)
        chunks = [chunk]
        if chunk.kind != "passage" and chance.random() < _SAME_SHARE:
            text = chunk.text.replace(".", " .", 1)
            chunks.append(replace(chunk, id=passage_id("again", place, text), text=text))
        named = Counter(end for row in part for end in (row.subject, row.object))
        for each in chunks:
            grown.chunks.append(each)
            grown.mentions += [Mention(chunk=each.id, entity=id, count=many) for id, many in named.items()]
        for row in part:
            grown.relations[row.id] = replace(row, evidence=(chunk.id,))
    counts = Counter(mention.entity for mention in grown.mentions)
    for id, thing in grown.entities.items():
        grown.entities[id] = replace(thing, mention_count=counts[id])


def _chunk(
    place: int, part: Sequence[Relation], names: dict[str, str], chance: random.Random, at: datetime
) -> Chunk:
    text = " ".join(f"{names[row.subject]} {row.type.replace('_', ' ')} {names[row.object]}." for row in part)
    kind: ChunkKind = "passage"
    if chance.random() < _MEMORY_SHARE:
        kind = chance.choice(("note", "fact", "event"))
    recorded = at - timedelta(days=chance.uniform(1, 400))
    source = f"grown{place // _IN_DOCUMENT}" if kind == "passage" else "chat"
    document = document_id(PROJECT, source) if kind == "passage" else None
    return Chunk(
        id=passage_id(document or "m", place, text),
        project=PROJECT,
        text=text,
        kind=kind,
        document=document,
        position=place,
        tokens=len(text) // 4,
        source=source,
        scope="/" if kind == "passage" else f"/area{place % 7}",
        importance=round(chance.uniform(0.2, 0.9), 2),
        expires_at=at - timedelta(days=1) if kind != "passage" and chance.random() < _EXPIRED_SHARE else None,
        times=Times(recorded_at=recorded),
        vector_state="ready",
    )


def _live(grown: _Grown, chance: random.Random, at: datetime) -> None:
    """Link memories, and recall chunks in sessions, a few of them again and again."""
    memories = [row for row in grown.chunks if row.kind != "passage"]
    for one, other in pairwise(chance.choices(memories, k=int(_LINK_SHARE * len(memories)))):
        if one.id != other.id:
            times = Times(recorded_at=at - timedelta(days=chance.uniform(1, 400)))
            weight, id = round(chance.uniform(0.2, 1.0), 3), link_id(PROJECT, one.id, "relates_to", other.id)
            row = Link(id=id, source=one.id, target=other.id, type="relates_to", weight=weight, times=times)
            grown.links.append(row)
    grown.links = list({row.id: row for row in grown.links}.values())
    count = 20 + len(grown.chunks) // 500
    for place in range(count):
        begun = at - timedelta(days=chance.uniform(0, 300))
        id = session_id(PROJECT, f"s{place}")
        grown.sessions.append(
            Session(id=id, project=PROJECT, name=f"s{place}", started_at=begun, last_at=begun)
        )
        for rank in range(50):
            chunk = grown.chunks[int(len(grown.chunks) * chance.random() ** 3)]
            grown.recalled.append(
                Recalled(session=id, chunk=chunk.id, rank=rank, at=begun + timedelta(seconds=rank))
            )


def _writes(grown: _Grown) -> Iterator[Write]:
    """Yield everything in writes that a store can take at once, ends before edges."""
    none: tuple[Change, ...] = ()
    for entities in batches(grown.entities.values(), _BATCH):
        yield Write(changes=none, entities=tuple(entities), verbatim=True)
    times = Times(recorded_at=grown.chunks[0].times.recorded_at)
    for names in batches(dict.fromkeys(row.source for row in grown.chunks if row.document), _BATCH):
        rows = tuple(_document(source, times) for source in names)
        changes = tuple(record("ingest", project=PROJECT, target=row.id, after=row) for row in rows)
        yield Write(changes=changes, documents=rows, verbatim=True)
    for chunks in batches(grown.chunks, _BATCH):
        told = [row for row in chunks if row.kind != "passage"]
        changes = tuple(record("remember", project=PROJECT, target=row.id, after=row) for row in told)
        yield Write(changes=changes, chunks=tuple(chunks), verbatim=True)
    for mentions in batches(grown.mentions, 4 * _BATCH):
        yield Write(changes=none, mentions=tuple(mentions), verbatim=True)
    for relations in batches(sorted(grown.relations.values(), key=lambda row: row.subject), 4 * _BATCH):
        yield Write(changes=none, relations=tuple(relations), verbatim=True)
    yield Write(changes=none, links=tuple(grown.links), sessions=tuple(grown.sessions), verbatim=True)
    for recalled in batches(grown.recalled, _BATCH):
        yield Write(changes=none, recalled=tuple(recalled), verbatim=True)


def _document(source: str, times: Times) -> Document:
    id = document_id(PROJECT, source)
    return Document(
        id=id, project=PROJECT, source=source, source_type="text", title=source, content_hash=id, times=times
    )
