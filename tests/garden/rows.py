"""Rows of the default project."""

from datetime import UTC, datetime
from functools import partial

from hydramem.core.row_types import Chunk, Times
from tests.storage import rows

chunk = partial(rows.chunk, project="default")
document = partial(rows.document, project="default")
entity = partial(rows.entity, project="default")
relation = partial(rows.relation, project="default")
session = partial(rows.session, project="default")

LONG_AGO = datetime(2025, 1, 1, tzinfo=UTC)


def note(id: str, text: str, day: int, **values: object) -> Chunk:
    """Return a memory that was recorded on a day of March."""
    return chunk(id, text, **{"times": Times(recorded_at=datetime(2025, 3, day, tzinfo=UTC))} | values)


def memory_of(id: str, **fields: object) -> Chunk:
    """Return a memory of long ago whose text is its id."""
    return chunk(id, f"Note {id}.", **{"times": Times(recorded_at=LONG_AGO)} | fields)
