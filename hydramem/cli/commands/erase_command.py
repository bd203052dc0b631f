"""The erase command asks before it erases: a person types yes, a script gives `--yes`."""

import inspect
import sys
from collections.abc import Callable
from typing import Annotated

from cyclopts import Parameter

from hydramem.cli.options import Invocation
from hydramem.core.errors import InvalidInputError
from hydramem.sharing.connect import call
from hydramem.sharing.operation_specs import Spec, present

Run = Callable[..., None]
_QUESTION = "Erase this for good? Nothing brings it back. Type yes: "


def with_confirmation(run: Run, spec: Spec) -> Run:
    """Make the erase command show what would go, and ask; `--yes` answers, `--dry-run` only shows."""

    def erase(*args: object, invocation: Invocation, yes: bool = False, **options: object) -> None:
        if not (yes or options.get("dry_run")):
            if invocation.json or not sys.stdin.isatty():
                raise InvalidInputError(
                    "erase: it is for good; look at what would go with --dry-run, then give --yes"
                )
            from hydramem.cli.output import show

            given = inspect.signature(run).bind(*args, invocation=invocation, **options).arguments
            arguments = {name: value for name, value in given.items() if name != "invocation"}
            with invocation.open(make=False) as memory:
                show(call(memory, spec.name, {**arguments, "dry_run": True}, actor="cli"), as_json=False)
            if input(_QUESTION).strip().casefold() != "yes":
                raise InvalidInputError("erase: not confirmed; nothing was erased")
        run(*args, invocation=invocation, **options)

    shown = Parameter(help="Erase without asking.", negative_bool=(), show_default=False)
    confirmed = inspect.Parameter(
        "yes", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Annotated[bool, shown]
    )
    signature = inspect.signature(run)
    *parameters, handed = signature.parameters.values()
    present(erase, run.__name__, run.__doc__, signature.replace(parameters=[*parameters, confirmed, handed]))
    return erase
