"""Apply: a plan's proposals are made in small batches, each checked against the store as it is by then."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from time import perf_counter, sleep
from typing import Any

from hydramem.core.row_types import Change
from hydramem.garden.night.proposal_batches import Pace, side_by_side
from hydramem.garden.proposals.proposal import ClaimedRows, Current, Proposal, digest_of, table_of, written
from hydramem.ingest.knowledge.merging.merge_entities import plan_merge
from hydramem.ingest.knowledge.support import recounted
from hydramem.storage.changes import record
from hydramem.storage.schema import CHUNK, ENTITY, MENTIONS, RELATES, EdgeTable
from hydramem.storage.store import GraphStore
from hydramem.storage.undo.undo_images import address_of, as_text
from hydramem.storage.write import Removal, Write


def dependents(proposal: Proposal, graph: GraphStore) -> str | None:
    """Return what holds a thing that a proposal only takes out; None where nothing does.

    A merge says itself what becomes of what its entities held, as far as it knew it.

    Args:
        proposal: What is about to be made.
        graph: The store as it is by then.
    """
    gone = proposal.write.removed.entities
    if not gone:
        return None
    foreseen = proposal.expects if any(True for _ in written(proposal.write)) else {}
    for mention in graph.mentioned(gone):
        if address_of(MENTIONS, mention) not in foreseen:
            return f"memory {mention.chunk} names"
    new = (row.id for row in graph.relations(gone) if address_of(RELATES, row) not in foreseen)
    return next((f"relation {id} holds" for id in new), None)


# Between two batches whoever waits for the writer lock gets it.
_BREATH = 0.002

# Rows of the vector store that are delivered at once: so many take little longer than a few, and each time
# makes versions of its tables.
_DELIVERED = 500

_ROWS = ("documents", "sessions", "entities", "chunks", "mentions", "relations", "links")


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What became of a plan's proposals, by their ids.

    Attributes:
        refused: With the reason for each.
        standing: Those that the store had already, by an earlier try.
        left: Those that were not tried, because something stopped the rest.
    """

    made: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    standing: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteAccess:
    """What it takes to write.

    Attributes:
        commit: Commits a write; vectors are made where rows need them.
        deliver: Has the vector store hear of what was committed and could wait.
        moment: Returns another value once anybody wrote; what was read stands while it returns the same.
        places: Returns where the graph store has nodes, by id, as far as that is known.
        keeping: Has others go on reading the graph while rows are taken out of it.
        one_writer: The writer lock; it is let go between two batches.
        stopping: Says whether to end after the batch at hand.
        progress: Called with proposals done and proposals to do.
    """

    graph: GraphStore
    commit: Callable[[Write], None]
    one_writer: AbstractContextManager[Any]
    deliver: Callable[[], None] = lambda: None
    moment: Callable[[], object] = object
    places: Callable[[], Mapping[str, int]] = dict
    keeping: Callable[[], AbstractContextManager[None]] = nullcontext
    stopping: Callable[[], bool] = lambda: False
    progress: Callable[[int, int], None] = lambda done, whole: None


def apply(proposals: Sequence[Proposal], hands: WriteAccess, *, run: str) -> Applied:
    """Make proposals, phase by phase; each happens whole or not at all.

    A batch is as many as take a twentieth of a second at most, as far as that can be told beforehand. The
    vector store hears of many batches at once; what it did not hear is in the outbox.

    Args:
        proposals: What to make.
        hands: What it takes.
        run: The run that it all belongs to.
    """
    with hands.keeping():
        try:
            return _applied(side_by_side(proposals, hands.places), hands, run)
        finally:
            hands.deliver()


def _applied(proposals: Sequence[Proposal], hands: WriteAccess, run: str) -> Applied:
    made: list[str] = []
    standing: list[str] = []
    refused: dict[str, str] = {}
    pace, place, unheard = Pace(), 0, 0
    while place < len(proposals) and not hands.stopping():
        batch = pace.batch(proposals, place)
        ready, held = _make(batch, hands, run)
        made += ready.made
        standing += ready.standing
        refused |= ready.refused
        place += len(batch)
        pace.took(batch[0].phase, held)
        unheard += ready.told
        if unheard >= _DELIVERED:
            hands.deliver()
            unheard = 0
        hands.progress(place, len(proposals))
        sleep(_BREATH)
    left = tuple(each.id for each in proposals[place:])
    return Applied(made=tuple(made), refused=refused, standing=tuple(standing), left=left)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ready:
    """What a batch comes to.

    Attributes:
        write: Its rows; None where nothing is to be made.
        told: How many rows the vector store has to hear of.
    """

    made: tuple[str, ...]
    refused: Mapping[str, str]
    standing: tuple[str, ...]
    write: Write | None

    @property
    def told(self) -> int:
        rows = self.write
        if rows is None:
            return 0
        parts = (rows.chunks, rows.entities, rows.removed.chunks, rows.removed.entities)
        return sum(map(len, parts))


