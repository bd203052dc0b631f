"""The measurement: a memory before and after it aged, and after nights of several kinds."""

import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from benchmarks.aging.ailments import ALONE, NONE, TOGETHER, cases_of
from benchmarks.aging.asking import Outcome, ask
from benchmarks.aging.build import Built, Shelf
from benchmarks.aging.figures import AGED, CLEAN, Part, after, parts_of, parts_shown
from benchmarks.aging.lives import Case, Question
from benchmarks.aging.rest import Rest, rest_of
from benchmarks.aging.scripted_model import Known
from benchmarks.aging.shown import ShownRelations, asked_things, show
from benchmarks.aging.tending import Ended, Night, ended, night
from benchmarks.aging.texts import Texts
from benchmarks.aging.year import FIRST_NIGHT
from hydramem.core.config import Config, EmbeddingConfig, GardenConfig
from hydramem.core.row_types import Phase
from hydramem.llm.choose import choose_embedder

SIZES = (1_000, 10_000)
AILMENTS = (NONE, *ALONE, TOGETHER)
MODELS = ("none", "scripted")
_FOR_TEXTS, _LEAST_REST = 2_000, 0.5
_THINNED_BELOW = 5_000
_SHARE_TOGETHER = 0.5
_HALF_DAY = timedelta(hours=9)
_MOST_THINGS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is measured.

    Attributes:
        ailments: Names of `AILMENTS`.
        models: Names of `MODELS`.
        nights: How many, one after the other; questions are asked after the first and the last.
        phases: Those that run; a variant for each of `without` leaves that one out.
        seeds: Draws of the memory without an ailment.
        limit_questions: Most questions of each part.
        keep: Folder where filled stores are kept.
    """

    data: Path
    texts: Texts
    sizes: Sequence[int] = SIZES
    ailments: Sequence[str] = AILMENTS
    models: Sequence[str] = ("none",)
    nights: int = 3
    phases: Sequence[Phase] = GardenConfig().phases
    without: Sequence[Phase] = ()
    seeds: int = 3
    embedder: str = "auto"
    limit_questions: int | None = None
    keep: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A memory with nights of one kind.

    Attributes:
        size: As asked for; `memories`, `passages` and `turns` are what the aged memory was told.
        false: False relations that it stored beside the true ones of an agent's extraction.
        without: The phase that was left out; empty for none.
        nights: What each did.
    """

    size: int
    seed: int
    ailment: str
    model: str
    without: str
    memories: int
    passages: int
    turns: int
    false: int
    parts: tuple[Part, ...]
    nights: tuple[Night, ...]
    ended: Ended


def measure(plan: Plan) -> list[Run]:
    """Measure every memory of a plan, smaller ones first; each is reported on standard error.

    Args:
        plan: What is measured.
    """
    config = Config(embedding=EmbeddingConfig(model=plan.embedder))
    embedder = choose_embedder(config.embedding)
    found = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = plan.keep or Path(scratch) / "kept"
        folder.mkdir(parents=True, exist_ok=True)
        for size in plan.sizes:
            for ailment in plan.ailments:
                for seed in range(plan.seeds if ailment == NONE else 1):
                    shelf = Shelf(folder=folder, config=config, embedder=embedder, seed=seed)
                    found += _of_memory(plan, shelf, size, ailment, seed, Path(scratch))
    return found


