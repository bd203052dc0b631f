"""The page of an entity: what it shows, and each change that it makes, with undo."""

import re

from tests.view.conftest import Locator, Opened, OwnPage, Page, fits, settled


def heading(page: Page, name: str) -> Locator:
    return page.get_by_role("heading", level=1, name=name, exact=True)


def rows(page: Page, label: str) -> Locator:
    return page.get_by_role("list", name=label, exact=True).get_by_role("listitem")


def notice(page: Page, words: str) -> Locator:
    return page.locator(".notice").filter(has_text=words)


def undo(page: Page, words: str) -> None:
    """Take back the change that a notice tells of."""
    told = notice(page, words)
    told.get_by_role("button", name="Undo").click()
    notice(page, "Undone").last.wait_for()


def test_it_is_found_by_name_alias_and_id_and_shows_what_is_known(opened: Opened, address: str) -> None:
    page = opened(address, "#/entity/R7")
    heading(page, "Rack Seven").wait_for()
    facts = page.locator("dl.facts").first.inner_text()
    assert "machine" in facts and "R7" in facts and "In the cold room." in facts
    id = page.locator("dl.facts code").first.inner_text()
    (relation,) = rows(page, "Relations").all()
    assert "Ledger runs on Rack Seven" in relation.inner_text()
    assert "%" in relation.inner_text() and "working" in relation.inner_text()
    page.evaluate("id => { location.hash = `#/entity/${id}` }", id)
    page.locator(f"main:has(code:text-is('{id}'))").wait_for()
    heading(page, "Rack Seven").wait_for()
    page.evaluate("location.hash = '#/entity/Ferrywatch'")
    heading(page, "Ferrywatch").wait_for()
    mentions = page.get_by_role("list", name="Memories that mention it")
    mentions.get_by_role("link", name=re.compile("Priya Raman leads Ferrywatch")).first.wait_for()
    rows(page, "History").first.wait_for()  # it is read apart from the mentions


def test_an_unknown_one_is_said_to_be_unknown(opened: Opened, address: str, expected_errors) -> None:
    expected_errors.append("404")
    page = opened(address, "#/entity/Nobody At All")
    assert page.get_by_text("No entity has the name or id").is_visible()


def test_names_and_type_are_changed_by_keys_alone_and_taken_back(own: OwnPage) -> None:
    page = own.open("#/entity/Rack Seven")
    heading(page, "Rack Seven").wait_for()
    page.keyboard.press("e")
    form = page.get_by_role("form", name="Change the entity")
    form.get_by_label("Name", exact=True).focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("Rack Eight")
    page.keyboard.press("Tab")
    page.keyboard.press("Control+a")
    page.keyboard.type("shelf")
    page.keyboard.press("Enter")
    heading(page, "Rack Eight").wait_for()
    (changed,) = own.memory.entities(containing="Rack Eight")
    assert (changed.type, "Rack Seven" in changed.aliases) == ("shelf", True)
    page.keyboard.press("u")
    heading(page, "Rack Seven").wait_for()
    assert own.memory.entities(containing="Rack Eight") == ()


def test_relations_are_stated_ended_withdrawn_and_revived(own: OwnPage) -> None:
    page = own.open("#/entity/Rack Seven")
    page.get_by_role("button", name="State a relation").click()
    form = page.get_by_role("form", name="State a relation")
    form.get_by_label("Relation, such as works for").fill("cools")
    form.get_by_label("Other entity").fill("The North Hall")
    form.get_by_label("True from").fill("2024-02-01")
    form.get_by_role("button", name="Save").click()
    notice(page, "Stated: Rack Seven cools").wait_for()
    rows(page, "Relations").filter(has_text="cools").wait_for()
    assert own.memory.relations("The North Hall")[0].type == "cools"

    page.get_by_role("button", name="End Rack Seven cools The North Hall").click()
    page.get_by_label("True until").fill("2025-02-01")
    page.get_by_role("button", name="Save the end").click()
    notice(page, "Ended: Rack Seven cools").wait_for()
    assert own.memory.relations("The North Hall") == ()
    page.get_by_label("Which relations").select_option("any")
    ended = rows(page, "Relations").filter(has_text="cools")
    ended.wait_for()
    assert "until 1 Feb 2025" in ended.inner_text()
    undo(page, "Ended: Rack Seven cools")
    assert len(own.memory.relations("The North Hall")) == 1

    page.get_by_label("Which relations").select_option("now")
    page.get_by_role("button", name="Withdraw Rack Seven cools The North Hall").click()
    page.keyboard.press("Escape")
    assert len(own.memory.relations("The North Hall")) == 1
    page.get_by_role("button", name="Withdraw Rack Seven cools The North Hall").click()
    page.get_by_role("button", name="Withdraw", exact=True).last.click()
    notice(page, "Withdrawn: Rack Seven cools").wait_for()
    assert own.memory.relations("The North Hall") == ()
    page.get_by_label("Which relations").select_option("withdrawn")
    page.get_by_role("button", name="Revive Rack Seven cools The North Hall").last.click()
    page.get_by_role("button", name="Revive", exact=True).last.click()
    notice(page, "Revived: Rack Seven cools").wait_for()
    assert len(own.memory.relations("The North Hall")) == 1


