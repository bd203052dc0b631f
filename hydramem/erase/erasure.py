"""The values of an erasure: what was asked for, and which rows that concerns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from hydramem.core.row_types import Chunk, Entity, Relation
from hydramem.erase.traces import Traces


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureRequest:
    """What is to be erased.

    Attributes:
        ids: Of chunks, documents and entities; empty for a whole project.
        project: The project that it is asked in; with `whole_project` the one that goes.
        with_mentions: Whether memories and passages that name an erased entity go with it.
        at, actor: When, and which surface asked.
        receipt: Id of the audit row that will keep the receipt.
    """

    ids: tuple[str, ...]
    project: str
    whole_project: bool = False
    with_mentions: bool = False
    at: datetime
    actor: str
    receipt: str

    @property
    def asked(self) -> tuple[str, ...]:
        """What the receipt names: the ids, or the project."""
        return (self.project,) if self.whole_project else self.ids


@dataclass(frozen=True, kw_only=True)
class Erasure:
    """The rows that an erasure removes, and those that it changes.

    Attributes:
        projects: Projects that go whole.
        documents, chunks, entities, sessions, items: Ids of rows that go.
        relations: Keys of relations that go: subject, object and id.
        chunks_after, entities_after, relations_after: Rows that stay, as they become, by id or key.
        reread: Ids of documents that lose some of their passages.
        recalls: When erased chunks were recalled; queries of these moments go.
        linked_in: Runs in which a model wrote keywords and summaries of others beside an erased memory.
        traces: Finds what else holds erased text, in rows.
        texts: Texts of what goes; held in memory only.
        names: Names of the entities that were asked for.
        other_names: Names of entities that only the erased text named.
        past: Ids that were asked for and that only the audit still has.
        touched: The projects that lose something.
        remaining: Ids of chunks that stay although they state the same, or name an erased entity.
    """

    projects: frozenset[str] = frozenset()
    documents: frozenset[str] = frozenset()
    chunks: frozenset[str] = frozenset()
    entities: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    items: frozenset[str] = frozenset()
    relations: frozenset[tuple[str, str, str]] = frozenset()
    chunks_after: Mapping[str, Chunk] = field(default_factory=dict)
    entities_after: Mapping[str, Entity] = field(default_factory=dict)
    relations_after: Mapping[tuple[str, str, str], Relation] = field(default_factory=dict)
    reread: frozenset[str] = frozenset()
    recalls: frozenset[datetime] = frozenset()
    linked_in: frozenset[str] = frozenset()
    traces: Traces
    texts: tuple[str, ...] = field(default=(), repr=False)
    names: tuple[str, ...] = field(default=(), repr=False)
    other_names: tuple[str, ...] = field(default=(), repr=False)
    past: frozenset[str] = frozenset()
    touched: frozenset[str] = frozenset()
    remaining: tuple[str, ...] = ()

    @property
    def file_traces(self) -> Traces:
        """Finds what files hold of it, where also the names count that only the erased text had."""
        return Traces(self.ids, self.texts, (*self.names, *self.other_names))

    @cached_property
    def ids(self) -> frozenset[str]:
        """Ids of all rows that go."""
        relations = (id for _, _, id in self.relations)
        return frozenset(
            (
                *(*self.past, *self.documents, *self.chunks, *self.entities),
                *(*self.sessions, *self.items, *relations),
            )
        )
