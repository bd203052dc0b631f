"""The table of operations: a row is a Python method, a CLI command, an MCP tool and a reference section."""

import inspect
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args, get_type_hints

from hydramem.memory_api.memory import Memory
from hydramem.storage.answers import repeatable
from hydramem.storage.changes import acting_as, in_one_run

log = logging.getLogger(__name__)
Effect = Literal["read", "write", "destroy"]
Audience = Literal["agent", "all"]
Group = Literal["write", "read", "check", "tend"]


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
    """

    method: Callable[..., object]
    effect: Effect
    audience: Audience
    group: Group
    files: tuple[str, ...] = ()
    once: bool = False

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
    Operation(Memory.ingest_extracted, "write", "agent", "write"),
    Operation(Memory.import_memories, "write", "all", "write", files=("source",)),
    Operation(Memory.remember, "write", "agent", "write", once=True),
    Operation(Memory.remember_many, "write", "all", "write", once=True),
    Operation(Memory.revise, "write", "agent", "write", once=True),
    Operation(Memory.relate, "write", "agent", "write", once=True),
    Operation(Memory.unrelate, "destroy", "all", "write", once=True),
    Operation(Memory.capture, "write", "all", "write", once=True),
    Operation(Memory.distill, "write", "all", "write"),
    Operation(Memory.curate, "write", "all", "write"),
    Operation(Memory.forget, "destroy", "agent", "write", once=True),
    Operation(Memory.revive, "write", "all", "write", once=True),
    Operation(Memory.undo, "destroy", "all", "write", once=True),
    Operation(Memory.erase, "destroy", "all", "write"),
    Operation(Memory.entity, "write", "all", "write", once=True),
    Operation(Memory.merge, "destroy", "all", "write", once=True),
    Operation(Memory.split, "write", "all", "write", once=True),
    Operation(Memory.promote, "write", "all", "write", once=True),
    Operation(Memory.move, "write", "all", "write", once=True),
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
    Operation(Memory.scopes, "read", "all", "read"),
    Operation(Memory.entities, "read", "agent", "read"),
    Operation(Memory.relations, "read", "all", "read"),
    Operation(Memory.history, "read", "agent", "read"),
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
    Operation(Memory.stats, "read", "all", "tend"),
    Operation(Memory.jobs, "read", "all", "tend"),
    Operation(Memory.drain, "write", "all", "tend"),
    Operation(Memory.doctor, "write", "all", "tend"),
    Operation(Memory.reindex, "write", "all", "tend"),
    Operation(Memory.dump, "write", "all", "tend", files=("folder",)),
    Operation(Memory.load, "write", "all", "tend", files=("folder",)),
    Operation(Memory.export_memories, "write", "all", "tend", files=("path",)),
    Operation(Memory.backup, "write", "all", "tend", files=("to",)),
    Operation(Memory.restore, "destroy", "all", "tend", files=("file",)),
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
) -> object:
    """Run an operation for a surface, with the actor of the audit, the session and the timing.

    Args:
        memory: The handle to run it on.
        operation: A row of the table.
        arguments: Arguments of the method by name.
        actor: The surface: `cli` or `mcp`.
        request: Id of the request; the same id again returns the first answer where the operation is `once`.
        session: Name of the session that recalls are recorded for; without one, that of the context, else
            the day's.
    """
    started = time.perf_counter()
    recalling = nullcontext() if session is None else memory.during(session)
    once = repeatable(request) if operation.once and request is not None else nullcontext()
    with acting_as(actor, request=request), in_one_run(), recalling, once:
        try:
            return operation.method(memory, **arguments)
        finally:
            log.debug("%s by %s: %.1f ms", operation.name, actor, (time.perf_counter() - started) * 1000)
