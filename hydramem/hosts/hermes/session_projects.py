"""Which project a session works on: what its messages say, kept for the messages that say nothing.

A front end names the project by a marker in the user's message, `<hydramem-context project="atlas" />`, or
by an argument; an empty name ends the selection. Hosts drop both now and then, so a session that named a
project keeps it. A project of the settings is the agent's own and never a selection.
"""

import html
import re
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from hydramem.core.argument_checks import check_project

KEYS = ("project", "context_graph_id", "target_context_graph", "contextGraphId", "targetContextGraph")
"""The attributes and arguments that name a project: ours, and those of OriginTrail's adapter for Hermes."""

_MARKER = re.compile(r"<(?:hydramem-context|dkg-node-ui-context)(?=[\s/>])([^<>]{0,2000}+)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(rf"""(?<![\w-])({"|".join(KEYS)})\s{{0,9}}=\s{{0,9}}("[^"]*"|'[^']*')""")
_MOST_SESSIONS = 200


@dataclass(frozen=True, slots=True)
class UserMessage:
    """A message of a user.

    Attributes:
        text: What was said, without markers.
        project: The project that the last marker names; empty where it ends the selection, None without one.
    """

    text: str
    project: str | None


def read_message(text: str) -> UserMessage:
    """Take the markers out of a message."""
    project: str | None = None
    around: list[str] = []
    at = 0
    for marker in _MARKER.finditer(text):
        around.append(text[at : marker.start()].strip())
        at = marker.end()
        named = _ATTRIBUTE.search(marker.group(1))
        if named is not None:
            project = html.unescape(named.group(2)[1:-1]).strip()
    around.append(text[at:].strip())
    return UserMessage(text="\n".join(filter(None, around)), project=project)


def named_project(options: Mapping[str, object]) -> str | None:
    """Return the project among a call's arguments; empty where it is null, None where there is none.

    Raises:
        InvalidInputError: It is blank or no text.
    """
    given = [options[key] for key in KEYS if key in options]
    if not given:
        return None
    return "" if given[0] is None else check_project(given[0])


class SessionProjects:
    """The projects of the last sessions, by session; safe to use from many threads."""

    def __init__(self, most: int = _MOST_SESSIONS) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._projects: OrderedDict[str, str] = OrderedDict()

    def project(self, session: str, named: str | None) -> str | None:
        """Return the project of a call, and keep it for the session.

        Args:
            session: The session; empty where it is unknown, which keeps nothing.
            named: The project that the call names; empty where it names none on purpose, None where it says
                nothing.

        Returns:
            The project; None where there is none.

        Raises:
            InvalidInputError: What is named can be no project.
        """
        if named:
            check_project(named)
        with self._lock:
            if named is None:
                if session in self._projects:
                    self._projects.move_to_end(session)
                return self._projects.get(session)
            self._projects.pop(session, None)
            if named and session:
                self._projects[session] = named
                if len(self._projects) > self._most:
                    self._projects.popitem(last=False)
            return named or None

    def continue_as(self, session: str, before: str) -> None:
        """Let a session go on with the project of the one that it continues."""
        with self._lock:
            project = self._projects.get(before)
        if project is not None and session != before:
            self.project(session, project)
