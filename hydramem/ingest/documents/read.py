"""Finds sources and reads them: documents as clean text, transcripts as turns.

A source that cannot be read is a `SkippedSource` with its reason; only a missing path is an error.
"""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hydramem.core.errors import InvalidInputError
from hydramem.core.ids import content_hash
from hydramem.core.results.write_results import SkippedSource
from hydramem.ingest.documents.formats.decode import clean, decode, is_binary
from hydramem.ingest.documents.formats.transcript import Conversation, parse_dialogue, parse_transcript
from hydramem.text.outline import leading_title, plain_heading

MARKDOWN = frozenset({".md", ".markdown", ".mdx", ".rst", ".qmd", ".rmd"})
HTML = frozenset({".html", ".htm", ".xhtml"})
TRANSCRIPT = frozenset({".json", ".jsonl", ".ndjson"})

_CODE_LIST = """
    .py .pyi .js .mjs .cjs .jsx .ts .tsx .java .kt .kts .scala .go .rs .c .h .cc .cpp .cxx .hpp .cs .m
    .mm .swift .rb .php .pl .pm .r .jl .lua .sh .bash .zsh .fish .ps1 .sql .hs .ml .ex .exs .erl .clj
    .lisp .el .vim .dart .zig .nim .v .sv .vhd .asm .s .proto .thrift .graphql .tf .gradle .cmake .css
    .scss .less .vue .svelte .yaml .yml .toml .ini .cfg .conf .xml .bat .dockerfile
"""
CODE = frozenset(_CODE_LIST.split())
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.{0,8192}?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)

_FIRST_HEADING = re.compile(
    r"^ {0,3}#{1,6}[ \t]+([^\n]{1,200}?)[ \t]*#*[ \t]*$|^([^\s#>|*+`~-][^\n]{0,200})\n=+[ \t]*$", re.M
)

_FENCED = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceText:
    """A document as clean text.

    Attributes:
        source: Its absolute path.
        source_type: markdown, html, code or text.
        kind: Which structure its text has: markdown, text or code.
        title: The title in its text; empty where it has none.
    """

    source: str
    source_type: str
    kind: str
    title: str
    text: str
    content_hash: str
    metadata: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """A chat transcript: conversations with their turns in order."""

    source: str
    source_type: str = "transcript"
    title: str
    content_hash: str
    conversations: tuple[Conversation, ...]
    metadata: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """The bytes of a source."""

    path: Path
    data: bytes
    content_hash: str

    @property
    def source(self) -> str:
        """The absolute path as text that every store can hold."""
        return clean(str(self.path))


def find(sources: Sequence[str | Path]) -> list[Path | SkippedSource]:
    """List the files of some paths: files as given, folders walked in order, each file once.

    Raises:
        InvalidInputError: A path does not exist.
    """
    if isinstance(sources, str | Path):
        sources = (sources,)
    paths = [_existing(source) for source in sources]
    found: dict[Path | SkippedSource, None] = {}
    for path in paths:
        if path.is_dir():
            found.update(dict.fromkeys(_walk(path, set())))
        else:
            found[path] = None
    return list(found)


def _existing(source: str | Path) -> Path:
    text = os.fspath(source)
    if not text.strip() or "\0" in text:
        raise InvalidInputError(f"sources: {text!r} is not a path")
    try:
        path = Path(text).expanduser().resolve()
        path.stat()
    except (OSError, RuntimeError) as error:
        # RuntimeError: a loop of symbolic links, or no home folder.
        raise InvalidInputError(f"sources: {text[:200]!r} cannot be found: {_reason(error)}") from error
    return path


def _walk(folder: Path, seen: set[tuple[int, int]]) -> Iterator[Path | SkippedSource]:
    """Yield the files under a folder, by name; hidden ones and folders met before are skipped."""
    waiting = [folder]
    while waiting:
        current = waiting.pop()
        try:
            status = current.stat()
            if (status.st_dev, status.st_ino) in seen:
                continue
            seen.add((status.st_dev, status.st_ino))
            entries = sorted(os.scandir(current), key=lambda entry: entry.name)
        except OSError as error:
            yield SkippedSource(source=clean(str(current)), reason=_reason(error))
            continue
        folders = []
        for entry in entries:
            if entry.name.startswith(".") or entry.name in ("__pycache__", "node_modules"):
                continue
            path = Path(entry.path)
            if _is_folder(entry):
                folders.append(path)
            else:
                yield _real(path)
        waiting.extend(reversed(folders))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _real(path: Path) -> Path | SkippedSource:
    try:
        return path.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        return SkippedSource(source=clean(str(path)), reason=_reason(error))


