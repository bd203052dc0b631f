"""The review command on a terminal: one question after the other, each answer stored at once."""

import inspect
import sys
from collections.abc import Callable, Sequence
from typing import cast

from hydramem.cli.options import Invocation
from hydramem.cli.terminal import plain
from hydramem.core.results.garden_results import YES_NO, Answer, Question, Reviewed
from hydramem.operations import Operation, call

_LIMIT = 1000

_SKIP, _QUIT = ("s", "skip", ""), ("q", "quit")

Run = Callable[..., None]

Ask = Callable[[str], str]
"""Shows a prompt and returns what was typed; raises EOFError at the end of the input."""


def with_walk(run: Run, operation: Operation) -> Run:
    """Have the review command walk through the questions where a person sits at the terminal."""

    def review(*args: object, invocation: Invocation, **options: object) -> None:
        asks = any(options.get(name) for name in ("answers", "export", "import_")) or any(args)
        if asks or invocation.json or not sys.stdin.isatty():
            run(*args, invocation=invocation, **options)
            return
        with invocation.open(make=False) as memory:

            def send(answers: Sequence[Answer]) -> Reviewed:
                given = {"answers": tuple(answers), "limit": _LIMIT}
                return cast(Reviewed, call(memory, operation, given, actor="cli"))

            walk(send, input, print)

    review.__signature__ = inspect.signature(run)  # type: ignore[attr-defined]  # read by inspect
    review.__annotations__ = dict(run.__annotations__)
    review.__doc__, review.__name__ = run.__doc__, run.__name__
    return review


def walk(send: Callable[[Sequence[Answer]], Reviewed], ask: Ask, tell: Callable[[str], None]) -> int:
    """Go through the questions that wait; return how many were answered.

    Each answer is stored before the next question comes, so an interruption loses nothing; and what is asked
    next still waits then: an answer may settle other questions, or change what they are about.

    Args:
        send: Takes answers, and returns what waits.
        ask: Asks for an answer.
        tell: Shows a line.
    """
    questions, seen, answered = send(()).questions, set[str](), 0
    while (question := next((each for each in questions if each.id not in seen), None)) is not None:
        seen.add(question.id)
        left = sum(each.id not in seen for each in questions)
        tell("")
        for line in _shown(question, f"{len(seen)} of {len(seen) + left}"):
            tell(line)
        said = _asked(question.choices, ask)
        if said is None:
            break
        if said in _SKIP:
            continue
        done = send((_answer(question, said),))
        questions = done.questions
        answered += done.answered
        for each in done.not_taken:
            tell(f"  not taken: {each.why}")
    tell(f"{answered} answered" if seen else "Nothing waits for a person.")
    return answered


def _answer(question: Question, said: str) -> Answer:
    if question.choices == YES_NO:
        return Answer(id=question.id, yes=said == "yes")
    return Answer(id=question.id, choice=said)


def _asked(choices: Sequence[str], ask: Ask) -> str | None:
    """Return one of some choices, or a word for going on; None to stop."""
    prompt = "".join(f"[{each[0]}]{each[1:]}, " for each in (*choices, "skip")) + "[q]uit: "
    while True:
        try:
            said = ask(prompt).strip().casefold()
        except EOFError:
            return None
        if said in _QUIT:
            return None
        if said in _SKIP:
            return said
        for choice in choices:
            if said in (choice, choice[0]):
                return choice


def _shown(question: Question, place: str) -> list[str]:
    chance = "" if question.probability is None else f" (probability {question.probability:.2f})"
    lines = [f"{place}: {question.text}", f"  {question.reason}{chance}"]
    return [plain(line) for line in (*lines, *(f"  | {each}" for each in question.evidence))]
