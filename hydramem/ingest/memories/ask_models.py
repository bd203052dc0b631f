"""Think: what models say of a new memory before the writer lock is taken: how to file it, what it ends."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hydramem.core.config import MemoryConfig
from hydramem.core.errors import ConfigError, ModelError
from hydramem.core.row_types import Chunk, Usage
from hydramem.core.time import now
from hydramem.ingest.memories.classify.classify import Classified, GivenFields, classify
from hydramem.ingest.memories.classify.classify_rules import Vocabulary
from hydramem.ingest.memories.consolidate.consolidate import ConsolidationPlan, telling_of
from hydramem.ingest.memories.consolidate.consolidate_prompt import planned
from hydramem.ingest.memories.neighbours import Neighbours, candidates, find_neighbours
from hydramem.ingest.memories.similarity import background
from hydramem.ingest.memories.validate import ValidatedMemory, chunk_of
from hydramem.ingest.write_target import Target
from hydramem.llm.contracts import Generator
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.store import Listing, VectorStore
from hydramem.storage.vector_rows import Vector
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


Ask = Callable[[], Generator | None]
"""Returns the model of a role; None where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """The models that encode a memory; each is made where there is something to ask it.

    Attributes:
        configured: Whether there may be any: where not, rules do all of it under the writer lock.
    """

    configured: bool = False
    classify: Ask = lambda: None
    consolidate: Ask = lambda: None


NO_MODELS = Models()

# Where these are given, nothing is asked: rules find keywords and a summary well enough.
_WORTH_A_CALL = frozenset({"scope", "categories", "importance"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSuggestions:
    """What models said of a memory.

    Attributes:
        classified: How to file it; None where rules are to say so.
        plan: What becomes of others; None where rules are to say so.
        seen: The memories that the plan was made for, as they were.
    """

    classified: Classified | None = None
    plan: ConsolidationPlan | None = None
    seen: Mapping[str, Chunk] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)


def given_fields(taken: ValidatedMemory) -> GivenFields:
    """Return a memory as classification looks at it."""
    draft = taken.draft
    return GivenFields(
        text=draft.text,
        kind=draft.kind,
        names=tuple(name.name for name in taken.found.names),
        root=draft.within,
        scope=draft.scope,
        categories=draft.categories,
        importance=draft.importance,
        keywords=draft.keywords,
        summary=draft.summary,
    )


def ask_models(
    taken: ValidatedMemory,
    vector: Vector,
    *,
    target: Target,
    near: VectorStore | None,
    settings: MemoryConfig,
    models: Models,
) -> ModelSuggestions:
    """Ask models what the caller left open of a memory, and what it does to those it touches.

    Nothing is asked where everything is given and nothing is touched, of a quarantined text, or of a turn.

    Args:
        taken: The memory.
        vector: Its vector.
        target: The project.
        near: Its vectors; None where they cannot be had.
        settings: How memories are encoded.
        models: What is asked.
    """
    if not (models.configured and settings.cognitive and taken.active) or taken.draft.kind == "turn":
        return ModelSuggestions()
    told = given_fields(taken)
    around = find_neighbours(
        vector,
        scope=told.scope or told.root,
        target=target,
        vectors=near,
        neighbours=bool(told.open),
        stored=taken.stored,
    )
    if told_before(taken, around) is not None:
        return ModelSuggestions()
    filing = _file(told, around, target, models)
    if not taken.is_steady:
        return filing
    if told.scope is None and filing.classified is None:
        # What it touches depends on where it belongs: rules say that now.
        known = vocabulary(told.names, target=target, offering=False)
        filing = replace(filing, classified=classify(told, around.neighbours, known, None))
    scope = filing.classified.scope if filing.classified else told.scope
    placed = replace(taken, draft=replace(taken.draft, scope=scope))
    return _plan(placed, around, filing, target, near, settings, models)


def told_before(taken: ValidatedMemory, around: Neighbours) -> Chunk | None:
    """Return the current memory that says the same word for word, where one is near."""
    draft = taken.draft
    for row in around.rows.values():
        same = (row.text, row.kind, row.state) == (draft.text, draft.kind, "active")
        if same and draft.scope in (None, row.scope):
            return row
    return None


def beside_its_like(taken: ValidatedMemory, around: Neighbours) -> ValidatedMemory:
    """Let a memory without a scope belong where the same is known: it is no other for being filed anew."""
    known = None if taken.draft.scope is not None else told_before(taken, around)
    return taken if known is None else replace(taken, draft=replace(taken.draft, scope=known.scope))


def _file(told: GivenFields, around: Neighbours, target: Target, models: Models) -> ModelSuggestions:
    if _WORTH_A_CALL.isdisjoint(told.open):
        return ModelSuggestions()
    generator, notes = _made(models.classify, "classify")
    if generator is None:
        return ModelSuggestions(notes=notes)
    known = vocabulary(told.names, target=target, offering=True)
    found = classify(told, around.neighbours, known, generator)
    return ModelSuggestions(classified=found, usage=found.usage)


def _plan(
    taken: ValidatedMemory,
    around: Neighbours,
    filing: ModelSuggestions,
    target: Target,
    near: VectorStore | None,
    settings: MemoryConfig,
    models: Models,
) -> ModelSuggestions:
    at = now()
    new = telling_of(chunk_of(taken, project=target.project, at=at))
    found, rows = candidates(
        new, around, target=target, vectors=near, settings=settings, at=at, stored=taken.stored
    )
    if not found:
        return filing
    generator, notes = _made(models.consolidate, "consolidate")
    if generator is None:
        return replace(filing, notes=(*filing.notes, *notes))
    importances = {id: row.importance for id, row in rows.items()}
    made = planned(new, found, settings, generator, importances=importances)
    return replace(
        filing,
        plan=made.plan,
        seen=rows,
        notes=(*filing.notes, *made.notes),
        usage=filing.usage + made.usage,
    )


def _made(ask: Ask, step: str) -> tuple[Generator | None, tuple[str, ...]]:
    try:
        return ask(), ()
    except (ModelError, ConfigError) as error:
        return None, (f"{step}: no model, rules stand in ({error})",)
