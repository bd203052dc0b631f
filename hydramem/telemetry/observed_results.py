"""What telemetry takes from the result or the error of a call: numbers, and words of closed lists.

Ids of hits are looked up in memory to find the size of their sources, and are never stored.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from hydramem.core.results.garden_results import Gardened, Trained
from hydramem.core.results.hits import Prompt, Recall
from hydramem.core.results.verdicts import Verified
from hydramem.core.results.write_results import Ingested
from hydramem.storage.changes import TOKEN_ACTOR
from hydramem.storage.write import Write

SURFACES = frozenset({"cli", "mcp", "python", "hook", "hermes", "tool", "view"})
_OTHER = "other"
_OWN_PACKAGES = frozenset({"builtins", "hydramem"})
_CHARACTERS_A_TOKEN = 4
"""An estimate, for texts whose tokens were not counted when they were stored."""


@dataclass(frozen=True, slots=True)
class GivenText:
    """A text that was returned to an agent: of which chunk, and its tokens, None for those of the chunk."""

    project: str
    chunk: str
    characters: int
    tokens: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What a result shows.

    Attributes:
        hits: None where the operation finds none by a question.
        relevance: That of the best hit.
        answered: None where nothing was asked.
        tokens: Tokens of the whole answer, where they were counted; else those of `given`.
        given: The texts in it.
        measures: Numbers to add up by day, by name.
    """

    hits: int | None = None
    relevance: float | None = None
    answered: bool | None = None
    tokens: int | None = None
    given: tuple[GivenText, ...] = ()
    measures: Counter[str] = field(default_factory=Counter)
    auc: float | None = None


_NOTHING = Observed()


def observed(result: object, *, asked: bool) -> Observed:
    """Return what the result of an operation shows.

    Args:
        result: Of any operation.
        asked: Whether the call had a question; `prime` can be called without one.
    """
    match result:
        case Recall():
            return _of_recall(result)
        case Prompt():
            return _of_prompt(result, asked=asked)
        case Verified():
            return _measured("verdict", result, ("accepted", "rejected", "deferred"))
        case Ingested():
            return _measured("ingest", result, ("documents", "chunks", "entities", "relations"))
        case Trained():
            return Observed(auc=result.auc)
        case (Gardened(), *_):
            return _of_nights(tuple(each for each in result if isinstance(each, Gardened)))
        case _:
            return _NOTHING


def stored_memories(write: Write) -> Counter[str]:
    """Return how many new memories a write stores, as the measures `memory.KIND`; passages are none."""
    if not any(chunk.kind != "passage" for chunk in write.chunks):
        return Counter()
    new = {change.target for change in write.changes if change.before is None and change.operation != "undo"}
    kinds = (chunk.kind for chunk in write.chunks if chunk.id in new)
    return Counter(f"memory.{kind}" for kind in kinds if kind != "passage")


def outcome_of(error: BaseException) -> str:
    """Return the class of an error; `other` for a class that another program named."""
    kind = type(error)
    return kind.__name__ if kind.__module__.split(".")[0] in _OWN_PACKAGES else _OTHER


def surface_of(actor: str) -> str:
    """Return the surface that an actor is, for a token MCP; `other` for a name that a client chose."""
    if actor.startswith(TOKEN_ACTOR):
        return "mcp"
    return actor if actor in SURFACES else _OTHER


def estimated_tokens(characters: int) -> int:
    """Return about how many tokens a text of so many characters has."""
    return -(-characters // _CHARACTERS_A_TOKEN)


def _of_recall(found: Recall) -> Observed:
    given = tuple(
        GivenText(
            hit.project,
            hit.id,
            len(hit.context or hit.text),
            estimated_tokens(len(hit.context)) if hit.context else None,
        )
        for hit in found.hits
    )
    best = found.hits[0].relevance if found.hits else None
    answered = found.answered and bool(found.hits)
    return Observed(hits=len(found.hits), relevance=best, answered=answered, given=given)


def _of_prompt(found: Prompt, *, asked: bool) -> Observed:
    given = tuple(GivenText(each.project, each.id, 0, None) for each in found.snippets)
    best = max((each.relevance for each in found.snippets if each.relevance is not None), default=None)
    return Observed(
        hits=len(found.snippets),
        relevance=best,
        answered=bool(found.snippets) if asked else None,
        tokens=found.tokens,
        given=given,
    )


def _of_nights(nights: tuple[Gardened, ...]) -> Observed:
    ran = [night for night in nights if night.state != "planned"]
    effects = Counter({"night.runs": len(ran)})
    for phase in (phase for night in ran for phase in night.phases):
        effects[f"night.{phase.phase}"] += phase.applied
    measured = [phase.auc for night in ran for phase in night.phases if phase.auc is not None]
    return Observed(measures=+effects, auc=sum(measured) / len(measured) if measured else None)


def _measured(group: str, result: object, names: Sequence[str]) -> Observed:
    return Observed(measures=+Counter({f"{group}.{name}": getattr(result, name) for name in names}))
