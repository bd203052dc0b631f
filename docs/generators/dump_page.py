"""Write the page on the format that `dump` writes and `load` reads."""

from typing import Any

from generators import type_texts
from generators.type_texts import NOTE
from hydramem.core.docstrings import first_line
from hydramem.core.settings.config_reference import attributes

_KINDS = {
    "text": "text",
    "texts": "list of texts",
    "json": "object",
    "time": "time",
    "number": "number",
    "integer": "whole number",
    "flag": "true or false",
}


_ABOUT_DUMPS = """\
`hydramem dump DIR` writes a whole memory into a new folder, `hydramem load DIR` reads it into a store on
either graph engine. Dumping what was loaded gives the same files, byte for byte, and loading twice changes
nothing. A dump is a folder with `manifest.json` and one file for each table.

- A file is UTF-8, one JSON object on a line, each line ended by a line feed. A null field is left out.
- Lines are sorted by their key, text by code point, and no key is there twice.
- A time is ISO 8601 in UTC with microseconds: `2024-05-01T12:00:00.000000Z`.
- A field that names a row of another file names one that is in the dump. Only the `evidence` of a relation
  and the `target` of a change can name a row that no longer exists.
- `before`, `after` and `image` of a change, and `payload` of a job, are JSON as text, kept as written.
- With `--vectors`, `chunk_vectors.jsonl` and `entity_vectors.jsonl` hold `id` and `vector`: the float32
  numbers, little-endian, in base64. A store with the same embedder reads them; another computes its own.
- A job that runs during the dump is written as waiting.
- Derived data (the vector store, its outbox, snapshots) is not included, nor are plain files of the store
  that can be copied (`config.yml`, `curated/`, `models/`).

A dump appears when it is complete. A killed dump leaves a hidden folder whose name ends in `.dump`; the next
dump into the same place removes it.

Loading checks everything before it writes anything: hashes, every line, order and references. It writes only
rows that the store lacks; a row that exists and differs is left unchanged and counted.
"""


def dump_page() -> str:
    """Return the page of the format that `dump` writes and `load` reads."""
    from hydramem.storage.exchange import json_lines, manifest
    from hydramem.storage.exchange import manifest as layout

    files = "\n".join(
        f"| `{part.file}` | {part.table.row.__name__} | {_sorted_by(part)} "
        f"| {first_line(part.table.row.__doc__)} |"
        for part in layout.PARTS
    )
    parts = (
        f"\n### {part.file}\n\n{_dumped(part, json_lines.fields_of(part.table))}" for part in layout.PARTS
    )
    described = (
        f"\n### {row.__name__}\n\n{type_texts.fields(row)}"
        for row in (manifest.DumpManifest, manifest.FileEntry)
    )
    return (
        f"# Dumps\n\n{NOTE}\n{_ABOUT_DUMPS}\n"
        f"This is version {layout.VERSION} of the format.\n"
        f"\n## Files\n\n| file | row | sorted by | |\n|---|---|---|---|\n{files}\n"
        f"\n## {layout.MANIFEST}\n{''.join(described)}"
        f"\n## Fields\n{''.join(parts)}"
    )


def _sorted_by(part: Any) -> str:
    if part.is_node:
        return "`id`"
    names = [*part.table.ends, *(name for name in ("id", "at", "rank") if hasattr(part.table.row, name))]
    return ", ".join(f"`{name}`" for name in names)


def _dumped(part: Any, fields: Any) -> str:
    whys = attributes(part.table.row)
    table = ["| field | holds | |", "|---|---|---|"]
    for item in fields:
        holds = " ".join(f"`{choice}`" for choice in sorted(item.choices)) or _KINDS[item.kind]
        must = ", always there" if item.required and not item.nullable else ""
        table.append(f"| `{item.name}` | {holds}{must} | {whys.get(item.name, '')} |")
    return "\n".join(table) + "\n"
