"""Remember in a group: concurrent calls share an embedding, a turn of the writer lock and a transaction.

Each memory is compared with those before it as if they were stored, and its write is made in the context of
its call: rows, Changes and images are those of as many single calls in the same order.
"""

from collections.abc import Callable, Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass, replace

from hydramem.core.config import MemoryConfig
from hydramem.core.errors import HydraMemError, InvalidInputError, NotFoundError
from hydramem.core.inputs import MemoryInput
from hydramem.core.results.write_results import Remembered
from hydramem.core.time import now
from hydramem.ingest.extraction.name_spans import key_of
from hydramem.ingest.memories.compare.ask_models import ModelSuggestions
from hydramem.ingest.memories.compare.read_ahead import ReadAhead, read_ahead
from hydramem.ingest.memories.memory_input import ValidatedMemory, validate
from hydramem.ingest.memories.memory_write import MemoryWrite, PreparedWrite
from hydramem.ingest.memories.remember import prepared_to_judge
from hydramem.ingest.memories.remember_batch import RememberBatch
from hydramem.ingest.write_target import Target
from hydramem.storage.vector_rows import Vector, VectorStore, indexed_text
from hydramem.storage.write import RequestRow
from hydramem.storage.write_validation import commit_together


@dataclass(slots=True, kw_only=True, eq=False)
class GroupMember:
    """One call of a group.

    Attributes:
        given: What it remembers.
        context: Of its thread: the run, the actor and the request of its Changes.
        answer: Makes the answer of its request from its result; None without a request.
        outcome: Its result, or why it failed; known before the group is committed.
        request: The answer that is committed with its write.
        is_stored: Whether the outcome stands: its group is committed, or it failed by itself.
    """

    given: MemoryInput
    context: Context
    answer: Callable[[Remembered], RequestRow] | None = None
    outcome: Remembered | HydraMemError | None = None
    request: RequestRow | None = None
    is_stored: bool = False


def remember_group(members: Sequence[GroupMember], *, target: Target, settings: MemoryConfig) -> None:
    """Store the memories of concurrent calls in one transaction, and set the outcome of each.

    A member that is wrong fails by itself. No model is asked.

    Args:
        members: In the order in which they are stored.
        target: Where to store them.
        settings: How they are encoded.

    Raises:
        HydraMemError: The stores or the embedder failed; members whose outcome stands are done all the same.
    """
    valid = _validated(members, settings)
    memories = list(valid.values())
    if not memories:
        return
    with prepared_to_judge(memories, target):
        vectors = target.embed([indexed_text(memory.row) for memory in memories])
    made = dict(zip(valid, vectors, strict=True))
    with target.looking() as space:
        for part in _parts(valid):
            with target.one_writer:
                _store({member: (valid[member], made[member]) for member in part}, target, space, settings)
            # Not before the lock is given back: a database makes then safe what was committed.
            for member in part:
                member.is_stored = True


def _parts(valid: Mapping[GroupMember, ValidatedMemory]) -> list[list[GroupMember]]:
    """Cut a group where a relation is stated of what was named before: it is judged by what is committed."""
    parts: list[list[GroupMember]] = [[]]
    named: set[str] = set()
    for member, memory in valid.items():
        found = memory.found
        ends = {key_of(end) for claim in found.claims for end in (claim.subject, claim.object)}
        if not named.isdisjoint(ends):
            parts.append([])
            named = set()
        parts[-1].append(member)
        named |= {key_of(name.name) for name in found.names}
    return parts


def _store(
    members: Mapping[GroupMember, tuple[ValidatedMemory, Vector]],
    target: Target,
    space: VectorStore | None,
    settings: MemoryConfig,
) -> None:
    """Store members by one transaction; the writer lock is held."""
    memories = [memory for memory, _ in members.values()]
    vectors = [vector for _, vector in members.values()]
    ahead = read_ahead(memories, vectors, target=target, space=space, settings=settings)
    ready = list[PreparedWrite]()
    for member, (memory, vector) in members.items():
        write = member.context.run(_prepare, member, memory, vector, ahead, settings)
        if write is not None:
            ready.append(write)
            ahead.graph.add(write.write)
            if ahead.vectors is not None:
                ahead.vectors.add(write.vectors)
    _commit(ready, target)


def _validated(
    members: Sequence[GroupMember], settings: MemoryConfig
) -> Mapping[GroupMember, ValidatedMemory]:
    """Return the checked memories; a member that is wrong gets its error."""
    try:
        return dict(zip(members, validate([member.given for member in members], settings), strict=True))
    except HydraMemError:
        return {member: memory for member in members for memory in _validated_alone(member, settings)}


def _validated_alone(member: GroupMember, settings: MemoryConfig) -> list[ValidatedMemory]:
    try:
        return validate([member.given], settings)
    except HydraMemError as error:
        member.outcome, member.is_stored = error, True
        return []


def _prepare(
    member: GroupMember,
    memory: ValidatedMemory,
    vector: Vector,
    ahead: ReadAhead,
    settings: MemoryConfig,
) -> PreparedWrite | None:
    """Return the write of one member, in its own context, and set its outcome; None where nothing changes."""
    write = MemoryWrite(operation="remember", target=ahead.target, at=now())
    try:
        done = RememberBatch(write, ahead.space, settings).add(memory, vector, ModelSuggestions())
    except (InvalidInputError, NotFoundError) as error:
        member.outcome = error
        return None
    ready = write.prepare()
    member.outcome = done = write.completed(done)
    if ready is None or member.answer is None:
        return ready
    member.request = member.answer(done)
    return replace(ready, write=replace(ready.write, requests=(member.request,)))


def _commit(ready: Sequence[PreparedWrite], target: Target) -> None:
    if not ready:
        return
    names = {id: name for each in ready for id, name in each.names_to_embed.items()}
    vectors = {id: vector for each in ready for id, vector in each.vectors.items()}
    target.commit(commit_together([each.write for each in ready]), {**vectors, **target.embed_by_id(names)})
    with target.one_writer:
        pass  # where the leader's own call would hold the write back for its answer, this commits it
