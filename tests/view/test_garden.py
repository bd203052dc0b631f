"""The gardener in the page: a plan, what is left out of it, its application, and the nights."""

import json
from pathlib import Path

from tests.view.conftest import OwnPage


def test_a_plan_is_applied_without_what_is_left_out_and_the_night_is_undone(own: OwnPage) -> None:
    expired = own.memory.remember("The badge of the visitor.", expires_at="2020-01-01").id
    own.memory.drain()
    [expected] = own.memory.garden(plan=True)
    whole = len(expected.changes)
    assert whole > 1
    before = own.memory.get(expired)
    page = own.open("#/garden")
    page.get_by_role("button", name="Make a plan").press("Enter")
    page.get_by_role("link", name="Overview").click()
    page.get_by_role("link", name="Garden").click()  # the plan is made meanwhile, or is there already
    page.get_by_text(f"{whole} of {whole} changes chosen.").wait_for(timeout=60_000)
    shown = page.locator("#main").inner_text()
    for change in expected.changes:
        assert change.reason.split(".")[0] in shown
        assert change.target not in shown
    page.locator(".diff input").first.press("Space")
    made = "1 change" if whole == 2 else f"{whole - 1} changes"
    page.get_by_role("button", name=f"Apply {made}").press("Enter")
    page.keyboard.press("Enter")  # the question has the focus
    page.get_by_text(f"The gardener made {made}.").wait_for(timeout=60_000)
    [night] = own.memory.garden(status=True)
    assert own.memory.get(expired) != before
    assert night.run is not None and sum(phase.applied for phase in night.phases) == whole - 1
    nights = page.get_by_role("list", name="Nights")
    nights.get_by_role("button", name="Undo this night").click()
    nights.get_by_role("button", name="Undo the night").click()
    nights.get_by_text("undone").wait_for()
    assert own.memory.garden(status=True)[0].taken_back
    assert own.memory.get(expired) == before


def test_nights_say_what_they_did_and_how_what_waits_changes(own: OwnPage) -> None:
    own.memory.remember("The badge of the visitor.", expires_at="2020-01-01")
    (night,) = own.memory.garden()
    pruned = next(line for line in night.summary if line.kind == "pruned")
    page = own.open("#/garden")
    did = page.get_by_role("list", name="Nights").get_by_role("list", name="What it did").first
    did.wait_for()
    shown = did.inner_text()
    assert pruned.what in shown and pruned.example in shown and (pruned.command or "none") in shown
    assert len(own.memory.garden(status=True)[0].trend) == 1
    assert page.get_by_text("Waiting after each night").count() == 0  # one night makes no line
    reports = Path(own.memory.folder or "") / "garden"
    report = next(reports.rglob("reports/*.json"))
    earlier = json.loads(report.read_text()) | {"started_at": "2025-01-01T03:00:00+00:00"}
    (report.parent / "20250101T030000.000000.json").write_text(json.dumps(earlier))
    page = own.open("#/garden")
    page.get_by_text("Waiting after each night").first.wait_for()