def load(path: Path, *, max_bytes: int) -> Raw | SkippedSource:
    """Read the bytes of a regular file that is not too large."""
    source = clean(str(path))
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return SkippedSource(source=source, reason="not a regular file")
        if status.st_size > max_bytes:
            return _too_large(source, status.st_size, max_bytes)
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)
    except OSError as error:
        return SkippedSource(source=source, reason=_reason(error))
    if len(data) > max_bytes:
        return _too_large(source, len(data), max_bytes)
    if is_binary(data):
        return SkippedSource(source=source, reason="binary")
    return Raw(path=path, data=data, content_hash=content_hash(data))


def _too_large(source: str, size: int, limit: int) -> SkippedSource:
    reason = f"too large: {size / 2**20:.1f} MB, the limit is {limit / 2**20:.0f} MB (ingest.max_file_mb)"
    return SkippedSource(source=source, reason=reason)


def _reason(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)


def parse(raw: Raw) -> SourceText | Transcript:
    """Turn the bytes of a source into clean text or, where it is a chat transcript, into turns."""
    text = clean(decode(raw.data))
    suffix = raw.path.suffix.lower()
    if suffix in TRANSCRIPT:
        conversations = parse_transcript(text, lines=suffix != ".json", name=clean(raw.path.stem))
        if conversations:
            return _transcript(raw, conversations)
    if suffix in HTML or (
        suffix == "" and text[:200].lstrip().lower().startswith(("<!doctype html", "<html"))
    ):
        return _html(raw, text)
    if suffix in MARKDOWN:
        return _markdown(raw, text)
    is_code = suffix in CODE or text.startswith("#!")
    if not is_code and (conversations := parse_dialogue(text, name=clean(raw.path.stem))):
        return _transcript(raw, conversations)
    kind = "code" if is_code else "text"
    return SourceText(
        source=raw.source,
        source_type=kind,
        kind=kind,
        title=clean(raw.path.name) if is_code else leading_title(text)[0] or "",
        text=text,
        content_hash=raw.content_hash,
    )


def _transcript(raw: Raw, conversations: tuple[Conversation, ...]) -> Transcript:
    return Transcript(
        source=raw.source,
        title=clean(raw.path.name),
        content_hash=raw.content_hash,
        conversations=conversations,
    )


def _html(raw: Raw, text: str) -> SourceText:
    from hydramem.ingest.documents.formats.html import as_markdown

    page = as_markdown(text)
    return SourceText(
        source=raw.source,
        source_type="html",
        kind="markdown",
        title=clean(page.title) or _heading_of(page.text) or "",
        text=clean(page.text),
        content_hash=raw.content_hash,
    )


def _markdown(raw: Raw, text: str) -> SourceText:
    matter: dict[str, object] = {}
    match = _FRONT_MATTER.match(text)
    if match is not None:
        matter = _front_matter(match.group(1))
        text = text[match.end() :] if matter else text
    heading = _heading_of(text)
    stated = matter.get("title")
    title = stated if isinstance(stated, str) and stated.strip() else heading
    return SourceText(
        source=raw.source,
        source_type="markdown",
        kind="markdown" if heading is not None or "```" in text else "text",
        title=title or leading_title(text)[0] or "",
        text=text,
        content_hash=raw.content_hash,
        metadata=matter,
    )


def _heading_of(text: str) -> str | None:
    match = _FIRST_HEADING.search(_FENCED.sub("", text[:20_000]))
    return plain_heading(match.group(1) or match.group(2)) or None if match else None


def _front_matter(text: str) -> dict[str, object]:
    """Read flat YAML: values that are plain, or lists of plain values; anything else is left out."""
    import yaml

    try:
        loaded = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    if not isinstance(loaded, dict):
        return {}
    matter: dict[str, object] = {}
    for key, value in loaded.items():
        if isinstance(value, list):
            matter[clean(str(key))] = [
                _scalar(item) for item in value if not isinstance(item, list | dict | set)
            ]
        elif not isinstance(value, dict | set):
            matter[clean(str(key))] = _scalar(value)
    return matter


def _scalar(value: object) -> object:
    return value if isinstance(value, int | bool) or value is None else clean(str(value))
