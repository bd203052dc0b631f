"""Which format a file or folder has, and the reader of each format."""

import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Protocol, get_args

from hydramem.core.argument_checks import check_choice
from hydramem.core.errors import InvalidInputError
from hydramem.core.results.exchange_results import ImportFormat, SkippedRecord
from hydramem.ingest.imports.export_files import export_files
from hydramem.ingest.imports.readers.basic_memory import read_basic_memory
from hydramem.ingest.imports.readers.chatgpt import read_chatgpt
from hydramem.ingest.imports.readers.claude import read_claude
from hydramem.ingest.imports.readers.claude_mem import MAGIC, read_claude_mem
from hydramem.ingest.imports.readers.conversations import FILES
from hydramem.ingest.imports.readers.hydramem_vault import is_hydramem_vault, read_hydramem_vault
from hydramem.ingest.imports.readers.letta import read_letta
from hydramem.ingest.imports.readers.markdown_vault import read_markdown_vault
from hydramem.ingest.imports.readers.mcp_memory import read_mcp_memory
from hydramem.ingest.imports.readers.mem0 import read_mem0
from hydramem.ingest.imports.records import Meter, Record
from hydramem.ingest.imports.vault_files import Note, notes_of

_BEGINNING = 2**20
_LINES = 20
_NOTES = 50

# Within a text, the quotes of such a key are escaped.
_TELLING = re.compile(rb'"(mapping|chat_messages|memory)"\s*:')
_RESULTS = re.compile(rb'\{\s*"(?:results|relations)"\s*:')
# A file of the present form has agents beside blocks; one of the older form, core memory beside messages.
_AGENTS = re.compile(rb'"(?:agents|blocks)"\s*:\s*\[[^{}]{0,200}\{|"core_memory"\s*:')
_BY_KEY: Mapping[bytes, ImportFormat] = {b"mapping": "chatgpt", b"chat_messages": "claude", b"memory": "mem0"}
_FORMATS = ", ".join(get_args(ImportFormat))


class Reader(Protocol):
    """A function that reads one format."""

    def __call__(self, path: Path, *, scope: str, meter: Meter) -> Iterator[Record]:
        """Yield the records of a path; memories are filed at or under a scope, and the meter is kept."""
        ...


READERS: Mapping[ImportFormat, Reader] = {
    "mcp-memory": read_mcp_memory,
    "chatgpt": read_chatgpt,
    "claude": read_claude,
    "mem0": read_mem0,
    "letta": read_letta,
    "claude-mem": read_claude_mem,
    "basic-memory": read_basic_memory,
    "markdown": read_markdown_vault,
    "hydramem": read_hydramem_vault,
}


def format_of(path: Path, given: ImportFormat | None) -> ImportFormat:
    """Return the format that is given, else the one that the content shows.

    Raises:
        InvalidInputError: There is no such path or format, or the content shows none.
    """
    if given is not None:
        check_choice(given, get_args(ImportFormat), name="format")
    try:
        if not path.is_dir() and not path.is_file():
            raise InvalidInputError(f"source: {str(path)[:200]!r} is no file and no folder")
        found = given or _recognised(path)
    except OSError as error:
        raise InvalidInputError(
            f"source: {str(path)[:200]!r} cannot be read: {error.strerror or error}"
        ) from error
    if found is None:
        raise InvalidInputError(
            f"source: {str(path)[:200]!r} has none of the formats that are recognised; "
            f"name it by `format` ({_FORMATS})"
        )
    return found


def records_of(path: Path, format: ImportFormat, *, scope: str, meter: Meter) -> Iterator[Record]:
    """Yield the records of a path; what cannot be read on is skipped with its reason."""
    try:
        yield from READERS[format](path, scope=scope, meter=meter)
    except OSError as error:
        reason = f"cannot be read on: {error.strerror or error}"
        yield SkippedRecord(place=path.name, reason=reason)


def _recognised(path: Path) -> ImportFormat | None:
    if path.is_dir() and is_hydramem_vault(path):
        return "hydramem"
    if path.is_dir():
        return _of_export(path) or _of_vault(path)
    if zipfile.is_zipfile(path):
        return _of_export(path)
    with path.open("rb") as file:
        data = file.read(_BEGINNING)
    return "claude-mem" if data.startswith(MAGIC) else _of_json(data)


def _of_vault(path: Path) -> ImportFormat | None:
    """Return which vault a folder is by the front matter of its first notes; None without notes."""
    notes = [each for each in islice(notes_of(path, Meter()), _NOTES) if isinstance(each, Note)]
    if not notes:
        return None
    # Only basic-memory writes permalinks into notes.
    return "basic-memory" if any("permalink" in each.parsed.metadata for each in notes) else "markdown"


def _of_export(path: Path) -> ImportFormat | None:
    for each in export_files(path, FILES, Meter()):
        if not isinstance(each, SkippedRecord) and (found := _of_json(each[1].read(_BEGINNING))):
            return found
    return None


def _of_json(data: bytes) -> ImportFormat | None:
    """Return the format of JSON by the first telling key; the data may be cut off."""
    text = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"{") and _AGENTS.search(text):
        return "letta"
    if text.startswith(b"[") or _RESULTS.match(text):
        key = _TELLING.search(text)
        return _BY_KEY[key.group(1)] if key else None
    for line in text.split(b"\n", _LINES)[:_LINES]:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and value.get("type") in ("entity", "relation"):
            return "mcp-memory"
    return None
