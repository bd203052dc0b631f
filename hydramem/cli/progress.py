"""A progress bar on standard error while a long operation reports; nothing where that is not a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from hydramem.cli.terminal import plain
from hydramem.ingest.documents.ingest import Progress
from hydramem.operations import Operation


@contextmanager
def reporting(operation: Operation) -> Iterator[Callable[..., None] | None]:
    """Give the callback that an operation reports to, and draw what it says."""
    if not (operation.reports_progress and sys.stderr.isatty()):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(operation.name, total=None)
        yield lambda *said: bar.update(task, **_state(*said))


def _state(*said: Any) -> dict[str, Any]:
    """Read what an operation says: how much of how much, and of what where it names it."""
    match said:
        case (Progress() as at,):
            return {"completed": at.done, "total": at.total, "description": plain(at.what)[-40:]}
        case (done, total):
            return {"completed": done, "total": total}
    return {}
