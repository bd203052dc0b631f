"""Where a write of memories goes: the project, and what it takes to write there."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from hydramem.core.row_types import RelationCandidate, Verdict
from hydramem.storage.outbox import Embed
from hydramem.storage.store import GraphStore, VectorStore
from hydramem.storage.vector_rows import Vector
from hydramem.storage.write import Write

Commit = Callable[[Write, Mapping[str, Vector]], None]
"""Commits a write, with the vectors of its new rows by id."""

Known = Callable[[Sequence[str]], Mapping[str, str]]
"""Maps keys of names, aliases included, to ids of entities that the project has."""

Accept = Callable[[Sequence[RelationCandidate]], Sequence[Verdict]]
"""Judges new relations, and stored ones that gained evidence; one verdict each, in order."""

Looking = Callable[[], AbstractContextManager[VectorStore | None]]
"""Holds the vectors that `embed` makes for a read; None where they cannot be had."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A project to write to.

    Attributes:
        graph: The graph store, read only; writes go through `commit`.
        one_writer: The writer lock, held where a write depends on what was just read.
        embed: Turns texts into an array of shape (texts, dimension).
        accept: Judges relations; None stores them unjudged.
        looking: Lends the vectors for a look at what is near.
        prepare: Reads what `accept` judges by, as far as it is not in memory; where there is something to
            judge, it is called before the lock is taken.
    """

    project: str
    graph: GraphStore
    commit: Commit
    one_writer: AbstractContextManager[object]
    embed: Embed
    known: Known
    accept: Accept | None = None
    looking: Looking = nullcontext
    prepare: Callable[[], None] = lambda: None

    def embed_by_id(self, texts: Mapping[str, str]) -> dict[str, Vector]:
        """Embed texts by the id of their row."""
        return dict(zip(texts, self.embed(list(texts.values())), strict=True)) if texts else {}
