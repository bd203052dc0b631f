"""A night's plan as a file: a line that says whose it is, and a line for each proposal."""

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
from hydramem.garden.proposals.proposal import Action, Proposal, table_of, written
from hydramem.storage.exchange.json_lines import from_values, time_text, to_line, values_of
from hydramem.storage.exchange.manifest import PARTS
from hydramem.storage.files.durable_files import write_whole
from hydramem.storage.schema import SCHEMA_VERSION
from hydramem.storage.undo.undo_images import as_text, from_text
from hydramem.storage.write import Removal, Write

_FILE = "seal.key"

_BYTES = 32


def plan_signature(key: bytes, lines: Iterable[Any]) -> str:
    """Return the seal of some JSON values, in their order.

    Args:
        key: The store's.
        lines: What is sealed; how it is laid out does not matter.
    """
    sealed = hmac.new(key, digestmod="sha256")
    for line in lines:
        sealed.update(json.dumps(line, sort_keys=True).encode() + b"\n")
    return sealed.hexdigest()


def is_signed(key: bytes, lines: Iterable[Any], seal: object) -> bool:
    """Say whether a seal is that of some JSON values."""
    return isinstance(seal, str) and seal.isascii() and hmac.compare_digest(plan_signature(key, lines), seal)


def key_in(folder: Path) -> bytes:
    """Return a store's key, made at first use.

    Args:
        folder: Where it is kept.

    Raises:
        StorageError: It can be neither read nor made.
    """
    file = folder / _FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            _make(file)
        key = file.read_bytes()
    except OSError as error:
        raise StorageError(f"{file}: the key of plans cannot be had: {error.strerror or error}") from error
    if len(key) != _BYTES:
        raise StorageError(f"{file}: is no key; delete it, and plan anew")
    return key


def _make(file: Path) -> None:
    beside = file.with_name(f"{file.name}.new")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as made:
        made.write(secrets.token_bytes(_BYTES))
        made.flush()
        os.fsync(made.fileno())
    beside.replace(file)


FORMAT = "hydramem-garden-plan"

VERSION = 1

_BEGINNING = 64

_PARTS = {part.table.name: part for part in PARTS}

_FIELDS = {part.table.row: part.name for part in PARTS}


@dataclass(frozen=True, slots=True, kw_only=True)
class GardenPlan:
    """What a night would change.

    Attributes:
        run: The run that applying it is.
        made_at: When the memory was as the proposals expect it.
        struck: How many proposals were taken out of its file since.
    """

    project: str
    run: str
    made_at: datetime
    proposals: tuple[Proposal, ...]
    struck: int = 0


def write_plan(plan: GardenPlan, file: Path, *, key: bytes) -> None:
    """Write a plan as JSON lines, whole or not at all; each line is sealed, so that one may be taken out.

    Args:
        plan: The plan.
        file: Where to.
        key: What it is sealed with.

    Raises:
        StorageError: The file cannot be written.
    """
    head: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "schema": SCHEMA_VERSION,
        "project": plan.project,
        "run": plan.run,
        "made_at": time_text(plan.made_at),
        "proposals": len(plan.proposals),
    }
    lines = [head, *map(_told, plan.proposals)]
    sealed = [line | {"seal": plan_signature(key, (plan.run, line))} for line in lines]
    try:
        write_whole(file, "".join(f"{json.dumps(line, ensure_ascii=True)}\n" for line in sealed))
    except OSError as error:
        raise StorageError(f"{file}: the plan cannot be written: {error.strerror or error}") from error


def _told(proposal: Proposal) -> dict[str, Any]:
    rows: dict[str, list[Any]] = {}
    for row in written(proposal.write):
        table = table_of(row)
        rows.setdefault(table.name, []).append(json.loads(to_line(table, row)))
    gone = {name: getattr(proposal.write.removed, name) for name in Removal.__dataclass_fields__}
    return {
        "id": proposal.id,
        "phase": proposal.phase,
        "action": proposal.action,
        "target": proposal.target,
        "text": proposal.text,
        "reason": proposal.reason,
        "score": proposal.score,
        "rows": rows,
        "removed": {name: keys for name, keys in gone.items() if keys},
        "expects": {as_text(address): seen for address, seen in proposal.expects.items()},
        "told": dict(proposal.told),
    }


