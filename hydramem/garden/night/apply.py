"""Apply the proposals of a plan in small batches, each checked against the store as it is by then."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, fields, replace
from itertools import chain, islice
from math import ceil, sqrt
from time import perf_counter, sleep
from typing import Any

from hydramem.core.errors import StorageError
from hydramem.core.row_types import Change, Phase
from hydramem.garden.proposals.proposal import (
    ROW_FIELDS,
    ClaimedRows,
    CurrentRows,
    Proposal,
    removed_addresses,
    row_address,
    row_digest,
    table_of,
    written_rows,
)
from hydramem.ingest.knowledge.merging.merge_entities import plan_merge
from hydramem.ingest.knowledge.support import recounted
from hydramem.storage.changes import record
from hydramem.storage.schema import CHUNK, DOCUMENT, ENTITY, LINKS, RELATES, EdgeTable, Table
from hydramem.storage.store import GraphStore
from hydramem.storage.undo.row_images import as_text
from hydramem.storage.write import Removal, Write

_PAUSE = 0.002
"""Seconds between two batches, in which a waiting writer gets the lock."""

_DELIVERY = 500
"""Rows replicated to the vector store at once: so many take little longer than a few, and each delivery makes
new versions of its tables."""

_FIRST_BATCH = 2
"""Rows of the first batch of a phase: rows that are not cached take unpredictably long."""

_LEAST_BATCH, _MOST_BATCH = 4, 1024
"""Rows of later batches: in smaller ones most of the time is the transaction's own."""

_BATCH_SECONDS = 0.025
"""How long a batch should take; the actual time varies by a factor of two and more."""

_SORTED_FROM = 2000
"""Proposals from which sorting them by storage place pays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What became of a plan's proposals, by their ids.

    Attributes:
        made: Those that were applied.
        refused: With the reason for each.
        standing: Those whose result the store had already, from an earlier attempt.
        left: Those not tried, because the run was stopped.
        error: What stopped it; a proposal of `left` may be made, if the answer of the store was lost.
    """

    made: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    standing: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    error: StorageError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteAccess:
    """How proposals reach the stores.

    Attributes:
        commit: Commits a write, and embeds rows that need vectors.
        one_writer: The writer lock; it is released between two batches.
        deliver: Replicates deferred writes to the vector store.
        revision: Returns a value that changes with every write, whoever makes it.
        places: Returns where the graph store keeps nodes, by id, as far as that is known.
        checkpoint: Writes the graph's log into its file where it has become long.
        keeping: Keeps the graph in memory readable while rows are removed.
        stopping: Says whether to stop after the current batch.
        progress: Called with the proposals done and all proposals.
    """

    graph: GraphStore
    commit: Callable[[Write], None]
    one_writer: AbstractContextManager[Any]
    deliver: Callable[[], None] = lambda: None
    revision: Callable[[], object] = object
    places: Callable[[], Mapping[str, int]] = dict
    checkpoint: Callable[[], None] = lambda: None
    keeping: Callable[[], AbstractContextManager[None]] = nullcontext
    stopping: Callable[[], bool] = lambda: False
    progress: Callable[[int, int], None] = lambda done, whole: None


def apply(proposals: Sequence[Proposal], access: WriteAccess, *, run: str) -> Applied:
    """Apply proposals phase by phase, each as a whole or not at all.

    A batch holds as many as take a fraction of a second. Several batches are replicated to the vector store
    together; until then their rows are in the outbox.

    Args:
        proposals: What to apply.
        access: How they reach the stores.
        run: Id of the run that all changes belong to.
    """
    with access.keeping():
        try:
            return _apply_batches(side_by_side(proposals, access.places), access, run)
        finally:
            access.deliver()


def _apply_batches(proposals: Sequence[Proposal], access: WriteAccess, run: str) -> Applied:
    made: list[str] = []
    standing: list[str] = []
    refused: dict[str, str] = {}
    pace, place, undelivered, failure = Pace(), 0, 0, None
    while place < len(proposals) and not access.stopping():
        batch = pace.batch(proposals, place)
        try:
            result, seconds = _apply_batch(batch, access, run)
        except StorageError as error:
            failure = error
            break
        made += result.made
        standing += result.standing
        refused |= result.refused
        place += len(batch)
        pace.took(batch[0].phase, seconds)
        undelivered += result.replicated_rows
        if undelivered >= _DELIVERY:
            access.deliver()
            undelivered = 0
        access.progress(place, len(proposals))
        access.checkpoint()
        sleep(_PAUSE)
    left = tuple(each.id for each in proposals[place:])
    return Applied(made=tuple(made), refused=refused, standing=tuple(standing), left=left, error=failure)


