"""The entities that only erased text named, and those that others mention too."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from hydramem.core.row_types import Chunk, Entity
from hydramem.erase.changed_relations import RelationKey
from hydramem.storage.chunk_filter import RowFilter
from hydramem.storage.schema import CHANGE, RELATES
from hydramem.storage.store import GraphStore
from hydramem.storage.write_validation import batches
from hydramem.text.normalize import entity_key

_IDS = 500
_MOST_READ = 200
_TOLD_BY = ("entity", "merge", "split", "review")
"""Operations by which a person says what an entity is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Uses:
    """What keeps entities: mentions in other chunks, by entity; ends of other relations; a person's words."""

    mentions: Mapping[str, Sequence[str]]
    ends: Collection[str]
    told: Collection[str]

    def keep(self, entity: str) -> bool:
        return entity in self.mentions or entity in self.ends or entity in self.told


def changed_entities(
    chunks: Mapping[str, Chunk],
    asked: Collection[str],
    relations: Collection[RelationKey],
    texts: Sequence[str],
    *,
    graph: GraphStore,
) -> tuple[tuple[Entity, ...], dict[str, Entity]]:
    """Return the entities that nothing names any more, and by id those that stay, as they become.

    One that stays is counted anew. Its description, which may be of any text, and the aliases that only the
    erased texts have go, unless a person gave them.

    Args:
        chunks, asked, relations: What goes: chunks by id, ids of entities, keys of relations.
        texts: The erased texts.
        graph: The store.
    """
    mentions = graph.mentions(sorted(chunks))
    mentioned = {row.entity for row in mentions}.difference(asked)
    ids = sorted(mentioned.union(id for key in relations for id in key[:2]).difference(asked))
    active = Counter(row.entity for row in mentions if chunks[row.chunk].state == "active")
    uses = _uses(ids, chunks, relations, graph)
    rows = graph.entities(ids)
    after = dict[str, Entity]()
    for row in rows:
        if row.id in mentioned and uses.keep(row.id):
            new = replace(row, mention_count=max(0, row.mention_count - active[row.id]))
            if row.id not in uses.told:
                others = uses.mentions.get(row.id, ())
                new = replace(new, description=None, aliases=_aliases(row, texts, others, graph))
            if new != row:
                after[row.id] = new
    return tuple(row for row in rows if not uses.keep(row.id)), after


def _uses(
    ids: Sequence[str], chunks: Mapping[str, Chunk], relations: Collection[RelationKey], graph: GraphStore
) -> _Uses:
    mentions: dict[str, list[str]] = {}
    for row in graph.mentioned(ids):
        if row.chunk not in chunks:
            mentions.setdefault(row.entity, []).append(row.chunk)
    left = [row for row in graph.relations(ids) if RELATES.key_of(row) not in relations]
    told = set[str]()
    for some in batches(ids, _IDS):
        where = RowFilter(one_of={"target": some, "operation": _TOLD_BY})
        told.update(change.target for change in graph.select(CHANGE, where, order=("at",)))
    ends = {end for row in left for end in (row.subject, row.object)}
    return _Uses(mentions=mentions, ends=ends, told=told)


def _aliases(row: Entity, texts: Sequence[str], others: Sequence[str], graph: GraphStore) -> tuple[str, ...]:
    """Return the aliases that the erased texts do not have, or other texts have too."""
    suspect = [name for name in row.aliases if _is_in(name, texts)]
    if not suspect:
        return row.aliases
    left = [chunk.text for chunk in graph.chunks(others[:_MOST_READ])]
    gone = {name for name in suspect if not _is_in(name, left)}
    return tuple(name for name in row.aliases if name not in gone)


def _is_in(name: str, texts: Sequence[str]) -> bool:
    key = entity_key(name)
    return any(key in entity_key(text) for text in texts)
