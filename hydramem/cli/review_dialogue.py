"""The review command on a terminal: it asks one question after the other and stores each answer at once."""

import inspect
import sys
from collections.abc import Callable, Sequence
from typing import cast

from hydramem.cli.options import Invocation
from hydramem.cli.terminal import plain
from hydramem.core.results.garden_results import YES_NO, Answer, Question, Reviewed
from hydramem.sharing.connect import call
from hydramem.sharing.operation_specs import Spec, present

_LIMIT = 1000
_SKIP, _QUIT = ("s", "skip", ""), ("q", "quit")
Run = Callable[..., None]
Ask = Callable[[str], str]
"""Shows a prompt and returns what was typed; raises EOFError at the end of the input."""


def with_dialogue(run: Run, spec: Spec) -> Run:
    """Make the review command ask its questions one by one where a person is at the terminal."""

    def review(*args: object, invocation: Invocation, **options: object) -> None:
        asks = any(options.get(name) for name in ("answers", "export", "import_")) or any(args)
        if asks or invocation.json or not sys.stdin.isatty():
            run(*args, invocation=invocation, **options)
            return
        with invocation.open(make=False) as memory:

            def send(answers: Sequence[Answer]) -> Reviewed:
                given = {"answers": tuple(answers), "limit": _LIMIT}
                return cast(Reviewed, call(memory, spec.name, given, actor="cli"))

            ask_all(send, input, print)

    present(review, run.__name__, run.__doc__, inspect.signature(run))
    return review


def ask_all(send: Callable[[Sequence[Answer]], Reviewed], ask: Ask, tell: Callable[[str], None]) -> int:
    """Ask the open questions one by one; return how many were answered.

    Each answer is stored before the next question is asked, so an interruption loses nothing. The questions
    are read again after each answer, since an answer can decide other questions or change their subject.

    Args:
        send: Stores answers and returns the open questions.
        ask: Asks for an answer.
        tell: Shows a line.
    """
    questions, seen, answered = send(()).questions, set[str](), 0
    while (question := next((each for each in questions if each.id not in seen), None)) is not None:
        seen.add(question.id)
        left = sum(each.id not in seen for each in questions)
        tell("")
        for line in _question_lines(question, f"{len(seen)} of {len(seen) + left}"):
            tell(line)
        reply = _reply(question.choices, ask)
        if reply is None:
            break
        if reply in _SKIP:
            continue
        done = send((_answer(question, reply),))
        questions = done.questions
        answered += done.answered
        for each in done.not_taken:
            tell(f"  not taken: {each.why}")
    tell(f"{answered} answered" if seen else "There are no open questions.")
    return answered


def _answer(question: Question, reply: str) -> Answer:
    if question.choices == YES_NO:
        return Answer(id=question.id, yes=reply == "yes")
    return Answer(id=question.id, choice=reply)


def _reply(choices: Sequence[str], ask: Ask) -> str | None:
    """Ask until the reply is a choice or a word for skipping, and return it; None to stop."""
    prompt = "".join(f"[{each[0]}]{each[1:]}, " for each in (*choices, "skip")) + "[q]uit: "
    while True:
        try:
            reply = ask(prompt).strip().casefold()
        except EOFError:
            return None
        if reply in _QUIT:
            return None
        if reply in _SKIP:
            return reply
        for choice in choices:
            if reply in (choice, choice[0]):
                return choice


def _question_lines(question: Question, place: str) -> list[str]:
    chance = "" if question.probability is None else f" (probability {question.probability:.2f})"
    lines = [f"{place}: {question.text}", f"  {question.reason}{chance}"]
    return [plain(line) for line in (*lines, *(f"  | {each}" for each in question.evidence))]
