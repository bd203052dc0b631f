"""Lasting ids: which group of today is which group of before, though members came and went."""

from collections import Counter
from collections.abc import Mapping, Sequence

_LEAST = 0.2
"""Overlap (Jaccard) from which a group goes on from another; below it is a new one."""


def successors(
    groups: Sequence[Sequence[str]], before: Mapping[str, Sequence[str]]
) -> Mapping[int, tuple[str, float]]:
    """Match groups to those of before, the largest overlap first; each goes on in one at most.

    Args:
        groups: Ids of the members of each group; a member is in one at most.
        before: The same of before, by the id of the group.

    Returns:
        By place in `groups`: the id of the group that it goes on from, and their overlap (Jaccard, 0 to 1).
        Ties go to the larger group, then by ids, so that the same groups are matched the same way.
    """
    home = {member: id for id, members in before.items() for member in members}
    pairs = list[tuple[float, int, str, str, int]]()
    for place, members in enumerate(groups):
        shared = Counter(home[member] for member in members if member in home)
        least = min(members, default="")
        for id, both in shared.items():
            overlap = both / (len(members) + len(before[id]) - both)
            if overlap >= _LEAST:
                pairs.append((-overlap, -len(members), least, id, place))
    found: dict[int, tuple[str, float]] = {}
    taken = set[str]()
    for overlap, _, _, id, place in sorted(pairs):
        if place not in found and id not in taken:
            found[place] = (id, -overlap)
            taken.add(id)
    return found
