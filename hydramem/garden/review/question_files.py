"""Questions as JSON lines: a file to fill in, and the strict reader of the answers in it."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from hydramem.core.errors import InvalidInputError
from hydramem.core.json_line_forms import form_lines, refuse, write_form
from hydramem.core.results.garden_results import Answer, Question
from hydramem.garden.review.questions import NAMED_CHOICES, REPLACES, WHICH

_READ = frozenset(["id", "answer", "reviewer", "note"])
_IGNORED = frozenset(["kind", "question", "reason", "evidence", "probability", "choices"])
"""Keys of an export that are not read back."""

_WORDS = {"yes": True, "y": True, "true": True, "no": False, "n": False, "false": False}


def write(path: Path, questions: Sequence[Question]) -> None:
    """Write questions to a new file, one a line, each with an empty answer.

    Raises:
        InvalidInputError: The file exists, or cannot be written.
    """
    write_form(path, map(_row, questions), holds="answers")


def _row(question: Question) -> dict[str, object]:
    return {
        "id": question.id,
        "answer": None,
        "reviewer": "",
        "note": "",
        "kind": question.kind,
        "question": question.text,
        "reason": question.reason,
        "evidence": list(question.evidence),
        "probability": question.probability,
        "choices": list(question.choices),
    }


def read(path: Path) -> tuple[Answer, ...]:
    """Read a file of answers; a line without an answer is skipped.

    Raises:
        InvalidInputError: The file cannot be read, or a line is wrong; the message names each such line.
    """
    answers: list[Answer] = []
    problems: list[str] = []
    for number, line in enumerate(form_lines(path, name="import"), 1):
        if line.strip():
            try:
                answers += _answers(line)
            except (ValueError, RecursionError) as error:
                problems.append(f"line {number}: {str(error)[:120]}")
    refuse(path, problems, name="import")
    return tuple(answers)


def _answers(line: bytes) -> list[Answer]:
    values = json.loads(line.decode("utf-8"))
    if not isinstance(values, dict):
        raise InvalidInputError("is no JSON object")
    unknown = values.keys() - _READ - _IGNORED
    if unknown:
        raise InvalidInputError(f"unknown key {min(unknown)[:40]!r}")
    answer = values.get("answer")
    if answer is None or answer == "":
        return []
    word = str(answer).strip().casefold()
    yes = answer if isinstance(answer, bool) else _WORDS.get(word)
    choice = word if word in NAMED_CHOICES else None
    if yes is None and choice is None:
        allowed = ", ".join(dict.fromkeys(("yes", "no", *WHICH, *REPLACES)))
        raise InvalidInputError(f"answer: {str(answer)[:40]!r} is none of {allowed}")
    id = _text(values, "id")
    if id is None:
        raise InvalidInputError("id: there is none")
    reviewer, note = _text(values, "reviewer"), _text(values, "note")
    return [Answer(id=id, yes=yes, choice=choice, reviewer=reviewer, note=note)]


def _text(values: Mapping[str, object], name: str) -> str | None:
    value = values.get(name)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise InvalidInputError(f"{name}: {str(value)[:40]!r} is no text")
    return value
