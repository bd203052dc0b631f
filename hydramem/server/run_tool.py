"""A call of a tool: its arguments checked, its operation run, its answer as text."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from pydantic import TypeAdapter

from hydramem.core.config import ServerConfig
from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.core.ids import is_short_id, new_id
from hydramem.core.inputs import MemoryInput
from hydramem.core.results.hits import LinkedChunk
from hydramem.core.results.write_results import Ingested, SkippedSource
from hydramem.server.access import Access
from hydramem.server.answer_text import answer_text
from hydramem.server.file_access import checked_path, is_within, roots_of, with_checked_files
from hydramem.server.search_and_fetch import PAIR, as_text, run_pair
from hydramem.server.tool_schemas import OPTIONS, STRUCTURED, is_object
from hydramem.sharing.operation_specs import SPECS, Spec

if TYPE_CHECKING:
    from hydramem import Memory

Report = Callable[..., None]
_IDS = {"id", "ids", "starts", "replaces", "memories", "evidence", "chunks", "exclude", "center"}
"""Arguments that hold ids of memories and passages, or what replaces them."""


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
        self._server = new_id("run")

    def run(
        self,
        memory: "Memory",
        name: str,
        given: Mapping[str, Any],
        progress: Report | None = None,
        *,
        access: Access,
    ) -> ToolAnswer:
        """Run a tool.

        Args:
            memory: The memory that is served.
            name: The tool, which is the operation.
            given: Its arguments as JSON types; `options` holds further ones.
            progress: Called as the operation reports its progress.
            access: Who calls it; what it sees of the tools is checked before.

        Raises:
            InvalidInputError: The arguments are not those of the operation.
            HydraMemError: As the operation.
        """
        if name in PAIR:
            found = run_pair(memory, name, given, session=self._session(access), access=access)
            return ToolAnswer(text=as_text(found), structured=found)
        spec = SPECS[name]
        arguments, wants_whole = checked_arguments(spec, given)
        arguments = with_full_ids(arguments, memory, access)
        result = self._called(memory, spec, arguments, progress, access)
        whole = wants_whole or self._settings.output_schemas
        return ToolAnswer(text=answer_text(result), structured=_structured(spec, result) if whole else None)

    def _session(self, access: Access) -> str:
        """Return the session of a caller's recalls: one for each run of the server."""
        return f"{access.actor} {self._server}"

    def _called(
        self,
        memory: "Memory",
        spec: Spec,
        arguments: Mapping[str, Any],
        progress: Report | None,
        access: Access,
    ) -> object:
        access.check_files(spec, arguments)
        roots = roots_of(self._settings)
        if spec.name == "ingest":
            from hydramem.ingest.documents.files import find

            allowed = [checked_path(source, roots, "sources") for source in arguments["sources"]]
            # A link that leads outside is skipped and reported.
            found = find(allowed, within=lambda path: is_within(path, roots))
            inside = [str(each) for each in found if not isinstance(each, SkippedSource)]
            skipped = [each for each in found if isinstance(each, SkippedSource)]
            sources = {**arguments, "sources": inside}
            done = cast(Ingested, access.call(memory, "ingest", sources, progress=progress))
            return replace(done, skipped=(*done.skipped, *skipped))
        if spec.name == "restore":
            from hydramem.storage.backup.backup import FOLDER

            roots.append(memory.folder / FOLDER)  # the store's own backups, wherever it is
        checked = with_checked_files(arguments, spec.files, roots)
        return access.call(memory, spec.name, checked, session=self._session(access), progress=progress)


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
    return spec.arguments_from_json(every), structured


def with_full_ids(arguments: Mapping[str, Any], memory: "Memory", access: Access) -> dict[str, Any]:
    """Return arguments in which the beginnings of ids, as answers show them, are the ids.

    What is the beginning of none stays: it may be a name, or the operation says that there is no such thing.

    Raises:
        InvalidInputError: Several ids begin so.
    """

    def whole(value: Any) -> Any:
        match value:
            case str() if is_short_id(value):
                try:
                    return cast(LinkedChunk, access.call(memory, "get", {"id": value})).id
                except NotFoundError:
                    return value
            case list() | tuple():
                return tuple(map(whole, value))
            case MemoryInput():
                return replace(value, replaces=whole(value.replaces))
        return value

    return {name: whole(value) if name in _IDS else value for name, value in arguments.items()}


def _structured(spec: Spec, result: object) -> dict[str, Any]:
    whole = _results(spec.name).dump_python(result, mode="json")
    return whole if is_object(spec) else {"result": whole}


@cache
def _results(operation: str) -> TypeAdapter[Any]:
    return TypeAdapter(SPECS[operation].result_type)
