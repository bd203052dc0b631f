"""Reads a Word document: headings by their style, lists, tables; what is deleted or hidden is left out.

Source: ECMA-376, part 1, 17 (WordprocessingML).
"""

import re
from xml.etree.ElementTree import Element

from hydramem.ingest.documents.formats.document_text import DocumentText, MarkdownText
from hydramem.ingest.documents.formats.office_package import OfficePackage
from hydramem.ingest.documents.formats.xml_elements import child, descendants, outermost, whole_number

# Deleted and moved text, old forms of drawings, and what is no text of the page.
_LEFT_OUT = frozenset({"del", "moveFrom", "Fallback", "rPr", "pPr", "sdtPr", "instrText", "tblPr", "trPr"})
_HEADING_NAME = re.compile(r"heading ([1-9])", re.IGNORECASE)
_LONGEST_CHAIN = 20
_WIDEST = 63
_OFF = ("0", "false", "off", "none")


def read_docx(data: bytes, *, max_bytes: int) -> DocumentText:
    """Return a Word document as Markdown.

    Raises:
        UnreadableError: It is broken, encrypted or over a limit.
    """
    package = OfficePackage(data, max_bytes=max_bytes)
    levels = _heading_levels(package)
    text = MarkdownText(max_bytes)
    for block in package.elements(package.main, "p", "tbl"):
        _add_block(block, levels, text)
    _add_notes(package, text)
    title, metadata = package.properties()
    return DocumentText(title=title, text=text.text(), metadata=metadata)


def _add_block(block: Element, levels: dict[str, int], text: MarkdownText) -> None:
    if block.tag == "p":
        _add_paragraph(block, levels, text)
        return
    rows = [_cells(row) for row in outermost(block, "tr")]
    if max(map(len, rows), default=0) > 1:
        text.table(rows)
        return
    for paragraph in outermost(block, "p"):  # a table of one column is a frame around text
        _add_paragraph(paragraph, levels, text)


def _add_paragraph(paragraph: Element, levels: dict[str, int], text: MarkdownText) -> None:
    words = _text(paragraph)
    properties = paragraph.find("pPr")
    outline = _number(child(properties, "outlineLvl"))
    level = levels.get(_value(child(properties, "pStyle")), 0) if outline is None else _level(outline)
    numbering = child(properties, "numPr")
    if level:
        text.heading(level, words)
    elif numbering is not None and _value(numbering.find("numId")) != "0":
        text.item(words, depth=_number(numbering.find("ilvl")) or 0)
    else:
        text.paragraph(words)


def _cells(row: Element) -> list[str]:
    cells: list[str] = []
    for cell in outermost(row, "tc"):
        properties = cell.find("tcPr")
        below = child(properties, "vMerge")
        repeats = below is not None and below.get("val", "continue") == "continue"
        cells.append("" if repeats else " ".join(filter(None, map(_text, outermost(cell, "p")))))
        span = _number(child(properties, "gridSpan")) or 1
        cells += [""] * (min(span, _WIDEST) - 1)
    return cells


def _text(paragraph: Element) -> str:
    parts: list[str] = []
    for each in _visible(paragraph):
        if each.tag == "t":
            parts.append(each.text or "")
        elif each.tag == "tab":
            parts.append("\t")
        elif each.tag in ("br", "cr") or (each.tag == "p" and each is not paragraph):
            parts.append("\n")
        elif each.tag == "noBreakHyphen":
            parts.append("-")
        elif each.tag == "footnoteReference":
            parts.append(f"[{each.get('id', '')}]")
    return "".join(parts).strip()


def _visible(paragraph: Element) -> list[Element]:
    """Return what is under a paragraph in order, without runs that are hidden."""
    hidden = {id(run) for run in paragraph.iter("r") if _is_on(child(run, "rPr", "vanish"))}
    if not hidden:
        return list(descendants(paragraph, _LEFT_OUT))
    inside = {id(each) for run in paragraph.iter("r") if id(run) in hidden for each in run.iter()}
    return [each for each in descendants(paragraph, _LEFT_OUT) if id(each) not in inside]


def _add_notes(package: OfficePackage, text: MarkdownText) -> None:
    """Add footnotes at the end, each with the number that stands in the text."""
    part = package.related(package.main, "footnotes")
    for note in package.elements(part, "footnote") if part is not None else ():
        words = " ".join(filter(None, map(_text, outermost(note, "p"))))
        if words and "type" not in note.attrib:
            text.paragraph(f"[{note.get('id', '')}] {words}")


def _heading_levels(package: OfficePackage) -> dict[str, int]:
    """Return the level of each style that is a heading, by its name, outline level or base."""
    part = package.related(package.main, "styles")
    own: dict[str, int] = {}
    based: dict[str, str] = {}
    for style in package.elements(part, "style") if part is not None else ():
        name = style.get("styleId", "")
        called = _value(style.find("name"))
        outline = _number(child(style, "pPr", "outlineLvl"))
        match = _HEADING_NAME.fullmatch(called)
        if match is not None:
            own[name] = int(match.group(1))
        elif called.lower() == "title":
            own[name] = 1
        elif outline is not None:
            own[name] = _level(outline)
        based[name] = _value(style.find("basedOn"))
    return {name: level for name in based if (level := _inherited(name, own, based))}


def _inherited(name: str, own: dict[str, int], based: dict[str, str]) -> int:
    for _ in range(_LONGEST_CHAIN):
        if name in own:
            return own[name]
        name = based.get(name, "")
    return 0


def _level(outline: int) -> int:
    """Return the level of a heading from its outline level, of which 9 is running text."""
    return outline + 1 if outline < 9 else 0


def _number(element: Element | None) -> int | None:
    return whole_number(_value(element))


def _value(element: Element | None) -> str:
    return "" if element is None else element.get("val", "")


def _is_on(element: Element | None) -> bool:
    return element is not None and element.get("val", "1").lower() not in _OFF
