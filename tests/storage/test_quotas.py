"""Limits: what is configured set against what there is."""

from hydramem.core.config import LimitsConfig
from hydramem.core.results.knowledge_results import LimitUsage, Past
from hydramem.storage.changes import record
from hydramem.storage.quotas import cutoffs, noted, over, sentences, usage, uses
from hydramem.storage.write import Write
from tests.ingest.conftest import PROJECT, Kit
from tests.storage.rows import at, chunk

COUNTED = LimitUsage(
    memories={"notes": 11, "diary": 10},
    document_bytes={"notes": 2_500_000},
    past=Past(expired=3, archived=2, changes=1, sessions=0),
)


def test_each_limit_says_how_it_stands() -> None:
    limits = LimitsConfig(memories=10, document_mb=2, archived_days=30, change_days=9, session_days=1)
    stands = {(use.limit, use.project): (use.used, use.over) for use in uses(limits, COUNTED)}
    assert stands == {
        ("memories", "notes"): (11, True),
        ("memories", "diary"): (10, False),
        ("document_mb", "notes"): (2.5, True),
        ("archived_days", None): (2, True),
        ("change_days", None): (1, True),
        ("session_days", None): (0, False),
    }
    assert uses(LimitsConfig(), COUNTED) == (), "what is not configured is no limit"
    told = sentences(over(limits, COUNTED))
    assert len(told) == 4
    assert "limits.memories: project 'notes' holds 11, more than 10" in told
    assert "limits.archived_days: 2 rows are older than 30 days" in told


def test_cutoffs_look_back_from_now() -> None:
    found = cutoffs(LimitsConfig(archived_days=30), at(30))
    assert (found.archived, found.changes, found.sessions, found.at) == (at(0), None, None, at(30))


def test_a_project_over_its_limit_is_noted() -> None:
    kit = Kit()
    rows = tuple(chunk(f"c{n}", project=PROJECT) for n in range(3))
    kit.commit(Write(changes=(record("test", project=PROJECT, target="x"),), chunks=rows), {})
    assert noted(LimitsConfig(), PROJECT, kit.graph) == ()
    assert noted(LimitsConfig(memories=3), PROJECT, kit.graph) == ()
    assert "holds 3, more than 2" in noted(LimitsConfig(memories=2), PROJECT, kit.graph)[0]
    counted = usage(LimitsConfig(document_mb=1), graph=kit.graph, memories={}, at=at(0))
    assert (counted.document_bytes, counted.past) == ({}, Past())
