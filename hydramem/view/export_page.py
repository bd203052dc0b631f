"""The page as a folder of files that cannot change the memory; it works from a disk and any static host."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from shutil import copyfile
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

from hydramem.core.errors import InvalidInputError
from hydramem.sharing.connect import call
from hydramem.storage.files.durable_files import storage_errors, write_whole
from hydramem.view.page_app import ASSETS, STATIC
from hydramem.view.page_calls import ACTOR, page_info

if TYPE_CHECKING:
    from hydramem import Memory

Read = Callable[..., Any]
DATA = "data.js"
MARK = "// A memory of HydraMem, written by `hydramem view --export`.\n"
"""The first line of the data, by which an export is known."""

MOST_ROWS = 2_000
"""Most memories, entities and relations that an export holds of each."""

MOST_SESSIONS = 200
"""Most sessions whose recalls it holds, the last ones."""

MOST_NODES = 500
"""Most nodes of its graph."""

_PAGE = 1_000
_STATES = ("active", "superseded", "archived", "quarantined")
_KINDS = ("passage", "note", "fact", "event", "turn")
_SCRIPT = '<script defer src="assets/app.js">'
_ESCAPES = {"<": "\\u003c", "\u2028": "\\u2028", "\u2029": "\\u2029"}
"""What would end a script, or a line of one; these stand only within texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedPage:
    """What was written.

    Attributes:
        file: The page: open it in a browser.
        memories, entities, relations: How many it holds.
        private: How many of the memories are private.
        left_out: What it does not hold, a sentence each.
    """

    file: str
    memories: int
    entities: int
    relations: int
    private: int
    left_out: tuple[str, ...] = ()


def export_page(memory: "Memory", folder: Path, *, project: str) -> ExportedPage:
    """Write the page with the memories of a project into a folder, which only this user can read.

    It holds at most `MOST_ROWS` rows of each kind, the newest memories first, private ones too.

    Args:
        memory: The memory, open here or elsewhere.
        folder: A folder that is missing or empty, or an earlier export, which is replaced.
        project: The project.

    Raises:
        InvalidInputError: The folder holds something else.
        StorageError: It cannot be written.
    """
    _check_folder(folder)
    tables, left_out = _tables(partial(_call, memory), project)
    page = {**page_info(memory, project=project), "read_only": True, "projects": [project]}
    at = datetime.now(UTC)
    data = to_json({"page": page, "exported_at": at, "left_out": left_out, **tables}).decode()
    for character, escaped in _ESCAPES.items():
        data = data.replace(character, escaped)
    index = (STATIC / "index.html").read_text(encoding="utf-8")
    with storage_errors(folder, "cannot be written"):
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)  # what it holds is as private as the store
        (folder / "assets").mkdir(exist_ok=True)
        write_whole(folder / DATA, f"{MARK}window.HYDRAMEM_EXPORT = {data};\n")
        for name in ASSETS:
            if (STATIC / name).is_file():
                copyfile(STATIC / name, folder / "assets" / name)
        write_whole(
            folder / "index.html",
            index.replace(_SCRIPT, f'<script defer src="{DATA}"></script>\n    {_SCRIPT}'),
        )
    answers = tables["answers"]
    return ExportedPage(
        file=str(folder / "index.html"),
        memories=len(tables["memories"]),
        entities=len(answers["entities"]),
        relations=len(answers["relations"]),
        private=sum(row.private for row in tables["memories"]),
        left_out=left_out,
    )


def _check_folder(folder: Path) -> None:
    """Check that a folder can be written without a loss.

    Raises:
        InvalidInputError: It is no folder, or holds something that is no export.
    """
    if folder.is_dir():
        data = folder / DATA
        is_export = data.is_file() and data.read_bytes().startswith(MARK.encode())
        if is_export or not any(folder.iterdir()):
            return
        raise InvalidInputError(
            f"export: {folder} holds other files; name a new folder, or an earlier export"
        )
    if folder.exists():
        raise InvalidInputError(f"export: {folder} is no folder")


def _call(memory: "Memory", name: str, **arguments: object) -> Any:
    return call(memory, name, arguments, actor=ACTOR, session="")


def _tables(read: Read, project: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the tables of an export by name, and what they do not hold."""
    within = {"project": project}
    memories, more = _rows(read, "memories", kinds=_KINDS, states=_STATES, **within)
    entities, more_entities = _rows(read, "entities", **within)
    relations, more_relations = _rows(read, "relations", **within)
    sessions, more_sessions = _rows(read, "sessions", **within)
    documents, more_documents = _rows(read, "documents", **within)
    answers = {
        "stats": read("stats"),
        "changes": read("changes", limit=200, **within),
        "conflicts": read("conflicts", limit=200, **within),
        "review": read("review", limit=200, **within),
        "curated": read("curated", **within),
        "scopes": read("scopes", **within),
        "recalled": _recalled(read, sessions, project),
        "garden": read("garden", status=True, limit=10, **within),
        "communities": read("communities", **within),
        "central": read("central", limit=50, **within),
        "graph": read("graph", limit=MOST_NODES, chunks=False, **within),
        "entities": entities,
        "relations": relations,
        "documents": documents,
    }
    tables = {
        "memories": [read("get", id=row.id) for row in memories],
        "histories": {row.id: read("history", id=row.id, **within) for row in memories},
        "sessions": sessions,
        "answers": answers,
    }
    cut: Mapping[str, bool] = {
        "memories": more,
        "entities": more_entities,
        "relations": more_relations,
        "sessions": more_sessions,
        "documents": more_documents,
    }
    left_out = [f"only the first {MOST_ROWS:,} {name}" for name, is_cut in cut.items() if is_cut]
    nodes_left = answers["graph"].left_out
    if nodes_left:
        left_out.append(f"{nodes_left:,} nodes of the graph beyond {MOST_NODES:,}")
    left_out.append("other projects, and searches by meaning: an export finds words")
    return tables, tuple(left_out)


def _recalled(read: Read, sessions: Sequence[Any], project: str) -> list[Any]:
    """Return what the last sessions recalled, in one list."""
    last = sessions[:MOST_SESSIONS]
    return [row for one in last for row in read("recalled", session=one.name, limit=_PAGE, project=project)]


def _rows(read: Read, name: str, **arguments: object) -> tuple[Sequence[Any], bool]:
    """Return the first rows of a list, and whether it has more."""
    found: list[Any] = []
    while len(found) <= MOST_ROWS:
        page = read(name, limit=_PAGE, offset=len(found), **arguments)
        found += page
        if len(page) < _PAGE:
            break
    return found[:MOST_ROWS], len(found) > MOST_ROWS
