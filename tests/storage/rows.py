"""Rows for tests, every field with a plain default."""

from datetime import UTC, datetime, timedelta
from typing import Any

from hydramem.core.row_types import (
    Chunk,
    Document,
    Entity,
    Item,
    Job,
    Link,
    Mention,
    Relation,
    Session,
    Times,
)
from hydramem.storage.changes import record
from hydramem.storage.write import Write
from hydramem.text.normalize import entity_key

T0 = datetime(2024, 5, 1, 12, tzinfo=UTC)


def at(days: float) -> datetime:
    """Return a moment some days after the tests' beginning."""
    return T0 + timedelta(days=days)


def document(id: str = "d1", **fields: Any) -> Document:
    return Document(
        **{
            "id": id,
            "project": "p",
            "source": f"{id}.md",
            "source_type": "markdown",
            "title": id,
            "content_hash": "0",
            "times": Times(recorded_at=T0),
            **fields,
        }
    )


def chunk(id: str = "c1", text: str = "Ada leads billing.", **fields: Any) -> Chunk:
    given = {
        "project": "p",
        "kind": "note",
        "times": Times(recorded_at=T0),
        "vector_state": "ready",
        **fields,
    }
    return Chunk(id=id, text=text, **given)


def entity(id: str = "e1", name: str = "Ada", **fields: Any) -> Entity:
    given = {"project": "p", "key": entity_key(name), "first_seen": T0, "last_seen": T0, **fields}
    return Entity(id=id, name=name, **given)


def relation(
    subject: str = "e1", type: str = "leads", object: str = "e2", *, id: str | None = None, **fields: Any
) -> Relation:
    given = {"project": "p", "origin": "extracted", "times": Times(recorded_at=T0), **fields}
    return Relation(
        id=id or f"r_{subject}_{type}_{object}", subject=subject, type=type, object=object, **given
    )


def mention(chunk: str = "c1", entity: str = "e1", count: int = 1) -> Mention:
    return Mention(chunk=chunk, entity=entity, count=count)


def link(source: str = "c1", target: str = "c2", *, id: str | None = None, **fields: Any) -> Link:
    given = {"type": "supports", "weight": 0.5, "times": Times(recorded_at=T0), **fields}
    return Link(id=id or f"l_{source}_{target}", source=source, target=target, **given)


def session(id: str = "s1", **fields: Any) -> Session:
    return Session(**{"id": id, "project": "p", "name": id, "started_at": T0, "last_at": T0, **fields})


def item(id: str = "i1", **fields: Any) -> Item:
    given = {"project": "p", "namespace": ("a",), "key": id, "value": "{}", **fields}
    return Item(**{"id": id, "created_at": T0, "updated_at": T0, **given})


def job(id: str = "j1", **fields: Any) -> Job:
    return Job(
        **{
            "id": id,
            "project": "p",
            "kind": "embed",
            "payload": "{}",
            "created_at": T0,
            "updated_at": T0,
            **fields,
        }
    )


def write(**rows: Any) -> Write:
    """Return a write of some rows with one Change that stands for them all."""
    return Write(changes=(record("test", project="p", target="any"),), **rows)
