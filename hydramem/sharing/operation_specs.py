"""The table of operations as data, for surfaces that need none of the code behind it.

`docs/generate.py` writes `data/operations.json` from `hydramem.operations`; a test holds the two equal.
"""

import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

from hydramem.core.errors import InvalidInputError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from hydramem.core.roles import Role
    from hydramem.operations import Audience, Effect, Group

_FILE = Path(__file__).parent.parent / "data" / "operations.json"
_GENERIC = {"Literal": Literal, "Mapping": Mapping, "Sequence": Sequence}


@dataclass(frozen=True, kw_only=True)
class Spec:
    """One operation, as its row in `hydramem.operations.OPERATIONS` and its method say.

    Attributes:
        effect, audience, group, files, once, role, whole_store: As in the row.
        parameters: Of every surface: without `self` and `progress`, and with times as text; each annotation
            is an expression.
        returns: The annotation of the result, as an expression.
        doc: The docstring of the method, without indentation.
        reports_progress: Whether the method takes a `progress` callback.
    """

    name: str
    effect: "Effect"
    audience: "Audience"
    group: "Group"
    files: tuple[str, ...]
    once: bool
    role: "Role"
    whole_store: bool
    parameters: tuple[inspect.Parameter, ...]
    returns: str
    doc: str
    reports_progress: bool

    @cached_property
    def arguments(self) -> Mapping[str, inspect.Parameter]:
        """The parameters by name, with their types."""
        hints = _evaluated({each.name: each.annotation for each in self.parameters})
        return {each.name: each.replace(annotation=hints[each.name]) for each in self.parameters}

    @cached_property
    def result_type(self) -> Any:
        """The type of the result."""
        return _evaluated({"return": self.returns})["return"]

    @cached_property
    def signature(self) -> inspect.Signature:
        """The parameters and the result with their types."""
        return inspect.Signature(list(self.arguments.values()), return_annotation=self.result_type)

    def bound(self, *args: object, **options: object) -> dict[str, object]:
        """Return the arguments of a call by name.

        Raises:
            TypeError: They do not fit the parameters.
        """
        return inspect.Signature(self.parameters).bind(*args, **options).arguments

    def argument_from_json(self, name: str, text: str) -> object:
        """Return the value of an argument that a surface gets as JSON.

        Types are strict, but a list may fill a tuple, and a text a time.

        Raises:
            InvalidInputError: It is no JSON, or of another type; the message names the place.
        """
        from pydantic import ValidationError

        try:
            value: object = _argument_adapter(self.name, name).validate_json(text, strict=True)
        except ValidationError as error:
            problem = error.errors()[0]
            place = ".".join(map(str, (name, *problem["loc"])))
            given = str(problem["input"])[:80]
            raise InvalidInputError(f"{place}: {problem['msg']}, got {given!r}") from error
        return value

    def arguments_from_json(self, given: Mapping[str, object]) -> dict[str, object]:
        """Return the arguments of a call by name.

        Args:
            given: Arguments as JSON types.

        Raises:
            InvalidInputError: One is unknown, missing or of another type.
        """
        unknown = sorted(given.keys() - self.arguments.keys())
        if unknown:
            known = ", ".join(self.arguments) or "none"
            raise InvalidInputError(f"{unknown[0][:80]}: no such argument of {self.name}; there are: {known}")
        for name, parameter in self.arguments.items():
            if parameter.default is inspect.Parameter.empty and name not in given:
                raise InvalidInputError(f"{name}: is missing; {self.name} needs it")
        return {name: self.argument_from_json(name, json.dumps(value)) for name, value in given.items()}


@cache
def _argument_adapter(operation: str, name: str) -> "TypeAdapter[Any]":
    from pydantic import TypeAdapter

    return TypeAdapter(SPECS[operation].arguments[name].annotation)


def present(
    function: Callable[..., object], name: str, doc: str | None, signature: inspect.Signature
) -> None:
    """Give a function the name, docstring and signature that a library is to read from it."""
    function.__name__, function.__doc__ = name, doc
    function.__signature__ = signature  # type: ignore[attr-defined]  # read by inspect
    function.__annotations__ = {each.name: each.annotation for each in signature.parameters.values()}
    if signature.return_annotation is not signature.empty:
        function.__annotations__["return"] = signature.return_annotation


def _evaluated(annotations: dict[str, str]) -> dict[str, Any]:
    """Return the types that expressions name; only the modules of these are imported."""
    words = {word for text in annotations.values() for word in re.findall(r"\w+", text)}
    named = {word: getattr(import_module(_MODULES[word]), word) for word in words & _MODULES.keys()}
    return get_type_hints(SimpleNamespace(__annotations__=annotations), _GENERIC | named)


def _parameter(row: Mapping[str, Any]) -> inspect.Parameter:
    default = row.get("default", inspect.Parameter.empty)
    return inspect.Parameter(
        row["name"],
        getattr(inspect.Parameter, row["kind"]),
        default=tuple(default) if isinstance(default, list) else default,
        annotation=row["annotation"],
    )


def _spec(row: Mapping[str, Any]) -> Spec:
    parameters = tuple(map(_parameter, row["parameters"]))
    return Spec(**{**row, "files": tuple(row["files"]), "parameters": parameters})


_DATA = json.loads(_FILE.read_text(encoding="utf-8"))
_MODULES: Mapping[str, str] = _DATA["types"]
SPECS: Mapping[str, Spec] = {row["name"]: _spec(row) for row in _DATA["operations"]}
"""Every operation by name, in the order of the table."""
