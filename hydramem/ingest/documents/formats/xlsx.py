"""Reads a workbook: a heading for each sheet, its rows as tables, dates as dates, formulas by their value.

Source: ECMA-376, part 1, 18 (SpreadsheetML); 18.8.30 for the number formats that are dates.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from xml.etree.ElementTree import Element

from hydramem.ingest.documents.formats.document_text import DocumentText, MarkdownText, one_line
from hydramem.ingest.documents.formats.office_package import OfficePackage
from hydramem.ingest.documents.formats.xml_elements import child, descendants, whole_number

_DATE_FORMATS = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
_NO_FORMAT = re.compile(r'"[^"]{0,255}"|\[[^\]]{0,255}\]|\\.|_.|\*.')
_DATE_LETTERS = re.compile(r"[ymdhs]", re.IGNORECASE)
_COLUMN = re.compile(r"[A-Z]{1,3}")
_DAY = 86_400


@dataclass(frozen=True, slots=True)
class _Workbook:
    """What the cells of all sheets refer to: shared texts, styles that show dates, and the first day."""

    texts: Sequence[str]
    date_styles: frozenset[int]
    first_day: datetime


def read_xlsx(data: bytes, *, max_bytes: int) -> DocumentText:
    """Return a workbook as Markdown; hidden sheets are left out, and empty rows divide tables.

    Raises:
        UnreadableError: It is broken, encrypted or over a limit.
    """
    package = OfficePackage(data, max_bytes=max_bytes)
    targets = {each.id: each.target for each in package.relationships(package.main)}
    main = package.root(package.main)
    since_1904 = child(main, "workbookPr")
    is_1904 = since_1904 is not None and since_1904.get("date1904", "0") in ("1", "true")
    workbook = _Workbook(
        texts=_shared_texts(package),
        date_styles=_date_styles(package),
        # The serial numbers count a 29 February 1900 that was not: right from March 1900 on.
        first_day=datetime(1904, 1, 1) if is_1904 else datetime(1899, 12, 30),
    )
    text = MarkdownText(max_bytes)
    for sheet in main.iterfind("sheets/sheet"):
        target = targets.get(sheet.get("r:id", ""), "")
        # A chart that fills a sheet has no cells.
        if sheet.get("state", "visible") == "visible" and "worksheets/" in target:
            text.heading(2, sheet.get("name", ""))
            _add_sheet(package.elements(target, "row"), workbook, text)
    title, metadata = package.properties()
    return DocumentText(title=title, text=text.text(), metadata=metadata)


def _add_sheet(rows: Iterator[Element], workbook: _Workbook, text: MarkdownText) -> None:
    block: list[Mapping[int, str]] = []
    size, last = 0, 0
    for row in rows:
        number = whole_number(row.get("r", "")) or last + 1
        cells = _cells(row, workbook)
        if block and (not cells or number > last + 1):
            _add_table(block, text)
            block, size = [], 0
        if cells:
            block.append(cells)
            size += sum(map(len, cells.values())) + len(cells)
            text.count(size)  # before it is kept: a text that is shared stands in any number of cells
        last = number
    _add_table(block, text)


def _add_table(block: Sequence[Mapping[int, str]], text: MarkdownText) -> None:
    """Add rows that follow each other, only the columns that they use; single cells above are text."""
    above = 0
    while above < len(block) and len(block[above]) == 1:
        above += 1
    for row in block[:above]:
        text.paragraph(next(iter(row.values())))
    rest = block[above:]
    columns = sorted({column for row in rest for column in row})
    text.count(len(rest) * len(columns) * 3)  # columns that each row leaves empty cost as well
    text.table([[row.get(column, "") for column in columns] for row in rest])


def _cells(row: Element, workbook: _Workbook) -> dict[int, str]:
    cells: dict[int, str] = {}
    column = 0
    for cell in row.iterfind("c"):
        match = _COLUMN.match(cell.get("r", ""))
        column = _number(match.group()) if match else column + 1
        value = _value(cell, workbook)
        if value:
            cells[column] = value
    return cells


def _number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def _value(cell: Element, workbook: _Workbook) -> str:
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return one_line(_words(cell))
    stored = cell.findtext("v") or ""
    if kind == "s":
        place = whole_number(stored)
        return "" if place is None or place >= len(workbook.texts) else workbook.texts[place]
    if kind == "b":
        return "TRUE" if stored == "1" else "FALSE"
    if kind == "n" and stored:
        is_date = whole_number(cell.get("s", "0")) in workbook.date_styles
        return _shown_number(stored, workbook.first_day if is_date else None)
    return one_line(stored)


def _shown_number(stored: str, first_day: datetime | None) -> str:
    """Write a number with the 15 digits that are exact, or as a date where its format is one."""
    try:
        number = float(stored)
    except ValueError:
        return stored
    if first_day is None:
        return f"{number:.15g}" if not stored.lstrip("-").isdecimal() else stored
    try:
        moment = first_day + timedelta(seconds=round(number * _DAY))
    except (OverflowError, ValueError):
        return stored
    if 0 <= number < 1:
        return f"{moment:%H:%M}"
    return f"{moment:%Y-%m-%d}" if number == int(number) else f"{moment:%Y-%m-%d %H:%M}"


def _shared_texts(package: OfficePackage) -> list[str]:
    part = package.related(package.main, "sharedStrings")
    # On one line here: a text may stand in very many cells.
    return [] if part is None else [one_line(_words(each)) for each in package.elements(part, "si")]


def _words(element: Element) -> str:
    """Join the runs of a text; how it is pronounced (`rPh`) is no part of it."""
    return "".join(each.text or "" for each in descendants(element, ("rPh",)) if each.tag == "t")


def _date_styles(package: OfficePackage) -> frozenset[int]:
    """Return the numbers of the cell styles whose number format is a date or a time."""
    part = package.related(package.main, "styles")
    if part is None:
        return frozenset()
    styles = package.root(part)
    dates = {str(number) for number in _DATE_FORMATS}
    for each in styles.iterfind("numFmts/numFmt"):
        shown = _NO_FORMAT.sub("", each.get("formatCode", ""))
        is_date = bool(_DATE_LETTERS.search(shown)) and "General" not in shown
        (dates.add if is_date else dates.discard)(each.get("numFmtId", ""))
    formats = styles.iterfind("cellXfs/xf")
    return frozenset(number for number, each in enumerate(formats) if each.get("numFmtId", "0") in dates)
