"""The plan of a run as a file: a header line and a line for each proposal, each of them signed."""

import hmac
import json
import os
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, get_args

from hydramem.core.errors import InvalidInputError, StorageError
from hydramem.core.row_types import Phase
from hydramem.garden.proposals.proposal import SHOWN_FIELDS, Action, Proposal, table_of, written_rows
from hydramem.storage.exchange.json_lines import from_values, time_text, to_line, values_of
from hydramem.storage.exchange.manifest import PARTS
from hydramem.storage.files.durable_files import write_whole
from hydramem.storage.schema import ROWS_VERSION
from hydramem.storage.undo.row_images import as_text, from_text
from hydramem.storage.write import Removal, Write

FORMAT = "hydramem-garden-plan"
VERSION = 1
_KEY_FILE = "seal.key"
_KEY_BYTES = 32
_FORMAT_WITHIN = 64
"""Bytes at the start of a file within which a plan names its format."""

_PARTS = {part.table.name: part for part in PARTS}
_FIELDS = {part.table.row: part.name for part in PARTS}


def key_in(folder: Path) -> bytes:
    """Return the store's key for signing plans; the first use creates it.

    Args:
        folder: Where it is kept.

    Raises:
        StorageError: It can be neither read nor created.
    """
    file = folder / _KEY_FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            _create_key(file)
        key = file.read_bytes()
    except OSError as error:
        raise StorageError(f"{file}: the key of plans cannot be had: {error.strerror or error}") from error
    if len(key) != _KEY_BYTES:
        raise StorageError(f"{file}: is no key; delete it, and plan anew")
    return key


def _create_key(file: Path) -> None:
    fresh = file.with_name(f"{file.name}.new")
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(secrets.token_bytes(_KEY_BYTES))
        stream.flush()
        os.fsync(stream.fileno())
    fresh.replace(file)


def plan_signature(key: bytes, lines: Iterable[Any]) -> str:
    """Return the signature (HMAC) of JSON values in their order; how they are laid out does not matter.

    Args:
        key: The store's.
        lines: What is signed.
    """
    signature = hmac.new(key, digestmod="sha256")
    for line in lines:
        signature.update(json.dumps(line, sort_keys=True).encode() + b"\n")
    return signature.hexdigest()


def _is_signed(key: bytes, lines: Iterable[Any], seal: object) -> bool:
    return isinstance(seal, str) and seal.isascii() and hmac.compare_digest(plan_signature(key, lines), seal)


@dataclass(frozen=True, slots=True, kw_only=True)
class GardenPlan:
    """What a run would change.

    Attributes:
        run: Id of the run under which it is applied.
        made_at: When the memory was as the proposals expect it.
        struck: How many proposals were deleted from its file since.
    """

    project: str
    run: str
    made_at: datetime
    proposals: tuple[Proposal, ...]
    struck: int = 0


def write_plan(plan: GardenPlan, file: Path, *, key: bytes) -> None:
    """Write a plan as JSON lines, whole or not at all; each line is signed, so a line may be deleted.

    Args:
        plan: The plan.
        file: Where it is written.
        key: Signs it.

    Raises:
        StorageError: The file cannot be written.
    """
    head: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "schema": ROWS_VERSION,
        "project": plan.project,
        "run": plan.run,
        "made_at": time_text(plan.made_at),
        "proposals": len(plan.proposals),
    }
    lines = [head, *map(_as_json, plan.proposals)]
    signed = [line | {"seal": plan_signature(key, (plan.run, line))} for line in lines]
    try:
        write_whole(file, "".join(f"{json.dumps(line, ensure_ascii=True)}\n" for line in signed))
    except OSError as error:
        raise StorageError(f"{file}: the plan cannot be written: {error.strerror or error}") from error


def _as_json(proposal: Proposal) -> dict[str, Any]:
    rows: dict[str, list[Any]] = {}
    for row in written_rows(proposal.write):
        table = table_of(row)
        rows.setdefault(table.name, []).append(json.loads(to_line(table, row)))
    gone = {name: getattr(proposal.write.removed, name) for name in Removal.__dataclass_fields__}
    return {
        **{name: getattr(proposal, name) for name in SHOWN_FIELDS},
        "rows": rows,
        "removed": {name: keys for name, keys in gone.items() if keys},
        "expects": {as_text(address): seen for address, seen in proposal.expects.items()},
        "told": dict(proposal.told),
    }