def may_become_a_plan(file: Path) -> bool:
    """Say whether nothing but a plan is lost where a plan is written to a file."""
    try:
        with file.open("rb") as held:
            begin = held.read(_BEGINNING)
    except FileNotFoundError:
        return True
    return not begin or FORMAT.encode() in begin


def read_plan(file: Path, *, project: str, key: bytes) -> GardenPlan:
    """Read a plan of a project.

    Args:
        file: The plan's.
        project: Whose plan it must be.
        key: What it must be sealed with.

    Raises:
        InvalidInputError: It is no plan, of another project or version, or a line of it is cut short, was
            changed or stands twice; the message names file and line.
    """
    try:
        lines = list(values_of(file))
    except OSError as error:
        raise InvalidInputError(f"{file}: cannot be read: {error.strerror or error}") from error
    head = lines[0][1] if lines else {}
    if head.get("format") != FORMAT:
        raise InvalidInputError(f"{file}: is no plan of a night; `hydramem garden --plan --out` writes one")
    if (head.get("version"), head.get("schema")) != (VERSION, SCHEMA_VERSION):
        raise InvalidInputError(f"{file}: was written by another version; plan the night anew")
    if head.get("project") != project:
        raise InvalidInputError(
            f"{file}: is a plan of project {str(head.get('project'))[:80]!r}, not {project!r}"
        )
    for number, values in lines:
        line = {name: value for name, value in values.items() if name != "seal"}
        if not is_signed(key, (head.get("run"), line), values.get("seal")):
            raise InvalidInputError(
                f"{file}, line {number}: was changed, or another store or plan wrote it; plan the night anew"
            )
    if len({values["id"] for _, values in lines[1:]}) < len(lines) - 1:
        raise InvalidInputError(f"{file}: a change stands in it twice; plan the night anew")
    try:
        return GardenPlan(
            project=project,
            run=str(head["run"]),
            made_at=datetime.fromisoformat(head["made_at"]),
            proposals=tuple(_read(values, project, file, number) for number, values in lines[1:]),
            struck=int(head["proposals"]) - (len(lines) - 1),
        )
    except (KeyError, ValueError) as error:
        raise InvalidInputError(f"{file}: its first line is not a plan's: {error}") from error


def _read(values: dict[str, Any], project: str, file: Path, number: int) -> Proposal:
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
            told={str(name): said for name, said in values["told"].items()},
        )
    except InvalidInputError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInputError(f"{file}, line {number}: is no proposal: {error}") from error
    if proposal.id != values.get("id"):
        raise InvalidInputError(f"{file}, line {number}: was changed; plan the night anew")
    return proposal


def _write(rows: dict[str, list[Any]], removed: dict[str, Any], project: str) -> Write:
    made: dict[str, Any] = {}
    for name, told in rows.items():
        part = _PARTS[name]
        made[_FIELDS[part.table.row]] = tuple(from_values(part, values) for values in told)
    strangers = [row for part in made.values() for row in part if getattr(row, "project", project) != project]
    if strangers:
        raise ValueError("a row of another project")
    return Write(changes=(), removed=_removal(removed), **made)


def _removal(removed: dict[str, Any]) -> Removal:
    def key(value: Any) -> Any:
        return value if isinstance(value, str) else tuple(map(str, value))

    return Removal(**{name: tuple(map(key, keys)) for name, keys in removed.items()})


def ordered(proposals: Sequence[Proposal]) -> tuple[Proposal, ...]:
    """Return proposals with the surest first, phase by phase in the order of the night."""
    place = {phase: number for number, phase in enumerate(get_args(Phase))}

    def order(one: Proposal) -> tuple[int, float, str]:
        return place[one.phase], -(1.0 if one.score is None else one.score), one.id

    return tuple(sorted(proposals, key=order))
