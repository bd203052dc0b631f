"""Reads the notes of basic-memory: observations as facts, relations, and the prose as documents.

An observation is a list item `[category] text #tag (context)`, a relation one such as `relates_to [[Note]]`,
its type quoted where it has blanks. What is neither is prose, and a link in it is `links_to`.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from hydramem.core.inputs import MemoryInput
from hydramem.ingest.documents.formats.document_text import one_line
from hydramem.ingest.imports.checked_records import scope_under
from hydramem.ingest.imports.readers.markdown_vault import links, note_document, note_entity, vault
from hydramem.ingest.imports.records import MemoryRecord, Meter, Record, RelationRecord
from hydramem.ingest.imports.vault_files import Note, Titles, target_of

_BULLETS = ("- ", "* ", "+ ")
_OBSERVATION = re.compile(r"^\[([^\[\]\n]{1,100})\]\s+(.+)$")
_TASK_MARKS = frozenset(" xX-/>?")
_TIME = re.compile(r"^\d{1,4}[-:/.]\d{1,2}")
_RELATION = re.compile(
    r"""^(?:"([^"\n]+)"|'([^'\n]+)'|([^\s\[\]"']+))\s+\[\[([^\[\]\n]+)\]\](?:\s*\(.*\))?$"""
)
_TAG = re.compile(r"(?<!\S)#([\w/-]{1,100})")
_FENCE = re.compile(r"^ {0,3}(?:`{3}|~{3})")
_WORDS = re.compile(r"^(?![ \t]*#).*\w", re.MULTILINE)
_MOST_TAGS = 20


def read_basic_memory(path: Path, *, scope: str, meter: Meter) -> Iterator[Record]:
    """Yield the entities, observations, relations and prose of every note.

    Raises:
        OSError: The folder cannot be read.
    """
    notes, skipped = vault(path, meter)
    yield from skipped
    titles = Titles({note.path: note for note in notes})
    for note in notes:
        kind = note.parsed.metadata.get("type")
        yield note_entity(note, one_line(kind) if isinstance(kind, str) and kind.strip() else "note")
        prose, fenced = list[str](), False
        for line in note.parsed.text.split("\n"):
            fenced ^= _FENCE.match(line) is not None
            found = None if fenced else _statement(line, note, titles, scope=scope, vault_name=path.name)
            if found is None:
                prose.append(line)
            else:
                yield found
        text = "\n".join(prose)
        yield from links(note, text, titles)
        if _WORDS.search(text):
            yield note_document(note, text, path.name, format="basic-memory")


def _statement(
    line: str, note: Note, titles: Titles, *, scope: str, vault_name: str
) -> MemoryRecord | RelationRecord | None:
    """Return the observation or relation that a line is; None where it is prose."""
    item = line.strip()
    if not item.startswith(_BULLETS):
        return None
    words = item[2:].strip()
    if relation := _RELATION.match(words):
        *types, link = relation.groups()
        type, target = next(each for each in types if each), titles.of(target_of(link))
        return RelationRecord(place=note.path, subject=note.title, type=one_line(type), object=target)
    observation = _OBSERVATION.match(words)
    if observation is not None:
        category, text = observation.groups()
        if (len(category) == 1 and category in _TASK_MARKS) or _TIME.match(category):
            return None
    elif _TAG.search(words) and "[[" not in words:
        category, text = "", words
    else:
        return None
    return _observation(category, text, note, scope=scope, vault_name=vault_name)


def _observation(category: str, text: str, note: Note, *, scope: str, vault_name: str) -> MemoryRecord | None:
    said, context = _with_context(text)
    tags = _TAG.findall(said)
    said = one_line(_TAG.sub(" ", said))
    if not said:
        return None
    named = said if note.title.casefold() in said.casefold() else f"{note.title}: {said}"
    labels = dict.fromkeys(each for each in (one_line(category), *tags[:_MOST_TAGS]) if each)
    memory = MemoryInput(
        text=named,
        kind="fact",
        source=f"import:basic-memory:{vault_name}/{note.path}"[:200],
        scope=scope_under(scope, *note.folder.split("/")),
        categories=tuple(labels),
        entities=(note.title,),
        metadata={"basic_memory": {"context": context}} if context else None,
    )
    return MemoryRecord(place=note.path, memory=memory)


def _with_context(text: str) -> tuple[str, str]:
    """Split the words in parentheses from the end of an observation."""
    begins = text.rfind("(")
    if not text.endswith(")") or begins <= 0 or ")" in text[begins:-1]:
        return text, ""
    return text[:begins].rstrip(), text[begins + 1 : -1].strip()
