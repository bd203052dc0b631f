"""The layers that a search reads, and the log line of what it found in each.

A layer is a project, the agent's own or the one that the call names, and a degree of trust in it. Working,
shared and verified memories of both are six layers, as OriginTrail's adapter for Hermes has them; the
entries of their curated files are two more.
"""

import logging
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from hydramem.core.results.hits import Hit, Recall
from hydramem.core.row_types import Tier
from hydramem.storage.changes import current_actor

log = logging.getLogger(__name__)


Whose = Literal["agent", "project"]
"""Whether a memory is of the agent's own project, or of the one that the call names."""


def layer_name(whose: Whose, trust: Tier) -> str:
    """Return the name of a layer, such as `project-verified` or `agent-working`."""
    return f"{whose}-{trust}"


def bearing_on(
    found: Recall, floor: float | None, exclude: Collection[str], session: str | None = None
) -> tuple[Hit, ...]:
    """Return the hits that a prompt is given of what a recall found.

    Args:
        floor: Relevance that each reaches; None where the best one is enough, which `answered` says.
        exclude: Ids that the prompt has already.
        session: Id of the session that asks; it knows what was said in it.
    """
    if not found.answered:
        return ()
    return tuple(
        hit
        for hit in found.hits
        if hit.id not in exclude
        and (session is None or hit.session != session)
        and (floor is None or (hit.relevance or 0.0) >= floor)
    )


@dataclass(frozen=True, slots=True)
class SearchLog:
    """What one recall found, by layer; the text of the query is not logged.

    Attributes:
        named: The project that the call names; None where it names none.
        layers: The degrees of trust that it reads; all where empty.
        limit: Most hits or snippets of the answer.
        found: Number of hits by layer, before any is left out.
    """

    named: str | None
    layers: Sequence[Tier]
    limit: int
    found: Counter[str] = field(default_factory=Counter)

    def add(self, hits: Sequence[Hit]) -> None:
        """Count the hits of one search."""
        self.found.update(
            layer_name("project" if hit.project == self.named else "agent", hit.layer) for hit in hits
        )

    def write(self, *, projects: int, shown: int) -> None:
        """Write the line.

        Args:
            projects: How many were read.
            shown: How many hits or snippets the caller is given.
        """
        if not log.isEnabledFor(logging.INFO):
            return
        counts = ", ".join(f"{layer}:{count}" for layer, count in self.found.items())
        log.info(
            "search fired (caller=%s, limit=%d): project=%s, layers=%d, raw_hits=%d (%s), shown=%d",
            current_actor(),
            self.limit,
            self.named or "none",
            projects * len(self.layers or get_args(Tier)),
            self.found.total(),
            counts or "none",
            shown,
        )
