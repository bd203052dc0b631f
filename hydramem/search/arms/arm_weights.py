"""The weights of recall's arms that one call sets in place of the configured ones."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, get_args

from hydramem.core.argument_checks import check_choice
from hydramem.core.config import SearchConfig
from hydramem.core.errors import InvalidInputError

Arm = Literal["vector", "text", "graph"]
_MOST = 1000.0


def with_arms(settings: SearchConfig, arms: Mapping[Arm, float] | None) -> SearchConfig:
    """Return settings with the weights of a call; an arm that it does not name keeps its own.

    Args:
        settings: The configured settings.
        arms: Weights by arm: vector and text relative to each other, 0 to 1000; graph is the share of the
            score, 0 to 1. An arm of weight 0 adds nothing.

    Raises:
        InvalidInputError: An arm or a weight is wrong, or vector and text are both 0.
    """
    if arms is None:
        return settings
    if not isinstance(arms, Mapping):
        raise InvalidInputError(f"arms: expected weights by arm, got {type(arms).__name__}")
    weights = {check_choice(name, get_args(Arm), name="arms"): _weight(name, arms[name]) for name in arms}
    changed = replace(
        settings,
        vector_weight=weights.get("vector", settings.vector_weight),
        text_weight=weights.get("text", settings.text_weight),
        graph_weight=weights.get("graph", settings.graph_weight),
    )
    if not (changed.vector_weight or changed.text_weight):
        raise InvalidInputError("arms: vector and text are both 0; one of them finds where the graph starts")
    return changed


def _weight(name: str, given: Any) -> float:
    most = 1.0 if name == "graph" else _MOST
    number = isinstance(given, int | float) and not isinstance(given, bool)
    if not number or not math.isfinite(given) or not 0 <= given <= most:
        raise InvalidInputError(f"arms.{name}: {given!r} is no weight from 0 to {most:g}")
    return float(given)
