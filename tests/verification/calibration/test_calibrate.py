"""Calibrating a project: what it learns from, what it refuses, and what stays where it does not help."""

import json
from pathlib import Path

import pytest

from hydramem.core.errors import InvalidInputError
from hydramem.verification.calibration.calibrate import calibrate, export, revert
from hydramem.verification.calibration.saved_calibrations import SHIPPED, Calibrations
from hydramem.verification.first_stage import first_stage
from hydramem.verification.first_stage.weights import DEFAULT
from tests.verification.projects import Project, is_true, judged


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def labelled(project: Project, count: int) -> None:
    project.put(*(judged(row, is_true(row)) for row in project.fill(count)))


def run(project: Project, *, labels: Path | None = None, rate: float | None = None, dry_run: bool = False):
    return calibrate(project.place, labels=labels, max_false_accept=rate, dry_run=dry_run)


def test_labels_improve_what_was_shipped_on_relations_that_were_held_out(project: Project) -> None:
    labelled(project, 300)
    done = run(project)
    assert done.applied
    assert (done.people, done.models, done.true + done.false) == (300, 0, 300)
    shipped, fitted = done.measures
    assert fitted.auc > shipped.auc + 0.1
    assert fitted.brier < shipped.brier - 0.05
    assert project.calibrations.of("p").weights.version == done.weights == f"{DEFAULT.version}+1"


def test_it_never_learns_from_its_own_verdicts(project: Project) -> None:
    rows = project.fill(300)
    own = [judged(row, is_true(row), verifier="srmkg:1") for row in rows]
    project.put(*own)
    done = run(project)
    assert not done.applied
    assert (done.people, done.models) == (0, 0)
    assert "there are 0 " in done.explanation

    project.put(*(judged(row, not is_true(row), verifier="vog:m") for row in rows[:60]))
    done = run(project)
    assert (done.models, done.true + done.false) == (60, 60)


@pytest.mark.parametrize(("true", "false"), [(40, 0), (9, 60), (10, 29)])
def test_too_few_labels_or_one_kind_are_refused_and_it_says_why(true: int, false: int) -> None:
    project = Project()
    rows = project.fill(true + false)
    project.put(*(judged(row, place < true) for place, row in enumerate(rows)))
    done = run(project)
    assert not done.applied
    assert f"there are {true + false} ({true} true, {false} false)" in done.explanation
    assert project.calibrations.of("p") == SHIPPED


def test_a_threshold_by_risk_is_kept_and_asked_for_again(project: Project) -> None:
    labelled(project, 400)
    done = run(project, rate=0.2)
    assert done.applied and done.accept_at is not None
    assert done.measures[1].false_accept is not None and done.measures[1].false_accept <= 0.2
    assert done.measures[1].accepted > 0.2
    assert project.calibrations.of("p").applied_to(project.settings).accept_at == done.accept_at

    again = run(project)
    assert project.calibrations.of("p").max_false_accept == 0.2
    assert again.accept_at == done.accept_at


def test_where_no_threshold_is_safe_nothing_is_accepted_and_it_says_so(project: Project) -> None:
    labelled(project, 60)
    done = run(project, rate=0.001)
    assert done.applied and done.accept_at is None
    assert "nothing is accepted" in done.explanation
    settings = project.calibrations.of("p").applied_to(project.settings)
    assert settings.accept_at > 1.0


def test_a_dry_run_writes_nothing(project: Project, tmp_path: Path) -> None:
    rows = project.fill(80)
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps({"relation": row.id, "label": is_true(row)}) + "\n" for row in rows))
    changes = project.graph.changes()
    done = run(project, labels=path, rate=0.2, dry_run=True)
    assert not done.applied and done.people == 80 and done.imported == 0
    assert "dry run" in done.explanation and len(done.measures) == 2
    assert project.graph.changes() == changes
    assert not (tmp_path / "models").exists()
    assert project.calibrations.of("p") == SHIPPED

    done = run(project, labels=path)
    assert (done.applied, done.imported) == (True, 80)
    assert run(project, labels=path).imported == 0  # the same file again says nothing new


