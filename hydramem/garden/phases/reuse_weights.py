"""Reuse: what sessions recall again and again gains importance, and what stands alone unasked loses it.

Importance moves, not the weight of links or the confidence of relations: those say how near two texts are
and how sure a claim is, whoever asks. A chunk's own importance stays in its metadata, and what reuse makes
of it is computed from that: a night without new recalls changes nothing.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from hydramem.core.row_types import Chunk
from hydramem.garden.proposals.exclusions import REUSED, UndoneRows
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseOutcome
from hydramem.garden.proposals.proposal import Proposal, precondition_hash
from hydramem.graph.snapshot.snapshot import LINK, MENTION, RELATION, STATES, Snapshot
from hydramem.storage.schema import RECALLED
from hydramem.storage.write import Write

REUSE = "reuse"
"""In a chunk's metadata: its importance before reuse (`base`) and with it (`now`)."""

LEAST, MOST = 0.05, 0.99
"""Bounds of an importance that reuse sets; it never turns a gain into a loss, or a loss into a gain."""

_SATURATION = 5.0

_FADING = ("note", "fact", "event")

# Fading goes by half of a half-life at a time: else every such memory would change every night.
_STEPS = 2

_AT_ONCE = 500

_MOST_CHANGED = 5000

_LEAST_MOVE = 0.01
"""What is worth a change: a merge elsewhere moves degrees, and with them importances, by less."""

_SAME = 1e-4

_SHOWN = 80


def gained(base: float, sessions: int, degree: int, ceiling: float) -> float:
    """Return the importance of what several sessions recalled. Pure.

    Args:
        base: Its own importance.
        sessions: Distinct sessions that recalled it.
        degree: Mentions and links that it has: what hangs on everything is found anyway.
        ceiling: Most that reuse adds.
    """
    if sessions < REUSED:
        return base
    gain = math.tanh(sessions / _SATURATION) * ceiling / math.sqrt(max(1, degree))
    return max(base, min(MOST, base + gain))


def faded(base: float, age: timedelta, after: timedelta) -> float:
    """Return the importance of what stands alone and was never recalled; it halves in every such time. Pure.

    Args:
        base: Its own importance.
        age: Since it was recorded.
        after: How long it keeps all of it, and the half-life from then on.
    """
    steps = max(0, math.floor((age - after) / after * _STEPS))
    return min(base, max(LEAST, base * math.exp2(-steps / _STEPS)))


def reuse(ground: PhaseContext) -> PhaseOutcome:
    """Propose what reuse makes of the importance of chunks."""
    sessions = _sessions(ground)
    degrees = _degrees(ground.snapshot)
    alone = _alone(ground, degrees)
    wanted = [*sorted(sessions), *sorted(set(alone) - sessions.keys())]
    undone = UndoneRows(ground.graph, ground.project)
    counts: Counter[str] = Counter()
    proposals: list[Proposal] = []
    stopped: str | None = None
    for start in range(0, len(wanted), _AT_ONCE):
        stopped = ground.budget.over
        if len(proposals) >= _MOST_CHANGED:
            stopped = f"{_MOST_CHANGED} changes are enough for a night"
        if stopped:
            break
        for row in ground.graph.chunks(wanted[start : start + _AT_ONCE]):
            counts["chunks_looked_at"] += 1
            proposals += _moved(row, len(sessions.get(row.id, ())), degrees, undone, ground)
        ground.progress(start, len(wanted))
    counts["recalled_often"] = sum(len(seen) >= REUSED for seen in sessions.values())
    counts["never_recalled"] = len(set(alone) - sessions.keys())
    proposals.sort(key=lambda each: (-(each.score or 0.0), each.target))
    return PhaseOutcome(
        proposals=tuple(proposals[:_MOST_CHANGED]),
        counts=dict(sorted(counts.items())),
        state="partial" if stopped else "completed",
        notes=(f"Not everything was looked at: {stopped}.",) if stopped else (),
    )


