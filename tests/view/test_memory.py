"""One memory in the page: what is known of it, and every change of it with its undo."""

import pytest

import hydramem
from tests.view.conftest import Axe, Locator, Opened, OwnPage, Page, fits, settled

BEES = "Bo keeps twelve bees behind the mill."


def found(memory: hydramem.Memory, text: str, **options: object) -> str:
    rows = memory.memories(limit=100, **options)  # type: ignore[arg-type]
    return next(row.id for row in rows if row.text.startswith(text))


@pytest.fixture
def shown(own: OwnPage) -> Page:
    page = own.open(f"#/memory/{found(own.memory, BEES)}")
    page.get_by_role("list", name="History").wait_for()
    return page


def notice(page: Page) -> Locator:
    return page.get_by_role("status", name="Notices")


def test_the_tree_of_roles_and_the_versions_with_their_differences(shown: Page) -> None:
    from playwright.sync_api import expect

    versions = shown.get_by_role("list", name="Versions")
    assert versions.get_by_role("insertion").all_text_contents() == ["added: twelve "]
    assert "counted them" in shown.get_by_role("list", name="History").inner_text()
    earlier = versions.get_by_role("listitem").nth(1)
    assert "Bo keeps bees behind the mill." in earlier.inner_text()
    expect(shown.get_by_role("main")).to_match_aria_snapshot("""
        - article:
          - 'heading "Memory: note" [level=1]'
          - blockquote: Bo keeps twelve bees behind the mill.
          - group "Actions":
            - button "Correct"
            - button "Change layer"
            - button "Forget"
          - heading "What is known of it" [level=2]
          - heading "Time line" [level=2]
          - list
          - heading "Entities" [level=2]
          - list "Entities":
            - listitem:
              - link "Bo"
          - heading "Versions" [level=2]
          - list "Versions"
          - heading "History" [level=2]
          - list "History"
    """)


def test_a_correction_is_shown_and_taken_back_by_keys_alone(shown: Page, own_memory: hydramem.Memory) -> None:
    shown.keyboard.press("e")
    area = shown.get_by_label("Text")
    assert area.evaluate("area => area === document.activeElement")
    area.fill("Bo keeps thirteen bees behind the mill.")
    shown.get_by_label("Reason").fill("one more")
    shown.keyboard.press("Enter")
    notice(shown).get_by_text("Corrected.").wait_for()
    shown.locator("blockquote").get_by_text("thirteen").wait_for()
    (entry,) = own_memory.history(found(own_memory, "Bo keeps thirteen")).entries
    assert (entry.actor, entry.operation, entry.reason) == ("view", "revise", "one more")
    shown.evaluate("document.activeElement.blur()")
    shown.keyboard.press("u")
    notice(shown).get_by_text("Undone").wait_for()
    assert found(own_memory, BEES)
    shown.locator("blockquote").get_by_text(BEES).wait_for()  # the text before is shown again


def test_the_text_before_is_shown_when_history_undoes_a_correction(
    shown: Page, own_memory: hydramem.Memory
) -> None:
    shown.get_by_role("list", name="History").get_by_role("button", name="Undo revise").click()
    question = shown.get_by_role("group", name="Undo all that this call changed, here and elsewhere?")
    question.wait_for()
    assert found(own_memory, BEES)
    question.get_by_role("button", name="Undo it").click()
    shown.locator("blockquote").get_by_text("Bo keeps bees behind the mill.").wait_for()
    assert own_memory.get(found(own_memory, "Bo keeps bees")).state == "active"


def test_an_undo_leaves_the_view_that_is_shown_by_then(shown: Page, own_memory: hydramem.Memory) -> None:
    shown.keyboard.press("e")
    shown.get_by_label("Text").fill("Bo keeps thirteen bees behind the mill.")
    shown.get_by_role("button", name="Save").click()
    shown.locator("blockquote").get_by_text("thirteen").wait_for()
    shown.get_by_role("link", name="Timeline").click()
    shown.get_by_role("heading", name="Timeline").wait_for()
    shown.keyboard.press("u")
    notice(shown).get_by_text("Undone").wait_for()
    assert found(own_memory, BEES)
    assert shown.url.endswith("#/timeline")


def test_a_key_that_is_held_does_not_confirm_what_it_opened(shown: Page, own_memory: hydramem.Memory) -> None:
    shown.get_by_role("button", name="Forget").focus()
    for _ in range(3):
        shown.keyboard.down("Enter")
        shown.get_by_role("group", name="Forget this memory?").wait_for()
    shown.keyboard.up("Enter")
    assert own_memory.get(found(own_memory, BEES)).state == "active"


