"""Sessions show what was recalled and why; the timeline shows what happened, in order."""

import re

from tests.view.conftest import Opened, Route, settled


def test_a_session_shows_its_questions_with_their_hits(opened: Opened, address: str) -> None:
    page = opened(address, "#/sessions")
    page.get_by_role("list", name="Sessions").wait_for()
    page.get_by_role("list", name="Sessions").get_by_role("link").first.focus()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="What was recalled").wait_for()
    recalls = page.get_by_role("region", name="Recall of")
    recalls.first.wait_for()
    settled(page)  # what was said is read apart from what was recalled
    assert recalls.count() == 2
    assert "hit 1" in recalls.first.get_by_role("listitem").first.inner_text()
    turns = page.get_by_role("list", name="What was said and remembered").get_by_role("listitem")
    assert turns.count() == 4
    page.get_by_role("link", name="Ask again").first.click()
    page.get_by_role("region", name="Hits").wait_for()


def test_the_timeline_is_in_order_and_by_year(opened: Opened, address: str) -> None:
    page = opened(address, "#/timeline?kind=event")
    page.get_by_role("heading", name="2026").wait_for()
    years = page.get_by_role("heading", level=2).all_inner_texts()
    assert years == sorted(years) == ["2023", "2024", "2025", "2026"]
    days = page.locator("main time").evaluate_all("all => all.map(one => one.dateTime)")
    assert len(days) == 8
    assert days == sorted(days)


def test_what_is_typed_stays_while_an_answer_arrives(opened: Opened, address: str) -> None:
    page = opened(address, "#/timeline?kind=event")
    held: list[Route] = []
    page.route("**/api/call/timeline", lambda route: held.append(route))
    page.get_by_label("From").fill("2025-01")
    with page.expect_request("**/api/call/timeline"):
        page.keyboard.press("Enter")
    page.get_by_label("To").fill("2025")
    assert len(held) == 1
    held[0].continue_()
    page.get_by_role("heading", name="2024").wait_for(state="detached")
    assert page.get_by_label("To").input_value() == "2025"


def test_the_timeline_is_cut_by_words_for_days_and_by_entity(
    opened: Opened, address: str, expected_errors: list[str]
) -> None:
    page = opened(address, "#/timeline?kind=event")
    page.get_by_label("From").fill("2025-01")
    page.keyboard.press("Enter")
    page.get_by_label("To").fill("2025")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="2024").wait_for(state="detached")
    settled(page)
    shown = page.get_by_role("listitem").filter(has_text=re.compile("Release")).all_inner_texts()
    assert len(shown) == 2
    expected_errors.append("400")
    page.get_by_label("From").fill("gibberish")
    page.keyboard.press("Enter")
    page.get_by_role("alert").wait_for()
    expected_errors.append("404")
    page.get_by_label("From").fill("")
    page.keyboard.press("Enter")
    page.get_by_label("To").fill("")
    page.keyboard.press("Enter")
    page.get_by_label("About").fill("Nobody At All")
    page.keyboard.press("Enter")
    page.get_by_role("alert").get_by_text("Nobody At All").wait_for()
