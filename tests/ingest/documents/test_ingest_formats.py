"""A folder of documents of every format: what is stored of each, and what is skipped for which reason."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from hydramem.ingest.documents.formats.pdf import is_installed
from hydramem.storage.store import Listing
from tests.ingest.conftest import PROJECT, Kit
from tests.ingest.documents.formats.packages import docx, epub, paragraph, pdf, pptx, rows, shape, slide, xlsx

MAIL = b"From: Ada <a@b.c>\nSubject: Berlin\nDate: Fri, 1 May 2026 11:00:00 +0200\n\nAda works for Lantern.\n"


def test_a_folder_is_taken_whole_and_what_cannot_be_read_is_named(kit: Kit, tmp_path: Path) -> None:
    whole = docx(paragraph("Team", style="berschrift1") + paragraph("Priya Raman leads Lantern."))
    for name, data in {
        "plan.docx": whole,
        "~$plan.docx": b"Ada",
        "talk.PPTX": pptx([slide(shape("Goals", role="title") + shape("Ship it."))]),
        "stock.xlsm": xlsx({"Stock": rows(["Item", "Count"], ["Bolt", "4"])}),
        "book.epub": epub({"a.xhtml": "<h1>Grace</h1><p>She compiled.</p>"}),
        "letter.eml": MAIL,
        "broken.docx": whole[:200],
        "old.xlsx": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 512,
        "page.md": b"# Page\n\nPlain.\n",
    }.items():
        (tmp_path / name).write_bytes(data)
    done = kit.ingest(tmp_path)
    assert {Path(each.source).name: each.reason.partition(":")[0] for each in done.skipped} == {
        "broken.docx": "broken",
        "old.xlsx": "encrypted, or in the binary format of old Office programs",
    }
    chunks = {Path(row.source).name: row for row in kit.chunks()}
    assert {name: (row.source_type, row.heading_path) for name, row in chunks.items()} == {
        "plan.docx": ("docx", ("Team",)),
        "talk.PPTX": ("pptx", ("Slide 1: Goals",)),
        "stock.xlsm": ("xlsx", ("Stock",)),
        "book.epub": ("epub", ("Grace",)),
        "letter.eml": ("eml", ("Berlin",)),
        "page.md": ("markdown", ("Page",)),
    }
    assert chunks["letter.eml"].happened_at == datetime(2026, 5, 1, 9, tzinfo=UTC)
    assert {("Priya Raman", "leads", "Lantern"), ("Ada", "works_for", "Lantern")} <= kit.triples()
    assert kit.ingest(tmp_path).unchanged == 6


def test_a_document_that_breaks_later_keeps_what_is_stored(kit: Kit, tmp_path: Path) -> None:
    path = tmp_path / "plan.docx"
    path.write_bytes(docx(paragraph("Ada wrote.")))
    kit.ingest(path)
    path.write_bytes(path.read_bytes()[:300])
    assert [each.reason.partition(":")[0] for each in kit.ingest(path).skipped] == ["broken"]
    assert kit.texts() == ["Ada wrote."]


@pytest.mark.skipif(not is_installed(), reason="the extra pdf is not installed")
def test_pages_and_slides_are_no_entities(kit: Kit, tmp_path: Path) -> None:
    pages = [["Priya Raman leads Lantern."], ["Jonas Hale works for Lantern."]]
    (tmp_path / "team.pdf").write_bytes(pdf(pages, title="Team", outline=[(0, "Leaders"), (1, "Staff")]))
    (tmp_path / "talk.pptx").write_bytes(
        pptx([slide(shape("Goals of May", role="title") + shape("Ship it."))])
    )
    (tmp_path / "book.xlsx").write_bytes(xlsx({"Sheet1": rows(["a"])}))
    kit.ingest(tmp_path)
    assert {("Priya Raman", "leads", "Lantern"), ("Jonas Hale", "works_for", "Lantern")} <= kit.triples()
    names = {row.name for row in kit.graph.list_entities(PROJECT, Listing(limit=100))}
    assert "Goals of May" in names
    assert not [name for name in names if name.startswith(("Page", "Slide", "Sheet"))]
