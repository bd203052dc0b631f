"""The notes of a vault: the Markdown files of a folder, each with its front matter, title and links."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from hydramem.core.results.exchange_results import SkippedRecord
from hydramem.core.results.write_results import SkippedSource
from hydramem.ingest.documents.files import load
from hydramem.ingest.documents.formats.decode import clean
from hydramem.ingest.documents.formats.document_text import one_line
from hydramem.ingest.documents.read import SourceText, parse
from hydramem.ingest.imports.records import Meter

MOST_NOTE = 16 * 2**20
"""Most bytes of a note."""

_MOST_TOTAL = 2**30
_LINK = re.compile(r"(!?)\[\[([^\[\]\n]{1,400})\]\]")
_FENCE = re.compile(r"^ {0,3}(`{3,}+|~{3,}+).*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]+`")


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One note of a vault.

    Attributes:
        path: In the vault, with `/`, without the ending.
        title: As its front matter says, else its file's name.
        parsed: Its text and front matter; the source is its path in the file system.
    """

    path: str
    title: str
    parsed: SourceText

    @property
    def folder(self) -> str:
        """Its folder in the vault; empty at the top."""
        return self.path.rpartition("/")[0]


def notes_of(vault: Path, meter: Meter) -> Iterator[Note | SkippedRecord]:
    """Yield the notes of a vault by their path; hidden folders and links are not followed.

    Raises:
        OSError: The folder cannot be read.
    """
    files = sorted(_markdown_files(vault))
    meter.total += len(files)
    size = 0
    for file in files:
        meter.done += 1
        if size > _MOST_TOTAL:
            reason = f"the vault is over {_MOST_TOTAL // 2**30} GB; nothing after this is read"
            yield SkippedRecord(place=clean(file.relative_to(vault).as_posix()), reason=reason)
            return
        raw = load(file, max_bytes=MOST_NOTE)
        place = clean(file.relative_to(vault).as_posix())
        size += 0 if isinstance(raw, SkippedSource) else len(raw.data)
        parsed = raw if isinstance(raw, SkippedSource) else parse(raw, max_bytes=MOST_NOTE)
        if isinstance(parsed, SkippedSource):
            yield SkippedRecord(place=place, reason=parsed.reason)
        elif isinstance(parsed, SourceText):
            stated = parsed.metadata.get("title")
            title = one_line(stated) if isinstance(stated, str) else ""
            stem = PurePosixPath(place).stem
            yield Note(path=place[: -len(file.suffix)], title=title or one_line(stem), parsed=parsed)


def _markdown_files(vault: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        raise error

    for folder, folders, names in os.walk(vault, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(folder) / name
            if path.suffix.lower() in (".md", ".markdown") and name[0] != "." and not path.is_symlink():
                yield path


def links_in(text: str) -> list[str]:
    """Return the targets of the wiki links of a text, each once, without those in code and embedded files."""
    plain = _CODE.sub(" ", _FENCE.sub(" ", text))
    targets = (target_of(match.group(2)) for match in _LINK.finditer(plain) if not match.group(1))
    return list(dict.fromkeys(target for target in targets if target))


def target_of(link: str) -> str:
    """Return what a wiki link points to, without its heading and the words that it shows."""
    return one_line(clean(link.partition("|")[0].partition("#")[0]))


class Titles:
    """Finds the title of the note that a link means, by path, permalink or title; else the link's words."""

    def __init__(self, notes: Mapping[str, Note]) -> None:
        self._titles: dict[str, str] = {}
        for path, note in notes.items():
            permalink = note.parsed.metadata.get("permalink")
            for name in (note.title, path.rpartition("/")[2], permalink, path):
                if isinstance(name, str) and name:
                    self._titles.setdefault(name.casefold(), note.title)

    def of(self, target: str) -> str:
        """Return the title of a link's target."""
        key = target.removesuffix(".md").casefold()
        return self._titles.get(key) or target.rpartition("/")[2]