def test_two_are_compared_merged_and_separated_again(own: OwnPage) -> None:
    page = own.open("#/entity/Grace Hopper")
    heading(page, "Grace Hopper").wait_for()
    page.get_by_role("button", name="Merge with another").click()
    page.get_by_label("Find the other entity").fill("Grace M")
    page.get_by_role("list", name="Entities found").get_by_role("button", name="Grace M. Hopper").click()
    gone = page.get_by_role("region", name="Is merged into it")
    gone.get_by_text("Grace M. Hopper maintains Ledger").wait_for()
    assert "Grace Hopper" in page.get_by_role("region", name="Stays").inner_text()
    page.get_by_role("button", name="Keep the other one").click()
    gone.get_by_text("Grace Hopper", exact=True).first.wait_for()
    page.get_by_role("button", name="Keep the other one").click()
    gone.get_by_text("Grace M. Hopper maintains Ledger").wait_for()
    page.get_by_role("button", name="Merge", exact=True).click()
    page.get_by_role("group", name="Merge into Grace Hopper?").get_by_role("button", name="Merge").click()
    notice(page, "Merged Grace M. Hopper into Grace Hopper").wait_for()
    (one,) = own.memory.entities(containing="Hopper")
    assert "Grace M. Hopper" in one.aliases
    page.get_by_role("button", name="Separate again").click()
    page.get_by_role("button", name="Separate", exact=True).click()
    notice(page, "Separated: Grace M. Hopper").wait_for()
    assert {row.name for row in own.memory.entities(containing="Hopper")} == {
        "Grace Hopper",
        "Grace M. Hopper",
    }
    undo(page, "Separated: Grace M. Hopper")
    assert len(own.memory.entities(containing="Hopper")) == 1


def test_selected_mentions_go_to_another_entity(own: OwnPage) -> None:
    page = own.open("#/entity/Bergen")
    before = own.memory.memories(entity="Bergen", kinds=["passage", "note", "fact", "event", "turn"])
    moved = next(row for row in before if row.text == "Ada Lovelace lives in Bergen.")
    row = rows(page, "Memories that mention it").filter(has_text=moved.text)
    row.get_by_role("checkbox").check()
    form = page.get_by_role("form", name="Split")
    form.get_by_label("Name of the other entity").fill("Bergen upon Zoom")
    form.get_by_role("button", name="Split").click()
    notice(page, "Separated: Bergen upon Zoom").wait_for()
    assert [one.id for one in own.memory.memories(entity="Bergen upon Zoom")] == [moved.id]
    undo(page, "Separated: Bergen upon Zoom")
    after = own.memory.memories(entity="Bergen", kinds=["passage", "note", "fact", "event", "turn"])
    assert {one.id for one in after} == {one.id for one in before}


def test_its_forms_are_accessible_and_fit_a_narrow_screen(opened: Opened, address: str, axe) -> None:
    page = opened(address, "#/entity/Grace Hopper")
    heading(page, "Grace Hopper").wait_for()

    def assert_accessible() -> None:
        for theme in ("light", "dark"):
            page.get_by_label("Colours").select_option(theme)
            assert axe() == [], theme

    page.get_by_role("button", name="State a relation").click()
    page.get_by_role("button", name=re.compile("^End ")).first.click()
    page.keyboard.press("e")
    page.get_by_role("form", name="Change the entity").wait_for()
    assert_accessible()
    page.get_by_role("button", name="Merge with another").click()
    page.get_by_label("Find the other entity").fill("Grace M")
    page.get_by_role("list", name="Entities found").get_by_role("button", name="Grace M. Hopper").click()
    page.get_by_role("region", name="Stays").wait_for()
    settled(page)
    assert_accessible()
    assert fits(page)
