"""Files made to harm, and damaged ones: each is unreadable for a reason, within limits of time and memory."""

import io
import struct
import zipfile
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.ingest.documents.formats.document_text import UnreadableError
from hydramem.ingest.documents.formats.read_format import FORMATS, read_format
from tests.examples import FEW
from tests.ingest.documents.formats.packages import (
    LIMIT,
    archive,
    docx,
    epub,
    package,
    paragraph,
    pptx,
    relationships,
    rows,
    shape,
    slide,
    xlsx,
)

WHOLE = {
    "docx": docx(paragraph("Ada wrote.", style="berschrift1"), title="Plan"),
    "pptx": pptx([slide(shape("Ada wrote."))], notes={1: shape("Notes")}),
    "xlsx": xlsx({"S": rows(["Ada", "wrote"])}, shared="<si><t>x</t></si>"),
    "epub": epub({"a.xhtml": "<p>Ada wrote.</p>"}, contents="<a href='text/a.xhtml'>A</a>"),
    "eml": b"From: a@b.c\nSubject: =?utf-8?q?Ada?=\nContent-Type: text/plain; charset=utf-8\n\nAda wrote.\n",
}
BOMB = "<!DOCTYPE d [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'>]>"


def why(data: bytes, format: str) -> str:
    with pytest.raises(UnreadableError) as raised:
        read_format(data, format=format, max_bytes=LIMIT)
    return str(raised.value)


def test_entities_deep_nesting_and_very_many_files_are_refused():
    outside = "<!DOCTYPE d [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>"
    assert "entities" in why(docx(paragraph("&b;"), prefix=BOMB), "docx")
    assert "entities" in why(docx(paragraph("&a;"), prefix=outside), "docx")
    assert "deeply" in why(docx("<w:sdt>" * 100_000 + "</w:sdt>" * 100_000), "docx")
    assert "50000 files" in why((b"PK\x01\x02" + b"\0" * 42) * 50_001, "xlsx")
    assert why(zlib.compress(b"\0" * 10 * LIMIT), "xlsx").startswith("broken")


@pytest.mark.parametrize("format", ["docx", "pptx", "xlsx"])
def test_a_part_that_unpacks_to_very_much_is_refused(format: str):
    main = "ppt/presentation.xml" if format == "pptx" else "xl/workbook.xml"
    data = package(main, {main: "<x>" + " " * 5 * LIMIT + "</x>"})
    assert len(data) < LIMIT
    assert "unpacks to more than 4 MB" in why(data, format)


def test_a_size_that_an_archive_states_wrongly_is_not_believed():
    data = bytearray(package("word/document.xml", {"word/document.xml": "<x>" + " " * 5 * LIMIT + "</x>"}))
    for mark, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.rfind(mark)
        data[at + place : at + place + 4] = struct.pack("<I", 10)
    assert why(bytes(data), "docx").startswith(("broken", "too large"))


def test_names_lead_nowhere_but_into_the_archive(tmp_path: Path):
    (tmp_path / "secret.xml").write_text("<w:document><w:p><w:t>secret</w:t></w:p></w:document>")
    for target in (f"{tmp_path}/secret.xml", "../" * 20 + str(tmp_path)[1:] + "/secret.xml"):
        data = archive({"_rels/.rels": relationships(("officeDocument", target))})
        assert "is not in it" in why(data, "docx")


def test_encrypted_files_are_named():
    assert why(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 512, "docx").startswith("encrypted")
    data = bytearray(WHOLE["xlsx"])
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(mark)
        while at >= 0:
            data[at + place] |= 1
            at = data.find(mark, at + 4)
    assert why(bytes(data), "xlsx") == "encrypted"


def test_macros_are_not_read():
    parts = {"word/vbaProject.bin": "Sub AutoOpen()"}
    read = read_format(docx(paragraph("Seen."), parts=parts), format=FORMATS[".docm"], max_bytes=LIMIT)
    assert read.text == "Seen.\n"


def test_a_page_of_unclosed_elements_is_read():
    deep = epub({"a.xhtml": "<div>" * 100_000 + "deep"})
    assert read_format(deep, format="epub", max_bytes=LIMIT).text == "deep\n"


@FEW
@given(data=st.data(), format=st.sampled_from(sorted(WHOLE)))
def test_a_damaged_file_is_read_or_says_why(data: st.DataObject, format: str):
    damaged = bytearray(WHOLE[format])
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    whole = data.draw(st.integers(0, len(damaged)))
    for each in (bytes(damaged), bytes(damaged[:whole])):
        try:
            read_format(each, format=format, max_bytes=LIMIT)
        except UnreadableError as error:
            assert str(error)


@FEW
@given(data=st.data(), format=st.sampled_from(["docx", "pptx", "xlsx", "epub"]))
def test_damaged_parts_are_read_or_say_why(data: st.DataObject, format: str):
    """Damage inside the parts: checksums do not find it first."""
    parts = zipfile.ZipFile(io.BytesIO(WHOLE[format]))
    changed = {name: parts.read(name) for name in parts.namelist()}
    name = data.draw(st.sampled_from(sorted(changed)))
    text = bytearray(changed[name])
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text) - 1))
        text[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
        if not text:
            break
    try:
        read_format(archive({**changed, name: bytes(text)}), format=format, max_bytes=LIMIT)
    except UnreadableError as error:
        assert str(error)
