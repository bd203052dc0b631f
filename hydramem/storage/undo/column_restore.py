"""Setting one row back, column by column: what was written since stays."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hydramem.storage.row_codec import Values
from hydramem.storage.schema import Column, Table
from hydramem.storage.undo.undo_images import DERIVED


def set_back(
    table: Table,
    current: Values,
    *,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    force: bool = False,
) -> tuple[Values, tuple[str, ...]]:
    """Return a row with some columns as they were, and the names of those that were written since.

    Lists and metadata lose what was added and gain what was taken, so that what was added since stays. A
    count goes back by as much as it rose. Where a column was written since, the row stays whole.

    Args:
        table: The row's table.
        current: The row as it is.
        before, after: The columns that were set, as they were and as they became.
        force: Set back what was written since too.
    """
    derived = DERIVED.get(table.name, frozenset())
    back: Values = {}
    since: list[str] = []
    for column in table.columns:
        name = column.name
        if name not in before or current[name] == before[name]:
            continue
        if current[name] == after[name] or (force and name not in derived):
            back[name] = before[name]
        elif name not in derived:  # those a later write set as it would have without this one
            value = _merged(column, current[name], before[name], after[name])
            if value is None:
                since.append(name)
            back[name] = value
    if since:
        back = {name: value for name, value in back.items() if name in derived}
    return {**current, **back}, tuple(since)


def _merged(column: Column, current: Any, before: Any, after: Any) -> Any:
    """Return a value without what changed between two others; None where it was changed there since."""
    if column.kind == "texts":
        return without_added(current, before, after)
    if column.kind == "json":
        return _merged_json(json.loads(current), json.loads(before), json.loads(after))
    return None


def without_added(current: Sequence[str], before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Return a list without what one change of it added, and with what that took."""
    kept = [item for item in current if item in before or item not in after]
    return [*kept, *(item for item in before if item not in after and item not in kept)]


def _merged_json(
    current: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any]
) -> str | None:
    back = dict(current)
    for name in {**before, **after}:
        was, became = before.get(name), after.get(name)
        if was == became or current.get(name) == was:
            continue
        if current.get(name) != became:
            return None
        back.pop(name, None)
        if name in before:
            back[name] = was
    return json.dumps(back)
