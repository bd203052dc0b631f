"""Room: where a project's documents take more than `limits.document_mb`, text that is out of use goes.

Passages that a newer version took the place of go first, then what was archived, the longest out of use
first of each. What is in use never goes, nor what is verified or reused; undo brings the rest back.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from heapq import nsmallest

from hydramem.core.row_types import Chunk, Document, Relation
from hydramem.garden.phases.prune.past_retention import removed_chunks, without
from hydramem.garden.proposals.exclusions import UndoneRows, is_protected, reused
from hydramem.garden.proposals.phase_context import PhaseContext
from hydramem.garden.proposals.proposal import Proposal
from hydramem.ingest.knowledge.support import document_chunks
from hydramem.storage.quotas import MEGABYTE
from hydramem.storage.schema import CHUNK
from hydramem.storage.store import GraphStore
from hydramem.storage.write import Removal
from hydramem.text.shown_text import amount

_MOST = 1000
"""Documents and versions that go in a night; the next night takes up the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unused:
    """Text that is out of use together: a document, or passages of one that went at once.

    Attributes:
        document: What the text is of.
        whole: Whether the document itself goes too.
        since: Since when it is out of use.
    """

    document: Document
    chunks: tuple[Chunk, ...]
    whole: bool
    since: datetime

    @property
    def bytes(self) -> int:
        """How much room it takes."""
        return sum(_bytes(row) for row in self.chunks)

    @property
    def order(self) -> tuple[bool, datetime, str]:
        """Place in which it goes: versions first."""
        replaced = not self.whole and all(row.state == "superseded" for row in self.chunks)
        return not replaced, self.since, self.chunks[0].id


def over_room(
    ground: PhaseContext, undone: UndoneRows, going: AbstractSet[str], counts: Counter[str], notes: list[str]
) -> list[Proposal]:
    """Return what of a project's documents goes because they take too much room.

    Args:
        ground: What is looked at.
        undone: What a person took back.
        going: Ids of chunks that go tonight for another reason.
        counts: Gains how much there is.
        notes: Gains a sentence where that is not enough.
    """
    allowed = ground.settings.limits.document_mb
    if not allowed:
        return []
    used = ground.graph.document_bytes().get(ground.project, 0)
    excess = used - sum(map(_bytes, ground.graph.chunks(sorted(going)))) - allowed * MEGABYTE
    if excess <= 0:
        return []
    proposals: list[Proposal] = []
    freed, more = 0, False
    for unused in sorted(_unused(ground, going), key=lambda each: each.order):
        if freed >= excess or (more := len(proposals) == _MOST or bool(ground.budget.over)):
            break
        resting = without(unused.chunks, ground)
        if _may_go(unused, undone, ground) and not any(
            row.state == "active" and is_protected(row) and not after.evidence
            for row, after in zip(*resting, strict=True)
        ):
            proposals.append(_proposal(unused, resting, ground))
            freed += unused.bytes
    counts["documents_out_of_use"] = len(proposals)
    if freed < excess and not more:
        notes.append(
            f"The documents take {(used - freed) / MEGABYTE:.1f} MB, more than the {allowed} MB of "
            "limits.document_mb, and all of it is in use or protected: forget documents, or raise the limit."
        )
    return proposals


def _bytes(row: Chunk) -> int:
    return len(row.text.encode()) if row.kind == "passage" else 0


def _unused(ground: PhaseContext, going: AbstractSet[str]) -> Iterator[_Unused]:
    """Yield what is out of use, in no order; a document that is being read in is not."""
    parts: dict[tuple[str, datetime], list[Chunk]] = defaultdict(list)
    for batch in ground.graph.scan(CHUNK):
        for row in batch:
            since = row.times.retired_at
            retired = row.state in ("superseded", "archived") and since is not None
            if row.project == ground.project and row.kind == "passage" and retired and row.id not in going:
                parts[str(row.document), since or ground.now].append(row)
    documents = {row.id: row for row in ground.graph.documents(sorted({id for id, _ in parts}))}
    whole = {id for id, row in documents.items() if row.state == "archived" and row.content_hash}
    for (id, since), rows in parts.items():
        if id in documents and documents[id].state == "active":
            yield _Unused(document=documents[id], chunks=tuple(rows), whole=False, since=since)
    for id in whole:
        chunks = document_chunks(id, ground.graph)
        ended = documents[id].times.retired_at
        if ended is not None and going.isdisjoint(row.id for row in chunks) and _all_out(chunks):
            yield _Unused(document=documents[id], chunks=chunks, whole=True, since=ended)


def _all_out(chunks: Sequence[Chunk]) -> bool:
    return all(row.state in ("superseded", "archived") for row in chunks)


def _may_go(unused: _Unused, undone: UndoneRows, ground: PhaseContext) -> bool:
    ids = [row.id for row in unused.chunks]
    kept = any(row.layer == "verified" for row in unused.chunks) or any(id in undone for id in ids)
    return not kept and not reused([row.id for row in unused.chunks if row.recall_count > 1], ground.graph)


def _proposal(
    unused: _Unused, resting: tuple[tuple[Relation, ...], tuple[Relation, ...]], ground: PhaseContext
) -> Proposal:
    row, ids = unused.document, tuple(chunk.id for chunk in unused.chunks)
    name = row.title or row.source
    allowed = ground.settings.limits.document_mb
    return removed_chunks(
        row if unused.whole else unused.chunks[0],
        name if unused.whole else f"{amount(len(ids), 'passage')} of {name}",
        Removal(documents=(row.id,) if unused.whole else (), chunks=ids),
        unused.chunks,
        resting,
        f"Documents take more than {allowed} MB; out of use since {unused.since:%Y-%m-%d}.",
    )


_MOST_MEMORIES = 2000
"""Memories that go in a night; the next night takes up the rest."""


def over_quota(ground: PhaseContext, undone: UndoneRows, going: Collection[str]) -> list[Chunk]:
    """Return the memories over the limit; what is verified, reused, or was brought back stays.

    Args:
        ground: What is looked at.
        undone: What a person took back.
        going: Ids of memories that go tonight for another reason.
    """
    allowed = ground.settings.limits.memories
    if not allowed:
        return []
    held = sum(view.memories for view in ground.graph.projects() if view.name == ground.project)
    excess = held - len(going) - allowed
    if excess <= 0:
        return []
    may_go = (
        row for row in _memories(ground.graph, ground.project) if row.id not in going and row.id not in undone
    )
    return least_worth(may_go, ground.graph, most=min(excess, _MOST_MEMORIES))


def least_worth(rows: Iterable[Chunk], graph: GraphStore, *, most: int) -> list[Chunk]:
    """Return the least important, least recalled and oldest of some memories, and none that is protected.

    Args:
        rows: Active memories.
        graph: Where recalls are.
        most: How many to return.
    """
    open_ = (row for row in rows if row.layer != "verified")
    # Of these some may be reused; what is recalled often comes late, so a few more are enough.
    lowest = nsmallest(2 * most + 100, open_, key=_worth)
    kept = reused([row.id for row in lowest if row.recall_count > 1], graph)
    return [row for row in lowest if row.id not in kept][:most]


def _worth(row: Chunk) -> tuple[float, int, float, str]:
    return row.importance, row.recall_count, row.times.recorded_at.timestamp(), row.id


def _memories(graph: GraphStore, project: str) -> Iterator[Chunk]:
    for batch in graph.scan(CHUNK):
        for row in batch:
            if row.project == project and row.state == "active" and row.kind != "passage":
                yield row
