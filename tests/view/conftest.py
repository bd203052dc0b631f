"""The page in a real browser, on a real store: who tests it takes `page` and a server from here.

Fixtures:
    lively: folder of a store with something for every view (`lively_memory.fill`); shared, so only read it.
    address: the page of that store, as `hydramem view` prints it, in a server that all tests share.
    own: a copy of the store, for a test that changes something: `own.open("#/")`, and `own.memory` behind it.
    opened: `opened(address, "#/search?q=tea")` opens a route in `page` and waits until all of it is shown.
    axe: `axe()` returns the violations that axe-core finds in `page`, as short lines.

`page` is one a module; after each test it forgets what it stored, and has its size, media and pointer again.

`settled(page)` waits until the page has shown all that a key or a click brings about; what the store holds
is looked at after it, or after the notice that tells of the change. `fits(page)` checks the width.

A test that takes `page` fails where the page logs an error, breaks its policy, or asks another origin; a test
that expects an error says so: `expected_errors.append("401")`.
"""

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

import hydramem
from hydramem.core.settings.config_loading import load_config
from hydramem.view.page_server import PageServer
from tests.view.lively_memory import fill

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Locator, LocatorAssertions, Page, Request, Route
else:  # Playwright may not be installed
    Browser = ConsoleMessage = Locator = LocatorAssertions = Page = Request = Route = object

Opened = Callable[[str, str], Page]
Axe = Callable[[], list[str]]

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
AXE = Path(__file__).parent.parent.parent / "web" / "node_modules" / "axe-core" / "axe.min.js"
AXE_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
SETTINGS = {"HYDRAMEM_EMBEDDING_MODEL": "hash"}
"""Settings of the stores, as variables."""

SETTLED = """async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const until = performance.now() + 30_000;
  for (let still = 0; still < 3; ) {
    if (performance.now() > until) throw new Error('the page does not come to rest');
    await frame();
    still = document.documentElement.dataset.busy === 'true' ? 0 : still + 1;
  }
}"""
"""Frames, since a view that has an answer shows it, measures it and may ask more."""

GO = """route => new Promise((done) => {
  addEventListener('hashchange', () => done(), { once: true });
  const before = location.hash;
  location.hash = route;
  if (location.hash === before) done();
})"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of the page in a browser, and skip them where there is none."""
    own = [item for item in items if item.path.is_relative_to(Path(__file__).parent)]
    needs = [item for item in own if "page" in getattr(item, "fixturenames", ())]
    missing = _missing()
    for item in needs:
        item.add_marker("costly")  # each drives a browser
        if missing:
            item.add_marker(pytest.mark.skip(reason=f"tests of the page need {missing}"))


def _missing() -> str | None:
    try:
        import playwright.sync_api  # noqa: F401
        import pytest_playwright  # noqa: F401
    except ImportError:
        return "the extra `test-view`"
    return None if Path(CHROMIUM).exists() else CHROMIUM


@contextmanager
def running(server: PageServer) -> Iterator[str]:
    """Run a server of the page in a thread; yield its address."""
    ready = threading.Event()
    thread = threading.Thread(target=server.serve, args=(lambda address: ready.set(),), name="page")
    thread.start()
    try:
        assert ready.wait(20)
        yield server.address
    finally:
        server.stop()
        thread.join(20)
    assert not thread.is_alive()


@contextmanager
def served(memory: hydramem.Memory) -> Iterator[str]:
    """Serve the page of a memory; yield its address."""
    with running(PageServer(memory, project="default")) as address:
        yield address


def opened_memory(folder: Path) -> hydramem.Memory:
    """Open a store with the settings of these tests."""
    return hydramem.connect(folder, config=load_config(environment=SETTINGS))


