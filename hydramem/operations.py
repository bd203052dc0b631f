"""The operations table: one row is one Python method, CLI command, MCP tool and reference section."""

import inspect
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args, get_type_hints

from hydramem.memory_api.memory import Memory
from hydramem.storage.changes import acting_as, in_one_run

log = logging.getLogger(__name__)

Effect = Literal["read", "write", "destroy"]

Audience = Literal["agent", "all"]

Group = Literal["write", "read", "check", "tend"]


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that a memory can do; name, signature and words come from the method.

    Attributes:
        effect: `destroy` takes something out of recall.
        audience: `agent` rows are what an MCP client sees by default: the few that everyday work needs, since
            each takes room in every prompt.
    """

    method: Callable[..., object]
    effect: Effect
    audience: Audience
    group: Group

    @property
    def name(self) -> str:
        """The operation's name on every surface."""
        return self.method.__name__

    @property
    def signature(self) -> inspect.Signature:
        """What a surface asks for: no `self`, no `progress` callback, and moments as ISO 8601 text."""
        hints = get_type_hints(self.method)
        given = inspect.signature(self.method)
        shown = [
            parameter.replace(annotation=_as_text(hints[name]))
            for name, parameter in given.parameters.items()
            if name not in {"self", "progress"}
        ]
        return given.replace(parameters=shown, return_annotation=hints["return"])

    @property
    def reports_progress(self) -> bool:
        """Whether the method takes a `progress` callback."""
        return "progress" in inspect.signature(self.method).parameters


def _as_text(hint: Any) -> Any:
    """Replace `When` by text: JSON and command lines have no moments."""
    kinds = get_args(hint)
    if datetime not in kinds:
        return hint
    return str | None if type(None) in kinds else str


OPERATIONS: tuple[Operation, ...] = (
    Operation(Memory.ingest, "write", "agent", "write"),
    Operation(Memory.ingest_extracted, "write", "agent", "write"),
    Operation(Memory.remember, "write", "agent", "write"),
    Operation(Memory.remember_many, "write", "all", "write"),
    Operation(Memory.revise, "write", "agent", "write"),
    Operation(Memory.relate, "write", "agent", "write"),
    Operation(Memory.unrelate, "destroy", "all", "write"),
    Operation(Memory.capture, "write", "all", "write"),
    Operation(Memory.curate, "write", "all", "write"),
    Operation(Memory.forget, "destroy", "agent", "write"),
    Operation(Memory.revive, "write", "all", "write"),
    Operation(Memory.undo, "destroy", "all", "write"),
    Operation(Memory.entity, "write", "all", "write"),
    Operation(Memory.merge, "destroy", "all", "write"),
    Operation(Memory.split, "write", "all", "write"),
    Operation(Memory.promote, "write", "all", "write"),
    Operation(Memory.move, "write", "all", "write"),
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
    Operation(Memory.calibrate, "write", "all", "tend"),
    Operation(Memory.verify, "write", "all", "check"),
    Operation(Memory.conflicts, "read", "all", "check"),
    Operation(Memory.garden, "write", "all", "tend"),
    Operation(Memory.train, "write", "all", "tend"),
    Operation(Memory.review, "write", "all", "tend"),
    Operation(Memory.stats, "read", "all", "tend"),
    Operation(Memory.jobs, "read", "all", "tend"),
    Operation(Memory.drain, "write", "all", "tend"),
    Operation(Memory.doctor, "write", "all", "tend"),
    Operation(Memory.reindex, "write", "all", "tend"),
    Operation(Memory.dump, "write", "all", "tend"),
    Operation(Memory.load, "write", "all", "tend"),
    Operation(Memory.backup, "write", "all", "tend"),
    Operation(Memory.restore, "destroy", "all", "tend"),
)


def call(
    memory: Memory,
    operation: Operation,
    arguments: Mapping[str, object],
    *,
    actor: str,
    request: str | None = None,
    session: str | None = None,
) -> object:
    """Run an operation for a surface: the one place for the audit's actor, session and timing of every call.

    Args:
        memory: The handle to run it on.
        operation: A row of the table.
        arguments: By the names of the method's parameters.
        actor: Who asks: `cli`, `mcp`.
        request: Id of the request, where a retry must not happen twice.
        session: Name of the conversation that what is recalled is of use to, where there is one.
    """
    started = time.perf_counter()
    with acting_as(actor, request=request), in_one_run(), memory.during(session):
        try:
            return operation.method(memory, **arguments)
        finally:
            log.debug("%s by %s: %.1f ms", operation.name, actor, (time.perf_counter() - started) * 1000)
