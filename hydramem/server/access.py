"""Who a request is of, and what it may call: a role and projects, of a token or of the program's own user."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hydramem.core.errors import InvalidInputError
from hydramem.core.roles import Role, includes
from hydramem.server.manifest import reads, tool_names
from hydramem.server.search_and_fetch import PAIR
from hydramem.sharing.connect import call
from hydramem.sharing.operation_specs import SPECS, Spec
from hydramem.storage.changes import AGENT
from hydramem.storage.tokens.token_rows import TokenRow

if TYPE_CHECKING:
    from hydramem import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What a request may do.

    Attributes:
        tools: Names of the tools that it sees.
        actor: The actor of the changes that it makes.
        role: What it may call.
        projects: The projects that it may touch, its own first; every project where there are none.
    """

    tools: frozenset[str]
    actor: str = AGENT
    role: Role = "owner"
    projects: tuple[str, ...] = ()

    @property
    def reads(self) -> bool:
        """Whether it may read resources: where it sees a tool that reads."""
        return reads(self.tools)

    def call(
        self,
        memory: "Memory",
        operation: str,
        arguments: Mapping[str, object],
        *,
        session: str | None = None,
        progress: Callable[..., None] | None = None,
    ) -> object:
        """Run an operation as this caller, on its projects.

        Raises:
            HydraMemError: As the operation.
        """
        return call(
            memory,
            operation,
            arguments,
            actor=self.actor,
            session=session,
            progress=progress,
            within=self.projects or None,  # a token that names none is for all
        )

    def check_files(self, spec: Spec, arguments: Mapping[str, object]) -> None:
        """Check that a caller for some projects names no file: a file of the server has no project.

        Raises:
            InvalidInputError: It does.
        """
        for name in spec.files if self.projects else ():
            if arguments.get(name) is not None:
                raise InvalidInputError(f"{name}: a token for some projects names no files of the server")


OWN_USER = Access(tools=frozenset())
"""The program's own user, over standard input and output; what that user sees is checked there."""


def access_of(row: TokenRow, *, tools: str, project: str) -> Access:
    """Return the access of a token.

    Args:
        row: The token.
        tools: The server's tools: a profile, or names.
        project: The server's own project; the token's own too, where it may touch it.

    Raises:
        ConfigError: It names tools that there are not.
    """
    projects = row.projects
    if project in projects:
        projects = (project, *(each for each in projects if each != project))
    shown = tool_names(row.tools or tools)
    allowed = frozenset(name for name in shown if _allows(row, name))
    return Access(tools=allowed, actor=row.actor, role=row.role, projects=projects)


def _allows(row: TokenRow, tool: str) -> bool:
    if tool in PAIR:  # they read
        return True
    spec = SPECS[tool]
    if not includes(row.role, spec.role):
        return False
    return not row.projects or not (spec.whole_store or _needs_file(spec))


def _needs_file(spec: Spec) -> bool:
    return any(each.name in spec.files and each.default is each.empty for each in spec.parameters)
