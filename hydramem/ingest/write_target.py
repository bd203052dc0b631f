"""The project that a write goes to, and what the write needs of its stores and models."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from hydramem.core.row_types import RelationCandidate, Verdict
from hydramem.llm.pair_classifier import JudgePairs, judge_none
from hydramem.storage.outbox import Embed
from hydramem.storage.store import GraphStore
from hydramem.storage.vector_rows import Vector, VectorStore
from hydramem.storage.write import Write

Commit = Callable[[Write, Mapping[str, Vector]], None]
"""Commits a write, with the vectors of its new rows by id."""

Known = Callable[[Sequence[str]], Mapping[str, str]]
"""Maps keys of names, aliases included, to ids of entities that the project has."""

Accept = Callable[[Sequence[RelationCandidate]], Sequence[Verdict]]
"""Verifies new relations, and stored ones that gained evidence; one verdict each, in order."""

Looking = Callable[[], AbstractContextManager[VectorStore | None]]
"""Keeps the vector store of `embed` open for a read; None where it is not available."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A project to write to.

    Attributes:
        graph: The graph store, read only; writes go through `commit`.
        one_writer: The writer lock, held where a write depends on what was just read.
        embed: Turns texts into an array of shape (texts, dimension).
        accept: Verifies relations; None stores them unverified.
        judge: Says what a new text is to old ones.
        looking: Opens the vector store for a read of neighbours.
        prepare: Loads what `accept` reads; it is called before the writer lock is taken, where there is
            something to verify.
    """

    project: str
    graph: GraphStore
    commit: Commit
    one_writer: AbstractContextManager[object]
    embed: Embed
    known: Known
    accept: Accept | None = None
    judge: JudgePairs = judge_none
    looking: Looking = nullcontext
    prepare: Callable[[], None] = lambda: None

    def embed_by_id(self, texts: Mapping[str, str]) -> dict[str, Vector]:
        """Embed texts by the id of their row."""
        return dict(zip(texts, self.embed(list(texts.values())), strict=True)) if texts else {}
