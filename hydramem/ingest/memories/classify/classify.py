"""Classification: the fields that a caller left open: scope, categories, importance, keywords, summary.

One structured call of a model for exactly the open fields, or rules; after CrewAI's memory and A-MEM (Xu et
al., 2025).
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hydramem.core.errors import ModelError
from hydramem.core.row_types import Chunk, Usage
from hydramem.ingest.memories.classify import classify_rules
from hydramem.ingest.memories.classify.classify_prompt import (
    SYSTEM,
    accepted_fields,
    classify_prompt,
    reply_shape,
)
from hydramem.ingest.memories.classify.classify_rules import Vocabulary
from hydramem.ingest.memories.memory_input import OPEN_FIELDS, SCOPE_FOUND, ValidatedMemory
from hydramem.ingest.memories.similarity import NearbyChunk
from hydramem.llm.contracts import Generator

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Classified:
    """The fields that a memory is filed by, as given or as found.

    Attributes:
        steps: `classify` where something was open.
        notes: What failed, and what was done about it.
        usage: What the model cost.
    """

    scope: str
    categories: tuple[str, ...]
    importance: float
    keywords: tuple[str, ...]
    summary: str | None
    steps: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)

    def file(self, row: Chunk, *, scope_found: bool) -> Chunk:
        """Return a row with these fields.

        Args:
            scope_found: Whether the scope was left open by the caller, and found here.
        """
        found = {SCOPE_FOUND: True} if scope_found and self.scope != "/" else {}
        filed = {name: getattr(self, name) for name in OPEN_FIELDS}
        return replace(row, **filed, metadata={**row.metadata, **found})


def classify(
    memory: ValidatedMemory,
    neighbours: Sequence[NearbyChunk] = (),
    vocabulary: Vocabulary | None = None,
    generator: Generator | None = None,
) -> Classified:
    """Fill in what a caller left open; what was given is neither asked for nor changed.

    When the model fails, rules fill in, and a note says so. Give no model for a quarantined text.

    Args:
        memory: The memory.
        neighbours: Chunks near it, with cosines.
        vocabulary: The names that the project uses; None where none are known.
        generator: The model; None for rules alone.
    """
    known = vocabulary or Vocabulary()
    given = {name: getattr(memory.row, name) for name in OPEN_FIELDS}
    if not memory.open:
        return Classified(**given)
    found: Mapping[str, Any] = {}
    notes: tuple[str, ...] = ()
    usage = Usage()
    if generator is not None:
        try:
            prompt = classify_prompt(memory, neighbours, known)
            reply = generator.generate(prompt, reply_shape(memory.open), system=SYSTEM)
            usage = reply.usage
            found, notes = accepted_fields(reply.value, memory, known)
        except ModelError as error:
            logger.warning("classification by %s failed, rules stand in: %s", generator.name, error)
            notes = (f"classify: the model failed, rules stand in ({error})",)
    ruled = {name: _by_rules(name, memory, neighbours, known) for name in memory.open if name not in found}
    return Classified(**(given | ruled | dict(found)), steps=("classify",), notes=notes, usage=usage)


def _by_rules(
    name: str, memory: ValidatedMemory, neighbours: Sequence[NearbyChunk], vocabulary: Vocabulary
) -> object:
    text = memory.row.text
    match name:
        case "scope":
            return classify_rules.scope_of(
                neighbours, root=memory.given.within, background=vocabulary.background
            )
        case "categories":
            return classify_rules.categories_of(text, neighbours, vocabulary)
        case "importance":
            return classify_rules.importance_of(text)
        case "keywords":
            names = tuple(name.name for name in memory.found.names)
            return classify_rules.keywords_of(text, names, neighbours, vocabulary)
        case _:
            return classify_rules.summary_of(text)
