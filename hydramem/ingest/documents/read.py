"""Reads sources: documents as clean text, transcripts as turns.

A source that cannot be read is a `SkippedSource` with its reason.
"""

import re
from dataclasses import dataclass, field
from datetime import datetime

from hydramem.core.results.write_results import SkippedSource
from hydramem.ingest.documents.files import Raw
from hydramem.ingest.documents.formats.decode import clean, decode
from hydramem.ingest.documents.formats.document_text import UnreadableError, without_places
from hydramem.ingest.documents.formats.read_format import Format, read_format
from hydramem.ingest.documents.formats.transcript import Conversation, parse_dialogue, parse_transcript
from hydramem.text.outline import leading_title, plain_heading, without_closing_marks

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

_LONGEST_TITLE = 200
_FIRST_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+([^\n]*)$|^([^\s#>|*+`~-][^\n]{0,200})\n=+[ \t]*$", re.M)

_FENCED = re.compile(
    r"^ {0,3}(`{3,}+|~{3,}+)[^\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceText:
    """A document as clean text.

    Attributes:
        source: Its absolute path.
        source_type: markdown, html, code, text, or its format, such as pdf.
        kind: Which structure its text has: markdown, text or code.
        title: The title in its text or properties; empty where it has none.
        happened_at: When a mail was sent (UTC); None for other documents.
    """

    source: str
    source_type: str
    kind: str
    title: str
    text: str
    content_hash: str
    happened_at: datetime | None = None
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


def parse(raw: Raw, *, max_bytes: int) -> SourceText | Transcript | SkippedSource:
    """Turn the bytes of a source into clean text or, where it is a chat transcript, into turns.

    Args:
        raw: The source; a broken, encrypted or hostile document is skipped with its reason.
        max_bytes: Most characters of the text of a document that is packed; see `read_format`.
    """
    if raw.format is not None:
        return _document(raw, raw.format, max_bytes)
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
    is_code = suffix in CODE or suffix in TRANSCRIPT or text.startswith("#!")
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


def _document(raw: Raw, format: Format, max_bytes: int) -> SourceText | SkippedSource:
    try:
        read = read_format(raw.data, format=format, max_bytes=max_bytes)
    except UnreadableError as error:
        return SkippedSource(source=raw.source, reason=clean(str(error)))
    text = clean(read.text)
    first = without_places([_heading_of(text) or ""], format)
    return SourceText(
        source=raw.source,
        source_type=format,
        kind="markdown",
        title=clean(read.title) or next(iter(first), ""),
        text=text,
        content_hash=raw.content_hash,
        happened_at=read.happened_at,
        metadata={key: _scalar(value) for key, value in read.metadata.items()},
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
    for match in _FIRST_HEADING.finditer(_FENCED.sub("", text[:20_000])):
        heading = match.group(2) or without_closing_marks(match.group(1))
        if 0 < len(heading) <= _LONGEST_TITLE:
            return plain_heading(heading) or None
    return None


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
