"""Presentations: slides with their numbers, text, tables and notes."""

from hydramem.ingest.documents.formats.pptx import read_pptx
from tests.ingest.documents.formats.packages import LIMIT, pptx, shape, slide


def test_slides_are_headings_with_their_number_and_title():
    table = (
        "<p:graphicFrame><a:tbl><a:tr>"
        + "".join(f"<a:tc><a:p><a:r><a:t>{word}</a:t></a:r></a:p></a:tc>" for word in ("Item", "Count"))
        + "</a:tr></a:tbl></p:graphicFrame>"
    )
    data = pptx(
        [
            slide(shape("Body first") + shape("Our", "plan", role="ctrTitle") + shape("7", role="sldNum")),
            slide(shape("Secret"), attributes='show="0"'),
            slide(f"<p:grpSp>{shape('one', 'two')}</p:grpSp>{table}"),
        ],
        notes={1: shape("Say hello.") + shape("1", role="sldNum")},
    )
    assert read_pptx(data, max_bytes=LIMIT).text == (
        "## Slide 1: Our plan\n\nBody first\n\nNotes: Say hello.\n\n"
        "## Slide 3\n\n- one\n- two\n\n| Item | Count |\n| --- | --- |\n"
    )
