"""Reviews as JSON lines: what is taken, what is refused whole, and what becomes of the relation."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from hydramem.core.errors import InvalidInputError
from hydramem.ingest.knowledge.end_validity import WITHDRAWN
from hydramem.storage.changes import record
from hydramem.storage.write import Write
from hydramem.verification.calibration.calibrate import calibrate
from hydramem.verification.calibration.labels import judged_relations, truth
from tests.storage.rows import entity, relation
from tests.verification.projects import Project, judged


@pytest.fixture
def project() -> Project:
    return Project()


def take(project: Project, path: Path, *lines: object):
    written = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    path.write_bytes(b"\n".join(written))
    return calibrate(project.place, labels=path, max_false_accept=None, dry_run=False)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "labels.jsonl"


def test_a_review_becomes_the_verdict_of_its_relation(project: Project, path: Path) -> None:
    good, bad = project.fill(2)
    done = take(
        project,
        path,
        {"relation": good.id, "label": True, "reviewer": "Ada", "at": "2024-05-02", "note": "seen it"},
        {"subject": "S1", "type": "Leads", "object": "o1", "label": "reject"},
    )
    assert (done.imported, done.people, done.applied) == (2, 2, False)
    kept = project.stored(good)
    assert (kept.verdict, kept.layer, kept.verifier, kept.probability) == (
        "accepted",
        "verified",
        "person:Ada",
        1.0,
    )
    assert kept.verified_at is not None and kept.verified_at.year == 2024
    assert kept.scores == good.scores
    gone = project.stored(bad)
    assert (gone.verdict, gone.state, gone.verifier) == ("rejected", "archived", "person:somebody")
    assert gone.times.retired_at and gone.metadata[WITHDRAWN]
    (change,) = project.graph.changes(target=good.id)
    assert change.operation == "calibrate" and change.reason == "Ada reviewed it: true. seen it"
    assert json.loads(change.before)["verifier"] == "srmkg:1"


def test_a_person_may_change_their_mind_and_an_old_file_does_not(project: Project, path: Path) -> None:
    (row,) = project.fill(1)
    line = {"relation": row.id, "reviewer": "Ada"}
    take(project, path, {**line, "label": False, "at": "2024-05-01"})
    assert take(project, path, {**line, "label": True, "at": "2024-04-01"}).imported == 0
    assert project.stored(row).state == "archived"
    assert take(project, path, {**line, "label": True}).imported == 1
    kept = project.stored(row)
    assert (kept.state, kept.layer, kept.times.retired_at) == ("active", "verified", None)
    assert WITHDRAWN not in kept.metadata


def test_what_was_refused_can_be_reviewed_and_is_stored_then(project: Project, path: Path) -> None:
    (row,) = project.fill(1)
    refused = replace(row, id="r_refused", type="owns", verdict="rejected", verifier="vog:m")
    change = record("ingest", project="p", target=refused.id, after=refused)
    project.mirror.commit(Write(changes=(change,)))
    everything = judged_relations(project.graph, project.name)
    assert list(everything.refused) == ["r_refused"]
    assert truth(everything.refused["r_refused"]) is False  # what a model refused is a label too
    done = take(project, path, {"subject": "s0", "type": "owns", "object": "o0", "label": True})
    assert done.imported == 1
    assert project.stored(refused).verdict == "accepted"
    assert not judged_relations(project.graph, project.name).refused


ID = {"relation": "r_e_s0_leads_e_o0"}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"\xff\xfe\x00\x01binary", "is no JSON object"),
        (b"[" * 100_000, "is no JSON object"),
        (b'{"label": true, "label": false}', "a key stands twice"),
        ({**ID, "lable": True}, "unknown key 'lable'"),
        ({**ID, "label": 1}, "label: '1' is none of"),
        ({**ID, "label": True, "at": "yesterday"}, "at: 'yesterday' is not"),
        ({**ID, "label": True, "note": "\ud800"}, "note: contains a lone surrogate"),
        ({"relation": "r_nobody", "label": True}, "no relation of project 'p' has the id"),
        ({"subject": "s0", "type": "hates", "object": "o0", "label": True}, "the project has no relation"),
        ({**ID, "label": False}, "contradicts line 1"),
    ],
)
def test_one_bad_line_is_named_and_nothing_of_the_file_is_taken(
    project: Project, path: Path, line: object, said: str
) -> None:
    (row,) = project.fill(1)
    assert row.id == ID["relation"]
    before = project.graph.changes()
    with pytest.raises(InvalidInputError) as raised:
        take(project, path, {**ID, "label": True}, line)
    assert "line 2: " in str(raised.value) and said in str(raised.value)
    assert len(str(raised.value)) < 1000
    assert project.graph.changes() == before
    assert project.stored(row).verifier == "srmkg:1"


def test_what_is_known_of_another_project_is_not_known_here(path: Path) -> None:
    project = Project()
    project.fill(1)
    ends = (entity("e_x", "X", project="q"), entity("e_y", "Y", project="q"))
    other = judged(relation("e_x", "leads", "e_y", project="q"), True)
    project.put(other, entities=ends)
    assert other.id not in judged_relations(project.graph, project.name).stored
    with pytest.raises(InvalidInputError, match="no relation of project 'p'"):
        take(project, path, {"relation": other.id, "label": True})
