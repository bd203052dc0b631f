"""Nights of a store in a process of its own: what they did, how long they took, and what they ended."""

import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.aging.build import PROJECT, Built
from benchmarks.aging.scripted_model import KnowingModel, Known
from benchmarks.aging.year import present
from benchmarks.nights import _peak_mb
from hydramem import connect
from hydramem.core.config import Config
from hydramem.core.errors import HydraMemError
from hydramem.core.row_types import Phase
from hydramem.llm.choose import choose_embedder
from hydramem.llm.scripted_generator import ScriptedGenerator
from hydramem.memory_api.memory import Memory

_MOST_QUESTIONS, _MOST_REPORTS, _EXAMPLES = 1000, 30, 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """What a night did.

    Attributes:
        peak_mb: The most memory that its process held.
        applied: Changes that each phase made; facts that distill found.
        notes: Of phases that were not completed.
        answers, mistakes: How many questions the scripted model was asked, and how many it got wrong.
    """

    state: str
    seconds: float
    peak_mb: float
    applied: dict[str, int]
    notes: tuple[str, ...] = ()
    answers: int = 0
    mistakes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """True memories that no longer count after the nights, though nothing else says the same.

    Attributes:
        truths: How many counted before the nights.
        reported: How many of the ended ones a report of the gardener names.
        asked: How many of them `review` has a question about.
        brought_back: How many `undo` of the runs that ended them brings back.
        for_good: How many neither finds.
        examples: Texts of the first of them.
    """

    truths: int
    ended: int
    reported: int
    asked: int
    brought_back: int
    for_good: int
    examples: tuple[str, ...] = ()


def night(
    path: Path, at: datetime, config: Config, *, phases: Sequence[Phase], known: Known | None, seed: int = 0
) -> Night:
    """Tend a store for a night, in a process of its own.

    Args:
        path: The store.
        at: When.
        config: Settings of the store.
        phases: Those that run.
        known: What the scripted model knows; None for no model.
        seed: Of its mistakes.
    """
    found: Night = _apart(_tend, path, at, config, tuple(phases), known, seed)
    return found


def _apart(work: Callable[..., Any], *given: object) -> Any:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(work, *given).result()


def _tend(
    path: Path, at: datetime, config: Config, phases: tuple[Phase, ...], known: Known | None, seed: int
) -> Night:
    model = None if known is None else KnowingModel(known=known, seed=seed)
    generator = None if model is None else ScriptedGenerator(model)
    embedder = choose_embedder(config.embedding)
    opened = connect(path, config=config, embedder=embedder, generator=generator, project=PROJECT)
    with present(at), opened as memory:
        [report] = memory.garden(phases=phases)
        memory.drain()
    return Night(
        state=report.state,
        seconds=report.seconds,
        peak_mb=_peak_mb(),
        applied={one.phase: one.applied + one.counts.get("facts", 0) for one in report.phases},
        notes=tuple(
            f"{one.phase}: {note}"
            for one in report.phases
            if one.state != "completed"
            for note in one.notes[:3]
        ),
        answers=0 if model is None else model.answers,
        mistakes=0 if model is None else model.mistakes,
    )


def ended(
    path: Path, built: Built, truths: Sequence[frozenset[str]], at: datetime, config: Config, scratch: Path
) -> Ended:
    """Count the true memories that nights ended, and how they can come back.

    Args:
        path: The store after the nights.
        built: The store before them.
        truths: What is true, each with all texts that say it.
        at: When this is asked.
        config: Settings of the store.
        scratch: Folder for a copy, in which runs are undone.
    """
    embedder = choose_embedder(config.embedding)
    told = [ids for truth in truths if (ids := [built.ids[text] for text in truth if text in built.ids])]
    with present(at), connect(built.path, config=config, embedder=embedder, project=PROJECT) as memory:
        held = [ids for ids in told if any(_counts(memory, id) for id in ids)]
    copy = shutil.copytree(path, scratch / "undone")
    with present(at), connect(copy, config=config, embedder=embedder, project=PROJECT) as memory:
        gone = [ids for ids in held if not any(_counts(memory, id) for id in ids)]
        examples = tuple(memory.get(ids[0]).text for ids in gone[:_EXAMPLES])
        reports = memory.garden(status=True, limit=_MOST_REPORTS)
        named = {change.target for report in reports for change in report.changes}
        questions = memory.review(limit=_MOST_QUESTIONS).questions
        asked_about = {row for question in questions for row in question.rows}
        asked = [any(id in asked_about for id in ids) for ids in gone]
        _undo_what_ended(memory, [id for ids in gone for id in ids])
        back = [any(_counts(memory, id) for id in ids) for ids in gone]
    shutil.rmtree(copy)
    return Ended(
        truths=len(held),
        ended=len(gone),
        reported=sum(any(id in named for id in ids) for ids in gone),
        asked=sum(asked),
        brought_back=sum(back),
        for_good=sum(not one and not other for one, other in zip(asked, back, strict=True)),
        examples=examples,
    )


def _counts(memory: Memory, id: str) -> bool:
    """Say whether a memory is recalled: it is active, and its time is not over."""
    row = memory.get(id)
    return row.state == "active" and row.times.valid_to is None


def _undo_what_ended(memory: Memory, ids: Sequence[str]) -> None:
    """Undo the runs that last changed memories, the newest run first."""
    last = [memory.history(id).entries[-1] for id in ids]
    runs = {entry.run: entry.at for entry in last if entry.run is not None}
    for run in sorted(runs, key=lambda one: runs[one], reverse=True):
        with suppress(HydraMemError):  # what it cannot undo stays ended, and is counted so
            memory.undo(run)
