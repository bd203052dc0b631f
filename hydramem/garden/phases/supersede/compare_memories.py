"""Memories that were stored without comparison: the classifier compares the newest with their neighbours.

Imported memories, those stored with `cognitive: false`, and those written before their vector existed were
not compared when they came in. What the classifier leans to becomes a link, which ends and hides nothing.
"""

from collections.abc import Iterator, Sequence
from typing import assert_never

from hydramem.core.errors import ModelError
from hydramem.core.row_types import Chunk, LinkType
from hydramem.garden.phases.supersede.possible_replacements import beginning
from hydramem.garden.proposals.exclusions import is_told_apart
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseWork
from hydramem.garden.proposals.proposal import Proposal, precondition_hash, quoted
from hydramem.ingest.knowledge.end_validity import said_at
from hydramem.ingest.memories.consolidate.duplicate_or_update import (
    Action,
    is_repetition,
    link_action,
    may_touch,
    one_subject,
)
from hydramem.ingest.memories.link.link_candidates import LinkProposal, link_of
from hydramem.ingest.memories.memory_input import STEADY
from hydramem.ingest.memories.neighbours import candidates, find_neighbours
from hydramem.llm.pair_classifier import bounds
from hydramem.storage.chunk_filter import ChunkFilter, covers
from hydramem.storage.store import Listing
from hydramem.storage.vector_rows import Vector
from hydramem.storage.write import Write
from hydramem.text.decisive_marks import have_same_words

_NEWEST = 300
_JUDGED = 6
"""Neighbours of a memory that the classifier reads."""

_COMPARED: tuple[LinkType, ...] = ("may_supersede", "supersedes", "duplicates", "extends", "contradicts")
"""Links of any state that say what one memory is to another: such a pair was compared."""


def new_links(work: PhaseWork) -> tuple[list[Proposal], bool]:
    """Return links of the newest memories to older ones, and whether the classifier failed."""
    context = work.context
    where = ChunkFilter(projects=(context.project,), kinds=STEADY)
    page = context.graph.list_chunks(where, Listing(limit=_NEWEST))
    newest = [row for row in page if covers(None, row.expires_at, context.clock)]
    ids = [row.id for row in newest]
    vectors = context.vectors.vectors(ids)
    links = context.graph.links(ids) if ids else ()
    known = {frozenset((link.source, link.target)) for link in links if link.type in _COMPARED}
    proposals: list[Proposal] = []
    for (row,) in work.batches(newest, 1):
        if row.id not in vectors:
            continue
        work.counts["memories_compared"] += 1
        try:
            proposals += _links_of(row, vectors[row.id], known, work)
        except ModelError as error:
            work.notes.append(f"Memories were not compared: {error}.")
            return proposals, True
    if work.stopped:
        work.notes.append(f"Not every memory was compared: {work.stopped}.")
    work.counts["memories_linked"] = len(proposals)
    return proposals, False


def _links_of(row: Chunk, vector: Vector, known: set[frozenset[str]], work: PhaseWork) -> Iterator[Proposal]:
    """Yield the links of a memory to older ones.

    Raises:
        ModelError: The classifier failed.
    """
    context = work.context
    near = [old for old in _older(row, vector, context) if frozenset((row.id, old.id)) not in known]
    judged = context.judge_pairs(row.text, [old.text for old in near[:_JUDGED]])
    for old, judgement in zip(near, judged, strict=False):
        action = link_action(row, old, judgement, bounds())
        if action is None or (action.action == "may_supersede" and beginning(row) <= beginning(old)):
            continue
        proposal = _proposal(row, old, action, context)
        if proposal.target not in work.undone:
            known.add(frozenset((row.id, old.id)))
            yield proposal


def _older(row: Chunk, vector: Vector, context: PhaseContext) -> Sequence[Chunk]:
    """Return the older memories near one, nearest first; the same words are left to the phase `merge`."""
    target = context.read_only_target()
    neighbours = find_neighbours(vector, target=target, vectors=context.vectors, stored=row)
    near = candidates(row, neighbours, target=target, at=context.clock, before=said_at(row))
    return [
        one.chunk
        for one in near
        if may_touch(row, one.chunk)
        and one_subject(row, one.chunk)
        and not is_repetition(row, one.chunk)
        and not have_same_words(row.text, one.chunk.text)
        and not is_told_apart(row, one.chunk)
    ]


def _type(action: Action) -> LinkType:
    match action.action:
        case "may_supersede":
            return "may_supersede"
        case "repeats" | "duplicate":
            return "duplicates"
        case "refine":
            return "extends"
        case "contradict":
            return "contradicts"
        case "update" | "delete":
            raise AssertionError(action)  # the classifier alone ends nothing
        case _:
            assert_never(action.action)


def _proposal(new: Chunk, old: Chunk, action: Action, context: PhaseContext) -> Proposal:
    weight = action.probability or 0.0
    made = LinkProposal(target=old.id, type=_type(action), weight=weight, reason=action.reason)
    link = link_of(context.project, new.id, made, context.now)
    return Proposal(
        project=context.project,
        phase="supersede",
        action="link",
        target=link.id,
        text=f"{quoted(new.text)} {link.type} {quoted(old.text)}",
        reason=action.reason,
        score=weight,
        write=Write(changes=(), links=(link,)),
        expects=precondition_hash(new, old, absent=[link]),
    )
