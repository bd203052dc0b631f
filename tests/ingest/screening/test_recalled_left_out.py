"""Blocks of recalled memory: what is one, what is not, and where they are left out."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.config import MemoryConfig
from hydramem.core.errors import InvalidInputError
from hydramem.ingest.documents.ingest_extracted import ExtractedChunk, ingest_extracted
from hydramem.ingest.screening.strip_recalled_blocks import strip_recalled
from tests.examples import FEW
from tests.ingest.conftest import Kit

BLOCK = '<recalled-memory data-source="hydramem">\nold <snippet>words</snippet>\n</recalled-memory>'


@pytest.mark.parametrize(
    "opening",
    [
        '<recalled-memory data-source="hydramem">',
        "<recalled-memory data-source=hydramem>",
        '<Recalled-MEMORY\n  id=1  DATA-source = "HydraMem" >',
        '<recalled-memory data-source=\\"hydramem\\">',
        '<recalled-memory title="a > b" data-source="hydramem">',
        "<recalled-memory title=' \" > ' data-source=hydramem>",
        "<recalled-memory data-source=hydramem/>",
    ],
)
def test_our_blocks_go_however_they_are_written(opening: str) -> None:
    assert strip_recalled(f"before {opening}old</recalled-Memory > after") == "before  after"
    assert strip_recalled(f"before {opening}old, and no end") == "before"


@pytest.mark.parametrize(
    "text",
    [
        "",
        '<recalled-memory data-source="other">kept</recalled-memory>',
        '<recalled-memory data-source="hydramem-notes">kept</recalled-memory>',
        '<recalled-memory-list data-source="hydramem">kept</recalled-memory-list>',
        "the tag <recalled-memory opens a block",
        "&lt;recalled-memory data-source=&quot;hydramem&quot;&gt;quoted&lt;/recalled-memory&gt;",
    ],
)
def test_everything_else_is_left_alone(text: str) -> None:
    assert strip_recalled(text) == text


PARTS = st.sampled_from(
    (
        *("<recalled-memory", "<RECALLED-memory ", " data-source=", "hydramem", '"', "'", "=", ">", "<", " "),
        *("</recalled-memory>", "\n", 'data-source="hydramem"', BLOCK, "other", "</recalled-memory", "x"),
    )
)


@FEW
@given(st.lists(PARTS, max_size=30).map("".join))
def test_stripping_leaves_no_block(text: str) -> None:
    stripped = strip_recalled(text)
    assert strip_recalled(stripped) == stripped
    assert len(stripped) <= len(text)


def test_what_stands_around_blocks_stays_and_halves_do_not_become_one() -> None:
    assert strip_recalled(f"one\n{BLOCK}\ntwo{BLOCK}three{BLOCK}") == "one\n\ntwo\nthree"
    assert strip_recalled("<recalled-memory data-source=hydramem") == ""
    for start in (
        f"<recalled-{BLOCK}memory ",
        f"<recalled-memory {BLOCK}",
        f"<{BLOCK}{BLOCK}recalled-memory ",
    ):
        once = strip_recalled(f"{start}data-source=hydramem>evil</recalled-memory>")
        assert strip_recalled(once) == once


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        "<recalled-memory",
        '<recalled-memory x="',
        "<recalled-memory x=\"'='",
        "<recalled-memory>",
        "<recalled-memory data-source=hydramem>",
        "<recalled-memory data-source=hydramem></recalled-memory",
        "data-source=",
    ],
)
def test_a_megabyte_of_anything_takes_no_time(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    started = time.process_time()
    strip_recalled(text)
    strip_recalled("<recalled-memory data-source=hydramem " + text)
    strip_recalled("<recalled-memory " + text + ">")
    assert time.process_time() - started < 3


def test_what_is_said_and_remembered_is_screened_and_documents_are_not(kit: Kit, tmp_path: Path) -> None:
    chat, page = tmp_path / "chat.jsonl", tmp_path / "page.md"
    turns = (f"{BLOCK}\nThe key is blue.", BLOCK, "Thanks.")
    chat.write_text(
        "".join(json.dumps({"session": "s", "author": "Ada", "text": text}) + "\n" for text in turns)
    )
    page.write_text(f"A block looks so: {BLOCK}")
    kit.ingest(chat, page)
    said = [(row.position, row.text) for row in kit.chunks() if row.kind == "turn"]
    assert said == [(0, "The key is blue."), (2, "Thanks.")]
    assert [row.text for row in kit.chunks() if row.kind == "passage"] == [page.read_text()]
    kept = kit.remember(f"{BLOCK} The lock is red.")
    assert kit.graph.chunks([kept.id])[0].text == "The lock is red."
    with pytest.raises(InvalidInputError, match="text: is only what was recalled"):
        kit.remember(BLOCK)


def test_what_an_agent_captured_is_screened(kit: Kit) -> None:
    chunks = [ExtractedChunk(text=f"Ada leads billing. {BLOCK}", kind="fact"), ExtractedChunk(text=BLOCK)]
    ingest_extracted("chat", chunks, target=kit.target(), settings=kit.settings, screening=MemoryConfig())
    assert sorted(kit.texts()) == sorted(["Ada leads billing.", BLOCK])
    with pytest.raises(InvalidInputError, match=r"chunks\[0\].text: is only what was recalled"):
        note = ExtractedChunk(text=BLOCK, kind="note")
        ingest_extracted("x", [note], target=kit.target(), settings=kit.settings, screening=MemoryConfig())
