"""Reuse: chunks that several sessions recall gain importance; isolated, never recalled ones lose it.

What answered a question is linked to it (`answered_questions`). Otherwise only importance changes, not the
weight of links or the confidence of relations: those say how similar two texts are and how sure a claim is.
A chunk's own importance stays in its metadata and the new one is computed from it, so a run without new
recalls changes nothing.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from hydramem.core.row_types import ANSWERS, Chunk
from hydramem.garden.phases.answered_questions import answered_questions
from hydramem.garden.proposals.exclusions import REUSED
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseOutcome, PhaseWork
from hydramem.garden.proposals.proposal import Proposal, precondition_hash
from hydramem.graph.snapshot.adjacency import Mask
from hydramem.graph.snapshot.snapshot import LINK, MENTION, RELATION, STATES, Snapshot
from hydramem.storage.schema import RECALLED
from hydramem.storage.write import Write

REUSE = "reuse"
"""Metadata key of a chunk: its importance without reuse (`base`) and with it (`now`)."""

LEAST, MOST = 0.05, 0.99
"""Bounds of an importance that reuse sets; they never turn a gain into a loss, or a loss into a gain."""

_SATURATION = 5.0
"""Sessions from which further recalls add little."""

_FADING = ("note", "fact", "event")
"""Kinds of memories that lose importance."""

_STEPS = 2
"""Steps of a half-life: without steps every fading memory would change in every run."""

_LEAST_CHANGE = 0.01
"""The least change worth writing: merges elsewhere shift degrees, and with them importances, by less."""

_SAME = 1e-4
_AT_ONCE = 500
_MOST_CHANGED = 5000
_TEXT_SHOWN = 80


def gained(base: float, sessions: int, degree: int, ceiling: float) -> float:
    """Return the importance of a chunk that several sessions recalled.

    Args:
        base: Its own importance.
        sessions: Distinct sessions that recalled it.
        degree: Its mentions and links: a well-connected chunk is found anyway.
        ceiling: Most that reuse adds.
    """
    if sessions < REUSED:
        return base
    gain = math.tanh(sessions / _SATURATION) * ceiling / math.sqrt(max(1, degree))
    return max(base, min(MOST, base + gain))


def faded(base: float, age: timedelta, after: timedelta) -> float:
    """Return the importance of an isolated memory that was never recalled.

    Args:
        base: Its own importance.
        age: Time since it was recorded.
        after: How long it keeps its importance, and the half-life from then on.
    """
    steps = max(0, math.floor((age - after) / after * _STEPS))
    return min(base, max(LEAST, base * math.exp2(-steps / _STEPS)))


def reuse(context: PhaseContext) -> PhaseOutcome:
    """Propose links to answered questions, and importances for what was reused or stands alone unused."""
    work = PhaseWork(context)
    sessions, degrees = _sessions(context), _degrees(context.snapshot)
    never_recalled = set(_isolated(context, degrees)) - sessions.keys()
    proposals = list(answered_questions(work, sessions))
    work.counts["questions_answered"] = len(proposals)
    # What a link rests on does not change in the same run.
    linked = {end for each in proposals for link in each.write.links for end in (link.source, link.target)}
    weighed = [id for id in (*sorted(sessions), *sorted(never_recalled)) if id not in linked]
    for ids in work.batches(weighed, _AT_ONCE):
        if len(proposals) >= _MOST_CHANGED:
            work.stopped = f"{_MOST_CHANGED} changes are enough for a run"
            break
        for row in context.graph.chunks(ids):
            work.counts["chunks_looked_at"] += 1
            proposals += _reweighted(row, len(sessions.get(row.id, ())), degrees, work)
    if work.stopped:
        work.notes.append(f"Not everything was looked at: {work.stopped}.")
    work.counts["recalled_often"] = sum(len(recalling) >= REUSED for recalling in sessions.values())
    work.counts["never_recalled"] = len(never_recalled)
    proposals.sort(key=lambda each: (-(each.score or 0.0), each.target))
    return work.outcome(proposals[:_MOST_CHANGED], state="partial" if work.stopped else "completed")


def _sessions(context: PhaseContext) -> dict[str, frozenset[str]]:
    """Return the sessions that recalled each active chunk of the project."""
    active = context.snapshot.node_mask()
    found: dict[str, set[str]] = defaultdict(set)
    for batch in context.graph.scan(RECALLED):
        for recall in batch:
            node = context.snapshot.node(recall.chunk)
            if node is not None and active[node]:
                found[recall.chunk].add(recall.session)
    return {chunk: frozenset(seen) for chunk, seen in found.items()}


def _degrees(snapshot: Snapshot) -> NDArray[np.int64]:
    """Return the active mentions and links to other memories of each node."""
    edges = snapshot.edges
    active = (edges.state == STATES.index("active")) | (edges.kind == MENTION)
    rows = np.flatnonzero(np.isin(edges.kind, (MENTION, LINK)) & active & ~_to_questions(snapshot))
    ends = np.concatenate([edges.source[rows], edges.target[rows]])
    return np.bincount(ends, minlength=snapshot.size)


def _to_questions(snapshot: Snapshot) -> Mask:
    """Say for each edge whether it links an answer to its question."""
    edges = snapshot.edges
    answers = np.array([name == ANSWERS for name in edges.types] + [False])[edges.type]
    found: Mask = (edges.kind == LINK) & answers
    return found


def _isolated(context: PhaseContext, degrees: NDArray[np.int64]) -> list[str]:
    """Return the memories without a link whose entities occur in no other chunk and no relation.

    What a run itself links, an answer to its question and names that may be of one thing, relates nothing.
    """
    after = context.settings.garden.decay_after_days
    if after <= 0:
        return []
    snapshot, edges, nodes = context.snapshot, context.snapshot.edges, context.snapshot.nodes
    held = np.zeros(snapshot.size, dtype=bool)
    related = np.isin(edges.kind, (RELATION, LINK)) & (edges.state == STATES.index("active"))
    related &= ~_to_questions(snapshot) & ~snapshot.is_likely_same(slice(None))
    held[edges.source[related]] = held[edges.target[related]] = True
    mentions = edges.kind == MENTION
    chunks, things = edges.source[mentions], edges.target[mentions]
    held[chunks[held[things] | (degrees[things] > 1)]] = True
    fading = [place for place, name in enumerate(nodes.types) if name in _FADING]
    memories = nodes.is_chunk[: snapshot.size] & np.isin(nodes.type[: snapshot.size], fading)
    rows = np.flatnonzero(memories & snapshot.node_mask() & ~held)
    return [nodes.ids[node] for node in rows.tolist()]


def _reweighted(row: Chunk, sessions: int, degrees: NDArray[np.int64], work: PhaseWork) -> Iterator[Proposal]:
    """Yield the change of one chunk's importance, where there is one that nobody undid before."""
    context = work.context
    node, settings, base = context.snapshot.node(row.id), context.settings.garden, base_of(row)
    after = timedelta(days=settings.decay_after_days)
    if sessions:
        degree = 0 if node is None else int(degrees[node])
        value = gained(base, sessions, degree, settings.reuse_ceiling)
        why = f"It was recalled in {sessions} session{'s' * (sessions > 1)}."
    elif row.layer == "working" and row.times.recorded_at < context.clock - after:
        value = faded(base, context.clock - row.times.recorded_at, after)
        why = f"Nothing shares what it names, and nobody asked for it since {row.times.recorded_at:%Y-%m-%d}."
    else:
        return
    changes = abs(value - row.importance) >= _LEAST_CHANGE
    if row.state == "active" and changes and row.id not in work.undone:
        yield _proposal(row, base, round(value, 6), why)


def base_of(row: Chunk) -> float:
    """Return a chunk's importance without reuse; a value that somebody else set since is its own."""
    stored = row.metadata.get(REUSE)
    if not isinstance(stored, Mapping):
        return row.importance
    base, now = stored.get("base"), stored.get("now")
    if not isinstance(base, int | float) or not isinstance(now, int | float):
        return row.importance
    return float(base) if abs(now - row.importance) < _SAME else row.importance


def _proposal(row: Chunk, base: float, value: float, why: str) -> Proposal:
    others = {key: kept for key, kept in row.metadata.items() if key != REUSE}
    own = {} if abs(value - base) < _SAME else {REUSE: {"base": base, "now": value}}
    after = replace(row, importance=value if own else base, metadata={**others, **own})
    text = " ".join(row.text.split())
    return Proposal(
        project=row.project,
        phase="reuse",
        action="change",
        target=row.id,
        text=f'"{text[:_TEXT_SHOWN]}" counts {row.importance:.2f} -> {after.importance:.2f}',
        reason=why,
        score=round(min(1.0, abs(after.importance - row.importance)), 4),
        write=Write(changes=(), chunks=(after,)),
        expects=precondition_hash(row),
    )
