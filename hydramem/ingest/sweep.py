"""Forget what matches: memories by scope, kind, label and age, once somebody has seen how many they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from hydramem.core.errors import InvalidInputError
from hydramem.core.results.write_results import Forgotten
from hydramem.core.row_types import ChunkKind
from hydramem.ingest.withdraw import forget
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.outbox import Mirror
from hydramem.storage.store import GraphStore, Listing
from hydramem.storage.write_validation import batches

MEMORIES: tuple[ChunkKind, ...] = ("note", "fact", "event", "turn")

_PAGE = 5000

_BATCH = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """Which active memories of a project are meant; all that is given must hold.

    Attributes:
        scope: At or under this path: whole segments, and never what is above.
        kinds: Of these kinds.
        categories: With one of these labels.
        before: Recorded before then.
        expect: How many they are, as a look at them told; None where nobody looked.
    """

    project: str
    scope: str | None = None
    kinds: tuple[ChunkKind, ...] = MEMORIES
    categories: tuple[str, ...] = ()
    before: datetime | None = None
    expect: int | None = None


def matching(sweep: Sweep, graph: GraphStore) -> list[str]:
    """Return the ids of the memories that are meant, newest first."""
    where = ChunkFilter(
        projects=(sweep.project,), kinds=sweep.kinds, scope=sweep.scope, categories=sweep.categories
    )
    ids: list[str] = []
    offset = 0
    while page := graph.list_chunks(where, Listing(limit=_PAGE, offset=offset)):
        offset += len(page)
        ids.extend(row.id for row in page if sweep.before is None or row.times.recorded_at < sweep.before)
    return ids


def forget_matching(sweep: Sweep, *, graph: GraphStore, mirror: Mirror, dry_run: bool = False) -> Forgotten:
    """Archive the memories that are meant, in batches, with the relations that nothing else supports.

    Raises:
        InvalidInputError: They are not as many as was expected; nothing is written.
    """
    with mirror.one_writer:
        ids = matching(sweep, graph)
        if dry_run:
            return Forgotten(chunks=tuple(ids), dry_run=True)
        if sweep.expect != len(ids):
            asked = "" if sweep.expect is None else f", not {sweep.expect:,}"
            raise InvalidInputError(
                f"expect: {len(ids):,} memories match{asked}; see them with dry_run, and give their number"
            )
        done = [forget(batch, graph=graph, mirror=mirror) for batch in batches(ids, _BATCH)]
    return _summed(done)


def _summed(done: Sequence[Forgotten]) -> Forgotten:
    return Forgotten(
        chunks=tuple(id for part in done for id in part.chunks),
        relations=sum(part.relations for part in done),
    )
