"""The static copy of the page: what it holds, what it never overwrites, and that text in it stays text."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import hydramem
from hydramem.cli.main import run
from hydramem.core.errors import InvalidInputError
from hydramem.core.settings.config_loading import load_config
from hydramem.view import export_page as module
from hydramem.view.export_page import DATA, MARK, export_page
from tests.view.conftest import Axe, Page
from tests.view.lively_memory import HOSTILE, RIGHT_TO_LEFT

IN_MEMORY = {"HYDRAMEM_STORAGE_GRAPH": "memory", "HYDRAMEM_EMBEDDING_MODEL": "hash"}


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    with hydramem.connect(tmp_path / "store", config=load_config(environment=IN_MEMORY)) as opened:
        for text in (
            HOSTILE,
            RIGHT_TO_LEFT,
            "a </script><script>alert(1)</script> \u2028 b",
            "Ada likes tea.",
        ):
            opened.remember(text)
        opened.remember("The badge is blue.", private=True)
        opened.relate("Ada", "works with", "Grace")
        opened.remember("Elsewhere.", project="elsewhere")
        yield opened


def data_of(folder: Path) -> Any:
    """Return the data of an export, as the script sets it."""
    text = (folder / DATA).read_text(encoding="utf-8")
    assert text.startswith(MARK) and text.endswith(";\n")
    return json.loads(text.removeprefix(f"{MARK}window.HYDRAMEM_EXPORT = ").removesuffix(";\n"))


def test_it_holds_the_project_and_says_what_it_leaves_out(memory: hydramem.Memory, tmp_path: Path) -> None:
    done = export_page(memory, tmp_path / "site", project="default")
    data = data_of(tmp_path / "site")
    assert {row["text"] for row in data["memories"]} >= {HOSTILE, RIGHT_TO_LEFT, "Ada likes tea."}
    assert "Elsewhere." not in str(data)
    assert set(data["histories"]) == {row["id"] for row in data["memories"]}
    assert (data["page"]["read_only"], data["page"]["projects"]) == (True, ["default"])
    assert (done.memories, done.private, done.relations) == (len(data["memories"]), 1, 1)
    assert (
        any("other projects" in line for line in data["left_out"])
        and tuple(data["left_out"]) == done.left_out
    )
    assert (tmp_path / "site").stat().st_mode & 0o777 == 0o700


def test_no_text_ends_the_script(memory: hydramem.Memory, tmp_path: Path) -> None:
    export_page(memory, tmp_path / "site", project="default")
    text = (tmp_path / "site" / DATA).read_text(encoding="utf-8")
    assert "<" not in text and "\u2028" not in text
    index = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert index.index(DATA) < index.index("app.js") and "Ada" not in index


def test_what_is_too_much_is_named(
    memory: hydramem.Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_ROWS", 2)
    monkeypatch.setattr(module, "_PAGE", 1)
    done = export_page(memory, tmp_path / "site", project="default")
    assert done.memories == len(data_of(tmp_path / "site")["memories"]) == 2
    assert "only the first 2 memories" in done.left_out
    assert not any("sessions" in line for line in done.left_out)


def test_only_an_export_is_overwritten(memory: hydramem.Memory, tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    export_page(memory, site, project="default")
    (site / "CNAME").write_text("memory.example")
    memory.remember("A later one.")
    export_page(memory, site, project="default")
    assert "A later one." in str(data_of(site)) and (site / "CNAME").read_text() == "memory.example"
    for name, content in (("index.html", "mine"), (DATA, "let mine = 1"), (".git", "x")):
        other = tmp_path / f"other-{name}"
        other.mkdir()
        (other / name).write_text(content)
        with pytest.raises(InvalidInputError, match="holds other files"):
            export_page(memory, other, project="default")
        assert [each.name for each in other.iterdir()] == [name] and (other / name).read_text() == content
    with pytest.raises(InvalidInputError, match="is no folder"):
        export_page(memory, site / DATA, project="default")


@pytest.mark.costly  # a store on disk, which the command opens
def test_the_command_writes_it(
    lively: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HYDRAMEM_EMBEDDING_MODEL", "hash")
    shutil.copytree(lively, tmp_path / "store")
    words = ["--store", str(tmp_path / "store"), "--json", "view", "--export", str(tmp_path / "site")]
    assert run(words) == 0
    done = json.loads(capsys.readouterr().out)
    assert done["file"] == str(tmp_path / "site" / "index.html") and done["memories"] > 40
    assert run([*words, "--port", "1"]) == 1
    assert "leave it out with --export" in capsys.readouterr().err


def test_it_works_from_a_file(memory: hydramem.Memory, tmp_path: Path, page: Page, axe: Axe) -> None:
    export_page(memory, tmp_path / "site", project="default")
    page.goto((tmp_path / "site" / "index.html").as_uri())
    page.evaluate("() => { location.hash = '#/search?q=tea' }")
    page.get_by_text("Ada likes tea.").first.wait_for()
    for route in ("search", "memories", "timeline"):  # filters that a copy cannot answer are not there
        page.evaluate("route => { location.hash = `#/${route}` }", route)
        page.get_by_label("Kind").wait_for(state="attached")
        for label in ("As of", "About", "Layer", "Happened from"):
            assert page.get_by_label(label).count() == 0, (route, label)
    page.evaluate("() => { location.hash = '#/memories?state=expired' }")
    page.get_by_text("No memory is here with these filters.").wait_for()
    page.evaluate("() => { location.hash = '#/' }")
    page.locator("main").wait_for()
    assert page.evaluate("window.hit") is None
    assert axe() == []