def test_revert_goes_back_one_by_one_to_what_was_shipped(project: Project, tmp_path: Path) -> None:
    labelled(project, 100)
    first = run(project)
    second = run(project, rate=0.2)
    assert [first.weights[-2:], second.weights[-2:]] == ["+1", "+2"]
    reopened = Calibrations(tmp_path, first_stage.NAMES)
    assert reopened.of("p") == project.calibrations.of("p")

    assert not revert(project.place, dry_run=True).applied
    assert project.calibrations.of("p").number == 2
    assert revert(project.place, dry_run=False).weights == first.weights
    assert revert(project.place, dry_run=False).weights == DEFAULT.version
    assert Calibrations(tmp_path, first_stage.NAMES).of("p") == SHIPPED
    with pytest.raises(InvalidInputError, match="no calibration to go back from"):
        revert(project.place, dry_run=False)
    assert run(project).weights.endswith("+3")  # numbers are not used twice


def test_projects_do_not_share_calibrations(tmp_path: Path) -> None:
    one, other = Project(tmp_path, name="p"), Project(tmp_path, name="P")
    labelled(one, 100)
    run(one)
    assert one.calibrations.of("p").number == 1
    assert other.calibrations.of("P") == SHIPPED
    assert Calibrations(tmp_path, first_stage.NAMES).of("P") == SHIPPED
    odd = Project(tmp_path, name="..\\.. con: 東京\u202e")
    labelled(odd, 100)
    assert run(odd).applied
    written = {path.relative_to(tmp_path).parts[:2] for path in tmp_path.rglob("*.json")}
    assert written == {("models", "verification")}


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "[" * 100_000,
        lambda text: text.replace('"project": "p"', '"project": "q"'),
        lambda text: text.replace('"intercept": ', '"intercept": NaN, "was": '),
    ],
)
def test_a_file_that_does_not_fit_is_refused_aloud(project: Project, tmp_path: Path, caplog, damage) -> None:
    labelled(project, 100)
    run(project)
    (path,) = tmp_path.rglob("1.json")
    path.write_text(damage(path.read_text()))
    project.calibrations = Calibrations(tmp_path, first_stage.NAMES)
    assert [project.calibrations.of("p") for _ in range(2)] == [SHIPPED] * 2
    assert caplog.text.count("the shipped weights serve") == 1
    assert "1.json" in str(project.calibrations.problem("p"))
    assert run(project, dry_run=True).notes

    assert revert(project.place, dry_run=False).weights == DEFAULT.version
    assert Calibrations(tmp_path, first_stage.NAMES).problem("p") is None


def test_relations_are_exported_most_doubtful_first_and_read_back(project: Project, tmp_path: Path) -> None:
    rows = project.fill(300)
    project.put(*(judged(row, True) for row in rows[:20]))
    path = tmp_path / "review.jsonl"
    done = export(project.place, path, dry_run=False)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert done.exported == len(lines) == 200
    asked = {"relation", "subject", "type", "object", "label", "reviewer", "note"}
    assert all(line.keys() == asked | {"probability", "quote", "evidence"} for line in lines)
    assert {line["relation"] for line in lines}.isdisjoint(row.id for row in rows[:20])
    doubts = [round(abs(line["probability"] - 0.5), 3) for line in lines[:160]]
    assert doubts == sorted(doubts), "and some are drawn from all"
    with pytest.raises(InvalidInputError, match="may hold reviews"):
        export(project.place, path, dry_run=False)

    assert run(project, labels=path).imported == 0  # nothing is filled in yet
    by_id = {row.id: row for row in rows}
    for line in lines:
        line["label"] = "accept" if is_true(by_id[line["relation"]]) else "reject"
        line["reviewer"] = "Ada"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = run(project, labels=path)
    assert (done.imported, done.people, done.applied) == (200, 220, True)