def side_by_side(
    proposals: Sequence[Proposal], places: Callable[[], Mapping[str, int]]
) -> tuple[Proposal, ...]:
    """Return proposals in the order of their phases, those of a phase in the order of storage.

    An engine writes and checkpoints neighbouring rows together: many relations take a third of the time.

    Args:
        proposals: In any order; a few are left as they are.
        places: Returns where nodes are stored, by id; not called for a few.
    """
    if len(proposals) < _SORTED_FROM:
        return tuple(proposals)
    phases = {phase: number for number, phase in enumerate(dict.fromkeys(each.phase for each in proposals))}
    place = places()
    return tuple(sorted(proposals, key=lambda each: (phases[each.phase], place.get(_first_node(each), -1))))


def _first_node(proposal: Proposal) -> str:
    """Return the first node that a proposal changes, or at which a changed edge begins."""
    write = proposal.write
    _, key = next(chain(map(row_address, written_rows(write)), removed_addresses(write)))
    return key[0]


@dataclass(slots=True)
class Pace:
    """How many rows a batch holds, for each phase by the time that its rows took."""

    _sizes: dict[Phase, int] = field(default_factory=dict)

    def batch(self, proposals: Sequence[Proposal], place: int) -> list[Proposal]:
        """Return the next batch from a place on: proposals of one phase, at least one."""
        batch = [proposals[place]]
        phase, rows = batch[0].phase, _row_count(batch[0])
        for proposal in islice(proposals, place + 1, None):
            rows += _row_count(proposal)
            if proposal.phase != phase or rows > self._sizes.get(phase, _FIRST_BATCH):
                break
            batch.append(proposal)
        return batch

    def took(self, phase: Phase, seconds: float) -> None:
        """Adapt the size to how long a batch took, damped so that one slow batch changes little."""
        size = self._sizes.get(phase, _FIRST_BATCH)
        share = min(2.0, max(0.5, sqrt(_BATCH_SECONDS / max(seconds, 1e-6))))
        size = (ceil if share > 1 else int)(size * share)
        self._sizes[phase] = min(_MOST_BATCH, max(_LEAST_BATCH, size))


def _row_count(proposal: Proposal) -> int:
    gone = proposal.write.removed
    removed = sum(len(getattr(gone, part.name)) for part in fields(gone))
    return sum(1 for _ in written_rows(proposal.write)) + removed


@dataclass(frozen=True, slots=True, kw_only=True)
class _BatchResult:
    """The result of a batch; `write` is None if nothing is to be committed."""

    made: tuple[str, ...]
    refused: Mapping[str, str]
    standing: tuple[str, ...]
    write: Write | None

    @property
    def replicated_rows(self) -> int:
        """How many rows the vector store gets of it."""
        rows = self.write
        if rows is None:
            return 0
        return sum(map(len, (rows.chunks, rows.entities, rows.removed.chunks, rows.removed.entities)))


def _apply_batch(batch: Sequence[Proposal], access: WriteAccess, run: str) -> tuple[_BatchResult, float]:
    """Apply a batch; return what became of it, and for how many seconds the writer lock was held.

    The result is computed before the lock is taken, and again where somebody wrote in between.
    """
    graph, revision = access.graph, access.revision()
    current = CurrentRows(batch, graph)
    # The Changes of merges are not computed again: where its rows changed, a merge is refused.
    merges = {each.id: _merge_changes(each, run, current, graph) for each in batch}
    result = _checked(batch, current, merges, graph, run)
    with access.one_writer:
        started = perf_counter()
        if access.revision() != revision:
            result = _checked(batch, CurrentRows(batch, graph), merges, graph, run)
        if result.write is not None:
            access.commit(result.write)
        return result, perf_counter() - started


def _checked(
    batch: Sequence[Proposal],
    current: CurrentRows,
    merges: Mapping[str, Sequence[Change]],
    graph: GraphStore,
    run: str,
) -> _BatchResult:
    """Sort out which proposals still apply, and join their writes."""
    chosen: list[Proposal] = []
    standing: list[str] = []
    refused: dict[str, str] = {}
    claimed = ClaimedRows()
    for proposal in batch:
        changed = current.differing(proposal.expects)
        if current.matches(proposal.write):
            standing.append(proposal.id)
        elif changed:
            refused[proposal.id] = f"{as_text(changed[0])} was changed since the plan was made"
        elif (taken := claimed.claim(proposal)) is not None:
            refused[proposal.id] = f"{as_text(taken)} is changed by the proposal before it"
        elif (holder := dependents(proposal, graph)) is not None:
            refused[proposal.id] = f"{holder} it since the plan was made"
        elif (gone := missing_end(proposal, graph)) is not None:
            refused[proposal.id] = f"entity {gone} is gone since the plan was made"
        else:
            chosen.append(proposal)
    write = _counted(_joined(chosen, run, current, merges), current, graph) if chosen else None
    made = tuple(each.id for each in chosen)
    return _BatchResult(made=made, refused=refused, standing=tuple(standing), write=write)


