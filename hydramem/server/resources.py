"""Resources: the addresses under which clients list and read what a memory holds."""

import re
from typing import Any

from hydramem.core.errors import NotFoundError

MIME_TYPE = "text/plain"
_SCHEME = "hydramem://"
_LONGEST = 4_000
"""Characters of an address; a name of an entity has at most a few hundred, each at most 12 when encoded."""

_ABOUT = {
    "document": ("id", "A document: its source and its text"),
    "entity": ("name", "An entity by its name or id: what it is, its relations, and what mentions it"),
    "memory": ("id", "A memory or passage by its id, with its links"),
    "project": ("name", "An overview of a project: what it holds, what it is about, and what is new"),
}
"""What there are addresses of: the part that differs, and what a client reads there."""

_ADDRESS = re.compile(rf"{_SCHEME}({'|'.join(_ABOUT)})/([^/?#]+)")


def resource_templates() -> list[dict[str, Any]]:
    """Return the templates as `resources/templates/list` shows them."""
    return [
        {
            "name": kind,
            "uriTemplate": f"{_SCHEME}{kind}/{{{variable}}}",
            "description": about,
            "mimeType": MIME_TYPE,
        }
        for kind, (variable, about) in _ABOUT.items()
    ]


def listed_resources(project: str) -> list[dict[str, Any]]:
    """Return the resources as `resources/list` shows them: the overview of the server's own project."""
    uri, (_, about) = address("project", project), _ABOUT["project"]
    return [{"name": f"project {project}", "uri": uri, "description": about, "mimeType": MIME_TYPE}]


def address(kind: str, name: str) -> str:
    """Return the address of a document, entity, memory or project."""
    from urllib.parse import quote

    return f"{_SCHEME}{kind}/{quote(name, safe='')}"


def parsed_address(uri: str) -> tuple[str, str]:
    """Return the kind of an address, and the id or name in it, decoded.

    Raises:
        NotFoundError: It is no address of this server.
    """
    from urllib.parse import unquote

    match = _ADDRESS.fullmatch(uri) if len(uri) <= _LONGEST else None
    if match is None:
        raise NotFoundError(f"{uri[:80]!r}: no resource has this address")
    return match[1], unquote(match[2])
