"""A call of a tool: its arguments checked, its operation run, its answer as text."""

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from pydantic import TypeAdapter, ValidationError

from hydramem.core.config import ServerConfig
from hydramem.core.errors import InvalidInputError
from hydramem.core.ids import new_id
from hydramem.core.results.write_results import Ingested, SkippedSource
from hydramem.server.answer_text import answer_text
from hydramem.server.file_access import checked_path, is_within, roots_of, with_checked_files
from hydramem.server.tool_schemas import OPTIONS, STRUCTURED, is_object
from hydramem.sharing.connect import call
from hydramem.sharing.operation_specs import SPECS, Spec

if TYPE_CHECKING:
    from hydramem import Memory

Report = Callable[..., None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """The answer of a tool.

    Attributes:
        text: What a model reads.
        structured: The whole value as JSON types, where it was asked for.
    """

    text: str
    structured: dict[str, Any] | None = None


class ToolRunner:
    """Runs the tools of one server on its memory, from any number of threads."""

    def __init__(self, settings: ServerConfig) -> None:
        self._settings = settings
        # Recalls of this server are recorded for a session of its own.
        self._session = f"mcp {new_id('run')}"

    def run(
        self, memory: "Memory", name: str, given: Mapping[str, Any], progress: Report | None = None
    ) -> ToolAnswer:
        """Run a tool.

        Args:
            memory: The memory that is served.
            name: The tool, which is the operation.
            given: Its arguments as JSON types; `options` holds further ones.
            progress: Called as the operation reports its progress.

        Raises:
            InvalidInputError: The arguments are not those of the operation.
            HydraMemError: As the operation.
        """
        spec = SPECS[name]
        arguments, wants_whole = checked_arguments(spec, given)
        result = self._called(memory, spec, arguments, progress)
        whole = wants_whole or self._settings.output_schemas
        return ToolAnswer(text=answer_text(result), structured=_structured(spec, result) if whole else None)

    def _called(
        self, memory: "Memory", spec: Spec, arguments: Mapping[str, Any], progress: Report | None
    ) -> object:
        roots = roots_of(self._settings)
        if spec.name == "ingest":
            from hydramem.ingest.documents.files import find

            allowed = [checked_path(source, roots, "sources") for source in arguments["sources"]]
            # A link that leads outside is skipped and reported.
            found = find(allowed, within=lambda path: is_within(path, roots))
            inside = [str(each) for each in found if not isinstance(each, SkippedSource)]
            skipped = [each for each in found if isinstance(each, SkippedSource)]
            sources = {**arguments, "sources": inside}
            done = cast(Ingested, call(memory, "ingest", sources, actor="mcp", progress=progress))
            return replace(done, skipped=(*done.skipped, *skipped))
        if spec.name == "restore":
            from hydramem.storage.backup.backup import FOLDER

            roots.append(memory.folder / FOLDER)  # the store's own backups, wherever it is
        checked = with_checked_files(arguments, spec.files, roots)
        return call(memory, spec.name, checked, actor="mcp", session=self._session, progress=progress)


def checked_arguments(spec: Spec, given: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return the arguments of an operation by name, and whether the whole value is asked for.

    Args:
        spec: The operation.
        given: Arguments as JSON types; those in `options` count as the others.

    Raises:
        InvalidInputError: One is unknown, missing, given twice or of another type.
    """
    options = given.get(OPTIONS) or {}
    if not isinstance(options, dict):
        raise InvalidInputError(f"{OPTIONS}: is an object that holds further arguments")
    direct = {name: value for name, value in given.items() if name != OPTIONS}
    twice = sorted(direct.keys() & options.keys())
    if twice:
        raise InvalidInputError(f"{twice[0]}: is given twice, by itself and in `{OPTIONS}`")
    every = {**direct, **options}
    structured = every.pop(STRUCTURED, False)
    if not isinstance(structured, bool):
        raise InvalidInputError(f"{STRUCTURED}: is true or false")
    unknown = sorted(every.keys() - spec.arguments.keys())
    if unknown:
        known = ", ".join(spec.arguments) or "none"
        raise InvalidInputError(f"{unknown[0][:80]}: no such argument of {spec.name}; there are: {known}")
    for name, parameter in spec.arguments.items():
        if parameter.default is inspect.Parameter.empty and name not in every:
            raise InvalidInputError(f"{name}: is missing; {spec.name} needs it")
    return {name: _typed(spec, name, value) for name, value in every.items()}, structured


def _typed(spec: Spec, name: str, value: object) -> object:
    try:
        # JSON mode: strict about types, and a list may fill a tuple, a text a time.
        return _adapter(spec.name, name).validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(map(str, (name, *problem["loc"])))
        raise InvalidInputError(f"{place}: {problem['msg']}, got {str(problem['input'])[:80]!r}") from error


@cache
def _adapter(operation: str, name: str) -> TypeAdapter[Any]:
    return TypeAdapter(SPECS[operation].arguments[name].annotation)


def _structured(spec: Spec, result: object) -> dict[str, Any]:
    whole = _results(spec.name).dump_python(result, mode="json")
    return whole if is_object(spec) else {"result": whole}


@cache
def _results(operation: str) -> TypeAdapter[Any]:
    return TypeAdapter(SPECS[operation].result_type)
