"""Reads an e-book: its chapters in reading order, with the titles of the table of contents.

Source: EPUB 3.3, and the older NCX table of contents of EPUB 2.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from hydramem.ingest.documents.formats.decode import decode
from hydramem.ingest.documents.formats.document_text import (
    DocumentText,
    MarkdownText,
    UnreadableError,
    one_line,
)
from hydramem.ingest.documents.formats.html import as_markdown
from hydramem.ingest.documents.formats.xml_elements import child, elements, root
from hydramem.ingest.documents.formats.zip_parts import UNPACKED, ZipParts, beside

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_PAGES = ("application/xhtml+xml", "text/html", "text/x-oeb1-document")
_PROPERTIES = {"creator": "author", "date": "date", "publisher": "publisher", "language": "language"}
_LONGEST_PROPERTY = 500

# XML closes an element in its own tag; to an HTML parser only these elements are closed so.
_VOID_LIST = "area base br col embed hr img input link meta source track wbr"
_VOID = frozenset(_VOID_LIST.split())
_CLOSED_IN_TAG = re.compile(r"<([A-Za-z][\w:-]*)((?:\s[^<>]*)?)/>")
_HAS_HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Item:
    """A file of the book: its part of the archive, media type and properties."""

    part: str
    media: str
    properties: tuple[str, ...]


def read_epub(data: bytes, *, max_bytes: int) -> DocumentText:
    """Return an e-book as Markdown.

    Raises:
        UnreadableError: It is broken, encrypted or over a limit.
    """
    parts = ZipParts(data, most_bytes=UNPACKED * max_bytes)
    containers = elements(parts.open(_CONTAINER), ["rootfile"])
    package = next((each.get("full-path", "") for each in containers), "")
    book = root(parts.open(package))
    items = dict(_items(book, package))
    spine = child(book, "spine")
    named = [each.get("idref", "") for each in (() if spine is None else spine)]
    order = [items[name] for name in named if name in items]
    _refuse_encrypted(parts, order)
    titles = _titles(parts, items, "" if spine is None else spine.get("toc", ""))
    text = MarkdownText(max_bytes)
    for item in order:
        if item.media in _PAGES and "nav" not in item.properties:
            _add_chapter(parts, item.part, titles.get(item.part, ""), text)
    title, metadata = _properties(book)
    return DocumentText(title=title, text=text.text(), metadata=metadata)


def _items(book: Element, package: str) -> Iterator[tuple[str, _Item]]:
    for each in book.iterfind("manifest/item"):
        properties = tuple(each.get("properties", "").split())
        part = beside(package, each.get("href", ""))
        yield each.get("id", ""), _Item(part, each.get("media-type", ""), properties)


def _refuse_encrypted(parts: ZipParts, order: list[_Item]) -> None:
    """Fail where chapters are encrypted; fonts often are, and nobody reads those."""
    if _ENCRYPTION in parts:
        names = {
            beside("", each.get("URI", "")) for each in elements(parts.open(_ENCRYPTION), ["CipherReference"])
        }
        if any(item.part in names for item in order):
            raise UnreadableError("encrypted")


def _add_chapter(parts: ZipParts, part: str, title: str, text: MarkdownText) -> None:
    page = as_markdown(_html(parts, part)).text
    if not page.strip():
        return
    if title and _HAS_HEADING.search(page) is None:
        text.heading(1, title)
    text.markdown(page)


def _html(parts: ZipParts, part: str) -> str:
    """Return a page as an HTML parser is to read it."""
    return _CLOSED_IN_TAG.sub(_opened_and_closed, decode(parts.read(part)))


def _opened_and_closed(match: re.Match[str]) -> str:
    name, attributes = match.groups()
    return match.group() if name.lower() in _VOID else f"<{name}{attributes}></{name}>"


def _titles(parts: ZipParts, items: Mapping[str, _Item], contents: str) -> dict[str, str]:
    """Return the title that the table of contents gives to a chapter first, by its part."""
    from selectolax.lexbor import LexborHTMLParser

    titles: dict[str, str] = {}
    page = next((item.part for item in items.values() if "nav" in item.properties), None)
    if page is not None and page in parts:
        for link in LexborHTMLParser(_html(parts, page)).css("nav a[href]"):
            titles.setdefault(beside(page, link.attributes.get("href") or ""), one_line(link.text()))
    elif contents in items and items[contents].part in parts:
        old = items[contents].part
        for point in root(parts.open(old)).iter("navPoint"):
            source = child(point, "content")
            words = one_line(point.findtext("navLabel/text") or "")
            titles.setdefault(beside(old, "" if source is None else source.get("src", "")), words)
    return titles


def _properties(book: Element) -> tuple[str, dict[str, object]]:
    stated: dict[str, str] = {}
    metadata = child(book, "metadata")
    for each in () if metadata is None else metadata:
        words = one_line(each.text or "")[:_LONGEST_PROPERTY]
        if words:
            stated.setdefault(str(each.tag), words)
    return stated.get("title", ""), {name: stated[key] for key, name in _PROPERTIES.items() if key in stated}
