"""Write the pages of two surfaces beside the table of operations: Python, and the command line."""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any

import hydramem
from generators import type_texts
from generators.type_texts import NOTE
from hydramem.core import errors, inputs
from hydramem.core.docstrings import first_line, section, summary
from hydramem.operations import OPERATIONS

# What a handle has beside the operations, in the order in which a program meets it.
HANDLE = ("session", "during", "close", "folder", "config")


def python_page() -> str:
    """Return the page of what a program imports beside the operations."""
    values = [
        value
        for name in hydramem.__all__
        if is_dataclass(value := getattr(hydramem, name)) and value.__module__ == inputs.__name__
    ]
    return (
        f"# Python\n\n{NOTE}\n"
        "A program needs `hydramem` and nothing deeper: whatever it must build or catch is exported there.\n"
        "The methods of a memory are the [operations](reference.md), which also lists what they return.\n"
        "The package is typed.\n"
        "\n## connect\n\n"
        f"{_signature('hydramem.connect', hydramem.connect)}\n{_described(hydramem.connect.__doc__)}"
        "\n## The handle\n\n"
        "Beside the operations a memory has these. It is a context manager, and closed at its end.\n"
        + "".join(map(_handle_part, HANDLE))
        + "\n## Values that a program builds\n\nFrozen dataclasses.\n"
        + "".join(map(type_texts.row, values))
        + f"\n## Errors\n\n```text\n{inspect.getdoc(errors).partition(chr(10) * 2)[2]}\n```\n"
    )


def _handle_part(name: str) -> str:
    part = inspect.getattr_static(hydramem.Memory, name)
    if isinstance(part, property):
        return f"\n### {name}\n\n`memory.{name}`\n\n{_described(part.__doc__)}"
    return f"\n### {name}\n\n{_signature(f'memory.{name}', part)}\n{_described(part.__doc__)}"


def _signature(name: str, function: Any) -> str:
    given = [
        parameter.replace(annotation=parameter.empty)
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name != "self"
    ]
    return f"`{name}{inspect.Signature(given)}`\n"


def _described(docstring: str | None) -> str:
    """Return a docstring as Markdown: its text, its arguments, and what it raises."""
    page = f"{summary(docstring)}\n"
    for title, name in (("argument", "Args"), ("error", "Raises")):
        entries = section(docstring, name)
        if entries:
            rows = (f"| `{entry}` | {why} |" for entry, why in entries.items())
            page += "\n" + "\n".join((f"| {title} | |", "|---|---|", *rows)) + "\n"
    return page


def cli_page() -> str:
    """Return the page of the command line: shared options, and the commands that are no operations."""
    from hydramem.cli.main import build  # it reads the table as data, which is written first

    app = build()
    operations = {operation.name.replace("_", "-"): operation for operation in OPERATIONS}
    others = {name: app[name] for name in sorted(app) if name not in operations and not name.startswith("-")}
    shared = _options([one for one in app.meta.assemble_argument_collection() if _is_own(one)])
    return (
        f"# Command line\n\n{NOTE}\n"
        "`hydramem COMMAND --help` says all of this of one command. The exit code is 0, 1 after an error,\n"
        "2 where the command line is wrong, and 130 after Ctrl-C.\n"
        f"\n## Options of every command\n\nBefore the command or behind it.\n\n{shared}"
        "\n## Commands of the memory\n\nEach operation is a command; its arguments are in the reference.\n\n"
        "| command | |\n|---|---|\n"
        + "".join(
            f"| [`hydramem {name}`](reference.md#{one.name}) | {first_line(one.method.__doc__)} |\n"
            for name, one in sorted(operations.items())
        )
        + "\n## Other commands\n"
        + "".join(_commands(others))
    )


def _commands(apps: Mapping[str, Any], before: str = "hydramem") -> Iterator[str]:
    for name, app in apps.items():
        words = f"{before} {name}"
        inner = {one: app[one] for one in app if not one.startswith("-")}
        depth = "###" if before == "hydramem" else "####"
        yield f"\n{depth} {words.removeprefix('hydramem ')}\n\n{_help(app)}\n"
        if app.default_command is not None:
            arguments = [
                one for one in app.assemble_argument_collection(parse_docstring=True) if _is_own(one)
            ]
            usage = " ".join((words, *map(_as_typed, arguments)))
            yield f"\n`{usage}`\n\n{_options(arguments)}" if arguments else f"\n`{usage}`\n"
        yield from _commands(inner, words)


def _help(app: Any) -> str:
    """Return what a command says of itself, without the sections on its arguments."""
    return summary(app.help or inspect.getdoc(app.default_command))


def _is_own(argument: Any) -> bool:
    """Say whether an argument is one of this command alone, which a person types."""
    return bool(argument.show and argument.names and not argument.names[0].startswith("--invocation"))


def _name(argument: Any) -> str:
    """Return how an argument is called in help: a place in capitals, or the option that changes something.

    An option of two names is given by the second, by which it is known to people (`main.with_own_scope`).
    """
    if argument.field_info.is_positional:
        return str(argument.names[0].removeprefix("--").replace("-", "_").upper())
    return str(argument.names[-1] if argument.field_info.default is True else _positive(argument)[-1])


def _positive(argument: Any) -> Sequence[str]:
    return [name for name in argument.names if not name.startswith("--no-")] or argument.names


def _as_typed(argument: Any) -> str:
    """Return an argument as one types it, in brackets where it can be left out."""
    typed = name = _name(argument)
    if not argument.field_info.is_positional and argument.hint is not bool:
        typed = f"{name} {name.removeprefix('--').replace('-', '_').upper()}"
    return typed if argument.required else f"[{typed}]"


def _options(arguments: Sequence[Any]) -> str:
    """Return the table of the arguments of a command."""
    rows = []
    for argument in arguments:
        both = argument.names if argument.field_info.default is True else (_name(argument),)
        what = " ".join((argument.parameter.help or "").split()).replace("|", "\\|")
        rows.append(f"| {' '.join(f'`{name}`' for name in both)} | {what} |")
    return "\n".join(["| argument | |", "|---|---|", *rows]) + "\n"
