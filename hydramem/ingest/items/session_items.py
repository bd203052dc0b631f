"""The ordered items of a session: JSON texts, appended, read from the end, and popped."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from hydramem.core.errors import InvalidInputError
from hydramem.core.ids import session_item_id
from hydramem.core.results.item_results import SessionItems
from hydramem.core.row_types import Item
from hydramem.core.time import now
from hydramem.ingest.items.item_index import ItemIndex
from hydramem.ingest.items.item_values import MOST_AT_ONCE, check_size
from hydramem.ingest.write_target import Target
from hydramem.storage.changes import current_run, in_one_run, record
from hydramem.storage.schema import ITEM
from hydramem.storage.write import Removal, Write

APPEND = "append_session_items"
POP = "pop_session_items"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def check_session_items(items: Sequence[str]) -> tuple[str, ...]:
    """Return JSON texts to append.

    Raises:
        InvalidInputError: There are too many, or one is no JSON text, or too long.
    """
    if isinstance(items, str) or not isinstance(items, Sequence) or len(items) > MOST_AT_ONCE:
        raise InvalidInputError(f"items: expected a list of at most {MOST_AT_ONCE:,} JSON texts")
    for place, text in enumerate(items):
        if not isinstance(text, str):
            raise InvalidInputError(f"items[{place}]: expected a JSON text, got {type(text).__name__}")
        try:
            json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InvalidInputError(f"items[{place}]: is no JSON text: {error}") from error
        check_size(text, name=f"items[{place}]")
    return tuple(items)


@in_one_run()
def append_session_items(
    items: Sequence[str], session: str, *, target: Target, index: ItemIndex
) -> SessionItems:
    """Append JSON texts to a session, in their order; each is kept byte for byte.

    A place is never used twice: an undo of a pop or a clear puts items back before those that came after.
    """
    if not items:
        return SessionItems(session=session)
    with target.one_writer:
        at, graph = now(), target.graph
        last = graph.nodes(ITEM, index.session(target.project, session, 1))
        # The time in microseconds, or later: no earlier place comes back after a pop.
        first = max((at - _EPOCH) // _MICROSECOND, *(row.position + 1 for row in last), 0)
        rows = tuple(
            Item(
                id=session_item_id(target.project, session, position),
                project=target.project,
                session=session,
                position=position,
                value=text,
                created_at=at,
                updated_at=at,
            )
            for position, text in enumerate(items, start=first)
        )
        changes = tuple(record(APPEND, project=row.project, target=row.id, after=row) for row in rows)
        target.commit(Write(changes=changes, items=rows), {})
    return SessionItems(session=session, items=tuple(items), run=current_run())


def session_items(session: str, *, most: int | None, target: Target, index: ItemIndex) -> SessionItems:
    """Return the last items of a session, in their order; all where `most` is None."""
    rows = target.graph.nodes(ITEM, index.session(target.project, session, most))
    return SessionItems(session=session, items=tuple(row.value for row in reversed(rows)))


@in_one_run()
def pop_session_items(session: str, *, most: int | None, target: Target, index: ItemIndex) -> SessionItems:
    """Remove the last items of a session and return them, in their order; all where `most` is None."""
    with target.one_writer:
        rows = target.graph.nodes(ITEM, index.session(target.project, session, most))
        if not rows:
            return SessionItems(session=session)
        changes = tuple(record(POP, project=row.project, target=row.id, before=row) for row in rows)
        target.commit(Write(changes=changes, removed=Removal(items=tuple(row.id for row in rows))), {})
    return SessionItems(session=session, items=tuple(row.value for row in reversed(rows)), run=current_run())
