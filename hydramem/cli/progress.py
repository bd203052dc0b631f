"""The progress of an operation on a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from hydramem.sharing.operation_specs import Spec


@contextmanager
def reporting(spec: Spec) -> Iterator[Callable[..., None] | None]:
    """Yield the callback that draws an operation's progress on standard error; None without a terminal."""
    if not (spec.reports_progress and sys.stderr.isatty()):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(spec.name, total=None)
        yield lambda *report: bar.update(task, **_bar_state(*report))


def _bar_state(*report: Any) -> dict[str, Any]:
    """Return the state of the bar for a report: a `Progress`, or what is done and the total."""
    from hydramem.cli.terminal import plain
    from hydramem.core.inputs import Progress

    match report:
        case (Progress() as at,):
            return {"completed": at.done, "total": at.total, "description": plain(at.what)[-40:]}
        case (done, total):
            return {"completed": done, "total": total}
    return {}