def dependents(proposal: Proposal, graph: GraphStore) -> str | None:
    """Return what still refers to an entity that a proposal removes; None where nothing does.

    A merge moves the references that it knew itself; only those it did not know count.

    Args:
        proposal: What is about to be applied.
        graph: The store as it is by then.
    """
    gone = proposal.write.removed.entities
    if not gone:
        return None
    known = proposal.expects if any(True for _ in written_rows(proposal.write)) else {}
    for mention in graph.mentioned(gone):
        if row_address(mention) not in known:
            return f"memory {mention.chunk} names"
    new = (row.id for row in graph.relations(gone) if row_address(row) not in known)
    return next((f"relation {id} holds" for id in new), None)


def missing_end(proposal: Proposal, graph: GraphStore) -> str | None:
    """Return an entity that a proposal would link, and that is not there; None where all are.

    Args:
        proposal: What is about to be applied; of a link of entities that a merge changes, these are no
            preconditions.
        graph: The store as it is by then.
    """
    if proposal.action != "link":
        return None
    ends = {end for row in proposal.write.relations for end in (row.subject, row.object)}
    unread = sorted(end for end in ends if (ENTITY.name, (end,)) not in proposal.expects)
    there = {row.id for row in graph.entities(unread)} if unread else set()
    return next((end for end in unread if end not in there), None)


def _joined(
    proposals: Sequence[Proposal], run: str, current: CurrentRows, merges: Mapping[str, Sequence[Change]]
) -> Write:
    """Return one write of all proposals, each row with its Change; `merges` has those of merges."""

    def concatenated(parts: Sequence[object], name: str) -> tuple[Any, ...]:
        return tuple(chain(*(getattr(part, name) for part in parts)))

    writes = [each.write for each in proposals]
    removals = [write.removed for write in writes]
    changes = tuple(chain(*(merges[each.id] or _changes(each, run, current) for each in proposals)))
    rows: dict[str, Any] = {name: concatenated(writes, name) for name in ROW_FIELDS}
    # The vector store gets it after the lock is released: it takes longer than all of the rest.
    return Write(
        changes=changes,
        removed=Removal(**{part.name: concatenated(removals, part.name) for part in fields(Removal)}),
        deferred=True,
        gathered=True,
        **rows,
    )


def _counted(write: Write, current: CurrentRows, graph: GraphStore) -> Write:
    """Add to a write the entities whose number of mentions it changes."""
    ids = (*(row.id for row in write.chunks), *write.removed.chunks)
    before = {id: row for id in ids if (row := current.row((CHUNK.name, (id,)))) is not None}
    return replace(write, entities=(*write.entities, *recounted(write, before, graph)))


def _merge_changes(
    proposal: Proposal, run: str, current: CurrentRows, graph: GraphStore
) -> tuple[Change, ...]:
    """Return the Changes of a merge of entities in the form that `split` reads; none for other proposals."""
    keep = current.row((ENTITY.name, (proposal.target,)))
    merging = [current.row((ENTITY.name, (id,))) for id in proposal.write.removed.entities]
    if proposal.action != "merge" or keep is None or not merging or None in merging:
        return ()
    made = plan_merge(keep, merging, graph)
    if set(map(row_digest, made.write.relations)) != set(map(row_digest, proposal.write.relations)):
        return ()  # relations were added since the plan: each row gets a Change of its own
    return made.changes(reason=proposal.reason, operation="garden", run=run)


def _changes(proposal: Proposal, run: str, current: CurrentRows) -> Iterator[Change]:
    """Yield a Change for each node, relation and link; mentions need none of their own."""
    common = {"project": proposal.project, "reason": proposal.reason, "run": run}
    gone, recorded = proposal.write.removed, False
    for row in written_rows(proposal.write):
        if isinstance(table_of(row), EdgeTable) and not hasattr(row, "id"):
            continue
        address, recorded = row_address(row), True
        yield record("garden", target=address[1][-1], before=current.row(address), after=row, **common)
    removed: list[tuple[Table, tuple[str, ...]]] = [
        *((CHUNK, (id,)) for id in gone.chunks),
        *((ENTITY, (id,)) for id in gone.entities),
        *((DOCUMENT, (id,)) for id in gone.documents),
        *((RELATES, key) for key in gone.relations),
        *((LINKS, key) for key in gone.links),
    ]
    for table, key in removed:
        yield record("garden", target=key[-1], before=current.row((table.name, key)), **common)
    if not recorded and not any((gone.chunks, gone.entities, gone.documents, gone.relations)):
        after = {"removed": proposal.text, **proposal.told}
        yield record("garden", target=proposal.target, after=after, **common)
