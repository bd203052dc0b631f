"""A package of Office Open XML: its main part, the relationships of a part, and its properties.

Source: ECMA-376, part 2, Open Packaging Conventions.
"""

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from hydramem.ingest.documents.formats.document_text import UnreadableError
from hydramem.ingest.documents.formats.xml_elements import elements, root
from hydramem.ingest.documents.formats.zip_parts import UNPACKED, ZipParts, beside

_PROPERTIES = {"creator": "author", "created": "created", "modified": "modified", "subject": "subject"}
_LONGEST_PROPERTY = 500


@dataclass(frozen=True, slots=True)
class Relationship:
    """Where a part points: the kind is the last word of the type's address, such as `slide`."""

    id: str
    kind: str
    target: str


class OfficePackage:
    """An opened package.

    Args:
        data: The file.
        max_bytes: Size of the largest file that is read; a package may unpack to four times of it.

    Raises:
        UnreadableError: It is no package, or encrypted.
    """

    def __init__(self, data: bytes, *, max_bytes: int) -> None:
        self._parts = ZipParts(data, most_bytes=UNPACKED * max_bytes)
        top = self.relationships("")
        main = next((each.target for each in top if each.kind == "officeDocument"), None)
        if main is None:
            raise UnreadableError("broken: it names no document")
        self.main = main
        self._core = next((each.target for each in top if each.kind == "core-properties"), None)

    def relationships(self, part: str) -> list[Relationship]:
        """Return where a part points inside the package; the empty name is the package itself."""
        folder, name = posixpath.split(part)
        file = posixpath.join(folder, "_rels", f"{name}.rels")
        if file not in self._parts:
            return []
        return [
            Relationship(
                each.get("Id", ""),
                each.get("Type", "").rpartition("/")[2],
                beside(part, each.get("Target", "")),
            )
            for each in self.elements(file, "Relationship")
            if each.get("TargetMode") != "External"
        ]

    def related(self, part: str, kind: str) -> str | None:
        """Return the first part of a kind that a part points to and that is there."""
        return next(
            (
                each.target
                for each in self.relationships(part)
                if each.kind == kind and each.target in self._parts
            ),
            None,
        )

    def elements(self, part: str, *names: str) -> Iterator[Element]:
        """Yield the outermost elements of some names in a part.

        Raises:
            UnreadableError: The part is missing, broken or over a limit.
        """
        return elements(self._parts.open(part), names)

    def root(self, part: str) -> Element:
        """Return a small part as a tree.

        Raises:
            UnreadableError: As `elements`.
        """
        return root(self._parts.open(part))

    def properties(self) -> tuple[str, dict[str, object]]:
        """Return the title that the package states, and its other properties."""
        if self._core is None or self._core not in self._parts:
            return "", {}
        stated = {
            str(each.tag): " ".join(each.text.split())[:_LONGEST_PROPERTY]
            for each in self.root(self._core)
            if each.text and each.text.strip()
        }
        return stated.get("title", ""), {
            name: stated[key] for key, name in _PROPERTIES.items() if key in stated
        }
