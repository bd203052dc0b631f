"""Prune: what expired or is too much, what nothing holds, and what looks wrong to graph and verifier both.

Archived, not destroyed, and no more relations and links in a night than `garden.prune_share`. What a person
asserted or decided, what is verified and what is reused stays, however it looks. What was archived longer ago
than `limits` keeps it is taken out for good, and so are changes that are older.
"""

from collections import Counter

import numpy as np

from hydramem.garden.fading import expired, isolated, loose_links
from hydramem.garden.ground import Ground, Outcome
from hydramem.garden.purge import old_changes
from hydramem.garden.retention import purged
from hydramem.garden.room import over_room
from hydramem.garden.scoring import scores_of
from hydramem.garden.spurious import spurious
from hydramem.garden.undone import Undone
from hydramem.graph.snapshot.snapshot import LINK, RELATION, STATES


def prune(ground: Ground) -> Outcome:
    """Propose what goes to the archive, and what has been there long enough."""
    counts: Counter[str] = Counter()
    notes: list[str] = []
    most, undone = _most(ground), Undone(ground.graph, ground.project)
    gone = expired(ground, undone, counts)
    wrong = spurious(ground, undone, counts, notes, most=most, score=scores_of) if most else []
    gone += wrong
    gone += loose_links(ground, undone, counts, most=most - len(wrong))
    gone += isolated(ground, undone, counts)
    gone += purged(ground, undone, counts)
    going = {id for each in gone for id in each.write.removed.chunks}
    gone += over_room(ground, undone, going, counts, notes)
    gone += old_changes(ground, counts)
    if ground.budget.over:
        notes.append(f"Not everything was looked at: {ground.budget.over}.")
    return Outcome(
        proposals=tuple(gone),
        counts=dict(sorted(counts.items())),
        state="partial" if ground.budget.over else "completed",
        notes=tuple(notes),
        usage=ground.budget.usage,
    )


def _most(ground: Ground) -> int:
    """Return how many relations and links may go tonight."""
    edges = ground.snapshot.edges
    active = np.isin(edges.kind, (RELATION, LINK)) & (edges.state == STATES.index("active"))
    return int(ground.settings.garden.prune_share * np.count_nonzero(active))
