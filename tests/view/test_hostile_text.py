"""Text of memories is data: scripts do not run, long words break, reading directions stay in their place."""

import hydramem
from tests.view.conftest import Opened, OwnPage, fits
from tests.view.lively_memory import HOSTILE, LONG_WORD, RIGHT_TO_LEFT

TURNED = "Pay \u202e001\u202c euros\u200b to Ada \U0001f469\u200d\U0001f467."
"""Text with characters that turn the reading direction, one without a width, and a joined emoji."""


def id_of(memory: hydramem.Memory, text: str) -> str:
    return next(row.id for row in memory.memories(limit=100) if row.text.startswith(text[:40]))


def test_markup_is_shown_and_not_run(own: OwnPage, expected_errors: list[str]) -> None:
    expected_errors.append("404")  # no entity of the timeline has that name
    own.memory.remember(
        f"{HOSTILE} again", scope='/"><script>window.hit=3</script>', author="<b>Eve</b>", kind="fact"
    )
    for route in (
        f"#/memory/{id_of(own.memory, HOSTILE)}",
        "#/memories",
        "#/search?q=script window hit bold",
        "#/search?q=<img src=x onerror=window.hit=4>",
        "#/timeline?entity=<script>window.hit=5</script>",
        "#/",
    ):
        page = own.open(route)
        page.get_by_role("heading", level=1).wait_for()
        assert page.evaluate("window.hit === undefined"), route
        assert page.locator("main script, main img, main b").count() == 0
    page = own.open(f"#/memory/{id_of(own.memory, HOSTILE)}")
    page.locator("blockquote").get_by_text(HOSTILE).wait_for()


def test_a_word_of_ten_thousand_letters_breaks(opened: Opened, address: str) -> None:
    page = opened(address, "#/memories")
    page.set_viewport_size({"width": 320, "height": 700})
    page.get_by_role("link", name="Zweckverband").click()
    page.locator("blockquote").get_by_text(LONG_WORD[:50]).wait_for()
    assert fits(page)


def test_text_from_right_to_left_keeps_to_itself(opened: Opened, address: str) -> None:
    page = opened(address, "#/memories")
    text = page.get_by_text(RIGHT_TO_LEFT)
    assert text.evaluate("node => getComputedStyle(node).direction") == "rtl"
    marks = page.get_by_role("listitem").filter(has_text=RIGHT_TO_LEFT).locator(".marks")
    assert marks.evaluate("node => getComputedStyle(node).direction") == "ltr"


def test_characters_that_cannot_be_seen_are_shown(own: OwnPage) -> None:
    id = own.memory.remember(TURNED).id
    stored = own.memory.get(id).text
    page = own.open(f"#/memory/{id}")
    shown = page.locator("blockquote").inner_text()
    hidden = [character for character in "\u202e\u202c\u200b" if character in stored]
    assert hidden
    for character in hidden:
        assert f"U+{ord(character):04X}" in shown
        assert character not in shown
    assert "\U0001f469\u200d\U0001f467" in shown


def test_a_broken_address_is_told(opened: Opened, address: str, expected_errors: list[str]) -> None:
    expected_errors.append("404")
    opened(address, "#/memory/%E0%A4%A").get_by_text("No view has this address").wait_for()
    opened(address, "#/memory/c_0000").get_by_text("No memory has the id").wait_for()
