"""The views that tend a memory: no violation of WCAG in either theme, no sideways scrolling at 320 px."""

from tests.view.conftest import Axe, Opened, OwnPage, Page, fits, go
from tests.view.lively_memory import HOSTILE, LONG_NAME, LONG_WORD, RIGHT_TO_LEFT

VIEWS = {
    "conflicts": ".conflict",
    "review": ".question",
    "garden": "text=The gardener has not run here yet.",
    "curated": "textarea",
    "stats": "table",
}
"""What each view shows once it is loaded."""


def test_in_both_themes_and_at_320_pixels(opened: Opened, address: str, axe: Axe) -> None:
    page = opened(address, "#/")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.locator(f"html[data-theme={scheme}]").wait_for()
        for view, shown in VIEWS.items():
            go(page, f"#/{view}").locator(shown).first.wait_for()
            assert axe() == [], (view, scheme)
    for view in VIEWS:
        assert fits(go(page, f"#/{view}")), view
    assert page.evaluate("window.hit") is None


def test_hostile_names_and_texts_are_shown_as_they_are_at_320_pixels(own: OwnPage, axe: Axe) -> None:
    own.memory.relate(LONG_NAME, "led_by", HOSTILE, valid_from="2024")
    own.memory.relate(LONG_NAME, "led_by", RIGHT_TO_LEFT, valid_from="2024")
    own.memory.remember(f"{HOSTILE} {LONG_WORD}", expires_at="2020-01-01")
    own.memory.curate("memory", entries=[HOSTILE, RIGHT_TO_LEFT])
    page = own.open("#/conflicts")
    assert fits(page)
    one = page.locator(".conflict").filter(has_text=HOSTILE)
    one.wait_for()
    assert RIGHT_TO_LEFT in one.inner_text()
    assert axe() == []
    _shows(page, "review", ".question")
    while HOSTILE not in page.locator(".question").inner_text():
        page.keyboard.press("s")
    _shows(page, "curated", "textarea")
    assert HOSTILE in page.get_by_role("textbox", name="MEMORY.md").input_value()
    _shows(page, "garden", "text=Make a plan")
    page.get_by_role("button", name="Make a plan").click()
    page.locator(".diff").first.wait_for(timeout=60_000)
    assert "<script>window.hit" in page.locator(".diff").filter(has_text="Archived").inner_text()
    assert fits(page)
    assert axe() == []
    assert page.evaluate("window.hit") is None


def _shows(page: Page, view: str, what: str) -> None:
    """Open a view and check that it does not scroll sideways."""
    go(page, f"#/{view}")
    page.locator(what).first.wait_for()
    assert fits(page)
