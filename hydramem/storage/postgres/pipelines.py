"""Several statements in one round trip."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import psycopg
from psycopg import pq

Statement = tuple[str, dict[str, Any]]
"""A statement and its parameters by name."""


def run_together(
    connection: Any, statements: Iterable[Statement | None], first: Iterable[Statement] = ()
) -> list[list[tuple[Any, ...]]]:
    """Run queries one after the other without waiting for each; return the rows of each.

    Args:
        connection: Where they run.
        statements: None stands for a query that has nothing to do, and returns no row.
        first: Statements that run before, in the same round trip; what they return is not read.

    Raises:
        psycopg.Error: One of them failed; those after it did not run.
    """
    with ExitStack() as pipeline:
        if not (of_caller := _in_pipeline(connection)):
            pipeline.enter_context(one_pipeline(connection))
        send_together(connection, first)
        cursors = [
            None if each is None else connection.execute(each[0].encode(), each[1]) for each in statements
        ]
        if not of_caller:
            pipeline.close()  # rows that were read before would be waited for twice: then, and at its end
        return [[] if cursor is None else cursor.fetchall() for cursor in cursors]


def send_together(connection: Any, statements: Iterable[Statement]) -> None:
    """Run statements that return nothing, one after the other without waiting for each.

    They are waited for at the end, or by the pipeline that the connection is in.

    Raises:
        psycopg.Error: One of them failed; those after it did not run.
    """
    with one_pipeline(connection), connection.cursor() as cursor:
        for statement, parameters in statements:
            cursor.execute(statement.encode(), parameters)


@contextmanager
def one_pipeline(connection: Any) -> Iterator[None]:
    """Run statements in a pipeline that waits for its answers at its end; in the caller's, where it has one.

    Raises:
        psycopg.Error: A statement failed; those after it did not run.
    """
    if _in_pipeline(connection):
        yield
        return
    try:
        with connection.pipeline():
            yield
    except BaseException:
        _forget_prepared(connection)
        raise


def _forget_prepared(connection: Any) -> None:
    """Let a connection prepare its statements anew.

    Statements after the one that failed were not prepared, and psycopg believes that they are. A transaction
    that failed needs nothing: psycopg forgets them when it rolls back.
    """
    if connection.info.transaction_status == pq.TransactionStatus.IDLE:
        with suppress(psycopg.Error):  # of a lost connection
            connection.execute(b"DEALLOCATE ALL", prepare=False)


def _in_pipeline(connection: Any) -> bool:
    return bool(connection.pgconn.pipeline_status != pq.PipelineStatus.OFF)
