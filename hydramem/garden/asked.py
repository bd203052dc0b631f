"""Questions as JSON lines: written to be filled in, read back strictly."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from hydramem.core.errors import InvalidInputError
from hydramem.core.results.asked import Answer, Question

_MOST_BYTES = 64 * 2**20
_MOST_SAID = 10
_GIVEN = frozenset(["id", "answer", "reviewer", "note"])
_TOLD = frozenset(["kind", "question", "reason", "evidence", "probability"])
"""What an export tells besides; read back, it says nothing."""

_WORDS = {"yes": True, "y": True, "true": True, "no": False, "n": False, "false": False}


def write(path: Path, questions: Sequence[Question]) -> None:
    """Write questions to a new file, one a line, each with an empty answer.

    Raises:
        InvalidInputError: The file exists, or cannot be written.
    """
    lines = [json.dumps(_row(question), ensure_ascii=False) for question in questions]
    try:
        with path.open("x", encoding="utf-8", errors="backslashreplace") as file:
            file.writelines(f"{line}\n" for line in lines)
    except FileExistsError:
        raise InvalidInputError(f"export: {path} exists, and may hold answers; name another file") from None
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"export: {str(path)[:200]!r} cannot be written: {error}") from error


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
    }


def read(path: Path) -> tuple[Answer, ...]:
    """Read a file of answers; a line without one is a question that nobody answered.

    Raises:
        InvalidInputError: The file cannot be read, or a line is wrong; the message names each such line.
    """
    answers: list[Answer] = []
    problems: list[str] = []
    for number, line in enumerate(_lines(path), 1):
        if line.strip():
            try:
                answers += _answers(line)
            except (ValueError, RecursionError) as error:
                problems.append(f"line {number}: {str(error)[:120]}")
    if problems:
        more = len(problems) - _MOST_SAID
        said = "; ".join([*problems[:_MOST_SAID], *([f"and {more} more"] if more > 0 else [])])
        raise InvalidInputError(f"import: {path}: {said}. Nothing was taken")
    return tuple(answers)


def _lines(path: Path) -> list[bytes]:
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"import: {str(path)[:200]!r} cannot be read: {error}") from error
    if len(data) > _MOST_BYTES:
        raise InvalidInputError(f"import: {path}: more than {_MOST_BYTES // 2**20} MiB")
    return data.removeprefix(b"\xef\xbb\xbf").split(b"\n")


def _answers(line: bytes) -> list[Answer]:
    given = json.loads(line.decode("utf-8"))
    if not isinstance(given, dict):
        raise InvalidInputError("is no JSON object")
    unknown = given.keys() - _GIVEN - _TOLD
    if unknown:
        raise InvalidInputError(f"unknown key {min(unknown)[:40]!r}")
    said = given.get("answer")
    if said is None or said == "":
        return []
    yes = _WORDS.get(said.strip().casefold()) if isinstance(said, str) else said
    if not isinstance(yes, bool):
        raise InvalidInputError(f"answer: {str(said)[:40]!r} is none of yes, no, true, false")
    id = _text(given, "id")
    if id is None:
        raise InvalidInputError("id: there is none")
    return [Answer(id=id, yes=yes, reviewer=_text(given, "reviewer"), note=_text(given, "note"))]


def _text(given: Mapping[str, object], name: str) -> str | None:
    value = given.get(name)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise InvalidInputError(f"{name}: {str(value)[:40]!r} is no text")
    return value
