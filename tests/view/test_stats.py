"""Statistics in the page: counts, health, and plots of telemetry with their tables."""

from pathlib import Path

import hydramem
from hydramem.core.settings.config_loading import load_config
from tests.view.conftest import SETTINGS, Opened, OwnPage, served


def test_counts_and_health(own: OwnPage) -> None:
    page = own.open("#/stats")
    mine = next(row for row in own.memory.projects() if row.name == "default")
    row = page.get_by_role("row", name="default")
    assert str(mine.memories) in row.inner_text()
    assert " 0.0 MB" not in page.locator("#main").inner_text()
    page.get_by_role("button", name="Check the store").click()
    page.get_by_text("The store is healthy.").wait_for(timeout=60_000)


def test_plots_have_the_numbers_of_telemetry_as_tables_and_are_deleted_on_demand(own: OwnPage) -> None:
    report = own.memory.stats(days=7).telemetry
    assert report is not None and report.memories
    page = own.open("#/stats")
    page.locator(".plot canvas").first.wait_for()
    page.get_by_text("Memories stored by kind as a table").click()
    table = page.get_by_role("region", name="Memories stored by kind, table")
    kinds = sorted({row.kind for row in report.memories})
    shown = [cell.inner_text() for cell in table.get_by_role("columnheader").all()]
    assert shown == ["Day", *kinds]
    today = table.get_by_role("row", name=report.until).inner_text().split()
    stored = {row.kind: row.stored for row in report.memories if row.day == report.until}
    assert today == [report.until, *(str(stored[kind]) if kind in stored else "none" for kind in kinds)]
    assert page.get_by_role("heading", name="AUC of the gardener's scorer").count() == 1
    page.get_by_role("button", name="Delete the telemetry").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_text("What was counted is deleted.").wait_for()
    left = own.memory.stats(days=7).telemetry
    assert left is not None and left.memories == ()


def test_telemetry_that_is_off_is_said(opened: Opened, tmp_path: Path) -> None:
    config = load_config(environment=SETTINGS | {"HYDRAMEM_TELEMETRY_ENABLED": "false"})
    with hydramem.connect(tmp_path / "store", config=config) as memory, served(memory) as address:
        page = opened(address, "#/stats")
        page.get_by_text("Telemetry is off").wait_for()
        assert page.locator(".plot").count() == 0
