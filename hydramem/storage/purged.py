"""Purged: what is gone of the audit, as the Change of it tells, so that no run is undone by halves."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from hydramem.core.row_types import Change
from hydramem.storage.store import GraphStore

PURGED = "changes"
"""Target of the Changes that tell of it: no row has this id."""

_KEY = "purged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Purged:
    """Changes that one Change took out.

    Attributes:
        until: When the last of them was made.
        runs: How many runs went whole.
        part_of: The run that went in several parts, this being one of them.
        taken_back: Ids of rows of which only they told that a person took back what was done to them.
    """

    changes: int
    runs: int
    until: datetime
    part_of: str | None = None
    taken_back: tuple[str, ...] = ()

    @property
    def told(self) -> Mapping[str, Any]:
        """What its Change says, as JSON holds it."""
        return {
            _KEY: {
                "changes": self.changes,
                "runs": self.runs,
                "until": self.until.isoformat(),
                "part_of": self.part_of,
                "taken_back": list(self.taken_back),
            }
        }


def purged_by(change: Change) -> Purged | None:
    """Return what a Change took out of the audit; None where that is nothing."""
    told = json.loads(change.after or "{}").get(_KEY) if change.target == PURGED else None
    if told is None:
        return None
    return Purged(
        changes=told["changes"],
        runs=told["runs"],
        until=datetime.fromisoformat(told["until"]),
        part_of=told["part_of"],
        taken_back=tuple(told["taken_back"]),
    )


def purges(graph: GraphStore) -> tuple[tuple[Change, Purged], ...]:
    """Return the Changes that took others out, oldest first, with what they took."""
    found = ((change, purged_by(change)) for change in graph.changes(target=PURGED))
    return tuple((change, gone) for change, gone in found if gone is not None)


def no_longer_known(graph: GraphStore) -> str:
    """Say, to go on a sentence that something is not found, from when the audit is not whole any more."""
    until = max((gone.until for _, gone in purges(graph)), default=None)
    if until is None:
        return ""
    return f"; changes made up to {until:%Y-%m-%d %H:%M} UTC are gone (limits.change_days)"