def _sessions(ground: PhaseContext) -> dict[str, frozenset[str]]:
    """Return the sessions that recalled each active chunk of the project."""
    active = ground.snapshot.node_mask()
    found: dict[str, set[str]] = defaultdict(set)
    for batch in ground.graph.scan(RECALLED):
        for recall in batch:
            node = ground.snapshot.node(recall.chunk)
            if node is not None and active[node]:
                found[recall.chunk].add(recall.session)
    return {chunk: frozenset(seen) for chunk, seen in found.items()}


def _degrees(snapshot: Snapshot) -> NDArray[np.int64]:
    """Return the active mentions and links of each node."""
    edges = snapshot.edges
    active = (edges.state == STATES.index("active")) | (edges.kind == MENTION)
    rows = np.flatnonzero(np.isin(edges.kind, (MENTION, LINK)) & active)
    ends = np.concatenate([edges.source[rows], edges.target[rows]])
    return np.bincount(ends, minlength=snapshot.size)


def _alone(ground: PhaseContext, degrees: NDArray[np.int64]) -> list[str]:
    """Return the old memories without a link, of which nothing they name is named or told of elsewhere."""
    after = ground.settings.garden.decay_after_days
    if after <= 0:
        return []
    snapshot, edges, nodes = ground.snapshot, ground.snapshot.edges, ground.snapshot.nodes
    held = np.zeros(snapshot.size, dtype=bool)
    related = np.isin(edges.kind, (RELATION, LINK)) & (edges.state == STATES.index("active"))
    held[edges.source[related]] = held[edges.target[related]] = True
    mentions = edges.kind == MENTION
    chunks, things = edges.source[mentions], edges.target[mentions]
    held[chunks[held[things] | (degrees[things] > 1)]] = True
    fading = [place for place, name in enumerate(nodes.types) if name in _FADING]
    memories = nodes.is_chunk[: snapshot.size] & np.isin(nodes.type[: snapshot.size], fading)
    rows = np.flatnonzero(memories & snapshot.node_mask() & ~held)
    return [nodes.ids[node] for node in rows.tolist()]


def _moved(
    row: Chunk, sessions: int, degrees: NDArray[np.int64], undone: UndoneRows, ground: PhaseContext
) -> Iterator[Proposal]:
    """Yield what becomes of one chunk, where anything does and nobody took it back before."""
    node, settings = ground.snapshot.node(row.id), ground.settings.garden
    base = base_of(row)
    after = timedelta(days=settings.decay_after_days)
    if sessions:
        degree = 0 if node is None else int(degrees[node])
        value = gained(base, sessions, degree, settings.reuse_ceiling)
        why = f"It was recalled in {sessions} session{'s' * (sessions > 1)}."
    elif row.layer == "working" and row.times.recorded_at < ground.now - after:
        value = faded(base, ground.now - row.times.recorded_at, after)
        why = f"Nothing shares what it names, and nobody asked for it since {row.times.recorded_at:%Y-%m-%d}."
    else:
        return
    moved = abs(value - row.importance) >= _LEAST_MOVE
    if row.state == "active" and moved and row.id not in undone:
        yield _proposal(row, base, round(value, 6), why)


def base_of(row: Chunk) -> float:
    """Return a chunk's importance without reuse; what was set since by somebody else is its own."""
    held = row.metadata.get(REUSE)
    if not isinstance(held, Mapping):
        return row.importance
    base, now = held.get("base"), held.get("now")
    if not isinstance(base, int | float) or not isinstance(now, int | float):
        return row.importance
    return float(base) if abs(now - row.importance) < _SAME else row.importance


def _proposal(row: Chunk, base: float, value: float, why: str) -> Proposal:
    others = {name: held for name, held in row.metadata.items() if name != REUSE}
    kept = {} if abs(value - base) < _SAME else {REUSE: {"base": base, "now": value}}
    after = replace(row, importance=value if kept else base, metadata={**others, **kept})
    text = " ".join(row.text.split())
    return Proposal(
        project=row.project,
        phase="reuse",
        action="change",
        target=row.id,
        text=f'"{text[:_SHOWN]}" counts {row.importance:.2f} -> {after.importance:.2f}',
        reason=why,
        score=round(min(1.0, abs(after.importance - row.importance)), 4),
        write=Write(changes=(), chunks=(after,)),
        expects=precondition_hash(row),
    )
