"""Reads XML as a stream of small elements, with limits: no entities, no deep nesting, no endless trees.

Names are local names: writers differ in prefixes, and the two forms of a format in namespaces.
"""

from collections.abc import Collection, Iterator
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from hydramem.ingest.documents.formats.document_text import UnreadableError
from hydramem.ingest.documents.formats.zip_parts import PartReader

_SLICE = 65_536
_DEEPEST = 256
_MOST_WITHIN = 1_000_000
_MOST_ELEMENTS = 10_000_000


def elements(file: PartReader, names: Collection[str] = ()) -> Iterator[Element]:
    """Yield the outermost elements of some names, in order; the root where no name is given.

    An attribute that names a relationship of a package is `r:id`, whatever its prefix is in the file.

    Raises:
        UnreadableError: The text is not well-formed, declares entities, or is over a limit.
    """
    stream = _Stream(frozenset(names))
    while True:
        piece = file.read(_SLICE)
        stream.feed(piece)
        yield from stream.take()
        if not piece:
            return


def root(file: PartReader) -> Element:
    """Return the root of a small document.

    Raises:
        UnreadableError: As `elements`.
    """
    return next(elements(file))


def descendants(element: Element, skipped: Collection[str] = ()) -> Iterator[Element]:
    """Yield an element and what is under it in order, without elements of some names and what they hold."""
    waiting = [element]
    while waiting:
        current = waiting.pop()
        if current.tag not in skipped:
            yield current
            waiting.extend(reversed(current))


def outermost(element: Element, name: str) -> list[Element]:
    """Return the elements of a name under an element, without those inside another of that name."""
    found: list[Element] = []
    waiting = list(reversed(element))
    while waiting:
        current = waiting.pop()
        if current.tag == name:
            found.append(current)
        else:
            waiting.extend(reversed(current))
    return found


def whole_number(text: str) -> int | None:
    """Return the whole number that an attribute states; None where it is none, or over nine digits."""
    return int(text) if text.isdecimal() and len(text) < 10 else None


def child(element: Element | None, *path: str) -> Element | None:
    """Return the first element at a path of names; None where there is none."""
    for name in path:
        element = None if element is None else element.find(name)
    return element


class _Stream:
    """An expat parser that builds only the elements that are asked for."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names
        self._depth = 0
        self._count = 0
        self._within = 0
        self._builder: TreeBuilder | None = None
        self._builder_depth = 0
        self._done: list[Element] = []
        self._parser = expat.ParserCreate(namespace_separator="}")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.EntityDeclHandler = _refuse_entities

    def feed(self, piece: bytes) -> None:
        """Parse more; an empty piece ends the document."""
        try:
            self._parser.Parse(piece, not piece)
        except expat.ExpatError as error:
            raise UnreadableError(f"broken: its XML is not well-formed ({error})") from error
        except (LookupError, ValueError) as error:
            raise UnreadableError(f"broken: its XML has an unknown encoding ({error})") from error

    def take(self) -> list[Element]:
        """Return the elements that are complete."""
        done, self._done = self._done, []
        return done

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        self._count += 1
        if self._depth > _DEEPEST:
            raise UnreadableError(f"nested too deeply: over {_DEEPEST} levels of XML")
        tag = name.rpartition("}")[2]
        if self._builder is None and (tag in self._names or not self._names):
            self._builder, self._builder_depth, self._within = TreeBuilder(), self._depth, 0
        if self._builder is not None:
            self._within += 1
            self._builder.start(tag, {_attribute(key): value for key, value in attributes.items()})
        if self._within > _MOST_WITHIN or self._count > _MOST_ELEMENTS:
            raise UnreadableError(f"too large: over {_MOST_WITHIN} XML elements in one part")

    def _end(self, name: str) -> None:
        if self._builder is not None:
            self._builder.end(name.rpartition("}")[2])
            if self._depth == self._builder_depth:
                self._done.append(self._builder.close())
                self._builder = None
        self._depth -= 1

    def _text(self, text: str) -> None:
        if self._builder is not None:
            self._builder.data(text)


def _attribute(key: str) -> str:
    namespace, _, name = key.rpartition("}")
    return f"r:{name}" if namespace.endswith("/relationships") else name


def _refuse_entities(*_declared: object) -> None:
    raise UnreadableError("declares XML entities, which no document needs")
