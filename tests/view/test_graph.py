"""The graph around an entity: drawn, walked, expanded, filtered and read, by pointer and by keys alone."""

import re
from collections.abc import Callable, Iterator

import pytest

from hydramem.view.export_page import export_page
from tests.view.conftest import Opened, Page, fits, go, opened_memory, served
from tests.view.graph_memory import LEAVES, LONG, RIGHT_TO_LEFT, SCRIPT, SPOKES, fill_graph


@pytest.fixture(scope="module")
def graph_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with opened_memory(tmp_path_factory.mktemp("graph") / "store") as memory:
        fill_graph(memory)
        with served(memory) as at:
            yield at


@pytest.fixture
def drawn(opened: Opened, graph_address: str) -> Callable[[str], Page]:
    """Open a route with a graph, and wait until its layout rests."""

    def draw(route: str) -> Page:
        page = opened(graph_address, route)
        rests(page)
        return page

    return draw


FORTY_FRAMES = """async () => {
  for (let left = 40; left; left -= 1) await new Promise((done) => requestAnimationFrame(done));
}"""
"""Waits until the browser could have drawn so often."""


def rests(page: Page) -> None:
    """Wait until the layout is at its end and drawn, with all that keys and the pointer asked for."""
    page.locator("canvas.graph[data-settled=true]").wait_for()


def wait_for_frames(page: Page, more_than: int) -> int:
    """Wait until more frames were drawn; return how many there are."""
    page.wait_for_function(
        "most => Number(document.querySelector('canvas.graph').dataset.frames) > most", arg=more_than
    )
    rests(page)
    return frames(page)


def says(page: Page) -> str:
    return page.locator("#graph-says").inner_text()


def wait_for_words(page: Page, words: str) -> None:
    page.locator("#graph-says").filter(has_text=words).wait_for()


def frames(page: Page) -> int:
    return int(page.locator("canvas.graph").get_attribute("data-frames") or 0)


def node_names(page: Page) -> list[str]:
    return page.locator("[aria-label='What is drawn'] [data-primary]").all_inner_texts()


def test_it_says_how_much_of_it_is_shown_and_draws_nothing_while_nothing_happens(drawn) -> None:
    page = drawn("#/entity/Hub?limit=30")
    assert "29 of 68 nodes shown" in says(page) or "30 of 68 nodes shown" in says(page)
    assert "beyond the limit" in says(page)
    before = frames(page)
    page.evaluate(FORTY_FRAMES)
    assert frames(page) == before > 0
    page.get_by_label("Within").select_option("1")
    page.get_by_label("Show at most").select_option("60")
    wait_for_words(page, f"{SPOKES + 2} of {SPOKES + 3} nodes shown")  # one held in the past


def test_nodes_are_expanded_collapsed_hidden_and_shown_again(drawn) -> None:
    page = drawn("#/entity/Hub")
    page.get_by_label("Within").select_option("1")
    wait_for_words(page, f"{SPOKES + 2} of")
    page.get_by_role("button", name="Choose Spoke 0", exact=True).click()
    wait_for_words(page, "Chosen: Spoke 0")
    page.get_by_role("button", name="Expand", exact=True).click()
    wait_for_words(page, f"{SPOKES + 22} of")
    notices = page.get_by_role("status", name="Notices")
    assert f"{LEAVES - 20} more are not shown" in notices.inner_text()
    page.get_by_role("button", name="Expand", exact=True).click()
    wait_for_words(page, f"{SPOKES + 2 + LEAVES} of")
    page.get_by_role("button", name="Hide Leaf 3", exact=True).click()
    wait_for_words(page, f"{SPOKES + 1 + LEAVES} of")
    assert "Leaf 3" not in node_names(page)
    page.get_by_role("button", name="Show 1 hidden").click()
    wait_for_words(page, f"{SPOKES + 2 + LEAVES} of")
    page.get_by_role("button", name="Collapse Spoke 0", exact=True).click()
    wait_for_words(page, f"{SPOKES + 2} of")
    assert not any(name.startswith("Leaf") for name in node_names(page))
    # What lies within reach is counted once, whatever is expanded.
    page = drawn("#/entity/Hub?limit=30")
    page.get_by_role("button", name="Choose Spoke 0", exact=True).click()
    page.get_by_role("button", name="Expand", exact=True).click()
    page.get_by_role("button", name="Collapse Spoke 0", exact=True).wait_for()
    assert re.search(r"^(49|50) of 68 nodes shown", says(page))
    page.get_by_role("button", name="Collapse Spoke 0", exact=True).click()
    page.get_by_role("button", name="Collapse Spoke 0", exact=True).wait_for(state="detached")
    assert re.search(r"^(29|30) of 68 nodes shown", says(page))


