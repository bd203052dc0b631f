"""LangChain: a retriever that recalls."""

from typing import TYPE_CHECKING, Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field, field_validator

from hydramem.core.results.hits import Hit
from hydramem.hosts.frameworks.given_memory import GivenMemory

if TYPE_CHECKING:
    from hydramem import Memory


class HydraMemRetriever(BaseRetriever):
    """Recalls memories and passages as documents, best first.

    Attributes:
        memory: What `hydramem.connect` returned, or a folder, which stays open.
        k: Most documents; `k` of a call takes its place.
        project: Project to read; that of the memory by default.
        scope: Only what is at or under this path.
        answered_only: Whether a query that nothing bears on returns no documents.
        options: Further arguments of `Memory.recall`, such as `kinds` or `as_of`.
    """

    memory: Any = Field(repr=False, exclude=True)
    k: int = Field(default=4, ge=1)
    project: str | None = None
    scope: str | None = None
    answered_only: bool = False
    options: dict[str, Any] = Field(default_factory=dict)

    @field_validator("memory")
    @classmethod
    def _opened(cls, given: Any) -> Any:
        return GivenMemory(given).memory

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        """Recall; errors propagate to the caller, and callbacks see them.

        Raises:
            InvalidInputError: The query is blank or too long, or a filter is wrong.
        """
        memory: Memory = self.memory
        found = memory.recall(
            query, limit=self.k if k is None else k, scope=self.scope, project=self.project, **self.options
        )
        return [] if self.answered_only and not found.answered else [document(hit) for hit in found.hits]


def document(hit: Hit) -> Document:
    """Return a hit as a document: its text, its id, and where it comes from."""
    told = {
        "source": hit.source,
        "score": hit.score,
        "relevance": hit.relevance,
        "kind": hit.kind,
        "layer": hit.layer,
        "project": hit.project,
        "why": hit.why,
        "happened_at": None if hit.happened_at is None else hit.happened_at.isoformat(),
    }
    return Document(
        id=hit.id,
        page_content=hit.text,
        metadata={name: value for name, value in told.items() if value is not None},
    )
