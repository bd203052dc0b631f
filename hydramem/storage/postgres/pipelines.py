"""Several statements in one round trip."""

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from psycopg import pq

Statement = tuple[str, dict[str, Any]]
"""A statement and its parameters by name."""


def run_together(connection: Any, statements: Iterable[Statement | None]) -> list[list[tuple[Any, ...]]]:
    """Run statements one after the other without waiting for each; return the rows of each.

    Args:
        connection: In a transaction.
        statements: None stands for a statement that has nothing to do, and returns no row.

    Raises:
        psycopg.Error: One of them failed; those after it did not run.
    """
    with connection.pipeline():
        cursors = [
            None if each is None else connection.execute(each[0].encode(), each[1]) for each in statements
        ]
    # Before the pipeline has ended, a cursor does not know whether it has rows.
    return [[] if cursor is None or cursor.description is None else cursor.fetchall() for cursor in cursors]


def one_pipeline(connection: Any) -> AbstractContextManager[object]:
    """Return a pipeline that waits for its answers at its end; that of the caller, where it has begun one."""
    if connection.pgconn.pipeline_status == pq.PipelineStatus.OFF:
        pipeline: AbstractContextManager[object] = connection.pipeline()
        return pipeline
    return nullcontext()
