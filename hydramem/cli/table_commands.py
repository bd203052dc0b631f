"""The operations as commands, each with the options of its method."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args

from cyclopts import App, Group, Parameter

from hydramem.cli.options import Given, Invocation
from hydramem.cli.progress import reporting
from hydramem.core import docstrings
from hydramem.core.errors import InvalidInputError
from hydramem.sharing.connect import call
from hydramem.sharing.operation_specs import SPECS, Spec, present

if TYPE_CHECKING:
    from hydramem.core.results.garden_results import Gardened

_TITLES = {"write": "Write", "read": "Read", "check": "Check", "tend": "Tend"}

_EMPTY: Mapping[str, str] = {
    "garden": "the gardener has not run yet; `hydramem garden --plan` shows what it would change"
}
"""What is printed for an empty result."""


def add_operations(app: App, only: str | None = None) -> None:
    """Add one command for each row of the table to an app, or only the one of a name."""
    groups = {group: Group(title, sort_key=place) for place, (group, title) in enumerate(_TITLES.items())}
    for spec in SPECS.values():
        if only in (None, command_name(spec.name)):
            app.command(_with_further_options(spec), name=command_name(spec.name), group=groups[spec.group])


def _with_further_options(spec: Spec) -> Callable[..., None]:
    """Return the function of a command, with the options and questions that only the command line has."""
    run = command(spec)
    if spec.name == "garden":
        from hydramem.cli.commands.garden_command import with_schedule

        return with_schedule(run)
    if spec.name == "review":
        from hydramem.cli.review_dialogue import with_dialogue

        return with_dialogue(run, spec)
    if spec.name == "erase":
        from hydramem.cli.commands.erase_command import with_confirmation

        return with_confirmation(run, spec)
    if spec.name == "stats":
        from hydramem.cli.commands.stats_command import with_export

        return with_export(run, spec)
    return run


def command_names() -> frozenset[str]:
    """Return the names of the commands that are operations."""
    return frozenset(map(command_name, SPECS))


def command_name(name: str) -> str:
    """Return the name of an operation as the command line spells it."""
    return name.replace("_", "-")


def command(spec: Spec) -> Callable[..., None]:
    """Build the function of a command; Cyclopts reads the signature and help of the method from it."""

    def run(*args: object, invocation: Invocation, **options: object) -> None:
        given = inspect.Signature(parameters).bind(*args, **options).arguments
        arguments = {name: _argument_value(spec, name, value) for name, value in given.items()}
        _run(spec, arguments, invocation)

    parameters = [
        _parameter(spec, given)
        for name, given in spec.arguments.items()
        if name != "project"  # an option of every command
    ]
    handed = inspect.Parameter("invocation", inspect.Parameter.KEYWORD_ONLY, annotation=Given)
    doc = docstrings.summary(spec.doc)
    present(run, spec.name, doc, inspect.Signature([*parameters, handed]))
    return run


def _run(spec: Spec, arguments: Mapping[str, object], invocation: Invocation) -> None:
    if spec.name == "restore":
        from hydramem.cli.commands.sharing_commands import restore

        with reporting(spec) as report:
            done = restore(invocation, str(arguments["file"]), report)
        _show(done, invocation)
        return
    writes = spec.group == "write" and spec.effect == "write"
    brings_content = writes or spec.name == "load"
    # Only this command opens a store whose embedder is not the configured one.
    reindexing = spec.name == "reindex"
    # Only this one opens a store that has lost writes.
    salvage = spec.name == "doctor" and bool(arguments.get("salvage"))
    with (
        invocation.open(make=brings_content, reindexing=reindexing, salvage=salvage) as memory,
        reporting(spec) as report,
    ):
        supplied: dict[str, object] = {}
        if spec.name == "dump" and invocation.project is not None:
            # A dump covers every project unless one is named, here by --project as everywhere.
            supplied["projects"] = (invocation.project, *cast(Sequence[str], arguments.get("projects", ())))
        result = call(memory, spec.name, {**arguments, **supplied}, actor="cli", progress=report)
    _show(result, invocation, nothing=_EMPTY.get(spec.name, "nothing"))
    if spec.name == "garden" and not arguments.get("status"):
        from hydramem.cli.commands.garden_command import check_phases

        check_phases(cast("Sequence[Gardened]", result))


def _show(result: object, invocation: Invocation, *, nothing: str = "nothing") -> None:
    from hydramem.cli.output import show  # reads the types of all results: not before there is one

    show(result, as_json=invocation.json, nothing=nothing, verbose=invocation.verbose)


def _parameter(spec: Spec, given: inspect.Parameter) -> inspect.Parameter:
    words = docstrings.section(spec.doc, "Args").get(given.name, "")
    if is_structured(given.annotation):
        shown = Parameter(
            help=f"{words} As JSON, or @FILE that holds it.", metavar="JSON", show_default=False
        )
        default = given.empty if given.default is given.empty else None
        return given.replace(annotation=Annotated[str | None, shown], default=default)
    if is_weights(given.annotation):
        shown = Parameter(help=words, show_default=False)
        return given.replace(annotation=Annotated[str | None, shown])
    shows_default = given.default not in (None, (), False)
    negative = () if given.default is False else None  # --no-plan would name the default
    shown = Parameter(help=words, negative_iterable=(), negative_bool=negative, show_default=shows_default)
    return given.replace(annotation=Annotated[given.annotation, shown])


def is_structured(hint: Any) -> bool:
    """Return whether an argument is given as JSON: it is made of dataclasses."""
    return any(is_dataclass(kind) for kind in get_args(hint))


def is_weights(hint: Any) -> bool:
    """Return whether an argument is given as names and numbers, such as `vector=1,text=0.5`."""
    return any(get_args(kind)[1:] == (float,) for kind in get_args(hint))


def _weights(name: str, text: str) -> dict[str, float]:
    """Read `vector=1,text=0.5`; which names and numbers it may hold is for the operation to say."""
    weights: dict[str, float] = {}
    for part in text.split(","):
        key, _, number = (each.strip() for each in part.partition("="))
        if key in weights:
            raise InvalidInputError(f"{name}: {key!r} stands twice")
        try:
            weights[key] = float(number)
        except ValueError as error:
            raise InvalidInputError(f"{name}: {part!r} is not of the form vector=0.5") from error
    return weights


def _argument_value(spec: Spec, name: str, value: object) -> object:
    """Return the value of an argument; JSON text, or a file of it, becomes dataclasses."""
    hint = spec.arguments[name].annotation
    if is_weights(hint) and isinstance(value, str):
        return _weights(name, value)
    if not (is_structured(hint) and isinstance(value, str)):
        return value
    return spec.argument_from_json(name, _json_text(value))


def _json_text(given: str) -> str:
    if not given.startswith("@"):
        return given
    try:
        return Path(given[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"{given}: cannot be read: {error}") from error
