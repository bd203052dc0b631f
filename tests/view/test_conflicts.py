"""Conflicts in the page: both sides, the four answers, keys, undo."""

import hydramem
from tests.view.conftest import Locator, Opened, OwnPage, Page, fits

OLDER, NEWER = "The crane lifts 40 tons.", "The crane lifts 60 tons."


def conflict(page: Page) -> Locator:
    return page.get_by_role("group", name=f"Conflict: {OLDER}")


def active(memory: hydramem.Memory) -> set[str]:
    return {row.text for row in memory.memories(limit=200)} & {OLDER, NEWER}


def test_the_sides_stand_beside_each_other_with_what_to_judge_them_by(opened: Opened, address: str) -> None:
    from playwright.sync_api import expect

    page = opened(address, "#/conflicts")
    one = conflict(page)
    first, second = (one.get_by_role("region", name=name) for name in ("1: said first", "2: said later"))
    assert OLDER in first.inner_text() and NEWER in second.inner_text()
    assert "1 Mar 2023" in first.inner_text() and "%" in one.inner_text()
    expect(one).to_match_aria_snapshot(
        f"""
        - 'group "Conflict: {OLDER} or {NEWER}"':
          - 'region "1: said first"':
            - 'heading "1: said first" [level=2]'
            - paragraph: {OLDER}
            - 'button "This one holds: {OLDER}"'
          - 'region "2: said later"':
            - 'heading "2: said later" [level=2]'
            - paragraph: {NEWER}
            - 'button "This one holds: {NEWER}"'
          - button "Both hold"
          - button "Neither holds"
        """
    )
    boxes = [side.bounding_box() for side in (first, second)]
    assert boxes[0] and boxes[1] and boxes[0]["x"] < boxes[1]["x"] and boxes[0]["y"] == boxes[1]["y"]
    assert fits(page)
    boxes = [side.bounding_box() for side in (first, second)]
    assert boxes[0] and boxes[1] and boxes[0]["x"] == boxes[1]["x"] and boxes[0]["y"] < boxes[1]["y"]


def test_each_answer_settles_the_conflict_and_is_undone(own: OwnPage) -> None:
    for button, left in (
        (f"This one holds: {OLDER}", {OLDER}),
        (f"This one holds: {NEWER}", {NEWER}),
        ("Both hold", {OLDER, NEWER}),
        ("Neither holds", set()),
    ):
        page = own.open("#/conflicts")
        conflict(page).get_by_role("button", name=button).click()
        conflict(page).wait_for(state="detached")
        assert active(own.memory) == left
        page.get_by_role("status", name="Notices").get_by_role("button", name="Undo").click()
        conflict(page).wait_for()
        assert active(own.memory) == {OLDER, NEWER}


def test_by_keys_alone(own: OwnPage) -> None:
    page = own.open("#/")
    page.keyboard.press("g")
    page.keyboard.press("c")
    conflict(page).wait_for()
    before = len(own.memory.conflicts().conflicts)
    page.locator('[data-primary][tabindex="0"]').focus()
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("b")
    page.get_by_text("Both hold.", exact=True).wait_for()
    page.wait_for_function(f"() => document.querySelectorAll('.conflict').length === {before - 1}")
    # The next conflict has the focus, so that one goes on with the next key.
    page.wait_for_function("() => document.activeElement.matches('.conflict')")
    page.keyboard.press("2")
    page.wait_for_function(f"() => document.querySelectorAll('.conflict').length === {before - 2}")
    assert len(own.memory.conflicts().conflicts) == before - 2
