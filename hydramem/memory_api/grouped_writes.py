"""Single calls of `remember` that come at the same time are stored together; each keeps its own result."""

import logging
from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from hydramem.core.errors import DiskFullError, HydraMemError, ReadOnlyError
from hydramem.core.inputs import MemoryInput
from hydramem.core.results.write_results import Remembered
from hydramem.memory_api.handle import Handle
from hydramem.storage.changes import current_run
from hydramem.storage.quotas import noted
from hydramem.storage.writing.answers import running_call

if TYPE_CHECKING:
    from hydramem.ingest.memories.remember_group import GroupMember

log = logging.getLogger(__name__)


def remember_in_group(
    handle: Handle, given: MemoryInput, project: str | None, alone: Callable[[], Remembered]
) -> Remembered:
    """Store one memory together with those of concurrent calls; without such, by itself.

    Args:
        handle: The handle that is called.
        given: What to remember.
        project: Where to; the handle's own by default.
        alone: Stores it by itself.

    Raises:
        StoreBusyError: Too many calls wait to be stored, or this one waited too long; it is not stored.
    """
    from hydramem.ingest.memories.remember_group import GroupMember

    store, call = handle._use(), running_call()
    answer = None if call is None else call.row
    member = GroupMember(given=given, context=copy_context(), answer=answer)

    def keep(members: Sequence[GroupMember]) -> None:
        if len(members) == 1:
            member.outcome, member.is_stored = alone(), True
        else:
            _store(members, handle, project)

    store.groups.run(member, handle._name(project), keep)
    run = current_run()
    if not (member.is_stored or (member.outcome and run and store.graph.changes(run=run))):
        return alone()  # the group failed, and did not commit this memory all the same
    if call is not None and member.request is not None:
        call.committed(member.request)
    if isinstance(member.outcome, HydraMemError):
        raise type(member.outcome)(*member.outcome.args) from member.outcome
    return cast(Remembered, member.outcome)


def _store(members: "Sequence[GroupMember]", handle: Handle, project: str | None) -> None:
    """Store the memories of concurrent calls; where that fails, each call stores its own."""
    from hydramem.ingest.memories.remember_group import remember_group
    from hydramem.verification.verify_stored import WriteVerifier

    target = handle._target(project, WriteVerifier(handle._judge(project)))
    try:
        remember_group(members, target=target, settings=handle._encoding())
    except (DiskFullError, ReadOnlyError) as error:
        for member in members:
            if not member.is_stored:
                member.outcome, member.is_stored = error, True
    except HydraMemError as error:
        log.warning("%d memories could not be stored together; each is tried alone: %s", len(members), error)
    notes = noted(handle.config.limits, handle._name(project), handle._use().graph)
    for member in members if notes else ():
        if isinstance(member.outcome, Remembered):
            member.outcome = replace(member.outcome, notes=(*member.outcome.notes, *notes))
