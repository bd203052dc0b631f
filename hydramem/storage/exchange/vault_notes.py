"""The notes of a vault that `export_memories` writes: their front matter, names and links, both ways.

A value of the front matter is JSON, which is YAML too: Obsidian shows it as properties, with its links.
"""

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime

from hydramem.core.row_types import Chunk, Entity, Relation

MANIFEST = ".hydramem-vault.json"
FORMAT = "hydramem-vault"
VERSION = 1
MEMORIES, ENTITIES = "memories", "entities"
RELATIONS = "## Relations"
RELATION = re.compile(r"- (\S+) \[\[([^\[\]|\n]+)(?:\|[^\[\]\n]*)?\]\](?: \(([^()\n]*)\))?")
_UNFIT = re.compile(r'[\\/:*?"<>|#^\[\]\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+')

# YAML reads these as line ends, or not at all.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_LONGEST_NAME = 160
_TITLE = 60


def memory_note(row: Chunk, mentions: Sequence[str], files: Mapping[str, str]) -> str:
    """Return a memory as a note: its fields, links to what it mentions, and its words as they are.

    Args:
        row: The memory.
        mentions: Ids of the entities that it mentions.
        files: Names of the notes of entities, by id.
    """
    times = {"happened_at": row.happened_at, "valid_from": row.times.valid_from}
    times |= {"valid_to": row.times.valid_to, "expires_at": row.expires_at}
    fields: dict[str, object] = {
        "hydramem": "memory",
        "id": row.id,
        "kind": row.kind,
        "scope": row.scope,
        "source": row.source,
        "author": row.author,
        "categories": row.categories,
        "keywords": row.keywords,
        "summary": row.summary,
        "importance": row.importance,
        "confidence": row.confidence,
        "event_type": row.event_type,
        **times,
        "private": row.private or None,
        "mentions": [f"[[{files[id]}]]" for id in mentions if id in files],
        "metadata": json.dumps(dict(row.metadata), sort_keys=True) if row.metadata else None,
    }
    return f"{_front_matter(fields)}{row.text}\n"


def entity_note(row: Entity, relations: Sequence[Relation], files: Mapping[str, str]) -> str:
    """Return an entity as a note: its fields, its description, and a line with a link for each relation.

    Args:
        row: The entity.
        relations: Those of which it is the subject.
        files: Names of the notes of entities, by id.
    """
    named = (row.name,) if files[row.id] != row.name else ()
    fields: dict[str, object] = {
        "hydramem": "entity",
        "id": row.id,
        "name": row.name,
        "type": row.type,
        "aliases": [*named, *row.aliases],
    }
    lines = sorted(_relation_line(each, files) for each in relations if each.object in files)
    listed = bool(lines) or RELATIONS in (row.description or "")  # the last such heading is ours
    parts = [row.description or "", "\n".join([RELATIONS, "", *lines]) if listed else ""]
    return _front_matter(fields) + "".join(f"{part}\n" for part in parts if part)


def _relation_line(relation: Relation, files: Mapping[str, str]) -> str:
    times = relation.times
    details = [
        *([f"from {times.valid_from.isoformat()}"] if times.valid_from else []),
        *([f"until {times.valid_to.isoformat()}"] if times.valid_to else []),
        *([f"confidence {relation.confidence:g}"] if relation.confidence < 1 else []),
        *(["both ways"] if relation.bidirectional else []),
    ]
    shown = f" ({', '.join(details)})" if details else ""
    return f"- {relation.type} [[{files[relation.object]}]]{shown}"


def _front_matter(fields: Mapping[str, object]) -> str:
    lines = [f"{key}: {_value(value)}" for key, value in fields.items() if value not in (None, "", (), [])]
    return "\n".join(["---", *lines, "---", ""])


def _value(value: object) -> str:
    plain = value.isoformat() if isinstance(value, datetime) else value
    text = json.dumps(list(plain) if isinstance(plain, tuple) else plain, ensure_ascii=False)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def file_name(text: str) -> str:
    """Return a text as the name of a file that every system takes and a wiki link can hold."""
    name = unicodedata.normalize("NFC", _UNFIT.sub("-", " ".join(text.split())))
    cut = name.encode("utf-8")[:_LONGEST_NAME].decode("utf-8", "ignore")
    return cut.strip(". ") or "unnamed"


def memory_file(row: Chunk) -> str:
    """Return the name of a memory's note: its first words, and the end of its id."""
    return f"{file_name(row.text[:_TITLE])} {row.id[-8:]}"


def entity_files(rows: Sequence[Entity]) -> dict[str, str]:
    """Return the name of each entity's note by id; where two would be one file, the later has a number."""
    taken = set[str]()
    files: dict[str, str] = {}
    for row in sorted(rows, key=lambda row: (row.key, row.id)):
        name = wanted = file_name(row.name)
        number = 1
        while name.casefold() in taken:
            number += 1
            name = f"{wanted} {number}"
        taken.add(name.casefold())
        files[row.id] = name
    return files
