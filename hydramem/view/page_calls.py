"""The operations as the page calls them: arguments from JSON, the result, and the run that `undo` takes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from hydramem.core.errors import (
    ConfigError,
    DiskFullError,
    HydraMemError,
    InvalidInputError,
    ModelError,
    NotFoundError,
    ReadOnlyError,
    StoreBusyError,
)
from hydramem.core.ids import new_id
from hydramem.core.results.upkeep_results import ProjectView, RunOfChanges
from hydramem.core.version import __version__
from hydramem.sharing.connect import call
from hydramem.sharing.operation_specs import SPECS, Spec
from hydramem.storage.files.read_only import is_read_only

if TYPE_CHECKING:
    from hydramem import Memory

ACTOR = "view"
"""The actor of the audit."""

FOR_GOOD = frozenset({"erase", "restore"})
"""Operations that no undo takes back: the page has no way to them."""

_STATUS: Mapping[type[HydraMemError], int] = {
    NotFoundError: 404,
    InvalidInputError: 400,
    ConfigError: 400,
    StoreBusyError: 503,
    DiskFullError: 507,
    ReadOnlyError: 409,
    ModelError: 502,
}
"""The status of an answer by the class of the error; a class that is not here has 500."""


class RefusedCallError(Exception):
    """The page may not make this call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageAnswer:
    """What the page gets for a call.

    Attributes:
        result: What the operation returned.
        run: The run of what it wrote, for `undo`; None where it wrote nothing.
    """

    result: object
    run: str | None


class PageCalls:
    """Calls operations for the page, from any number of threads.

    Args:
        memory: What `connect` returned.
        project: The project that calls without one read and write.
    """

    def __init__(self, memory: "Memory", *, project: str) -> None:
        self._memory = memory
        self._project = project

    def arguments(self, name: str, given: Mapping[str, Any]) -> tuple[Spec, dict[str, object]]:
        """Return an operation and its arguments, checked.

        Args:
            name: The operation.
            given: Its arguments as JSON types.

        Raises:
            NotFoundError: There is no such operation.
            InvalidInputError: The arguments are not those of the operation.
            RefusedCallError: It cannot be undone, or names a file.
        """
        spec = SPECS.get(name)
        if spec is None:
            raise NotFoundError(f"{name[:80]!r}: no such operation")
        if name in FOR_GOOD:
            raise RefusedCallError(f"{name}: cannot be undone, so the page does not do it; use the command")
        arguments = spec.arguments_from_json(given)
        for each in spec.files:
            if arguments.get(each) is not None:
                raise RefusedCallError(f"{each}: the page names no files; use the command {name}")
        return spec, arguments

    def run(
        self,
        spec: Spec,
        arguments: Mapping[str, object],
        *,
        request: str | None = None,
        progress: Callable[..., None] | None = None,
    ) -> PageAnswer:
        """Call an operation.

        Args:
            spec, arguments: As `arguments` returned them.
            request: Id of the request; a repeated one is carried out once where the operation is `once`.
            progress: Called as the operation reports its progress.

        Raises:
            HydraMemError: As the operation.
        """
        id = request or new_id("q")
        # A person who looks around does not make a memory more useful: these recalls are for no session.
        result = call(
            self._memory, spec.name, arguments, actor=ACTOR, request=id, session="", progress=progress
        )
        return PageAnswer(result=result, run=None if spec.effect == "read" else self._run_of(id))

    def page(self) -> dict[str, object]:
        """Return what the page has to know before it shows anything."""
        return page_info(self._memory, project=self._project)

    def _read(self, name: str, arguments: Mapping[str, object]) -> object:
        return call(self._memory, name, arguments, actor=ACTOR, session="")

    def _run_of(self, request: str) -> str | None:
        asked = {"request": request, "every_project": True, "limit": 1}
        found = cast("tuple[RunOfChanges, ...]", self._read("changes", asked))
        return found[0].run if found else None


def page_info(memory: "Memory", *, project: str) -> dict[str, object]:
    """Return what a page of a memory has to know before it shows anything."""
    views = cast("tuple[ProjectView, ...]", call(memory, "projects", {}, actor=ACTOR))
    return {
        "version": __version__,
        "folder": str(memory.folder),
        "project": project,
        "projects": sorted({project, *(each.name for each in views)}),
        "read_only": is_read_only(memory.folder),
        "operations": [
            {"name": spec.name, "effect": spec.effect, "once": spec.once, "arguments": [*spec.arguments]}
            for spec in SPECS.values()
            if spec.name not in FOR_GOOD
        ],
        "model": memory.config.llm.provider not in ("", "none"),
    }


def error_answer(error: HydraMemError | RefusedCallError) -> tuple[int, dict[str, object]]:
    """Return the status of an error, and the error as the page reads it."""
    if isinstance(error, RefusedCallError):
        return 403, {"error": {"code": "Refused", "message": str(error)}}
    classes = [each for each in type(error).__mro__ if each in _STATUS]
    status = _STATUS[classes[0]] if classes else 500
    return status, {"error": {"code": type(error).__name__, "message": str(error)}}
