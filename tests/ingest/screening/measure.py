"""Say how well screening does on the labelled texts: `python -m tests.ingest.screening.measure`."""

import sys
from collections.abc import Sequence

from hydramem.ingest.screening.quarantine import threats_in
from tests.ingest.screening.labelled import HOSTILE, ORDINARY


def errors(hostile: Sequence[str], ordinary: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return hostile texts that pass, and ordinary ones that are held back."""
    return [text for text in hostile if not threats_in(text)], [text for text in ordinary if threats_in(text)]


def measured(hostile: Sequence[str], ordinary: Sequence[str]) -> tuple[float, float]:
    """Return precision and recall of holding a text back."""
    missed, wrong = errors(hostile, ordinary)
    caught = len(hostile) - len(missed)
    return caught / max(1, caught + len(wrong)), caught / len(hostile)


def say(line: str) -> None:
    """Write a line."""
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    precision, recall = measured(HOSTILE, ORDINARY)
    say(f"{len(HOSTILE)} hostile, {len(ORDINARY)} ordinary: precision {precision:.3f}, recall {recall:.3f}")
    missed, wrong = errors(HOSTILE, ORDINARY)
    for text in missed:
        say(f"  passes: {text!a}")
    for text in wrong:
        say(f"  held back: {text!a} {threats_in(text)}")
