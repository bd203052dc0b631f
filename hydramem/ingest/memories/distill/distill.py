"""Distill: a model finds facts in the turns of a session, and each is remembered by the ordinary rules.

A session is read in stretches. The facts of one are stored in one transaction, then linked to their turns,
and the session is marked up to there: a stretch is not read again, new turns are, and an interrupted call
goes on where it stopped.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from hydramem.core.config import MemoryConfig
from hydramem.core.errors import InvalidInputError, ModelError, NotFoundError
from hydramem.core.ids import link_id, new_id, session_id
from hydramem.core.inputs import MemoryInput
from hydramem.core.results.write_results import Distilled, Remembered
from hydramem.core.row_types import Link, Session, Times, Usage
from hydramem.core.time import now
from hydramem.ingest.knowledge.end_validity import DISTILLED_FROM
from hydramem.ingest.memories.compare.ask_models import Models
from hydramem.ingest.memories.distill.distill_prompt import CheckedFacts, DistilledFact, ask
from hydramem.ingest.memories.distill.session_turns import (
    TurnWindow,
    distilled_mark,
    next_window,
    turns_waiting,
)
from hydramem.ingest.memories.memory_input import ValidatedMemory, validate
from hydramem.ingest.memories.remember import remember_all
from hydramem.ingest.write_target import Target
from hydramem.llm.contracts import Generator
from hydramem.storage.changes import current_run, in_one_run, record
from hydramem.storage.write import Write
from hydramem.text.shown_text import amount, one_line

NO_MODEL = (
    "The session stays a log: no model is configured to distill it (llm.provider, or llm.roles.extract). An "
    "agent can: the skill hydramem-remember says how."
)
"""The note where no model is configured."""

SWITCHED_OFF = "The session stays a log: memory.session_facts is 0."
"""The note where sessions are not to be distilled."""

_MOST_EACH = 8
"""Facts of one call of a model."""

_MOST_REASON = 300

Spend = Callable[[Usage], str | None]
"""Is told what a stretch cost, and returns why no further one is read; None where it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Distillation:
    """What distilling works with.

    Attributes:
        target: Where the turns are, and where facts are stored.
        settings: How memories are encoded, and how many facts one call distills.
        models: What classifies and consolidates.
        generator: The model that reads the turns.
        session_lock: Returns the lock of a session, by id: the second of two calls finds no turns left.
    """

    target: Target
    settings: MemoryConfig
    models: Models
    generator: Generator
    session_lock: Callable[[str], AbstractContextManager[object]]


@in_one_run()
def distill(session: str, work: Distillation, *, spend: Spend = lambda usage: None) -> Distilled:
    """Distill what a session holds and was not distilled yet, up to `memory.session_facts` facts.

    Args:
        session: Its name.
        work: What it takes.
        spend: Keeps a budget.

    Raises:
        NotFoundError: There is no such session.
        ModelError: The model failed before it had read any turn.
    """
    with work.session_lock(session_id(work.target.project, session)):
        return _distill(session, work, spend)


def _distill(session: str, work: Distillation, spend: Spend) -> Distilled:
    row, done = _session(session, work.target), Distilled(session=session)
    most, why = work.settings.session_facts, None
    while why is None and (window := next_window(row, work.target.graph)) is not None:
        before = done.usage
        try:
            done = _with_window(done, window, work, most=min(most - len(done.memories), _MOST_EACH))
        except ModelError as error:
            if not done.turns:
                raise
            done, why = replace(done, failed=True), f"the model failed: {error}"
        else:
            why = spend(done.usage.since(before))
            if len(done.memories) >= most:
                why = why or f"memory.session_facts is {most}"
        row = _session(session, work.target)
    left = turns_waiting(row, work.target.graph)
    notes = (*done.notes, f"{amount(left, 'turn')} wait: {why}.") if left and why else done.notes
    return replace(done, left=left, notes=notes, run=current_run() if done.memories else None)


