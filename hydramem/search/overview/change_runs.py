"""The audit as a list of runs, so that one can be found and undone."""

import json

from hydramem.core.results.upkeep_results import RunOfChanges
from hydramem.core.row_types import Change
from hydramem.storage.store import GraphStore, Listing, RunFilter, RunRow
from hydramem.storage.undo.undo import undone_runs
from hydramem.text.shown_text import one_line

_MOST_CHARACTERS = 80
_NAMING = ("text", "name", "source", "label", "type", "content")


def change_runs(graph: GraphStore, where: RunFilter, page: Listing) -> tuple[RunOfChanges, ...]:
    """Return a page of runs, the last one first.

    Args:
        graph: Has the audit.
        where, page: Which runs, and how many of them.
    """
    runs = graph.runs(where, page)
    undone = undone_runs([run.id for run in runs], graph)
    return tuple(_line(run, undone=run.id in undone) for run in runs)


def _line(run: RunRow, *, undone: bool) -> RunOfChanges:
    return RunOfChanges(
        run=run.id,
        at=run.ended_at,
        actors=run.actors,
        operations=run.operations,
        projects=run.projects,
        changes=run.changes,
        about=_about(run.first),
        reason=run.first.reason,
        undone=undone,
    )


def _about(change: Change) -> str:
    """Return the words of the row that a change is of, or its id."""
    row = json.loads(change.after or change.before or "null")
    words = next((row[key] for key in _NAMING if row.get(key)), None) if isinstance(row, dict) else None
    return one_line(str(words or change.target), _MOST_CHARACTERS)
