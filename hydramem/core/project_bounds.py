"""Which projects a call may touch: a token of a server can be for some projects only.

The bounds belong to the context of a call. Every store reads them: the embedded ones through a view of the
graph (`storage/bounded_graph.py`), a database through the setting that its row-level security compares.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from hydramem.core.errors import NotFoundError

_bounds: ContextVar[frozenset[str] | None] = ContextVar("projects", default=None)


@contextmanager
def bounded_to(projects: Sequence[str] | None) -> Iterator[None]:
    """Let this context touch these projects alone: none where there are none, every one where it is None."""
    token = _bounds.set(None if projects is None else frozenset(projects))
    try:
        yield
    finally:
        _bounds.reset(token)


@contextmanager
def unbounded() -> Iterator[None]:
    """Let this context touch every project: for upkeep of the store that a bounded call sets off."""
    token = _bounds.set(None)
    try:
        yield
    finally:
        _bounds.reset(token)


def bounds() -> frozenset[str] | None:
    """Return the projects that this context may touch; None where it may touch every one."""
    return _bounds.get()


def is_in_bounds(project: str) -> bool:
    """Return whether this context may touch a project."""
    allowed = _bounds.get()
    return allowed is None or project in allowed


def in_bounds(project: str) -> str:
    """Return a project that this context may touch.

    Raises:
        NotFoundError: It may not, whether there is such a project or not.
    """
    if not is_in_bounds(project):
        raise NotFoundError(f"project: {project[:80]!r} is none of those that this call may use")
    return project
