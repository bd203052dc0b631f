"""PDF files: pages, outline, heads and feet, and files that are broken, empty or too much."""

import pytest

from hydramem.ingest.documents.formats.document_text import UnreadableError
from hydramem.ingest.documents.formats.pdf import is_installed, read_pdf
from tests.ingest.documents.formats.packages import LIMIT, pdf

needs_pdf = pytest.mark.skipif(not is_installed(), reason="the extra pdf is not installed")


@pytest.mark.skipif(is_installed(), reason="the extra pdf is installed")
def test_without_the_extra_the_reason_says_what_to_install():
    with pytest.raises(UnreadableError, match=r"hydramem\[pdf\]"):
        read_pdf(pdf([["x"]]), max_bytes=LIMIT)


@needs_pdf
def test_outline_and_pages_are_headings():
    pages = [["A preface.", "1 Beginning", "Ada wrote."], ["# still her text", "END", "Over."], ["More."]]
    read = read_pdf(pdf(pages, title="Lives", outline=[(0, "Beginning"), (1, "End")]), max_bytes=LIMIT)
    assert read.text == (
        "## Page 1\n\nA preface.\n\n## Beginning\n\n### Page 1\n\nAda wrote.\n\n"
        "### Page 2\n\n\\# still her text\n\n## End\n\n### Page 2\n\nOver.\n\n### Page 3\n\nMore.\n"
    )
    assert (read.title, read.metadata) == ("Lives", {"created": "2026-05-01", "pages": 3})


@needs_pdf
def test_heads_and_feet_are_left_out_and_divided_words_joined():
    pages = [
        ["Annual Report", f"Text {word} is exam-", "ple.", f"Page {n} of 3"]
        for n, word in enumerate("abc", 1)
    ]
    text = read_pdf(pdf(pages), max_bytes=LIMIT).text
    assert "Annual" not in text
    assert "of 3" not in text
    assert text.startswith("## Page 1\n\nText a is example.\n\n## Page 2")


@needs_pdf
@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (pdf([[], []]), "a scan"),
        (b"%PDF-1.7\nno more", "broken"),
        (b"not at all", "broken"),
        (pdf([["x" * 600] * 80] * 30), "too large"),
    ],
)
def test_what_cannot_be_read_says_why(data: bytes, reason: str):
    with pytest.raises(UnreadableError, match=reason):
        read_pdf(data, max_bytes=LIMIT)


@needs_pdf
def test_time_and_memory_have_limits():
    data = pdf([["x"]])
    with pytest.raises(UnreadableError, match="gave up"):
        read_pdf(data, max_bytes=LIMIT, memory=2**24)
    with pytest.raises(UnreadableError, match="within 0 seconds"):
        read_pdf(data, max_bytes=LIMIT, seconds=0)
