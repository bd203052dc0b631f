"""The site builds without a warning, loads nothing from another host, and can be searched from a folder."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests import ROOT

CHROMIUM = Path("/usr/bin/chromium")
# What a browser loads by itself; a link (`a`) is followed by a person.
LOADED = {
    **dict.fromkeys(("script", "iframe", "embed"), ("src",)),
    **dict.fromkeys(("img", "source", "audio", "video"), ("src", "srcset", "poster")),
    **dict.fromkeys(("use", "image", "link"), ("href", "xlink:href")),
    "object": ("data",),
    "form": ("action",),
}
ELSEWHERE = re.compile(r"^\s*(?:https?:)?//", re.IGNORECASE)


def build(builder: str, folder: Path) -> Path:
    """Build the site with a builder in a copy of what it reads; return the folder of the site."""
    if importlib.util.find_spec(builder) is None:
        pytest.skip(f"{builder} is not installed: pip install -r constraints-docs.txt")
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("mkdocs.yml", "CHANGELOG.md", "SECURITY.md"):
        shutil.copy(ROOT / file, folder / file)
    command = [sys.executable, "-m", builder, "build", *(["--strict"] if builder == "mkdocs" else [])]
    told = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=240)
    assert told.returncode == 0, told.stdout + told.stderr
    return folder / "site"


BUILDERS = ["mkdocs", *(["zensical"] if os.environ.get("HYDRAMEM_TEST_FAULTS") == "full" else [])]


@pytest.fixture(scope="session", params=BUILDERS)
def site(request, tmp_path_factory):
    """The site as the builder of today writes it, and in the long run as its successor does, too."""
    return build(request.param, tmp_path_factory.mktemp(request.param))


class Page(HTMLParser):
    """What an HTML page loads, and which classes it has."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.classes: set[str] = set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        self.classes |= set(given.get("class", "").split())
        if tag != "link" or given.get("rel") not in ("canonical", "next", "prev"):
            self.loaded += [given[key] for key in LOADED.get(tag, ()) if key in given]


def html_files(site: Path) -> Iterator[tuple[Path, Page]]:
    for file in sorted(site.rglob("*.html")):
        yield file, Page(file)


def test_nothing_is_loaded_from_another_host(site):
    pages = dict(html_files(site))
    assert len(pages) > 40
    for file, page in pages.items():
        assert [one for one in page.loaded if ELSEWHERE.match(one)] == [], file.name
        # The theme fetches a library for these two from a public host where a page has one.
        assert not page.classes & {"mermaid", "arithmatex"}, file.name
    for file in (*site.rglob("*.css"), *site.rglob("*.svg")):
        text = file.read_text(encoding="utf-8")
        assert re.findall(r"(?:url\(|@import)\s*[\"']?\s*(?:https?:)?//[^)\"']*", text) == [], file.name


def test_every_page_is_built_and_scripts_are_left_out(site):
    sources = [path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")]
    assert [one for one in sources if not (site / one).with_suffix(".html").exists()] == []
    assert [file.name for suffix in ("py", "md") for file in site.rglob(f"*.{suffix}")] == []


@pytest.fixture(scope="module")
def chromium():
    sync_api = pytest.importorskip("playwright.sync_api", reason="the site is opened with Playwright")
    if not CHROMIUM.exists():
        pytest.skip("there is no /usr/bin/chromium: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM)
        yield opened
        opened.close()


def test_the_site_can_be_searched_from_a_folder(site, chromium):
    asked: list[str] = []
    errors: list[str] = []
    context = chromium.new_context(offline=True)
    page = context.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((site / "index.html").as_uri())
    page.keyboard.press("/")
    page.keyboard.type("quarantine", delay=20)
    page.get_by_text(re.compile(r"^[1-9]\d* (matching documents|results)$")).wait_for(timeout=30_000)
    context.close()
    assert errors == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:", "about:"))] == []
