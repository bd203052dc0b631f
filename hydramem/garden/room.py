"""Room: where a project's documents take more than `limits.document_mb`, text that is out of use goes.

Passages that a newer version took the place of go first, then what was archived, the longest out of use
first of each. What is in use never goes, nor what is verified or reused; undo brings the rest back.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime

from hydramem.core.row_types import Chunk, Document, Relation
from hydramem.garden.ground import Ground
from hydramem.garden.proposal import Proposal
from hydramem.garden.protected import is_protected, reused
from hydramem.garden.retention import taken_out, without
from hydramem.garden.undone import Undone
from hydramem.ingest.knowledge.support import document_chunks
from hydramem.storage.quotas import MEGABYTE
from hydramem.storage.schema import CHUNK
from hydramem.storage.write import Removal
from hydramem.text.escaping import amount

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
    ground: Ground, undone: Undone, going: AbstractSet[str], counts: Counter[str], notes: list[str]
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


def _unused(ground: Ground, going: AbstractSet[str]) -> Iterator[_Unused]:
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


def _may_go(unused: _Unused, undone: Undone, ground: Ground) -> bool:
    ids = [row.id for row in unused.chunks]
    kept = any(row.layer == "verified" for row in unused.chunks) or any(id in undone for id in ids)
    return not kept and not reused([row.id for row in unused.chunks if row.recall_count > 1], ground.graph)


def _proposal(
    unused: _Unused, resting: tuple[tuple[Relation, ...], tuple[Relation, ...]], ground: Ground
) -> Proposal:
    row, ids = unused.document, tuple(chunk.id for chunk in unused.chunks)
    name = row.title or row.source
    allowed = ground.settings.limits.document_mb
    return taken_out(
        row if unused.whole else unused.chunks[0],
        name if unused.whole else f"{amount(len(ids), 'passage')} of {name}",
        Removal(documents=(row.id,) if unused.whole else (), chunks=ids),
        unused.chunks,
        resting,
        f"Documents take more than {allowed} MB; out of use since {unused.since:%Y-%m-%d}.",
    )