def may_become_a_plan(file: Path) -> bool:
    """Say whether a plan may be written to a file: it is new, empty, or holds a plan."""
    try:
        with file.open("rb") as stream:
            begin = stream.read(_FORMAT_WITHIN)
    except FileNotFoundError:
        return True
    return not begin or FORMAT.encode() in begin


def read_plan(file: Path, *, project: str, key: bytes) -> GardenPlan:
    """Read a plan of a project.

    Args:
        file: The plan's.
        project: The project that it must be of.
        key: What it must be signed with.

    Raises:
        InvalidInputError: It is no plan, of another project or version, or a line of it is cut short, was
            changed or occurs twice; the message names file and line.
    """
    try:
        lines = list(values_of(file))
    except OSError as error:
        raise InvalidInputError(f"{file}: cannot be read: {error.strerror or error}") from error
    head = lines[0][1] if lines else {}
    _check_head(head, file, project)
    for number, values in lines:
        line = {name: value for name, value in values.items() if name != "seal"}
        if not _is_signed(key, (head.get("run"), line), values.get("seal")):
            raise InvalidInputError(
                f"{file}, line {number}: was changed, or another store or plan wrote it; plan again"
            )
    if len({values["id"] for _, values in lines[1:]}) < len(lines) - 1:
        raise InvalidInputError(f"{file}: a change occurs in it twice; plan again")
    try:
        return GardenPlan(
            project=project,
            run=str(head["run"]),
            made_at=datetime.fromisoformat(head["made_at"]),
            proposals=tuple(_proposal(values, project, file, number) for number, values in lines[1:]),
            struck=int(head["proposals"]) - (len(lines) - 1),
        )
    except (KeyError, ValueError) as error:
        raise InvalidInputError(f"{file}: its first line is not a plan's: {error}") from error


def _check_head(head: dict[str, Any], file: Path, project: str) -> None:
    if head.get("format") != FORMAT:
        raise InvalidInputError(
            f"{file}: is no plan of the gardener; `hydramem garden --plan --out` writes one"
        )
    if (head.get("version"), head.get("schema")) != (VERSION, ROWS_VERSION):
        raise InvalidInputError(f"{file}: was written by another version; plan again")
    if head.get("project") != project:
        raise InvalidInputError(
            f"{file}: is a plan of project {str(head.get('project'))[:80]!r}, not {project!r}"
        )


def _proposal(values: dict[str, Any], project: str, file: Path, number: int) -> Proposal:
    try:
        phase, action = values["phase"], values["action"]
        if phase not in get_args(Phase) or action not in get_args(Action):
            raise ValueError(f"{phase!r} or {action!r} is none of the gardener's")
        proposal = Proposal(
            project=project,
            phase=phase,
            action=action,
            target=str(values["target"]),
            text=str(values["text"]),
            reason=str(values["reason"]),
            score=values["score"],
            write=_write(values["rows"], values["removed"], project),
            expects={from_text(name): seen for name, seen in values["expects"].items()},
            told={str(name): value for name, value in values["told"].items()},
        )
    except InvalidInputError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInputError(f"{file}, line {number}: is no proposal: {error}") from error
    if proposal.id != values.get("id"):
        raise InvalidInputError(f"{file}, line {number}: was changed; plan again")
    return proposal


def _write(rows: dict[str, list[Any]], removed: dict[str, Any], project: str) -> Write:
    read: dict[str, Any] = {}
    for name, lines in rows.items():
        part = _PARTS[name]
        read[_FIELDS[part.table.row]] = tuple(from_values(part, values) for values in lines)
    if any(getattr(row, "project", project) != project for part in read.values() for row in part):
        raise ValueError("a row of another project")
    gone: dict[str, Any] = {
        name: tuple(key if isinstance(key, str) else tuple(map(str, key)) for key in keys)
        for name, keys in removed.items()
    }
    return Write(changes=(), removed=Removal(**gone), **read)


def ordered(proposals: Sequence[Proposal]) -> tuple[Proposal, ...]:
    """Return proposals in the order of their phases, those of a phase with the surest first."""
    phases = get_args(Phase)

    def order(proposal: Proposal) -> tuple[int, float, str]:
        score = 1.0 if proposal.score is None else proposal.score
        return phases.index(proposal.phase), -score, proposal.id

    return tuple(sorted(proposals, key=order))
