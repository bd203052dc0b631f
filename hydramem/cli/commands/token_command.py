"""The command `token`: make tokens for callers of the HTTP server, list them and revoke one.

Whoever can write the store's folder can make tokens; nothing over HTTP can.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from cyclopts import App, Parameter

from hydramem.cli.options import Given, Invocation
from hydramem.cli.output import show, write
from hydramem.cli.terminal import console
from hydramem.core.errors import InvalidInputError
from hydramem.core.roles import Role
from hydramem.core.time import clock
from hydramem.server.manifest import tool_names
from hydramem.sharing.token_store import token_store
from hydramem.storage.tokens.token_rows import TokenRow, TokenStore, make_token, revoke_token


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenView:
    """A token as it is listed; nobody can list the token itself.

    Attributes:
        projects: Those that it may touch; `every` where it may touch all.
        state: good, expired or revoked.
    """

    name: str
    role: Role
    projects: tuple[str, ...]
    state: str
    tools: str | None
    made_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken:
    """A token that was just made.

    Attributes:
        token: The secret; it is shown this once.
    """

    name: str
    role: Role
    projects: tuple[str, ...]
    expires_at: datetime | None
    token: str


def token_app() -> App:
    """Return the command with its three parts."""
    app = App(name="token", help="Make, list and revoke tokens for callers of the HTTP server.")
    app.command(make, name="make")
    app.command(list_tokens, name="list")
    app.command(revoke, name="revoke")
    return app


def make(
    name: str,
    *,
    role: Role,
    projects: tuple[str, ...] = (),
    all_projects: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    tools: str | None = None,
    expires: str | None = None,
    invocation: Given,
) -> None:
    """Make a token and show it, once.

    Args:
        name: Whose it is: letters, digits, dots, dashes and underscores. Changes have the actor token:NAME.
        role: reader (reads), writer (and writes), gardener (and verifies and runs the gardener), owner.
        projects: A project that it may touch, the first by default; again for several. Like --project.
        all_projects: It may touch every project, and the store as a whole as its role allows.
        tools: A profile, or tools by name with commas between them, of those that its role allows
            [default: those of the server].
        expires: When it ends, such as 2027-01-31 or "in 90 days" [default: never].
    """
    named = (*((invocation.project,) if invocation.project is not None else ()), *projects)
    if bool(named) == all_projects:
        raise InvalidInputError("token: name its projects with --projects, or else give --all-projects")
    if tools is not None:
        tool_names(tools)  # an unknown one is an error
    row, token = make_token(
        _store(invocation),
        name,
        role=role,
        projects=named,
        tools=tools,
        expires_at=_moment(expires),
    )
    made = NewToken(
        name=row.name,
        role=row.role,
        projects=row.projects or ("every",),
        expires_at=row.expires_at,
        token=token,
    )
    show(made, as_json=invocation.json)
    hint = "This is the only time that the token is shown. A server that runs without tokens is started anew."
    write(hint, console(errors=True))


def _store(invocation: Invocation) -> TokenStore:
    return token_store(invocation.folder, invocation.settings().storage)


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    from hydramem.text.dates.caller_dates import moment_or_none

    return moment_or_none(text, "expires")


def list_tokens(*, invocation: Given) -> None:
    """List the tokens, the oldest first, also those that are no longer good."""
    rows = _store(invocation).rows()
    show(tuple(map(_view, rows)), as_json=invocation.json, nothing="no tokens were made")


def revoke(name: str, *, invocation: Given) -> None:
    """Revoke a token: a server that runs refuses it from its next request on.

    Args:
        name: Whose it is.
    """
    row = revoke_token(_store(invocation), name)
    show(_view(row), as_json=invocation.json)


def _view(row: TokenRow) -> TokenView:
    state = "revoked" if row.revoked_at else "good" if row.is_good(clock()) else "expired"
    return TokenView(
        name=row.name,
        role=row.role,
        projects=row.projects or ("every",),
        state=state,
        tools=row.tools,
        made_at=row.made_at,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
    )
