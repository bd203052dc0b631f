"""Reads a presentation: a heading for each slide with its number and title, text, tables and speaker notes.

Source: ECMA-376, part 1, 19 (PresentationML) and 21 (DrawingML).
"""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from hydramem.ingest.documents.formats.document_text import (
    DocumentText,
    MarkdownText,
    one_line,
    place_heading,
)
from hydramem.ingest.documents.formats.office_package import OfficePackage
from hydramem.ingest.documents.formats.xml_elements import child, descendants

_TITLES = ("title", "ctrTitle")
_FURNITURE = ("sldNum", "dt", "ftr", "hdr", "sldImg")
_LEFT_OUT = frozenset({"Fallback", "rPr", "pPr", "endParaRPr"})


def read_pptx(data: bytes, *, max_bytes: int) -> DocumentText:
    """Return a presentation as Markdown; hidden slides are left out.

    Raises:
        UnreadableError: It is broken, encrypted or over a limit.
    """
    package = OfficePackage(data, max_bytes=max_bytes)
    targets = {each.id: each.target for each in package.relationships(package.main)}
    order = child(package.root(package.main), "sldIdLst")
    text = MarkdownText(max_bytes)
    for number, slide in enumerate(() if order is None else order, 1):
        target = targets.get(slide.get("r:id", ""))
        if target is not None:
            _add_slide(package, target, number, text)
    title, metadata = package.properties()
    return DocumentText(title=title, text=text.text(), metadata=metadata)


def _add_slide(package: OfficePackage, part: str, number: int, text: MarkdownText) -> None:
    slide = package.root(part)
    if slide.get("show") in ("0", "false"):
        return
    shapes = list(_shapes(slide))
    title = next((one_line(" ".join(_paragraphs(each))) for each in shapes if _role(each) in _TITLES), "")
    text.heading(2, place_heading("Slide", number, title))
    for shape in shapes:
        if shape.tag == "tbl":
            rows = shape.iterfind("tr")
            text.table([[" ".join(_paragraphs(cell)) for cell in row.iterfind("tc")] for row in rows])
        elif _role(shape) not in (*_TITLES, *_FURNITURE):
            _add_shape(shape, text)
    notes = package.related(part, "notesSlide")
    if notes is not None:
        spoken = [each for each in _shapes(package.root(notes)) if _role(each) == "body"]
        words = "\n".join(line for each in spoken for line in _paragraphs(each))
        text.paragraph(f"Notes: {words}" if words else "")


def _add_shape(shape: Element, text: MarkdownText) -> None:
    """Add the text of a shape; several paragraphs are a list, as slides show them."""
    paragraphs = list(_paragraphs(shape))
    for words in paragraphs:
        if len(paragraphs) > 1:
            text.item(words)
        else:
            text.paragraph(words)


def _shapes(slide: Element) -> Iterator[Element]:
    """Yield shapes and tables in order, those in groups too."""
    return (each for each in descendants(slide, _LEFT_OUT) if each.tag in ("sp", "tbl"))


def _role(shape: Element) -> str:
    place = child(shape, "nvSpPr", "nvPr", "ph")
    return "" if place is None else place.get("type", "body")


def _paragraphs(element: Element) -> Iterator[str]:
    for paragraph in element.iter("p"):
        parts = []
        for each in descendants(paragraph, _LEFT_OUT):
            if each.tag == "t":
                parts.append(each.text or "")
            elif each.tag in ("br", "tab"):
                parts.append(" ")
        words = one_line("".join(parts))
        if words:
            yield words
