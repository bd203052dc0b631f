"""Which memories are linked, and how strongly: by nearness and by the rare names that both mention. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from hydramem.core.config import MemoryConfig
from hydramem.core.ids import link_id
from hydramem.core.row_types import Chunk, Link, LinkType, Times

# A rare name that both mention brings two memories nearer by so much, and lets them be so much farther apart.
_SHARED_GAIN = 0.25

_SHARED_NEAR = 0.5

_NAMED = 3

# What consolidation decided says more than likeness does, whatever its weight.
_LIKENESS: tuple[LinkType, ...] = ("relates_to", "supports")


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A memory near a new one.

    Attributes:
        nearness: 0 for unrelated, 1 for equal (`ingest.background`).
        shared: Names that both mention, the rarest first.
        rarity: Of the rarest of them: 0 where all mention it, 1 where only these do.
    """

    chunk: Chunk
    nearness: float
    shared: tuple[str, ...] = ()
    rarity: float = 0.0

    @property
    def strength(self) -> float:
        """How much speaks for a link, 0 to 1."""
        return min(1.0, self.nearness + _SHARED_GAIN * self.rarity)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A link that is proposed, from the new memory to one near it."""

    target: str
    type: LinkType
    weight: float
    reason: str


def nearest(neighbours: Iterable[Neighbour], settings: MemoryConfig) -> tuple[Neighbour, ...]:
    """Return the neighbours that are near enough for a link, the strongest first, no more than are wanted.

    One that shares a rare name need only be half as near.
    """
    bound = settings.link_threshold
    enough = [
        one
        for one in neighbours
        if one.nearness >= bound or (one.rarity > 0 and one.nearness >= _SHARED_NEAR * bound)
    ]
    enough.sort(key=lambda one: (-one.strength, one.chunk.id))
    return tuple(enough[: settings.link_neighbors])


def proposed(neighbours: Sequence[Neighbour]) -> tuple[Proposal, ...]:
    """Propose a link to each neighbour without a model: they relate, and why."""
    return tuple(
        Proposal(target=one.chunk.id, type="relates_to", weight=round(one.strength, 3), reason=_reason(one))
        for one in neighbours
    )


def _reason(one: Neighbour) -> str:
    near = f"near in meaning ({one.nearness:.2f})"
    if not one.shared:
        return near
    return f"both mention {', '.join(one.shared[:_NAMED])}; {near}"


def link_of(project: str, source: str, proposal: Proposal, at: datetime) -> Link:
    """Return the link that a proposal asks for."""
    return Link(
        id=link_id(project, source, proposal.type, proposal.target),
        source=source,
        target=proposal.target,
        type=proposal.type,
        weight=proposal.weight,
        reason=proposal.reason,
        times=Times(recorded_at=at),
    )


def bounded(
    held: Iterable[Link], new: Sequence[Link], most: int
) -> tuple[tuple[Link, ...], tuple[Link, ...]]:
    """Keep each memory's links to so many: the weakest go first, new or old, the oldest of equals.

    Args:
        held: The active links around the ends of the new ones.
        new: Links to add.
        most: Links of one memory.

    Returns:
        The new links that stay, and the held ones that give way.
    """
    old = {link.id: link for link in held}
    alive = old | {link.id: link for link in new}
    for end in sorted({end for link in new for end in (link.source, link.target)}):
        around = [link for link in alive.values() if end in (link.source, link.target)]
        for link in sorted(around, key=_strength, reverse=True)[most:]:
            del alive[link.id]
    fresh = tuple(link for link in new if link.id in alive and link.id not in old)
    return fresh, tuple(link for link in old.values() if link.id not in alive)


def _strength(link: Link) -> tuple[bool, float, datetime, str]:
    return link.type not in _LIKENESS, link.weight, link.times.recorded_at, link.id
