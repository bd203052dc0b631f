"""Pictures of the page: those of the documentation, which the page still looks like.

`PAGE_PICTURES=write` takes them anew, into docs/pictures. What differs between two runs (times, the
folder, how long a search took) is replaced by fixed words first. Fonts differ between machines, so that a
share of the pixels may differ; a view without its style, or an empty one, differs in more.
"""

import io
import os
from pathlib import Path

import pytest

import hydramem
from tests.view.conftest import Opened, served, settled

PICTURES = Path(__file__).parent.parent.parent / "docs" / "pictures"
WRITES = os.environ.get("PAGE_PICTURES") == "write"
MOST_BYTES = 200_000
MOST_DIFFERENT = 0.015
"""Share of the pixels that may differ; an empty view differs in 0.03."""

_FIXED = """() => {
  for (const each of document.querySelectorAll('main time')) each.textContent = '23 Nov 2026, 09:30';
  for (const each of document.querySelectorAll('main [role=status], main dd, main .marks')) {
    for (const node of [each, ...each.querySelectorAll('*')].flatMap((one) => [...one.childNodes])) {
      if (node.nodeType === Node.TEXT_NODE) {
        node.data = node.data
          .replace(/ in \\d+ ms/, ' in 12 ms')
          .replace(/\\/tmp\\/\\S+\\/store/, '~/.hydramem/memory')
          .replace(/\\/tmp\\/\\S+\\//, 'documents/');
      }
    }
  }
  document.activeElement?.blur();
}"""


@pytest.fixture
def shown_memory(own_memory: hydramem.Memory) -> hydramem.Memory:
    """The lively memory without the text that only a test wants to see."""
    rows = own_memory.memories(limit=100)
    own_memory.forget([row.id for row in rows if row.text.startswith(("<script", "Zweckverband"))])
    return own_memory


def test_the_page_looks_like_its_pictures(opened: Opened, shown_memory: hydramem.Memory) -> None:
    bees = next(row.id for row in shown_memory.memories(limit=100) if "twelve bees" in row.text)
    with served(shown_memory) as address:
        for name, route, words in (
            ("overview", "#/", "curate"),
            ("search", "#/search?q=How much does the crane lift?", "The crane lifts 60 tons."),
            ("memory", f"#/memory/{bees}", "counted them"),
            ("graph", "#/entity/Ledger", "Neighbours of Ledger"),
            ("sessions", "#/sessions?session=standup", "Priya Raman leads Ferrywatch."),
        ):
            page = opened(address, route)
            page.get_by_text(words).first.wait_for()
            if name == "graph":
                page.locator("canvas.graph[data-settled=true]").wait_for()
                page.locator("canvas.graph").evaluate("canvas => canvas.scrollIntoView({ block: 'center' })")
            settled(page)
            page.evaluate(_FIXED)
            picture = page.screenshot(animations="disabled", caret="hide")
            file = PICTURES / f"{name}.png"
            if WRITES:
                file.parent.mkdir(exist_ok=True)
                file.write_bytes(picture)
            assert len(file.read_bytes()) <= MOST_BYTES, name
            assert _different(picture, file.read_bytes()) <= MOST_DIFFERENT, name


def _different(one: bytes, other: bytes) -> float:
    """Return the share of pixels that differ by more than a shade."""
    import numpy as np
    from PIL import Image

    arrays = [np.asarray(Image.open(io.BytesIO(each)).convert("L"), dtype=np.int16) for each in (one, other)]
    assert arrays[0].shape == arrays[1].shape
    return float((np.abs(arrays[0] - arrays[1]) > 64).mean())


def test_an_empty_view_does_not_look_like_a_picture(opened: Opened, address: str) -> None:
    page = opened(address, "#/nowhere")
    assert _different(page.screenshot(), (PICTURES / "search.png").read_bytes()) > MOST_DIFFERENT
