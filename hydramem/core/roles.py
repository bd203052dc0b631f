"""What a token of the server may do: each role may do what those before it may, and more."""

from typing import Literal, get_args

Role = Literal["reader", "writer", "gardener", "owner"]
ROLES: tuple[Role, ...] = get_args(Role)


def includes(role: Role, needed: Role) -> bool:
    """Return whether a role may do what another one may."""
    return ROLES.index(role) >= ROLES.index(needed)
