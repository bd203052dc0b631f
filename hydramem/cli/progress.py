"""A progress bar on standard error while a long operation reports; nothing where that is not a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hydramem.operations import Operation


@contextmanager
def reporting(operation: Operation) -> Iterator[Callable[..., None] | None]:
    """Give the callback that an operation reports to, and draw what it says."""
    if not (operation.reports_progress and sys.stderr.isatty()):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(operation.name, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
