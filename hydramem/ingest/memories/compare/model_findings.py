"""What a model finds in new memories and turns, added to what the rules find, as `ingest` does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from hydramem.core.config import MemoryConfig
from hydramem.core.row_types import Usage
from hydramem.ingest.extraction.extraction_prompt import enrich
from hydramem.ingest.extraction.findings import Found
from hydramem.ingest.memories.compare.ask_models import Models, model_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFindings:
    """What texts name and state, by rules and by a model.

    Attributes:
        found: In the order of the texts.
        notes: Why rules stand in for the model, for each text; empty where they do not.
        usage: What all texts cost.
    """

    found: tuple[Found, ...]
    notes: tuple[tuple[str, ...], ...]
    usage: Usage = field(default_factory=Usage)


def add_model_findings(
    found: Sequence[Found], texts: Mapping[int, str], *, settings: MemoryConfig, models: Models
) -> ModelFindings:
    """Add what the model of extraction finds; one that fails costs a note.

    Where `memory.cognitive` is off, no model is asked.

    Args:
        found: What the rules found in each text.
        texts: Those that a model may read, by their places in `found`.
        settings: How memories are encoded.
        models: The models.
    """
    by_rules = ModelFindings(found=tuple(found), notes=((),) * len(found))
    if not (models.configured and settings.cognitive and texts):
        return by_rules
    generator, notes = model_of(models.extract, "extract")
    if generator is None:
        read = (notes if place in texts else () for place in range(len(found)))
        return replace(by_rules, notes=tuple(read))
    named = {str(place): text for place, text in texts.items()}
    asked = {id: found[int(id)] for id in named}
    done = enrich(asked, named, generator=generator, batch=models.texts_each)
    failed = {id: (f"extract: the model failed, rules stand in ({why})",) for id, why in done.failed.items()}
    return ModelFindings(
        found=tuple(done.found.get(str(place), each) for place, each in enumerate(found)),
        notes=tuple(failed.get(str(place), ()) for place in range(len(found))),
        usage=done.usage,
    )