def test_labels_scope_and_layer_are_changed_and_a_refused_change_says_why(
    shown: Page, own_memory: hydramem.Memory, expected_errors: list[str]
) -> None:
    expected_errors.append("400")
    id = found(own_memory, BEES)
    shown.get_by_role("button", name="Correct").click()
    shown.get_by_label("Scope").fill("no slash, and / / blanks //")
    shown.get_by_role("button", name="Save").click()
    notice(shown).get_by_text("Not done:").wait_for()
    assert own_memory.get(id).scope == "/people/bo"
    shown.get_by_label("Labels").fill("animals, food")
    shown.get_by_label("Scope").fill("/farm")
    shown.get_by_role("button", name="Save").click()
    notice(shown).get_by_text("Corrected.").wait_for()
    row = own_memory.get(id)
    assert (row.categories, row.scope) == (("animals", "food"), "/farm")
    shown.get_by_role("link", name="/farm").wait_for()
    shown.get_by_role("button", name="Change layer").click()
    save = shown.get_by_role("button", name="Save")
    shown.get_by_label("Layer", exact=True).select_option("verified")
    assert save.is_disabled()
    shown.get_by_label("Reason").fill("I saw them")
    save.click()
    notice(shown).get_by_text("Moved to the layer verified.").wait_for()
    assert own_memory.get(id).layer == "verified"


def test_forgetting_asks_first_and_is_undone(shown: Page, own_memory: hydramem.Memory) -> None:
    id = found(own_memory, BEES)
    shown.keyboard.press("Delete")
    question = shown.get_by_role("group", name="Forget this memory?")
    question.wait_for()
    shown.keyboard.press("Escape")
    question.wait_for(state="detached")
    assert own_memory.get(id).state == "active"
    assert shown.evaluate("document.activeElement.textContent") == "Forget"
    shown.keyboard.press("Delete")
    question.wait_for()
    shown.keyboard.press("Enter")
    shown.get_by_text("Forgotten or corrected: recall does not return it.").wait_for()
    assert own_memory.get(id).state == "archived"
    notice(shown).get_by_role("button", name="Undo").click()
    shown.get_by_role("button", name="Correct").wait_for()
    assert own_memory.get(id).state == "active"


def test_what_was_forgotten_is_revived(own: OwnPage) -> None:
    id = found(own.memory, "The old crane", states=["archived"])
    page = own.open(f"#/memory/{id}")
    page.get_by_role("button", name="Revive").click()
    page.get_by_role("button", name="Revive", exact=True).first.click()
    notice(page).get_by_text("Revived.").wait_for()
    assert own.memory.get(id).state == "active"


def test_where_it_was_recalled_leads_to_the_session(opened: Opened, address: str) -> None:
    page = opened(address, "#/sessions")
    page.get_by_role("link", name="standup").click()
    page.get_by_role("heading", name="Who leads Ferrywatch?").wait_for()
    page.get_by_role("region", name="Recall of").first.get_by_role("link").nth(1).click()
    recalls = page.get_by_role("list", name="Recalls")
    recalls.wait_for()
    assert "Where does Ferrywatch run?" in recalls.inner_text()
    recalls.get_by_role("link", name="standup").first.click()
    page.get_by_role("heading", name="standup", level=1).wait_for()


def test_an_entry_of_a_curated_file_is_not_changed_here(opened: Opened, address: str) -> None:
    page = opened(address, "#/search?q=Works from Oslo")
    page.get_by_role("link", name="Works from Oslo.").click()
    page.get_by_text("An entry of a curated file").wait_for()
    assert page.get_by_role("button", name="Forget").count() == 0


def test_axe_finds_nothing_with_every_form_open(shown: Page, axe: Axe) -> None:
    def assert_accessible() -> None:
        for scheme in ("dark", "light"):
            shown.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            shown.locator(f"html[data-theme={scheme}]").wait_for()
            assert axe() == [], scheme

    assert_accessible()
    shown.keyboard.press("e")
    shown.get_by_role("button", name="Change layer").click()
    shown.evaluate("document.activeElement.blur()")
    shown.keyboard.press("Delete")
    assert_accessible()
    shown.keyboard.press("Enter")
    notice(shown).get_by_role("button", name="Undo").wait_for()
    settled(shown)
    assert_accessible()
    assert fits(shown)