def _session(name: str, target: Target) -> Session:
    found = target.graph.sessions([session_id(target.project, name)])
    if not found:
        raise NotFoundError(f"{name[:80]!r}: project {target.project!r} has no session of this name")
    return found[0]


def _with_window(done: Distilled, window: TurnWindow, work: Distillation, *, most: int) -> Distilled:
    """Distill one stretch, and add what came of it."""
    read = CheckedFacts(facts=(), refused=(), usage=Usage())
    if window.turns:
        read = ask(window, work.generator, most=most)
    facts, memories, refused = _validated(read.facts, window, work.settings)
    stored = (
        remember_all(memories, target=work.target, settings=work.settings, models=work.models)
        if facts
        else ()
    )
    _link_turns(stored, facts, work.target)
    _mark(window, work.target)
    return replace(
        done,
        turns=done.turns + len({row.position for row in window.turns}),
        memories=(*done.memories, *stored),
        dropped=done.dropped + len(read.refused) + len(refused),
        notes=(*done.notes, *read.refused, *refused),
        usage=done.usage + sum((each.usage for each in stored), read.usage),
    )


def _validated(
    facts: Sequence[DistilledFact], window: TurnWindow, settings: MemoryConfig
) -> tuple[list[DistilledFact], list[ValidatedMemory], list[str]]:
    """Check and screen facts as memories; return those that may be stored, and why others may not."""
    kept: list[DistilledFact] = []
    memories: list[ValidatedMemory] = []
    refused: list[str] = []
    for fact in facts:
        try:
            memories += validate([_input(fact, window)], settings)
            kept.append(fact)
        except InvalidInputError as error:
            refused.append(f"A fact was dropped: {error}.")
    return kept, memories, refused


def _input(fact: DistilledFact, window: TurnWindow) -> MemoryInput:
    """Return a fact as a memory of its session, private where one of the turns that the model read is."""
    recorded_at = fact.said.times.recorded_at
    rests_on = {
        "turns": [row.id for row in fact.turns],
        "quote": fact.quote,
        "said_at": min(fact.said.happened_at or recorded_at, recorded_at).isoformat(),
        "until": window.until,
    }
    return MemoryInput(
        text=fact.text,
        kind="fact",
        session=window.session.name,
        author=fact.said.author,
        confidence=fact.confidence,
        private=any(row.private for row in (*window.earlier, *window.turns)),
        metadata={DISTILLED_FROM: rests_on},
    )


def _link_turns(stored: Sequence[Remembered], facts: Sequence[DistilledFact], target: Target) -> None:
    """Link each memory to the turns that support it, those that it repeats included."""
    if not stored:
        return
    with target.one_writer:
        wanted = {row.id for fact in facts for row in fact.turns} | {each.id for each in stored}
        there = {row.id for row in target.graph.chunks(sorted(wanted))}
        at, links = now(), list[Link]()
        for each, fact in zip(stored, facts, strict=True):
            links += [
                Link(
                    id=link_id(target.project, row.id, "supports", each.id),
                    source=row.id,
                    target=each.id,
                    type="supports",
                    weight=fact.confidence,
                    reason=one_line(fact.quote, _MOST_REASON),
                    times=Times(recorded_at=at),
                )
                for row in fact.turns
                if {row.id, each.id} <= there
            ]
        changes = tuple(
            record(
                "distill", project=target.project, target=link.target, before={}, after={"turn": link.source}
            )
            for link in links
        )
        if links:
            target.commit(Write(changes=changes, links=tuple(links)), {})


def _mark(window: TurnWindow, target: Target) -> None:
    """Note in the session how far it is distilled, in a run of its own: undoing the memories leaves it."""
    with target.one_writer:
        (row,) = target.graph.sessions([window.session.id])
        marked = replace(row, metadata=distilled_mark(window, row))
        change = record(
            "distill", project=row.project, target=row.id, before=row, after=marked, run=new_id("w")
        )
        target.commit(Write(changes=(change,), sessions=(marked,)), {})