def _make(batch: Sequence[Proposal], hands: WriteAccess, run: str) -> tuple[_Ready, float]:
    """Make a batch; return what became of it, and for how long the writer lock was held.

    What it comes to is worked out before the lock is taken, and again where somebody wrote in between.
    """
    moment = hands.moment()
    current = Current(batch, hands.graph)
    # What a merge tells is not made again: where its rows changed, it is refused.
    told = {each.id: _merging(each, run, current, hands.graph) for each in batch}
    ready = _ready(batch, current, told, hands.graph, run)
    with hands.one_writer:
        started = perf_counter()
        if hands.moment() != moment:
            ready = _ready(batch, Current(batch, hands.graph), told, hands.graph, run)
        if ready.write is not None:
            hands.commit(ready.write)
        return ready, perf_counter() - started


def _ready(
    batch: Sequence[Proposal],
    current: Current,
    told: Mapping[str, Sequence[Change]],
    graph: GraphStore,
    run: str,
) -> _Ready:
    standing: list[str] = []
    refused: dict[str, str] = {}
    chosen = _chosen(batch, current, graph, standing, refused)
    write = _counted(_joined(chosen, run, current, told), current, graph) if chosen else None
    made = tuple(each.id for each in chosen)
    return _Ready(made=made, refused=refused, standing=tuple(standing), write=write)


def _chosen(
    batch: Sequence[Proposal],
    current: Current,
    graph: GraphStore,
    standing: list[str],
    refused: dict[str, str],
) -> list[Proposal]:
    """Return the proposals of a batch whose rows are as they were seen."""
    chosen: list[Proposal] = []
    taken = ClaimedRows()
    for proposal in batch:
        changed = current.differing(proposal.expects)
        if current.stands(proposal.write):
            standing.append(proposal.id)
        elif changed:
            refused[proposal.id] = f"{as_text(changed[0])} was changed since the plan was made"
        elif (clash := taken.take(proposal)) is not None:
            refused[proposal.id] = f"{as_text(clash)} is changed by the proposal before it"
        elif (holder := dependents(proposal, graph)) is not None:
            refused[proposal.id] = f"{holder} it since the plan was made"
        else:
            chosen.append(proposal)
    return chosen


def _joined(
    proposals: Sequence[Proposal], run: str, current: Current, told: Mapping[str, Sequence[Change]]
) -> Write:
    """Return one write of all, each row with its Change; `told` has those of merges."""
    rows: dict[str, Any] = {
        name: tuple(chain(*(getattr(each.write, name) for each in proposals))) for name in _ROWS
    }
    removed = {
        part.name: tuple(chain(*(getattr(each.write.removed, part.name) for each in proposals)))
        for part in fields(Removal)
    }
    changes = tuple(chain(*(told[each.id] or _changes(each, run, current) for each in proposals)))
    # The vector store hears of it when others can write again: it takes longer than all of the rest.
    return Write(changes=changes, removed=Removal(**removed), deferred=True, gathered=True, **rows)


def _counted(write: Write, current: Current, graph: GraphStore) -> Write:
    """Return a write with the entities whose mentions it makes more or fewer."""
    ids = (*(row.id for row in write.chunks), *write.removed.chunks)
    before = {id: row for id in ids if (row := current.row((CHUNK.name, (id,)))) is not None}
    return replace(write, entities=(*write.entities, *recounted(write, before, graph)))


def _merging(proposal: Proposal, run: str, current: Current, graph: GraphStore) -> tuple[Change, ...]:
    """Return the Changes of a merge of entities, as `split` reads them; none where it is no such merge."""
    keep = current.row((ENTITY.name, (proposal.target,)))
    merging = [current.row((ENTITY.name, (id,))) for id in proposal.write.removed.entities]
    if proposal.action != "merge" or keep is None or not merging or None in merging:
        return ()
    made = plan_merge(keep, merging, graph)
    if set(map(digest_of, made.write.relations)) != set(map(digest_of, proposal.write.relations)):
        return ()  # more is related by now than the plan was made of: rows tell of it as they are
    return made.changes(reason=proposal.reason, operation="garden", run=run)


def _changes(proposal: Proposal, run: str, current: Current) -> Iterator[Change]:
    """Yield a Change for each node, relation and link; mentions go with what they join."""
    told = {"project": proposal.project, "reason": proposal.reason, "run": run}
    for row in written(proposal.write):
        table = table_of(row)
        if isinstance(table, EdgeTable) and not hasattr(row, "id"):
            continue
        address = address_of(table, row)
        yield record("garden", target=address[1][-1], before=current.row(address), after=row, **told)
    gone = proposal.write.removed
    for name, ids in (("Chunk", gone.chunks), ("Entity", gone.entities), ("Document", gone.documents)):
        for id in ids:
            yield record("garden", target=id, before=current.row((name, (id,))), **told)
    for name, keys in (("RELATES", gone.relations), ("LINKS", gone.links)):
        for key in keys:
            yield record("garden", target=key[-1], before=current.row((name, key)), **told)
    if not (_has_rows(proposal.write) or any((gone.chunks, gone.entities, gone.documents, gone.relations))):
        yield record(
            "garden", target=proposal.target, after={"removed": proposal.text, **proposal.told}, **told
        )


def _has_rows(write: Write) -> bool:
    return any((write.documents, write.sessions, write.entities, write.chunks, write.relations, write.links))
