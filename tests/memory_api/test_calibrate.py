"""Calibration over a whole memory: reviews in, weights that serve what comes next, a no that lasts."""

import json
from pathlib import Path

import pytest

import hydramem
from hydramem.core.errors import InvalidInputError
from hydramem.verification.first_stage.weights import DEFAULT

NAMES = ["Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ivo", "Jana"]
HOUSES = ["Stone", "Rivera", "Okafor", "Lindt", "Marsh", "Novak"]
PEOPLE = [f"{first} {last}" for last in HOUSES for first in NAMES]


def told(folder: Path, people: list[str], name: str = "people.md") -> Path:
    """Write a document that says for whom people work."""
    path = folder / name
    path.write_text("\n\n".join(f"{person} works for Lantern Labs." for person in people))
    return path


def reviews(folder: Path, people: list[str], *, false: int) -> str:
    """Write reviews, the first few of them saying no."""
    lines = [
        {"subject": person, "type": "works_for", "object": "Lantern Labs", "label": place >= false}
        for place, person in enumerate(people)
    ]
    path = folder / "labels.jsonl"
    path.write_text("".join(json.dumps(line | {"reviewer": "Ada"}) + "\n" for line in lines))
    return str(path)


def test_what_was_calibrated_judges_what_comes_next(memory: hydramem.Memory, tmp_path: Path) -> None:
    assert memory.ingest([str(told(tmp_path, PEOPLE))]).relations == len(PEOPLE)
    labels = reviews(tmp_path, PEOPLE, false=25)
    assert not memory.calibrate(labels, dry_run=True).applied
    done = memory.calibrate(labels, max_false_accept=0.1)
    # The same sentence is true of some and false of others: no threshold tells them apart.
    assert (done.imported, done.true, done.false, done.accept_at) == (60, 35, 25, None)

    memory.ingest([str(told(tmp_path, ["Zoe Quist"], "later.md"))])
    (later,) = memory.relations("Zoe Quist")
    assert later.verdict == "deferred"
    assert later.verifier == f"srmkg:{done.weights}"
    memory.ingest([str(told(tmp_path, ["Zoe Quist"], "other.md"))], project="other")
    (other,) = memory.relations("Zoe Quist", project="other")
    assert other.verifier == f"srmkg:{DEFAULT.version}"

    assert memory.calibrate(revert=True).weights == DEFAULT.version
    memory.ingest([str(told(tmp_path, ["Zoe Marsh"], "last.md"))])
    assert memory.relations("Zoe Marsh")[0].verifier == f"srmkg:{DEFAULT.version}"


def test_a_persons_no_outlasts_ingesting_and_verifying_again(memory: hydramem.Memory, tmp_path: Path) -> None:
    memory.ingest([str(told(tmp_path, ["Ada Stone"]))])
    (before,) = memory.relations("Ada Stone")
    assert memory.calibrate(reviews(tmp_path, ["Ada Stone"], false=1)).imported == 1
    assert memory.relations("Ada Stone") == ()
    memory.ingest([str(told(tmp_path, ["Ada Stone"], "again.md"))])
    memory.verify()
    assert memory.relations("Ada Stone") == ()
    said = [entry.reason for entry in memory.history(before.id).entries]
    assert "Ada reviewed it: false" in said


def test_what_does_not_go_together_is_refused(memory: hydramem.Memory, tmp_path: Path) -> None:
    for asked in (
        {"labels": "x", "revert": True},
        {"export": "x", "max_false_accept": 0.1},
        {"export": "x", "revert": True},
    ):
        with pytest.raises(InvalidInputError, match="one of these at a time"):
            memory.calibrate(**asked)
    for rate in (-0.1, 1.5, float("nan"), True):
        with pytest.raises(InvalidInputError, match="max_false_accept"):
            memory.calibrate(max_false_accept=rate)
    for path in ("", "\0", str(tmp_path / "none.jsonl"), "x" * 5000, "~nobody-there/x"):
        with pytest.raises(InvalidInputError, match="labels"):
            memory.calibrate(path)
    with pytest.raises(InvalidInputError, match="export"):
        memory.calibrate(export=str(tmp_path / "none" / "x.jsonl"))
