"""What operations on entities, scopes, layers and limits return."""

from dataclasses import dataclass

from hydramem.core.types import Layer


@dataclass(frozen=True, slots=True, kw_only=True)
class Promoted:
    """What promote did.

    Attributes:
        chunks, relations: Ids of what is in the layer now and was in another.
        unchanged: Ids of what was in it already.
    """

    layer: Layer
    chunks: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
