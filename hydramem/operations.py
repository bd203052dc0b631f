"""The table of operations: a row is a Python method, a CLI command, an MCP tool and a reference section."""

import inspect
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args, get_type_hints

from hydramem.core.errors import InvalidInputError
from hydramem.core.project_bounds import bounded_to
from hydramem.core.roles import Role
from hydramem.memory_api.handle import sibling
from hydramem.memory_api.memory import Memory
from hydramem.storage.changes import acting_as, in_one_run
from hydramem.storage.writing.answers import repeatable

log = logging.getLogger(__name__)
Effect = Literal["read", "write", "destroy"]
Audience = Literal["agent", "all"]
Group = Literal["write", "read", "check", "tend"]
_NEEDS: Mapping[Group, Role] = {
    "read": "reader",
    "write": "writer",
    "check": "gardener",
    "tend": "gardener",
}


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a memory; its name, signature and description are those of the method.

    Attributes:
        effect: `destroy` removes something from recall, `erase` for good.
        audience: An MCP client sees the `agent` rows by default. They are few, since each takes tokens in
            every prompt.
        files: Arguments that name files or folders; an MCP client may name those below `server.ingest_roots`.
        once: Whether a repeated request returns the first answer and writes nothing; another operation finds
            what it wrote before.
        owners: Whether a token of the server must be an owner's: what it does cannot be undone, or reads
            and writes everything.
        whole_store: Whether it works on every project at once, so that a token for some projects has none.
    """

    method: Callable[..., object]
    effect: Effect
    audience: Audience
    group: Group
    files: tuple[str, ...] = ()
    once: bool = False
    owners: bool = False
    whole_store: bool = False

    @property
    def role(self) -> Role:
        """The least role of a token that may call it."""
        if self.owners:
            return "owner"
        return "reader" if self.effect == "read" else _NEEDS[self.group]

    @property
    def name(self) -> str:
        """The operation's name on every surface."""
        return self.method.__name__

    @property
    def signature(self) -> inspect.Signature:
        """The parameters of every surface: without `self` and `progress`, and with times as text."""
        hints = get_type_hints(self.method)
        signature = inspect.signature(self.method)
        shown = [
            parameter.replace(annotation=_as_text(hints[name]))
            for name, parameter in signature.parameters.items()
            if name not in {"self", "progress"}
        ]
        return signature.replace(parameters=shown, return_annotation=hints["return"])

    @property
    def reports_progress(self) -> bool:
        """Whether the method takes a `progress` callback."""
        return "progress" in inspect.signature(self.method).parameters


def _as_text(hint: Any) -> Any:
    """Return text for `When`: JSON and command lines have no times."""
    kinds = get_args(hint)
    if datetime not in kinds:
        return hint
    return str | None if type(None) in kinds else str