def test_it_is_filtered_by_type_layer_and_time(drawn) -> None:
    page = drawn("#/entity/Hub")
    page.get_by_text("Types and layers").click()
    nodes = page.get_by_role("group", name="Types of nodes")
    nodes.get_by_label(re.compile("^place")).uncheck()
    wait_for_words(page, "Chosen: Hub")
    assert "Spoke 2" not in node_names(page) and "Spoke 0" in node_names(page)
    nodes.get_by_label(re.compile("^place")).check()
    edges = page.get_by_role("group", name="Types of edges")
    edges.get_by_label(re.compile("^knows")).uncheck()
    edges.get_by_label(re.compile("^uses")).uncheck()
    assert node_names(page) == ["Hub", "New Port"]
    page.get_by_role("group", name="Layers").get_by_label(re.compile("^shared")).uncheck()
    assert node_names(page) == ["Hub"]
    assert page.get_by_text("Nothing joins Hub to others").is_visible()
    edges.get_by_label(re.compile("^uses")).check()
    assert len(node_names(page)) == SPOKES + 1


def test_the_slider_shows_the_past(drawn) -> None:
    page = drawn("#/entity/Hub")
    page.get_by_text("Types and layers").click()
    for type in ("knows", "uses"):
        page.get_by_role("group", name="Types of edges").get_by_label(re.compile(f"^{type}")).uncheck()
    assert node_names(page) == ["Hub", "New Port"]
    page.get_by_label("Relations that hold").select_option("then")
    slider = page.get_by_role("slider")
    assert slider.get_attribute("aria-valuetext") == "1 Jan 2021"
    assert node_names(page) == ["Hub", "New Port"]
    slider.press("ArrowLeft")
    assert slider.get_attribute("aria-valuetext") == "1 Jan 2019"
    assert node_names(page) == ["Hub", "Old Port"]
    table = page.get_by_role("region", name=re.compile("Neighbours of Hub"))
    assert "until 1 Jan 2021" in table.inner_text()
    page.get_by_label("Relations that hold").select_option("any")
    assert set(node_names(page)) == {"Hub", "Old Port", "New Port"}
    page.get_by_label("Withdrawn relations").select_option("with")
    page.locator("[data-primary]", has_text="Moon").first.wait_for()
    page.get_by_label("Relations that hold").select_option("now")
    assert node_names(page) == ["Hub", "New Port"]


def test_it_is_walked_by_keys_alone(drawn) -> None:
    page = drawn("#/entity/Hub")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('canvas.graph')"):
            break
    assert page.evaluate("document.activeElement.matches('canvas.graph')")
    directions = ("ArrowRight", "ArrowUp", "ArrowLeft", "ArrowDown")
    for key in directions:
        page.keyboard.press(key)
        if "Chosen: Hub" not in says(page):
            break
    assert "Chosen: Spoke" in says(page) or "Chosen: New Port" in says(page)
    rests(page)
    drawn_before = frames(page)
    for key in ("+", "-", "0", "Shift+ArrowLeft"):
        page.keyboard.press(key)
        drawn_before = wait_for_frames(page, drawn_before)
    count = len(node_names(page))
    page.keyboard.press("h")
    page.get_by_role("button", name="Show 1 hidden").wait_for()
    assert len(node_names(page)) < count
    assert "Chosen: Hub" in says(page)
    page.keyboard.press("e")
    page.get_by_role("status", name="Notices").locator(".notice").first.wait_for()
    page.keyboard.press("c")
    for key in directions:
        page.keyboard.press(key)
        if "Chosen: Hub" not in says(page):
            break
    chosen = re.search(r"Chosen: ([^,]+),", says(page))
    page.keyboard.press("Enter")
    page.get_by_role("heading", level=1, name=chosen.group(1)).wait_for()


