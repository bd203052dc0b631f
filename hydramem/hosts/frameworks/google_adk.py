"""Google ADK: a memory service, with a project of its own for each user of each application."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from google.adk.events import Event
from google.adk.memory import BaseMemoryService
from google.adk.memory.base_memory_service import SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions import Session
from google.genai import types

from hydramem.core.errors import NotFoundError
from hydramem.core.inputs import MemoryInput, SaidTurn
from hydramem.core.results.hits import Hit
from hydramem.hosts.frameworks.given_memory import GivenMemory, project_of

if TYPE_CHECKING:
    from hydramem import Memory

_MOST_AT_ONCE = 1000
_NO_SESSION = "events without a session"


class HydraMemMemoryService(BaseMemoryService):
    """Captures sessions as turns, and recalls what bears on a query.

    Each pair of application and user has a project of its own, so no search leaves it. An event is captured
    once, by its id, however often its session is added. Private reasoning (`thought` parts) is not stored,
    and a text that gives orders to its reader is quarantined.
    """

    def __init__(self, memory: "Memory | str | Path", *, limit: int = 10, answered_only: bool = True) -> None:
        """Serve a memory.

        Args:
            memory: What `hydramem.connect` returned, or a folder.
            limit: Most memories of a search.
            answered_only: Whether a search that nothing bears on finds nothing.
        """
        self._given = GivenMemory(memory)
        self._memory = self._given.memory
        self._limit = limit
        self._answered_only = answered_only

    def close(self) -> None:
        """Close the memory if it was opened here."""
        self._given.close()

    async def add_session_to_memory(self, session: Session) -> None:
        """Capture the events of a session; those that it was added with before are left alone."""
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Capture events, each once.

        Args:
            app_name, user_id: Whose they are.
            events: Events of any part of a session; those without text are left out.
            session_id: The session that they continue.
            custom_metadata: Not used: a turn has no labels.
        """
        turns = [turn for event in events if (turn := _turn(event)) is not None]
        project, session = user_project(app_name, user_id), session_id or _NO_SESSION
        for start in range(0, len(turns), _MOST_AT_ONCE):
            part = turns[start : start + _MOST_AT_ONCE]
            await asyncio.to_thread(self._memory.capture, session, part, project=project)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remember texts; the same words again are one memory.

        Args:
            app_name, user_id: Whose they are.
            memories: Entries; those without text are left out. An entry gets an id of the store.
            custom_metadata: Stored with each; an entry's own has precedence.
        """
        project, shared = user_project(app_name, user_id), dict(custom_metadata or {})
        inputs = iter(
            MemoryInput(
                text=text,
                author=entry.author,
                happened_at=entry.timestamp,
                metadata={**shared, **entry.custom_metadata},
            )
            for entry in memories
            if (text := _text(entry.content))
        )
        while part := list(islice(inputs, _MOST_AT_ONCE)):
            await asyncio.to_thread(self._memory.remember_many, part, project=project)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Return what bears on a query, best first; nothing for a blank one."""
        if not query.strip():
            return SearchMemoryResponse()
        found = await asyncio.to_thread(
            self._memory.recall, query, limit=self._limit, project=user_project(app_name, user_id)
        )
        hits = found.hits if found.answered or not self._answered_only else ()
        return SearchMemoryResponse(memories=[_entry(hit) for hit in hits])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Forget a memory of a user, or all of them; adding their session again does not bring them back.

        What is forgotten stays in the history; `Memory.erase` removes it for good.

        Args:
            app_name, user_id: Whose it is.
            memory_id: Id of a search's entry; None for all memories of the user.

        Raises:
            NotFoundError: The user has no memory of this id.
        """
        await asyncio.to_thread(self._forget, user_project(app_name, user_id), memory_id)

    def _forget(self, project: str, memory_id: str | None) -> None:
        if memory_id is not None:
            if self._memory.get(memory_id).project != project:
                raise NotFoundError(f"{memory_id[:80]!r}: this user has no memory of this id")
            self._memory.forget([memory_id])
            return
        while listed := self._memory.memories(project=project, limit=_MOST_AT_ONCE):
            self._memory.forget([row.id for row in listed])


def user_project(app_name: str, user_id: str) -> str:
    """Return the name of a user's project; no two pairs of names have the same one."""
    return project_of("adk", app_name, user_id)


def _text(content: types.Content | None) -> str:
    """Return the words of a content, without private reasoning."""
    parts = content.parts or () if content is not None else ()
    return "\n".join(part.text for part in parts if part.text and not part.thought).strip()


def _turn(event: Event) -> SaidTurn | None:
    text = _text(event.content)
    if not text or event.partial:
        return None
    happened = datetime.fromtimestamp(event.timestamp, UTC)
    return SaidTurn(author=event.author or "user", text=text, happened_at=happened, key=event.id or None)


def _entry(hit: Hit) -> MemoryEntry:
    told: dict[str, Any] = {"source": hit.source, "kind": hit.kind, "relevance": hit.relevance}
    return MemoryEntry(
        id=hit.id,
        author=hit.author,
        timestamp=None if hit.happened_at is None else hit.happened_at.isoformat(),
        content=types.Content(role="user", parts=[types.Part(text=hit.text)]),
        custom_metadata=told,
    )
