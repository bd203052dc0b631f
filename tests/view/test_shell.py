"""The frame of the page: navigation, keys, themes, what it says without a token or a server, and its size."""

import gzip
from pathlib import Path

import hydramem
from hydramem.view.page_server import PageServer
from tests.view.conftest import Axe, Opened, OwnPage, Page, fits, go, opened_memory, running, served, settled

STATIC = Path(hydramem.__file__).parent / "view" / "static"
ROUTES = ("#/", "#/search?q=Who leads Ferrywatch?", "#/memories", "#/timeline", "#/sessions", "#/nowhere")
MOST_BYTES = 120_000


def test_the_bundle_is_small() -> None:
    files = [STATIC / name for name in ("app.js", "app.css", "worker.js")]
    sizes = {file.name: len(gzip.compress(file.read_bytes(), 9)) for file in files if file.exists()}
    assert 0 < sum(sizes.values()) <= MOST_BYTES, sizes


def test_the_licences_of_what_is_bundled_come_with_it() -> None:
    text = (STATIC / "licenses.txt").read_text(encoding="utf-8")
    assert all(f"{name} " in text for name in ("preact", "@preact/signals"))


def test_the_token_leaves_the_address_bar(opened: Opened, address: str) -> None:
    page = opened(address, "#/")
    assert "token" not in page.url
    assert page.evaluate("Object.values({...sessionStorage}).length") == 1


def test_every_view_is_reached_by_its_keys_and_has_one_heading(opened: Opened, address: str) -> None:
    page = opened(address, "#/")
    views = page.get_by_role("navigation", name="Views").get_by_role("link").all()
    keys = {view.inner_text(): (view.get_attribute("aria-keyshortcuts") or "").split() for view in views}
    assert len(keys) >= 5
    for title, (first, second) in keys.items():
        page.keyboard.press("Escape")  # leaves the search field, where letters are text
        page.keyboard.press(first)
        page.keyboard.press(second)
        page.wait_for_function("title => document.title.includes(title)", arg=title)
        settled(page)
        link = page.get_by_role("navigation", name="Views").get_by_role("link", name=title, exact=True)
        assert link.get_attribute("aria-current") == "page"
        assert page.get_by_role("heading", level=1).count() == 1


def test_the_help_lists_the_keys_and_gives_the_focus_back(opened: Opened, address: str) -> None:
    page = opened(address, "#/memories")
    page.get_by_role("link", name="Overview").focus()
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    dialog.wait_for()
    assert "Forget the selected memories" in dialog.inner_text()
    assert "Search" in dialog.inner_text()
    page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    assert page.evaluate("document.activeElement.textContent") == "Overview"


def test_the_first_stop_skips_to_the_content(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_role("heading", name="What is here").wait_for()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    assert page.url.split("#")[1:] in ([], ["/"])


def test_the_theme_follows_the_system_until_one_is_chosen(opened: Opened, address: str) -> None:
    from playwright.sync_api import expect

    page = opened(address, "#/")
    root = page.locator("html")
    page.emulate_media(color_scheme="dark")
    expect(root).to_have_attribute("data-theme", "dark")
    page.get_by_label("Colours").select_option("light")
    expect(root).to_have_attribute("data-theme", "light")
    page.reload()
    page.get_by_role("heading", level=1).wait_for()
    expect(root).to_have_attribute("data-theme", "light")
    page.get_by_label("Colours").select_option("system")
    expect(root).to_have_attribute("data-theme", "dark")


def test_axe_finds_nothing_in_any_view_and_none_is_scrolled_sideways_at_320_pixels(
    opened: Opened, address: str, axe: Axe
) -> None:
    page = opened(address, "#/")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.locator(f"html[data-theme={scheme}]").wait_for()
        for route in ROUTES:
            go(page, route)
            assert axe() == [], (route, scheme)
    for route in ROUTES:
        assert fits(go(page, route)), route


def test_a_tab_without_a_token_or_with_a_wrong_one_says_how_to_get_one(
    page: Page, address: str, expected_errors: list[str]
) -> None:
    page.goto(address.split("#")[0])
    page.get_by_text("Run hydramem view").wait_for()
    page.goto("about:blank")
    expected_errors.append("401")
    page.goto(f"{address.split('#')[0]}#token=wrong")
    page.get_by_role("alert").get_by_text("does not know the token").wait_for()


def test_a_server_that_has_gone_is_told_and_another_try_shows_the_view(
    page: Page, own_memory: hydramem.Memory, expected_errors: list[str]
) -> None:
    expected_errors.append("ERR_CONNECTION_REFUSED")
    first = PageServer(own_memory, project="default")
    port, token = first._port, first._token
    with running(first):
        page.goto(first.address)
        page.get_by_role("heading", name="What is here").wait_for()
        settled(page)
    page.keyboard.press("g")
    page.keyboard.press("m")
    page.get_by_role("alert").get_by_text("does not answer").wait_for()
    again = PageServer(own_memory, project="default", port=port)
    again._token = token
    with running(again):
        page.get_by_role("button", name="Try again").click()
        page.get_by_role("list", name="Memories").wait_for()
        assert page.get_by_role("alert").count() == 0


def test_an_empty_store_says_how_to_begin(opened: Opened, tmp_path: Path) -> None:
    with opened_memory(tmp_path / "empty") as memory, served(memory) as at:
        page = opened(at, "#/")
        page.get_by_text("Nothing is remembered yet").wait_for()
        for route, words in (
            ("#/memories", "No memory is here"),
            ("#/timeline", "Nothing with a time is here"),
            ("#/sessions", "No session is recorded yet"),
            ("#/search?q=tea", "Nothing here answers this."),
        ):
            opened(at, route).get_by_text(words).wait_for()


def test_the_project_can_be_changed(opened: Opened, address: str) -> None:
    page = opened(address, "#/memories")
    page.get_by_label("Project").select_option("elsewhere")
    page.get_by_text("Elsewhere the gate is green.").wait_for()
    settled(page)
    assert page.get_by_role("list", name="Memories").get_by_role("listitem").count() == 1


def test_the_overview_asks_before_it_undoes_a_call(own: OwnPage) -> None:
    own.memory.remember("The lamp at pier 9 is green.")
    own.memory.drain()
    last = own.memory.changes(limit=1)[0]
    page = own.open("#/")
    page.get_by_role("list", name="Changes").get_by_role("button", name="Undo").first.click()
    question = page.get_by_role("group", name=f"Undo {last.changes} change")
    question.wait_for()
    assert fits(page)
    row = page.get_by_role("list", name="Changes").locator("li .row").first.bounding_box()
    assert row is not None and row["width"] > 200
    assert not own.memory.changes(run=last.run)[0].undone
    question.get_by_role("button", name="Undo it").click()
    page.get_by_role("status", name="Notices").get_by_text("Undone").wait_for()
    assert own.memory.changes(run=last.run)[0].undone