def test_the_list_beside_it_has_the_same_by_keys(drawn) -> None:
    page = drawn("#/entity/Spoke 0")
    first = page.locator("[aria-label='What is drawn'] [data-primary]").first
    first.focus()
    page.keyboard.press("j")
    focused = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("h")
    page.get_by_role("button", name="Show 1 hidden").wait_for()
    assert focused not in node_names(page)
    page.locator("[aria-label='What is drawn'] [data-primary]").nth(1).focus()
    name = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("Enter")
    page.get_by_role("heading", level=1, name=name, exact=True).wait_for()


def test_the_pointer_moves_it_and_the_wheel_zooms(drawn) -> None:
    page = drawn("#/entity/New Port")
    canvas = page.locator("canvas.graph")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    before = canvas.screenshot()
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0] + 120, middle[1] + 40, steps=4)
    page.mouse.up()
    rests(page)
    moved = canvas.screenshot()
    assert moved != before
    page.mouse.down()
    page.mouse.move(*middle, steps=4)
    page.mouse.up()
    rests(page)
    assert canvas.screenshot() == before, "copied to where it was"
    canvas.focus()
    drawn_before = frames(page)
    page.mouse.wheel(0, -300)
    wait_for_frames(page, drawn_before)
    assert canvas.screenshot() not in (before, moved)


PLACE_OF = """colour => {
    const canvas = document.querySelector('canvas.graph');
    const twin = new OffscreenCanvas(canvas.width, canvas.height);
    const copy = twin.getContext('2d', {willReadFrequently: true});
    copy.drawImage(canvas, 0, 0);
    const {data} = copy.getImageData(0, 0, canvas.width, canvas.height);
    const wanted = colour.match(/\\d+/g).map(Number);
    let [x, y, found] = [0, 0, 0];
    for (let at = 0; at < data.length; at += 4) {
        if (!wanted.every((part, index) => data[at + index] === part)) continue;
        x += (at / 4) % canvas.width;
        y += Math.floor(at / 4 / canvas.width);
        found += 1;
    }
    return {x: x / found, y: y / found};
}"""
"""Where the pixels of one colour are in the picture, on average."""


def test_a_node_is_chosen_by_a_click_and_expanded_by_two(drawn) -> None:
    page = drawn("#/entity/Leaf 1")
    page.get_by_label("Within").select_option("1")
    wait_for_words(page, "2 nodes, 1 edge")
    rests(page)
    swatch = page.locator("[aria-label='What is drawn'] li", has_text="Spoke 0").locator(".swatch")
    place = page.evaluate(PLACE_OF, swatch.evaluate("each => getComputedStyle(each).backgroundColor"))
    canvas = page.locator("canvas.graph")
    canvas.click(position=place)
    wait_for_words(page, "Chosen: Spoke 0")
    canvas.dblclick(position=place)
    wait_for_words(page, "22 nodes")


def test_the_same_graph_is_the_same_picture(drawn) -> None:
    pictures = []
    for _ in range(2):
        page = drawn("#/entity/Hub")
        pictures.append(page.evaluate("document.querySelector('canvas.graph').toDataURL()"))
    assert pictures[0] == pictures[1]


