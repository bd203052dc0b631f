"""Pictures can be read in light and dark and load nothing; plots show what pages say."""

import importlib
import re
import tomllib
from xml.etree import ElementTree

import pytest

from tests import ROOT

PICTURES = sorted((ROOT / "docs" / "assets").rglob("*.svg"))
SVG = "{http://www.w3.org/2000/svg}"
LEAST_CONTRAST = 4.5  # WCAG 2.2, AA, for text


@pytest.fixture
def tables(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    return importlib.import_module("generators.tables")


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour such as #1c2733, after WCAG."""
    shares = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    lower, higher = sorted((luminance(one), luminance(other)))
    return (higher + 0.05) / (lower + 0.05)


def fills(style: str) -> dict[str, str]:
    return dict(re.findall(r"^\.?([\w]+) \{.*?fill: (#\w+)", style, re.M))


def test_pictures_have_a_title_load_nothing_and_hold_their_text():
    for picture in PICTURES:
        root = ElementTree.parse(picture).getroot()
        assert root.get("role") == "img" and root.findtext(f"{SVG}title"), picture.stem
        names = {element.tag.removeprefix(SVG) for element in root.iter()}
        assert names <= {"svg", "title", "style", "defs", "marker", "path", "rect", "circle", "text"}
        assert "url(" not in root.findtext(f"{SVG}style", "").replace("url(#", ""), picture.stem
        width, height = float(root.get("width")), float(root.get("height"))
        for element in root.iter(f"{SVG}text"):
            half = 7.4 * len(element.text or "")  # a wide letter of 13 pixels
            x, y = float(element.get("x")), float(element.get("y"))
            left = {"start": x, "middle": x - half / 2, "end": x - half}[element.get("text-anchor")]
            assert left >= 0 and left + half <= width and 0 < y < height, f"{picture.stem}: {element.text}"


def test_text_has_enough_contrast_in_both_schemes():
    style = ElementTree.parse(PICTURES[0]).getroot().findtext(f"{SVG}style", "")
    light, dark = (fills(part) for part in style.split("@media (prefers-color-scheme: dark)"))
    for colours in (light, dark):
        for behind in ("page", "box", "store", "result", "behind"):
            assert contrast(colours["text"], colours[behind]) >= LEAST_CONTRAST, behind
        assert contrast(colours["small"], colours["behind"]) >= LEAST_CONTRAST
        for series in range(5):  # a bar is no text: WCAG asks for 3
            assert contrast(colours[f"series{series}"], colours["page"]) >= 3, series


def test_a_plot_shows_the_numbers_of_its_page(tables):
    rows = tables.table((ROOT / "docs" / "results.md").read_text(encoding="utf-8"), "Conversations")
    plot = (ROOT / "docs" / "assets" / "plots" / "conversations.svg").read_text(encoding="utf-8")
    shown = re.findall(r">([\d.]+)</text>", plot)
    assert shown == [f"{float(row[key]):g}" for row in rows for key in ("@5 after", "@5 before")]


def test_pictures_of_the_page_are_shown_with_words_for_those_who_cannot_see_them():
    shown: set[str] = set()
    for page in (ROOT / "docs").rglob("*.md"):
        for words, target in re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
            assert len(words) > 20, f"{page.name}: {target}"
            shown.add((page.parent / target).resolve().as_posix())
    assert {path.as_posix() for path in (ROOT / "docs" / "pictures").glob("*.png")} <= shown
    assert {path.as_posix() for path in PICTURES} <= shown


def test_extras_that_are_for_users_are_on_the_page_of_the_installation():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    named = {
        name for row in re.findall(r"^\| (`.*?) \|", page, re.M) for name in re.findall(r"`([\w-]+)`", row)
    }
    assert named == {name for name in extras if not name.startswith("test") and name != "docs"}