@pytest.fixture(scope="session")
def lively(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lively")
    with opened_memory(folder / "store") as memory:
        fill(memory, folder / "documents")
    return folder / "store"


@pytest.fixture(scope="session")
def address(lively: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("shared") / "store"
    shutil.copytree(lively, folder)
    with opened_memory(folder) as memory, served(memory) as at:
        yield at


@pytest.fixture
def own_memory(lively: Path, tmp_path: Path) -> Iterator[hydramem.Memory]:
    shutil.copytree(lively, tmp_path / "store")
    with opened_memory(tmp_path / "store") as memory:
        yield memory


@pytest.fixture
def own_address(own_memory: hydramem.Memory) -> Iterator[str]:
    with served(own_memory) as at:
        yield at


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    return {"executable_path": CHROMIUM, "args": ["--disable-gpu"]}


@pytest.fixture(scope="session")
def browser_context_args() -> dict[str, Any]:
    return {
        "viewport": {"width": 1200, "height": 800},
        "reduced_motion": "reduce",
        "locale": "en-GB",
        "timezone_id": "UTC",
        "color_scheme": "light",
    }


@pytest.fixture(scope="module")
def module_page(browser: Browser, browser_context_args: dict[str, Any]) -> Iterator[Page]:
    context = browser.new_context(**browser_context_args)
    yield context.new_page()
    context.close()


@pytest.fixture
def page(module_page: Page, browser_context_args: dict[str, Any]) -> Iterator[Page]:
    yield module_page
    module_page.unroute_all(behavior="ignoreErrors")
    if module_page.url != "about:blank":
        module_page.evaluate("() => { localStorage.clear(); sessionStorage.clear() }")
        module_page.goto("about:blank")
    module_page.mouse.move(0, 0)
    module_page.emulate_media(color_scheme=browser_context_args["color_scheme"])
    module_page.set_viewport_size(browser_context_args["viewport"])


@pytest.fixture
def expected_errors() -> list[str]:
    """Parts of errors that a test expects on the console."""
    return []


@pytest.fixture(autouse=True)
def nothing_wrong_in_page(request: pytest.FixtureRequest, expected_errors: list[str]) -> Iterator[None]:
    """Fail a test whose page logs an error, breaks its policy, or sends a request to another origin."""
    if "page" not in request.fixturenames:
        yield
        return
    page: Page = request.getfixturevalue("page")
    page.set_default_timeout(20_000)
    wrong: list[str] = []
    asked: list[str] = []

    def logged(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            wrong.append(f"{message.type}: {message.text}")

    def sent(sending: Request) -> None:
        asked.append(sending.url)

    def failed(error: object) -> None:
        wrong.append(f"page: {error}")

    listeners = {"console": logged, "pageerror": failed, "request": sent}
    for event, listener in listeners.items():
        page.on(event, listener)
    yield
    for event, listener in listeners.items():
        page.remove_listener(event, listener)
    origin = urlsplit(page.url)[:2]
    foreign = [each for each in asked if not _is_own(each, origin)]
    unexpected = [each for each in wrong if not any(part in each for part in expected_errors)]
    assert (unexpected, foreign) == ([], [])


def _is_own(url: str, origin: tuple[str, str]) -> bool:
    return urlsplit(url)[:2] == origin or urlsplit(url).scheme == "data"


def settled(page: Page) -> Page:
    """Wait until nothing is under way in the page, and all that it brought is shown."""
    page.evaluate(SETTLED)
    return page


def go(page: Page, route: str) -> Page:
    """Show another route, and wait until all of it is shown."""
    page.evaluate(GO, route)
    return settled(page)


def fits(page: Page, width: int = 320) -> bool:
    """Make the page so many pixels narrow, and return whether it needs no scrolling sideways."""
    page.set_viewport_size({"width": width, "height": 700})
    settled(page)
    return bool(page.evaluate("document.documentElement.scrollWidth") <= width == page.evaluate("innerWidth"))


@pytest.fixture
def opened(page: Page) -> Opened:
    """Open a route of the page and wait until all of it is shown."""

    def open_route(address: str, route: str = "#/") -> Page:
        page.goto("about:blank")
        page.goto(address)
        page.locator("main").wait_for()
        return go(page, route)

    return open_route


@dataclass(frozen=True, slots=True)
class OwnPage:
    """A memory of a test's own, and `open(route)`, which opens a route of its page."""

    memory: hydramem.Memory
    open: Callable[[str], Page]


@pytest.fixture
def own(opened: Opened, own_address: str, own_memory: hydramem.Memory) -> OwnPage:
    return OwnPage(own_memory, lambda route: opened(own_address, route))


@pytest.fixture
def axe(page: Page) -> Callable[[], list[str]]:
    """Return what axe-core finds in the page, by the rules of WCAG 2.0 A to 2.2 AA."""
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: `npm ci` in web/")
    source = AXE.read_text(encoding="utf-8")

    def violations() -> list[str]:
        page.evaluate(source)
        rules = {"type": "tag", "values": AXE_RULES}
        options = {"runOnly": rules, "resultTypes": ["violations"], "preload": False}
        found = page.evaluate("options => axe.run(document, options)", options)
        return [
            f"{each['id']}: {node['target'][0]}: {node['failureSummary']}"
            for each in found["violations"]
            for node in each["nodes"]
        ]

    return violations