OPERATIONS: tuple[Operation, ...] = (
    Operation(Memory.ingest, "write", "agent", "write", files=("sources",)),
    Operation(Memory.ingest_extracted, "write", "all", "write"),
    Operation(Memory.import_memories, "write", "all", "write", files=("source",)),
    Operation(Memory.remember, "write", "agent", "write", once=True),
    Operation(Memory.remember_many, "write", "all", "write", once=True),
    Operation(Memory.revise, "write", "agent", "write", once=True),
    Operation(Memory.relate, "write", "all", "write", once=True),
    Operation(Memory.unrelate, "destroy", "all", "write", once=True),
    Operation(Memory.capture, "write", "all", "write", once=True),
    Operation(Memory.distill, "write", "all", "write"),
    Operation(Memory.curate, "write", "all", "write"),
    Operation(Memory.forget, "destroy", "agent", "write", once=True),
    Operation(Memory.revive, "write", "all", "write", once=True),
    Operation(Memory.undo, "destroy", "all", "write", once=True),
    Operation(Memory.erase, "destroy", "all", "write", owners=True, whole_store=True),
    Operation(Memory.entity, "write", "all", "write", once=True),
    Operation(Memory.merge, "destroy", "all", "write", once=True),
    Operation(Memory.split, "write", "all", "write", once=True),
    Operation(Memory.promote, "write", "all", "write", once=True),
    Operation(Memory.relabel, "write", "all", "write", once=True),
    Operation(Memory.move, "write", "all", "write", once=True),
    Operation(Memory.put_items, "write", "all", "write", once=True),
    Operation(Memory.append_session_items, "write", "all", "write", once=True),
    Operation(Memory.pop_session_items, "destroy", "all", "write", once=True),
    Operation(Memory.recall, "read", "agent", "read"),
    Operation(Memory.prime, "read", "agent", "read"),
    Operation(Memory.get, "read", "agent", "read"),
    Operation(Memory.memories, "read", "all", "read"),
    Operation(Memory.timeline, "read", "all", "read"),
    Operation(Memory.curated, "read", "all", "read"),
    Operation(Memory.documents, "read", "all", "read"),
    Operation(Memory.document, "read", "all", "read"),
    Operation(Memory.projects, "read", "all", "read"),
    Operation(Memory.sessions, "read", "all", "read"),
    Operation(Memory.recalled, "read", "all", "read"),
    Operation(Memory.scopes, "read", "all", "read"),
    Operation(Memory.get_items, "read", "all", "read"),
    Operation(Memory.search_items, "read", "all", "read"),
    Operation(Memory.list_namespaces, "read", "all", "read"),
    Operation(Memory.session_items, "read", "all", "read"),
    Operation(Memory.entities, "read", "agent", "read"),
    Operation(Memory.relations, "read", "all", "read"),
    Operation(Memory.history, "read", "all", "read"),
    Operation(Memory.changes, "read", "all", "read"),
    Operation(Memory.expand, "read", "agent", "read"),
    Operation(Memory.neighbors, "read", "all", "read"),
    Operation(Memory.path, "read", "all", "read"),
    Operation(Memory.central, "read", "all", "read"),
    Operation(Memory.communities, "read", "all", "read"),
    Operation(Memory.graph, "read", "all", "read"),
    Operation(Memory.calibrate, "write", "all", "tend", files=("labels", "export")),
    Operation(Memory.verify, "write", "all", "check"),
    Operation(Memory.conflicts, "read", "all", "check"),
    Operation(Memory.garden, "write", "all", "tend", files=("out", "apply")),
    Operation(Memory.train, "write", "all", "tend"),
    Operation(Memory.review, "write", "all", "tend", files=("export", "import_")),
    Operation(Memory.stats, "read", "all", "tend", whole_store=True),
    Operation(Memory.wipe_telemetry, "destroy", "all", "tend", owners=True, whole_store=True),
    Operation(Memory.jobs, "read", "all", "tend"),
    Operation(Memory.drain, "write", "all", "tend", whole_store=True),
    Operation(Memory.doctor, "write", "all", "tend", owners=True, whole_store=True),
    Operation(Memory.reindex, "write", "all", "tend", owners=True, whole_store=True),
    Operation(Memory.dump, "write", "all", "tend", files=("folder",), owners=True, whole_store=True),
    Operation(Memory.load, "write", "all", "tend", files=("folder",), owners=True, whole_store=True),
    Operation(Memory.export_memories, "write", "all", "tend", files=("path",), owners=True),
    Operation(Memory.backup, "write", "all", "tend", files=("to",), owners=True, whole_store=True),
    Operation(Memory.restore, "destroy", "all", "tend", files=("file",), owners=True, whole_store=True),
)


BY_NAME: Mapping[str, Operation] = {operation.name: operation for operation in OPERATIONS}
"""The rows by the names of their operations."""


def call(
    memory: Memory,
    operation: Operation,
    arguments: Mapping[str, object],
    *,
    actor: str,
    request: str | None = None,
    session: str | None = None,
    within: Sequence[str] | None = None,
) -> object:
    """Run an operation for a surface, with the actor of the audit, the session and the timing.

    Args:
        memory: The handle to run it on.
        operation: A row of the table.
        arguments: Arguments of the method by name.
        actor: The surface: `cli`, `mcp` or `view`.
        request: Id of the request; the same id again returns the first answer where the operation is `once`.
        session: Name of the session that recalls are recorded for; without one, that of the context, else
            the day's.
        within: Projects that the call may touch; the first is its own. None for every project.

    Raises:
        InvalidInputError: The operation is for every project at once, or names a file, and the call may
            touch some projects only.
        NotFoundError: It names something that is in none of them, whether it exists elsewhere or not.
    """
    if within is not None:
        _check_bounded(operation, arguments)
        memory = sibling(memory, within[0]) if within else memory
    started = time.perf_counter()
    recalling = nullcontext() if session is None else memory.during(session)
    once = repeatable(request) if operation.once and request is not None else nullcontext()
    with bounded_to(within), acting_as(actor, request=request), in_one_run(), recalling, once:
        try:
            return operation.method(memory, **arguments)
        finally:
            log.debug("%s by %s: %.1f ms", operation.name, actor, (time.perf_counter() - started) * 1000)


def _check_bounded(operation: Operation, arguments: Mapping[str, object]) -> None:
    """Check that a call for some projects only needs neither the whole store nor files of the machine.

    Raises:
        InvalidInputError: It does.
    """
    if operation.whole_store:
        raise InvalidInputError(f"{operation.name}: works on every project, and this call on some")
    for name in operation.files:
        if arguments.get(name) is not None:
            # A file has no project: what one project writes, another could read.
            raise InvalidInputError(f"{name}: a call for some projects only names no files of the server")
