"""What goes because a project exceeds `limits.document_mb` or `limits.memories`.

Of documents unused text goes: passages replaced by a newer version first, then archived text, of each the
longest unused first. Of memories those of least worth go. Verified and reused text stays.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from heapq import nsmallest

from hydramem.core.row_types import Chunk, Document
from hydramem.garden.phases.prune.past_retention import EvidenceLoss, removal_of, without_evidence
from hydramem.garden.proposals.exclusions import is_protected, reused
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseWork
from hydramem.garden.proposals.proposal import Proposal
from hydramem.ingest.knowledge.support import document_chunks
from hydramem.storage.quotas import MEGABYTE
from hydramem.storage.schema import CHUNK
from hydramem.storage.store import GraphStore
from hydramem.storage.write import Removal
from hydramem.text.shown_text import amount

_MOST_UNUSED = 1000
"""Documents and versions that go in a run."""

_MOST_MEMORIES = 2000
"""Memories that go in a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _UnusedText:
    """Text that is removed together: an archived document, or passages replaced at the same time.

    Attributes:
        document: What the text belongs to.
        whole: Whether the document itself is removed.
        since: Since when the text is unused.
    """

    document: Document
    chunks: tuple[Chunk, ...]
    whole: bool
    since: datetime

    @property
    def bytes(self) -> int:
        """Its size."""
        return sum(_bytes(row) for row in self.chunks)

    @property
    def order(self) -> tuple[bool, datetime, str]:
        """Sort key: replaced versions go first."""
        replaced = not self.whole and all(row.state == "superseded" for row in self.chunks)
        return not replaced, self.since, self.chunks[0].id


def over_room(work: PhaseWork, going: AbstractSet[str]) -> list[Proposal]:
    """Return what removes unused text of documents, and note where that is not enough.

    Args:
        work: The phase.
        going: Ids of chunks that the run removes for another reason.
    """
    context, allowed = work.context, work.context.settings.limits.document_mb
    if not allowed:
        return []
    used = context.graph.document_bytes().get(context.project, 0)
    excess = used - sum(map(_bytes, context.graph.chunks(sorted(going)))) - allowed * MEGABYTE
    if excess <= 0:
        return []
    proposals: list[Proposal] = []
    freed, more = 0, False
    for unused in sorted(_unused_texts(context, going), key=lambda each: each.order):
        if freed >= excess or (more := len(proposals) == _MOST_UNUSED or bool(context.budget.over)):
            break
        relations = without_evidence(unused.chunks, context)
        if _may_go(unused, relations, work):
            proposals.append(_proposal(unused, relations, allowed))
            freed += unused.bytes
    work.counts["documents_out_of_use"] = len(proposals)
    if freed < excess and not more:
        work.notes.append(
            f"The documents take {(used - freed) / MEGABYTE:.1f} MB, more than the {allowed} MB of "
            "limits.document_mb, and all of it is in use or protected: forget documents, or raise the limit."
        )
    return proposals


def _bytes(row: Chunk) -> int:
    return len(row.text.encode()) if row.kind == "passage" else 0


def _unused_texts(context: PhaseContext, going: AbstractSet[str]) -> Iterator[_UnusedText]:
    """Yield unused text in no order; a document that is being ingested is in use."""
    parts: dict[tuple[str, datetime], list[Chunk]] = defaultdict(list)
    for batch in context.graph.scan(CHUNK):
        for row in batch:
            since = row.times.retired_at
            retired = row.state in ("superseded", "archived") and since is not None
            if row.project == context.project and row.kind == "passage" and retired and row.id not in going:
                parts[str(row.document), since or context.now].append(row)
    documents = {row.id: row for row in context.graph.documents(sorted({id for id, _ in parts}))}
    whole = {id for id, row in documents.items() if row.state == "archived" and row.content_hash}
    for (id, since), rows in parts.items():
        if id in documents and documents[id].state == "active":
            yield _UnusedText(document=documents[id], chunks=tuple(rows), whole=False, since=since)
    for id in whole:
        chunks = document_chunks(id, context.graph)
        ended = documents[id].times.retired_at
        is_unused = all(row.state in ("superseded", "archived") for row in chunks)
        if ended is not None and is_unused and going.isdisjoint(row.id for row in chunks):
            yield _UnusedText(document=documents[id], chunks=chunks, whole=True, since=ended)


def _may_go(unused: _UnusedText, relations: EvidenceLoss, work: PhaseWork) -> bool:
    """Say whether text may be removed: it is not verified, reused, put back, or a protected relation's."""
    if any(row.layer == "verified" or row.id in work.undone for row in unused.chunks):
        return False
    if reused([row.id for row in unused.chunks if row.recall_count > 1], work.context.graph):
        return False
    return not any(
        row.state == "active" and is_protected(row) and not after.evidence
        for row, after in zip(*relations, strict=True)
    )


def _proposal(unused: _UnusedText, relations: EvidenceLoss, allowed: float) -> Proposal:
    row, ids = unused.document, tuple(chunk.id for chunk in unused.chunks)
    name = row.title or row.source
    return removal_of(
        row if unused.whole else unused.chunks[0],
        name if unused.whole else f"{amount(len(ids), 'passage')} of {name}",
        Removal(documents=(row.id,) if unused.whole else (), chunks=ids),
        unused.chunks,
        relations,
        f"Documents take more than {allowed} MB; out of use since {unused.since:%Y-%m-%d}.",
    )


def over_quota(work: PhaseWork, going: Collection[str]) -> list[Chunk]:
    """Return the memories over the limit; verified, reused and restored ones stay.

    Args:
        work: The phase.
        going: Ids of memories that go for another reason.
    """
    context, allowed = work.context, work.context.settings.limits.memories
    if not allowed:
        return []
    stored = sum(view.memories for view in context.graph.projects() if view.name == context.project)
    excess = stored - len(going) - allowed
    if excess <= 0:
        return []
    may_go = (
        row
        for batch in context.graph.scan(CHUNK)
        for row in batch
        if row.project == context.project and row.state == "active" and row.kind != "passage"
        if row.id not in going and row.id not in work.undone
    )
    return least_worth(may_go, context.graph, most=min(excess, _MOST_MEMORIES))


def least_worth(rows: Iterable[Chunk], graph: GraphStore, *, most: int) -> list[Chunk]:
    """Return the least important, least recalled and oldest memories, and no verified or reused one.

    Args:
        rows: Active memories.
        graph: Where recalls are stored.
        most: How many to return.
    """
    open_ = (row for row in rows if row.layer != "verified")
    # Some of these may be reused; often recalled ones come late, so a few more are enough.
    lowest = nsmallest(2 * most + 100, open_, key=_worth)
    kept = reused([row.id for row in lowest if row.recall_count > 1], graph)
    return [row for row in lowest if row.id not in kept][:most]


def _worth(row: Chunk) -> tuple[float, int, float, str]:
    return row.importance, row.recall_count, row.times.recorded_at.timestamp(), row.id