def test_it_needs_no_webgl_and_follows_the_theme(opened, graph_address) -> None:
    shown = opened(graph_address, "#/")
    shown.evaluate("""() => {
        const get = HTMLCanvasElement.prototype.getContext;
        HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
            if (kind.startsWith('webgl')) throw new Error('no WebGL here');
            return get.call(this, kind, ...more);
        };
    }""")
    go(shown, "#/entity/New Port")
    rests(shown)
    corner = """() => {
        const copy = new OffscreenCanvas(4, 4).getContext('2d', {willReadFrequently: true});
        copy.drawImage(document.querySelector('canvas.graph'), 0, 0);
        return [...copy.getImageData(2, 2, 1, 1).data];
    }"""
    assert shown.evaluate(corner)[:3] == [255, 255, 255]
    shown.get_by_label("Colours").select_option("dark")
    rests(shown)
    assert max(shown.evaluate(corner)[:3]) < 60


def test_memories_are_drawn_too_where_asked_and_hostile_names_are_text(drawn) -> None:
    page = drawn("#/entity/Oddities")
    page.get_by_label("Nodes").select_option("all")
    page.get_by_role("link", name=re.compile("stand in a cupboard")).first.wait_for()
    names = node_names(page)
    assert any("cupboard" in name for name in names)
    assert SCRIPT in names
    assert any(name.startswith(LONG[:100]) and name.endswith("…") for name in names)
    assert any(RIGHT_TO_LEFT[:4] in name and "U+202E" in name for name in names)
    assert page.evaluate("window.hit") is None
    page.get_by_role("link", name=SCRIPT).first.click()
    page.get_by_role("heading", level=1, name=SCRIPT).wait_for()
    assert page.evaluate("window.hit") is None


def test_communities_are_listed_and_one_is_drawn(drawn, opened, graph_address) -> None:
    page = opened(graph_address, "#/graph")
    rows = page.get_by_role("list", name="Communities")
    rows.wait_for()
    island = rows.get_by_role("link").filter(has_text="Isle")
    island.first.click()
    page.locator("canvas.graph[data-settled=true]").wait_for()
    assert {name for name in node_names(page) if name.startswith("Isle")} == {f"Isle {n}" for n in range(6)}
    assert "beyond the limit" not in says(page)
    page.go_back()
    rows.wait_for()
    page.get_by_label("Find an entity").fill("Spoke 39")
    page.get_by_role("list", name="Entities").get_by_role("link", name="Spoke 39").click()
    page.get_by_role("heading", level=1, name="Spoke 39").wait_for()


def test_a_copy_that_cannot_be_changed_draws_it_from_a_file(page, tmp_path) -> None:
    with opened_memory(tmp_path / "store") as memory:
        memory.relate("Ada", "leads", "Billing")
        memory.relate("Billing", "uses", "Oracle")
        memory.relate("Oracle", "runs on", "Rack 9")
        export_page(memory, tmp_path / "site", project="default")
    page.goto((tmp_path / "site" / "index.html").as_uri())
    page.evaluate("() => { location.hash = '#/entity/Ada' }")
    rests(page)
    assert node_names(page) == ["Ada", "Billing", "Oracle"]
    assert "3 nodes, 2 edges" in says(page)
    page.get_by_role("button", name="Choose Oracle", exact=True).click()
    page.get_by_role("button", name="Expand", exact=True).click()
    wait_for_words(page, "4 nodes, 3 edges")
    assert page.get_by_role("button", name="Merge with another").count() == 0


def test_it_is_accessible_in_both_themes_and_fits_a_narrow_screen(drawn, axe) -> None:
    page = drawn("#/entity/Oddities")
    page.get_by_text("Types and layers").click()
    page.get_by_label("Relations that hold").select_option("then")
    for route in ("#/entity/Oddities", "#/graph"):
        go(page, route)
        for theme in ("light", "dark"):
            page.get_by_label("Colours").select_option(theme)
            assert axe() == [], (route, theme)
        assert fits(page)
