"""The results page's section on memories that age, and the same figures as text."""

from collections.abc import Iterator, Sequence

from benchmarks.aging.figures import Back, Measured, Part
from benchmarks.aging.measure import Run
from benchmarks.results import table, where, with_section

TITLE = "## Aging"
_SHARES = ("recall@5", "MRR", "stale before current", "false of five")
_INTRODUCTION = (
    "What a year of use costs a memory, and what nights of the gardener give back (`python -m benchmarks",
    "aging`). The memories with an ailment are told in texts by authors who have seen neither the code nor",
    "the phases; beside them stand passages of 2wiki and hotpot100 and turns of LoCoMo. Told again: in other",
    "words, by another session. Changed facts: every state was told; clean is the last alone. Split names:",
    "clean is a memory that knows all spellings. False relations: an agent extracts the passages again and",
    "states so many for each true one that are stored: of two names of a passage that nothing joins, by a",
    "type that the graph has, with the sentence that names both and the confidence that extraction by a",
    "model has. Relations shown: the first five that a person sees of things that a false one joins, how",
    "many of them are false, and the rank of the first true one.",
    "Noise: whole sessions are captured, and the agent remembers one of the two facts of each; the other",
    "stands in its turn alone, which counts as an answer. Asked again: thirty sessions ask, are answered in",
    "the words of the memory and captured; later wordings are judged, and questions that nobody asked.",
    "Clean is the memory before it aged. Given back is (after - aged) / (clean - aged) after the last night,",
    "with 95 % of a bootstrap over questions; `no loss` where 97.5 % of the resamples of the loss are not",
    "above 0. Last less clean has the same interval; a minus is worse. The scripted model knows the texts",
    "and answers 5 of 100 questions wrong.",
)


def shown(runs: Sequence[Run]) -> str:
    """Return the figures as tables."""
    return "\n".join([*_figures(runs), "", *_night_lines(runs)])


def placed(page: str, runs: Sequence[Run]) -> str:
    """Return a results page with the figures in their section."""
    about = where()
    made = f"Measured {about['date']} on {about['machine']}."
    return with_section(page, TITLE, ["", *_INTRODUCTION, "", shown(runs), "", made])


def _figures(runs: Sequence[Run]) -> list[str]:
    stages = list(runs[0].parts[0].measures[0].stages)
    head = (
        "size",
        "memory",
        "model",
        "questions about",
        "measure",
        "count",
        *stages,
        "given back",
        "last less clean",
    )
    return table(head, [row for run in runs for row in _rows(run)])


def _rows(run: Run) -> Iterator[tuple[object, ...]]:
    model = f"{run.model}, without {run.without}" if run.without else run.model
    memory = f"{run.ailment}, draw {run.seed}" if run.ailment == "none" else run.ailment
    for part in run.parts:
        about = f"{part.ailment}: {part.part}" if part.part else part.ailment
        for one in _telling(part):
            means = (_number(one, mean) for mean in one.stages.values())
            yield (
                f"{run.size:,}",
                memory,
                model,
                about,
                one.measure,
                one.questions,
                *means,
                _back(one.back),
                _change(one),
            )


def _telling(part: Part) -> Iterator[Measured]:
    """Yield the measures that say something: duplicates only where there are any."""
    for one in part.measures:
        if one.measure in _SHARES or any(one.stages.values()):
            yield one


def _number(one: Measured, mean: float) -> str:
    return f"{100 * mean:.1f}" if one.measure in _SHARES else f"{mean:.2f}"


def _back(back: Back) -> str:
    if back.share is None:
        return "no loss"
    return f"{100 * back.share:.0f} % ({100 * back.low:.0f} to {100 * back.high:.0f})"


def _change(one: Measured) -> str:
    """Return what the last stage has over the clean one; a minus is worse, also where less is better."""
    back, scale, digits = one.back, 100 if one.measure in _SHARES else 1, 1 if one.measure in _SHARES else 2
    mean, low, high = (scale * each for each in (back.change, back.change_low, back.change_high))
    return f"{mean:+.{digits}f} ({low:+.{digits}f} to {high:+.{digits}f})"


def _night_lines(runs: Sequence[Run]) -> list[str]:
    head = (
        *(
            "size",
            "memory",
            "model",
            "memories, passages, turns, false relations",
            "state of each night",
            "seconds",
        ),
        *(
            "peak MB",
            "changes",
            "wrong replies",
            "true memories ended",
            "reported",
            "asked about",
            "back by `undo`",
        ),
        "for good",
    )
    return table(head, [_night_row(run) for run in runs])


def _night_row(run: Run) -> tuple[object, ...]:
    model = f"{run.model}, without {run.without}" if run.without else run.model
    changes = ", ".join(
        f"{phase} {sum(each.applied.get(phase, 0) for each in run.nights)}"
        for phase in run.nights[0].applied
        if any(each.applied.get(phase) for each in run.nights)
    )
    wrong = sum(each.mistakes for each in run.nights), sum(each.answers for each in run.nights)
    return (
        *(
            f"{run.size:,}",
            run.ailment,
            model,
            f"{run.memories:,}, {run.passages:,}, {run.turns:,}, {run.false:,}",
        ),
        ", ".join(each.state for each in run.nights),
        ", ".join(f"{each.seconds:.0f}" for each in run.nights),
        f"{max(each.peak_mb for each in run.nights):.0f}",
        changes,
        f"{wrong[0]} of {wrong[1]}" if wrong[1] else "",
        f"{run.ended.ended} of {run.ended.truths}",
        *(run.ended.reported, run.ended.asked, run.ended.brought_back, run.ended.for_good),
    )
