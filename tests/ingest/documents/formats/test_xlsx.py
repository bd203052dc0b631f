"""Workbooks: sheets, tables between empty rows, shared texts, numbers and dates."""

import pytest

from hydramem.ingest.documents.formats.document_text import UnreadableError
from hydramem.ingest.documents.formats.xlsx import read_xlsx
from tests.ingest.documents.formats.packages import LIMIT, rows, xlsx


def text_of(data: bytes) -> str:
    return read_xlsx(data, max_bytes=LIMIT).text


def test_sheets_are_headings_rows_are_tables_and_hidden_sheets_are_left_out():
    sheets = {
        "Stock": rows(["Item", "Count"], ["Bolt", "4"]),
        "Unseen": rows(["b"]),
        "Notes": rows(["Text."]),
    }
    text = text_of(xlsx(sheets, states={"Unseen": "veryHidden"}))
    assert text == "## Stock\n\n| Item | Count |\n| --- | --- |\n| Bolt | 4 |\n\n## Notes\n\nText.\n"


def test_empty_rows_divide_tables_and_single_cells_above_are_text():
    sheet = (
        '<row r="1"><c r="A1" t="inlineStr"><is><t>Sales</t></is></c></row>'
        '<row r="2"><c r="B2"><v>1</v></c><c r="XFD2"><v>2</v></c></row>'
        '<row r="1048576"><c r="A1048576"><v>3</v></c><c r="B1048576"><v>4</v></c></row>'
    )
    assert text_of(xlsx({"S": sheet})) == (
        "## S\n\nSales\n\n| 1 | 2 |\n| --- | --- |\n\n| 3 | 4 |\n| --- | --- |\n"
    )


def test_values_are_shown_as_they_are_meant():
    cells = (
        '<c t="s"><v>0</v></c><c t="b"><v>1</v></c><c s="1"><v>46143</v></c><c s="2"><v>46143.375</v></c>'
        '<c s="3"><v>7</v></c><c><v>0.30000000000000004</v></c><c><f>1+1</f><v>2</v></c>'
        '<c t="e"><v>#N/A</v></c>'
        '<c t="s"><v>99</v></c>'
    )
    shared = "<si><r><t>Ada </t></r><r><t>L.</t></r><rPh><t>no</t></rPh></si>"
    assert "| Ada L. | TRUE | 2026-05-01 | 2026-05-01 09:00 | 7 | 0.3 | 2 | #N/A |" in text_of(
        xlsx({"S": f"<row>{cells}</row>"}, shared=shared)
    )


@pytest.mark.parametrize("number", ["1e999", "nan", "-5", "99999999999", "x"])
def test_a_date_that_is_none_is_shown_as_it_is_stored(number: str):
    assert text_of(xlsx({"S": f'<row><c s="1"><v>{number}</v></c></row>'}))


def test_a_shared_text_in_very_many_cells_is_over_the_limit():
    shared = f"<si><t>{'x' * 30_000}</t></si>"
    book = xlsx({"S": "<row>" + '<c t="s"><v>0</v></c>' * 1000 + "</row>"}, shared=shared)
    with pytest.raises(UnreadableError, match="too large: its text"):
        text_of(book)


def test_columns_that_each_row_leaves_empty_count_too():
    def column(number: int) -> str:
        letters = ""
        while number:
            number, rest = divmod(number - 1, 26)
            letters = chr(65 + rest) + letters
        return letters

    diagonal = "".join(
        f'<row r="{n}"><c r="A{n}"><v>1</v></c><c r="{column(n + 1)}{n}"><v>1</v></c></row>'
        for n in range(1, 2000)
    )
    with pytest.raises(UnreadableError, match="too large: its text"):
        text_of(xlsx({"S": diagonal}))
