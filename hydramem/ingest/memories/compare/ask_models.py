"""What models suggest for a new memory before the writer lock is taken: how to file it, what it changes."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hydramem.core.config import MemoryConfig
from hydramem.core.errors import ConfigError, ModelError
from hydramem.core.row_types import Chunk, Usage
from hydramem.core.time import now
from hydramem.ingest.memories.classify.classify import Classified, classify
from hydramem.ingest.memories.classify.classify_rules import Vocabulary
from hydramem.ingest.memories.compare.neighbours import Neighbours, candidates, find_neighbours
from hydramem.ingest.memories.consolidate.consolidate_prompt import plan_by_model
from hydramem.ingest.memories.consolidate.duplicate_or_update import (
    ConsolidationPlan,
    is_repetition,
    share_a_name,
)
from hydramem.ingest.memories.memory_input import MEMORIES, ValidatedMemory
from hydramem.ingest.memories.similarity import NearbyChunk, background
from hydramem.ingest.write_target import Target
from hydramem.llm.contracts import Generator
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.store import Listing
from hydramem.storage.vector_rows import Vector, VectorStore
from hydramem.text.normalize import entity_key

_NEWEST = 200

# Where these are given, no model is asked: rules find keywords and a summary well enough.
_WORTH_A_CALL = frozenset({"scope", "categories", "importance"})

Ask = Callable[[], Generator | None]
"""Returns the model of a role; None where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """The models that encode a memory; each is made only when it is asked.

    Attributes:
        configured: Whether there may be any; where not, rules decide everything under the writer lock.
        extract: Names things and states relations, in addition to the rules.
        texts_each: Texts in one call of `extract`.
    """

    configured: bool = False
    classify: Ask = lambda: None
    consolidate: Ask = lambda: None
    extract: Ask = lambda: None
    texts_each: int = 8


NO_MODELS = Models()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSuggestions:
    """What models suggest for a memory.

    Attributes:
        classified: How to file it; None where rules decide that.
        plan: What becomes of others; None where rules decide that.
        seen: The memories that the plan was made for, as they were.
    """

    classified: Classified | None = None
    plan: ConsolidationPlan | None = None
    seen: Mapping[str, Chunk] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)


def vocabulary(memory: ValidatedMemory, target: Target, *, offering: bool = False) -> Vocabulary:
    """Read the names that a project uses.

    Args:
        memory: The new memory, whose names are looked up.
        offering: Whether scopes and categories are read too, for a model to choose from; rules do not need
            them.
    """
    keys = {name.name: entity_key(name.name) for name in memory.found.names}
    known = target.known(list(keys.values())) if keys else {}
    rows = target.graph.entities(sorted(set(known.values()))) if known else ()
    counts = {row.id: row.mention_count for row in rows}
    mentions = {name: counts.get(known[key], 0) for name, key in keys.items() if key in known}
    scopes, categories = _scopes_and_categories(target) if offering else ((), ())
    return Vocabulary(
        scopes=scopes, categories=categories, mentions=mentions, background=background(target.embed)
    )


def _scopes_and_categories(target: Target) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the scopes and categories of the newest memories, the most used first."""
    where = ChunkFilter(projects=(target.project,), kinds=MEMORIES)
    newest = target.graph.list_chunks(where, Listing(limit=_NEWEST))
    scopes = Counter(chunk.scope for chunk in newest if chunk.scope != "/")
    categories = Counter(name for chunk in newest for name in chunk.categories)
    return _most_used(scopes), _most_used(categories)


def _most_used(counts: Counter[str]) -> tuple[str, ...]:
    return tuple(name for name, _ in counts.most_common())


def classify_by_rules(
    memory: ValidatedMemory, neighbours: Sequence[NearbyChunk], target: Target
) -> Classified:
    """Classify a memory without a model."""
    return classify(memory, neighbours, vocabulary(memory, target) if memory.open else None)


def same_text(memory: ValidatedMemory, neighbours: Neighbours) -> Chunk | None:
    """Return the current memory that says the same word for word, where one is near."""
    new = memory.row
    for row in neighbours.rows.values():
        same = (row.text, row.kind, row.state) == (new.text, new.kind, "active")
        if same and ("scope" in memory.open or row.scope == new.scope):
            return row
    return None


def ask_models(
    memory: ValidatedMemory,
    vector: Vector,
    *,
    target: Target,
    vectors: VectorStore | None,
    settings: MemoryConfig,
    models: Models,
) -> ModelSuggestions:
    """Ask models for the fields that the caller left open, and for what the memory changes.

    No model is asked of a quarantined text or a turn, or where every field is given and nothing may change.

    Args:
        memory: The memory.
        vector: Its vector.
        vectors: The project's vectors; None where they cannot be read.
        settings: How memories are encoded.
        models: The models.
    """
    if not (models.configured and memory.is_encoded(settings)):
        return ModelSuggestions()
    neighbours = find_neighbours(
        vector, target=target, vectors=vectors, within=memory.searched_within, stored=memory.stored
    )
    if same_text(memory, neighbours) is not None:
        return ModelSuggestions()
    suggestions = _classification(memory, neighbours, target, models)
    if not memory.is_steady:
        return suggestions
    classified = suggestions.classified
    if classified is None and "scope" in memory.open:
        # What it may change depends on its scope: rules find that now.
        classified = classify_by_rules(memory, neighbours.nearest, target)
        suggestions = replace(suggestions, classified=classified)
    at = now()
    new = memory.placed("", project=target.project, at=at)
    if classified is not None:
        new = classified.file(new, scope_found="scope" in memory.open)
    near = candidates(new, neighbours, target=target, at=at, before=memory.touches_before)
    found = tuple(
        one
        for one in near
        if (one.cosine or 0.0) >= settings.consolidation_threshold or share_a_name(new, one.chunk)
    )
    if not found or any(is_repetition(new, one.chunk) for one in near):
        return suggestions
    return _with_plan(suggestions, new, found, settings, models)


def _classification(
    memory: ValidatedMemory, neighbours: Neighbours, target: Target, models: Models
) -> ModelSuggestions:
    if _WORTH_A_CALL.isdisjoint(memory.open):
        return ModelSuggestions()
    generator, notes = model_of(models.classify, "classify")
    if generator is None:
        return ModelSuggestions(notes=notes)
    known = vocabulary(memory, target, offering=True)
    classified = classify(memory, neighbours.nearest, known, generator)
    return ModelSuggestions(classified=classified, usage=classified.usage)


def _with_plan(
    suggestions: ModelSuggestions,
    new: Chunk,
    found: Sequence[NearbyChunk],
    settings: MemoryConfig,
    models: Models,
) -> ModelSuggestions:
    generator, notes = model_of(models.consolidate, "consolidate")
    if generator is None:
        return replace(suggestions, notes=(*suggestions.notes, *notes))
    made = plan_by_model(new, found, settings, generator)
    return replace(
        suggestions,
        plan=made.plan,
        seen={one.chunk.id: one.chunk for one in found},
        notes=(*suggestions.notes, *made.notes),
        usage=suggestions.usage + made.usage,
    )


def model_of(ask: Ask, step: str) -> tuple[Generator | None, tuple[str, ...]]:
    """Return the model of a step, or the note that says why there is none."""
    try:
        return ask(), ()
    except (ModelError, ConfigError) as error:
        return None, (f"{step}: no model, rules stand in ({error})",)