def _of_memory(plan: Plan, shelf: Shelf, size: int, ailment: str, seed: int, scratch: Path) -> list[Run]:
    texts = plan.texts
    if ailment == TOGETHER and size < _THINNED_BELOW:
        texts = texts.thinned(_SHARE_TOGETHER)
    case = cases_of(texts, seed=seed)[ailment]
    # What an author wrote takes the place of a part of the rest, so that the size is about the same.
    affected = bool(case.aged.told)
    rest = rest_of(
        plan.data, max(size - _FOR_TEXTS, round(_LEAST_REST * size)) if affected else size, seed=seed
    )
    questions = _limited([*case.questions, *rest.questions], plan.limit_questions)
    clean, aged = shelf.of(rest, case.clean), shelf.of(rest, case.aged)
    asked_at = FIRST_NIGHT - _HALF_DAY
    before = {CLEAN: ask(shelf, clean.path, questions, case.same, asked_at)}
    same = clean.path == aged.path
    before[AGED] = before[CLEAN] if same else ask(shelf, aged.path, questions, case.same, asked_at)
    things = asked_things(aged.false, most=plan.limit_questions or _MOST_THINGS, seed=seed)
    seen = {
        stage: show(shelf, built.path, things, aged.false, asked_at)
        for stage, built in ((CLEAN, clean), (AGED, aged))
        if things
    }
    memory = _Memory(
        case=case, rest=rest, aged=aged, questions=questions, before=before, things=things, seen=seen
    )
    found = []
    for model in plan.models:
        for without in ("", *plan.without):
            found.append(_of_nights(plan, shelf, size, memory, model, without, scratch))
            told = f"{size} {ailment} {seed}, model {model}, without {without or 'nothing'}"
            print(f"{told}: {found[-1].nights}", file=sys.stderr, flush=True)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Memory:
    """An aged memory, with what is asked of it and what came before any night, by stage.

    Attributes:
        things: Those whose relations are looked at; none where no relation is false.
        seen: What was shown of them before any night, by stage and surface.
    """

    case: Case
    rest: Rest
    aged: Built
    questions: Sequence[Question]
    before: Mapping[str, Sequence[Outcome]]
    things: Sequence[str]
    seen: Mapping[str, Mapping[str, Sequence[ShownRelations]]]


def _of_nights(
    plan: Plan, shelf: Shelf, size: int, memory: _Memory, model: str, without: str, scratch: Path
) -> Run:
    case, rest, aged = memory.case, memory.rest, memory.aged
    store = Path(shutil.copytree(aged.path, scratch / "tended"))
    known = _known(case, aged) if model == "scripted" else None
    phases = [phase for phase in plan.phases if phase != without]
    stages, seen, nights = dict(memory.before), dict(memory.seen), []
    for number in range(1, plan.nights + 1):
        at = FIRST_NIGHT + timedelta(days=number - 1)
        nights.append(night(store, at, shelf.config, phases=phases, known=known, seed=shelf.seed))
        if number in (1, plan.nights):
            stages[after(number)] = ask(shelf, store, memory.questions, case.same, at + _HALF_DAY)
            if memory.things:
                seen[after(number)] = show(shelf, store, memory.things, aged.false, at + _HALF_DAY)
    at = FIRST_NIGHT + timedelta(days=plan.nights)
    gone = ended(store, aged, case.truths, at, shelf.config, scratch)
    shutil.rmtree(store)
    life = case.aged
    return Run(
        size=size,
        seed=shelf.seed,
        ailment=case.ailment,
        model=model,
        without=without,
        memories=len(life.told) + len(rest.memories),
        passages=len(rest.passages),
        turns=sum(len(each.turns) for each in life.transcripts) + 2 * len(life.asked),
        false=len(aged.false),
        parts=(*parts_of(memory.questions, stages), *parts_shown(seen)),
        nights=tuple(nights),
        ended=gone,
    )


def _known(case: Case, aged: Built) -> Known:
    return Known(changed=case.changed, same=case.same, hidden=case.hidden, false=frozenset(aged.false))


def _limited(questions: Sequence[Question], most: int | None) -> list[Question]:
    """Return at most so many questions of each part, evenly spread over all of it."""
    places: dict[tuple[str, str], list[int]] = {}
    for place, each in enumerate(questions):
        places.setdefault((each.ailment, each.part), []).append(place)
    kept = {
        found[number * len(found) // count]
        for found in places.values()
        for count in (min(most or len(found), len(found)),)
        for number in range(count)
    }
    return [each for place, each in enumerate(questions) if place in kept]
