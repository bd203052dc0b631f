"""Turns an HTML page into Markdown-like text: headings, lists, tables and code, without scripts and menus."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_DROPPED_LIST = "script style noscript template svg iframe nav button select input head"
_DROPPED = frozenset(_DROPPED_LIST.split())
_BLOCKS_LIST = """
    address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure
    footer form header hr main ol p section summary table tbody thead tfoot ul
"""
_BLOCKS = frozenset(_BLOCKS_LIST.split())
_SPACE = re.compile(r"[ \t\r\n\f]+")
_SPACES = re.compile(r"[ \t]+")
_TAG = re.compile(r"<[^<>]{0,1000}>")

# The parser's work grows with the square of the depth; a page this deep is no page.
_MOST_OPEN = 20_000
_EMPTY_LINES = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")


@dataclass(frozen=True, slots=True)
class Page:
    """A page's title and its text."""

    title: str
    text: str


def as_markdown(html: str) -> Page:
    """Turn a page into text; a page without a body is empty text."""
    from selectolax.lexbor import LexborHTMLParser

    if html.count("<") - 2 * html.count("</") > _MOST_OPEN:
        return Page("", _SPACES.sub(" ", _TAG.sub(" ", html)).strip() + "\n")
    tree = LexborHTMLParser(html)
    title = tree.css_first("title")
    name = _SPACE.sub(" ", title.text()).strip() if title is not None else ""
    body = tree.body
    if body is None:
        return Page(name, "")
    parts: list[str] = []
    _walk(body, parts)
    lines = (line.rstrip() for line in "".join(parts).split("\n"))
    return Page(name, _EMPTY_LINES.sub("\n\n", "\n".join(lines)).strip() + "\n")


def _walk(body: "LexborNode", parts: list[str]) -> None:
    """Visit nodes in order without recursion: a page may be nested arbitrarily deep."""
    stack: list[tuple[LexborNode | None, str]] = [(body, "")]
    preformatted = 0
    while stack:
        node, closing = stack.pop()
        if node is None:
            preformatted -= closing == _CLOSE_PRE
            parts.append(closing)
            continue
        tag = node.tag or ""
        if tag == "-text":
            text = node.text_content or ""
            parts.append(text if preformatted else _SPACE.sub(" ", text))
            continue
        if tag in _DROPPED or tag.startswith(("-", "!", "_")):
            continue
        opening, closing = _marks(tag)
        parts.append(opening)
        preformatted += tag == "pre"
        stack.append((None, closing))
        stack.extend((child, "") for child in _children(node))


def _children(node: "LexborNode") -> "list[LexborNode]":
    children = []
    child = node.last_child
    while child is not None:
        children.append(child)
        child = child.prev
    return children


_CLOSE_PRE = "\n```\n\n"
_MARKS = {
    "pre": ("\n\n```\n", _CLOSE_PRE),
    "li": ("\n- ", ""),
    "tr": ("\n|", ""),
    "td": (" ", " |"),
    "th": (" ", " |"),
    "br": ("\n", ""),
}


def _marks(tag: str) -> tuple[str, str]:
    """Return what is before and after an element's text."""
    if len(tag) == 2 and tag[0] == "h" and tag[1] in "123456":
        return f"\n\n{'#' * int(tag[1])} ", "\n\n"
    return _MARKS.get(tag) or (("\n\n", "\n\n") if tag in _BLOCKS else ("", ""))
