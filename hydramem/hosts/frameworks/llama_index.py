"""LlamaIndex: a memory block that captures and recalls, and a retriever."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from pydantic import ConfigDict, Field, field_validator

from hydramem.core.inputs import SaidTurn
from hydramem.hosts.frameworks.given_memory import GivenMemory

if TYPE_CHECKING:
    from hydramem import Memory

_SESSION = "session_id"
_SPEAKERS = {MessageRole.USER: "user", MessageRole.ASSISTANT: "assistant"}


class HydraMemBlock(BaseMemoryBlock[str]):
    """A block of LlamaIndex's `Memory`: what leaves its short window is captured, what bears is recalled.

    LlamaIndex gives a block only the messages that fall out of the window, so the newest turns come last.
    With `accept_short_term_memory=False` it gives none, and `await block.aput(messages, session_id=...)`
    stores those of a chat at once. Only what users and assistants say is stored. A block for one user has a
    project of its own.

    Attributes:
        memory: What `hydramem.connect` returned, or a folder, which stays open.
        project: Project to read and write; that of the memory by default.
        session: Session of the turns where LlamaIndex names none.
        max_tokens: Most tokens of what is recalled.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    name: str = "hydramem"
    memory: Any = Field(repr=False, exclude=True)
    project: str | None = None
    session: str = "llama-index"
    max_tokens: int = 800

    @field_validator("memory")
    @classmethod
    def _opened(cls, given: Any) -> Any:
        return GivenMemory(given).memory

    async def _aput(self, messages: list[ChatMessage]) -> None:
        await asyncio.to_thread(self._capture, messages)

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        asked = [message.content or "" for message in messages or () if message.role == MessageRole.USER]
        if not asked or not asked[-1].strip():
            return ""
        query = asked[-1][: self.memory.config.search.max_query_chars]
        found = await asyncio.to_thread(
            self.memory.prime, query, max_tokens=self.max_tokens, own_project=False, project=self.project
        )
        return str(found.text)

    def _capture(self, messages: Sequence[ChatMessage]) -> None:
        turns: dict[str, list[SaidTurn]] = {}
        for message in messages:
            author, text = _SPEAKERS.get(message.role), (message.content or "").strip()
            if author and text:
                session = message.additional_kwargs.get(_SESSION) or self.session
                turns.setdefault(session, []).append(SaidTurn(author=author, text=text))
        for session, said in turns.items():
            self.memory.capture(session, said, project=self.project)


class HydraMemIndexRetriever(BaseRetriever):
    """Recalls memories and passages as nodes, best first; the score is the hit's relevance, 0 to 1."""

    def __init__(
        self,
        memory: "Memory | str | Path",
        *,
        limit: int = 5,
        project: str | None = None,
        scope: str | None = None,
        answered_only: bool = False,
        **options: Any,
    ) -> None:
        """Retrieve from a memory.

        Args:
            memory: What `hydramem.connect` returned, or a folder, which stays open.
            limit: Most nodes.
            project: Project to read; that of the memory by default.
            scope: Only what is at or under this path.
            answered_only: Whether a query that nothing bears on returns no nodes.
            options: Further arguments of `Memory.recall`.
        """
        self._memory = GivenMemory(memory).memory
        self._arguments = {"limit": limit, "project": project, "scope": scope, **options}
        self._answered_only = answered_only
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self._memory.recall(query_bundle.query_str, **self._arguments)
        if self._answered_only and not found.answered:
            return []
        return [
            NodeWithScore(
                node=TextNode(
                    id_=hit.id,
                    text=hit.text,
                    metadata={"source": hit.source, "kind": hit.kind, "project": hit.project},
                ),
                score=hit.relevance,
            )
            for hit in found.hits
        ]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)
