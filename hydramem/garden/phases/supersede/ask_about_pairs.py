"""A model is asked about pairs of memories until its answers agree, within the budget of a phase.

What decides (`DECIDING`) counts where answers to two questions say it. Where they differ a third shows what
is likelier: that may rank memories, and ends none.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from hydramem.core.errors import ModelError, ModelReplyError
from hydramem.core.row_types import Chunk, Usage
from hydramem.garden.phases.supersede.possible_replacements import PossibleReplacement, beginning
from hydramem.garden.phases.supersede.replacement_prompt import (
    DECIDING,
    PAIRS_IN_ONE,
    QUESTIONS,
    Settled,
    answered,
    ask,
    calls_of,
)
from hydramem.garden.proposals.phase_context import PhaseWork
from hydramem.ingest.knowledge.end_validity import said_at
from hydramem.llm.contracts import Generator

FOR_CHECKS = 0.2
"""Share of the budget that is kept for second and third questions."""

FOR_VERSIONS = 0.2
"""Share of it that is kept for further versions of what the first answers show to have changed."""

_MOST_VERSIONS = 12
"""Versions of one matter that are compared with each other."""


@dataclass(slots=True)
class PairQuestions:
    """The questions of a run, and what came of them.

    Attributes:
        answers: By the id of the pair's link, those of earlier runs among them, in the order of `QUESTIONS`.
        failures: What failed, in words.
    """

    work: PhaseWork
    generator: Generator
    answers: dict[str, list[Settled]] = field(default_factory=lambda: defaultdict(list))
    failures: list[str] = field(default_factory=list)
    _stopped: bool = False

    def ask(self, pairs: Sequence[PossibleReplacement], *, keep: float) -> None:
        """Ask about pairs in their order; further questions come as soon as they fill a call.

        Args:
            keep: Share of the budget that first questions leave.
        """
        for number, question in enumerate(QUESTIONS):
            stored = answered(pairs, question, self.generator, self.work.context.judge.replies)
            for id, answer in stored.items():
                if len(self.answers[id]) == number:
                    self.answers[id].append(answer)
        open_ = [pair for pair in pairs if not self.answers[pair.link.id]]
        waiting = [pair for pair in pairs if self.answers[pair.link.id]]
        done = 0
        for batch in calls_of(open_):
            waiting = self._ask_further(waiting, least=PAIRS_IN_ONE)
            if self.work.context.budget.left < keep:
                break
            self._put(0, batch)
            waiting += batch
            done += len(batch)
            self.work.context.progress(done, len(open_))
        self._ask_further(waiting, least=1)

    def verdict(self, pair: PossibleReplacement) -> Settled | None:
        """Return what the answers to a pair say; None where it was not asked often enough."""
        answers = self.answers.get(pair.link.id, [])
        return None if _is_open(answers) else _likeliest(answers)

    def is_sure(self, pair: PossibleReplacement) -> bool:
        """Say whether no answer to a pair contradicts another."""
        return len(set(self.answers.get(pair.link.id, ()))) == 1

    def _ask_further(self, pairs: Sequence[PossibleReplacement], *, least: int) -> list[PossibleReplacement]:
        """Ask the second and third questions that fill a call; return the pairs that wait for one."""
        left = list(pairs)
        for number in range(1, len(QUESTIONS)):
            left = [pair for pair in left if _is_open(self.answers[pair.link.id])]
            some = [pair for pair in left if len(self.answers[pair.link.id]) == number]
            for batch in calls_of(some):
                if len(batch) >= least:
                    self._put(number, batch)
        return [pair for pair in left if _is_open(self.answers[pair.link.id])]

    def _put(self, number: int, pairs: Sequence[PossibleReplacement]) -> None:
        """Put a question about pairs in one call, unless the budget is spent."""
        budget = self.work.context.budget
        if self._stopped or budget.over:
            return
        try:
            found = ask(pairs, QUESTIONS[number], self.generator, self.work.context.judge.replies)
        except ModelReplyError as error:
            budget.spend(Usage(calls=1))
            self.failures.append(f"The model's reply was refused: {error}.")
        except ModelError as error:
            self.failures.append(f"The model cannot be asked: {error}.")
            self._stopped = True
        else:
            budget.spend(found.usage)
            for pair in pairs:
                self.answers[pair.link.id].append(found.verdicts.get(pair.link.id, "UNSURE"))


def _is_open(answers: Sequence[Settled]) -> bool:
    """Say whether another question may decide."""
    match answers:
        case []:
            return True
        case [first]:
            return first in DECIDING
        case [first, second]:
            return first != second
        case _:
            return False


def _likeliest(answers: Sequence[Settled]) -> Settled:
    """Return what most answers say; the first alone where it decides nothing."""
    first, *more = answers
    if first not in DECIDING:
        return first
    return next((each for each in answers if answers.count(each) > len(more) / 2), "UNSURE")


def versions_apart(
    pairs: Iterable[PossibleReplacement], verdicts: Mapping[str, Settled | None]
) -> list[tuple[Chunk, Chunk]]:
    """Return memories, the newer first, that take the place of one memory and were not compared.

    What two memories replace, or say again, is one matter; so they are versions of it too.

    Args:
        pairs: Those that a model was asked about.
        verdicts: What it said, by the id of the pair's link.
    """
    versions: dict[str, dict[str, Chunk]] = defaultdict(dict)
    asked: set[frozenset[str]] = set()
    for pair in pairs:
        older, newer = pair.rows
        asked.add(frozenset((older.id, newer.id)))
        match verdicts.get(pair.link.id):
            case "REPLACES":
                versions[older.id][newer.id] = newer
            case "SAME":
                versions[older.id][newer.id] = newer
                versions[newer.id][older.id] = older
    found: dict[frozenset[str], tuple[Chunk, Chunk]] = {}
    for rows in versions.values():
        ordered = sorted(rows.values(), key=_told)[-_MOST_VERSIONS:]
        for older, newer in combinations(ordered, 2):
            both = frozenset((older.id, newer.id))
            if both not in asked:
                found[both] = (newer, older)
    return list(found.values())


def _told(row: Chunk) -> tuple[object, ...]:
    return beginning(row), said_at(row), row.id
