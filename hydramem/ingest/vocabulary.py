"""What a project calls things, read from its store: what classification of a new memory offers and weighs."""

from collections import Counter
from collections.abc import Sequence

from hydramem.ingest.background import background
from hydramem.ingest.classify_rules import Vocabulary
from hydramem.ingest.target import Target
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.store import Listing
from hydramem.text.normalize import entity_key

_NEWEST = 200


def vocabulary(names: Sequence[str], *, target: Target, offering: bool) -> Vocabulary:
    """Read what a project calls things.

    Args:
        names: Names in the new memory, as extraction found them.
        target: The project.
        offering: Whether scopes and categories are looked up too, for a model to choose from; rules do not
            need them.
    """
    keys = {name: entity_key(name) for name in names}
    known = target.known(list(keys.values())) if keys else {}
    rows = target.graph.entities(sorted(set(known.values()))) if known else ()
    counts = {row.id: row.mention_count for row in rows}
    mentions = {name: counts.get(known[key], 0) for name, key in keys.items() if key in known}
    scopes, categories = _in_use(target) if offering else ((), ())
    return Vocabulary(
        scopes=scopes, categories=categories, mentions=mentions, background=background(target.embed)
    )


def _in_use(target: Target) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the scopes and categories of the newest memories, the most used first."""
    where = ChunkFilter(projects=(target.project,), kinds=("note", "fact", "event", "turn"))
    newest = target.graph.list_chunks(where, Listing(limit=_NEWEST))
    scopes = Counter(chunk.scope for chunk in newest if chunk.scope != "/")
    categories = Counter(name for chunk in newest for name in chunk.categories)
    return tuple(name for name, _ in scopes.most_common()), tuple(
        name for name, _ in categories.most_common()
    )
