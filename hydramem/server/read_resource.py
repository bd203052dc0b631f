"""A resource as text: what a document, an entity, a memory or a project is, by operations of the table."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, cast

from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.core.results.graph_views import CentralEntity, Surroundings
from hydramem.core.results.hits import LinkedChunk
from hydramem.core.results.upkeep_results import ProjectView
from hydramem.core.results.write_results import Curated, DocumentView, RelationView
from hydramem.core.row_types import Chunk, Document, Entity
from hydramem.server.access import Access
from hydramem.server.answer_text import answer_text, day
from hydramem.server.resources import parsed_address
from hydramem.text.surrogates import well_formed

if TYPE_CHECKING:
    from hydramem import Memory

_ROWS = 10
"""Rows of each part of an overview."""

_PAGE = 200

Ask = Callable[..., Any]
"""Runs an operation by name on the memory."""


def read_resource(memory: "Memory", uri: str, *, project: str, access: Access) -> str:
    """Return the text of a resource.

    Args:
        memory: The memory that is served.
        uri: Address of the resource.
        project: The memory's own project, which has an overview even while it is empty.
        access: Who reads it.

    Raises:
        NotFoundError: There is no such resource, or its id or name cannot be one.
        HydraMemError: As the operations.
    """
    kind, name = parsed_address(uri)

    def ask(operation: str, **arguments: object) -> Any:
        return access.call(memory, operation, arguments)

    try:
        match kind:
            case "document":
                text = _document(ask, name)
            case "entity":
                text = _entity(ask, name)
            case "memory":
                text = answer_text(cast(LinkedChunk, ask("get", id=name)))
            case _:
                text = _project(ask, name, is_own=name == project)
    except InvalidInputError as error:  # blank, too long, or with characters that no name has
        raise NotFoundError(str(error)) from error
    return well_formed(text)


def _document(ask: Ask, name: str) -> str:
    found = cast(DocumentView, ask("document", source=name))
    document = found.document
    head = [document.title, f"source: {document.source}", f"id: {document.id}", f"state: {document.state}"]
    return "\n\n".join(["\n".join(filter(None, head)), *(chunk.text for chunk in found.chunks)])


def _entity(ask: Ask, name: str) -> str:
    relations = cast(tuple[RelationView, ...], ask("relations", entity=name, limit=_ROWS))
    around = cast(Surroundings, ask("expand", starts=[name], depth=1, limit=_ROWS))
    (called,) = around.starts
    entity = _entity_called(ask, called)
    parts = [
        "\n".join(_said_of(entity)),
        _listed("Relations", map(_relation, relations)),
        _listed("Connected", (f"{each.entity} ({each.type})" for each in around.entities)),
        _listed("Mentioned in", (f"[{each.id}] {each.text}" for each in around.chunks)),
    ]
    return "\n\n".join(filter(None, parts))


def _entity_called(ask: Ask, name: str) -> Entity:
    """Return the entity whose name is exactly this; names of many others may contain it."""
    offset = 0
    while rows := cast(tuple[Entity, ...], ask("entities", containing=name, limit=_PAGE, offset=offset)):
        for entity in rows:
            if entity.name == name:
                return entity
        offset += len(rows)
    raise NotFoundError(f"{name[:80]!r}: no entity has this name")


def _said_of(entity: Entity) -> Iterator[str]:
    yield f"{entity.name} ({entity.type})"
    if entity.aliases:
        yield f"also called: {', '.join(entity.aliases)}"
    if entity.description:
        yield entity.description
    yield f"id: {entity.id}"
    yield f"mentions: {entity.mention_count}, {day(entity.first_seen)} to {day(entity.last_seen)}"


def _relation(row: RelationView) -> str:
    since = f" from {day(row.valid_from)}" if row.valid_from else ""
    until = f" until {day(row.valid_to)}" if row.valid_to else ""
    return f"{row.subject} {row.type} {row.object}{since}{until}"


def _project(ask: Ask, name: str, *, is_own: bool) -> str:
    held = next((each for each in cast(tuple[ProjectView, ...], ask("projects")) if each.name == name), None)
    if held is None:
        if not is_own:
            raise NotFoundError(f"{name[:80]!r}: there is no such project")
        return f"Project {name}: nothing is stored yet."
    central = cast(tuple[CentralEntity, ...], ask("central", limit=_ROWS, project=name))
    memories = cast(tuple[Chunk, ...], ask("memories", limit=_ROWS, project=name))
    documents = cast(tuple[Document, ...], ask("documents", limit=_ROWS, project=name))
    parts = [
        f"Project {name}\n{answer_text(held)}",
        *(each.block for each in cast(tuple[Curated, ...], ask("curated", project=name)) if each.entries),
        _listed("Central entities", (f"{each.entity} ({each.type})" for each in central)),
        _listed("Newest memories", (f"[{each.id}] {each.text}" for each in memories)),
        _listed("Newest documents", (f"[{each.id}] {each.title or each.source}" for each in documents)),
    ]
    return "\n\n".join(filter(None, parts))


def _listed(title: str, rows: Iterator[str]) -> str:
    """Return rows below a title; nothing where there are none."""
    lines = [f"- {row}" for row in rows]
    return "\n".join([f"{title}:", *lines]) if lines else ""
