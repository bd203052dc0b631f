"""Scopes: the tree of paths that memories belong to, and moving a part of it. Whole segments only."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from hydramem.core.argument_checks import MAX_SCOPE, check_reason
from hydramem.core.errors import InvalidInputError, NotFoundError
from hydramem.core.results.knowledge_results import Moved, ScopeCount, ScopeView
from hydramem.core.row_types import Chunk
from hydramem.ingest.knowledge.support import matching_chunks
from hydramem.ingest.write_target import Target
from hydramem.storage.changes import record
from hydramem.storage.chunk_filter import ChunkFilter, within_scope
from hydramem.storage.store import GraphStore
from hydramem.storage.write import Write
from hydramem.storage.write_validation import batches

_BATCH = 200
_MOST_CATEGORIES = 20


def tree(
    counts: Iterable[ScopeCount], *, prefix: str = "/", depth: int | None = None
) -> tuple[ScopeView, ...]:
    """Return the scopes at and under a prefix, each before what is under it. Pure.

    Args:
        counts: What is at or under the prefix.
        prefix: Where the tree begins.
        depth: Levels below the prefix to distinguish; what is deeper counts for its ancestor. None for all.
    """
    met: dict[str, list[ScopeCount]] = {}
    for count in counts:
        for path in _ancestors(count.scope, prefix):
            met.setdefault(path, []).append(count)
    shown = (path for path in met if depth is None or _level(path) - _level(prefix) <= depth)
    return tuple(_view(path, met[path]) for path in sorted(shown, key=_segments))


def _segments(path: str) -> list[str]:
    return [segment for segment in path.split("/") if segment]


def _level(path: str) -> int:
    return len(_segments(path))


def _ancestors(scope: str, prefix: str) -> Iterable[str]:
    """Yield the paths from a prefix down to a scope, both included."""
    segments = _segments(scope)
    for end in range(_level(prefix), len(segments) + 1):
        yield "/" + "/".join(segments[:end])


def _view(path: str, counts: Sequence[ScopeCount]) -> ScopeView:
    labels = Counter[str]()
    for count in counts:
        labels.update(dict.fromkeys(count.categories, count.memories))
    ranked = sorted(labels, key=lambda label: (-labels[label], label))
    return ScopeView(
        path=path,
        memories=sum(count.memories for count in counts),
        own=sum(count.memories for count in counts if count.scope == path),
        oldest=min(count.oldest for count in counts),
        newest=max(count.newest for count in counts),
        categories=tuple(ranked[:_MOST_CATEGORIES]),
    )


def moved_scope(scope: str, source: str, destination: str) -> str:
    """Return where a scope at or under a source is, once the source is the destination. Pure."""
    return "/" + "/".join((*_segments(destination), *_segments(scope)[_level(source) :]))


def move(source: str, destination: str, *, reason: str, target: Target) -> Moved:
    """File everything at and under a scope elsewhere: of every state, with its history, the ids unchanged.

    It goes in batches; what an interrupted move left is moved by the same call again.

    Args:
        source: The scope that is to go.
        destination: What it is called from then on; what is there already stays.
        reason: Why, for the history.

    Raises:
        InvalidInputError: The destination is within the source, or a scope would be too long; nothing is
            written.
        NotFoundError: Nothing is filed there; nothing is written.
    """
    why = check_reason(reason)
    if within_scope(destination, source):
        raise InvalidInputError(
            f"destination: {destination} is within {source}, which cannot be moved into itself"
        )
    # All ids first: moving /a/b to /a puts what was /a/b/b where the look-up would find it again.
    filed = _filed_within(source, target.project, target.graph)
    if not filed:
        raise NotFoundError(f"source: nothing of project {target.project!r} is filed at or under {source}")
    scopes = {scope: moved_scope(scope, source, destination) for scope in filed.values()}
    _check_lengths(scopes.values())
    # What lands within the source again would move twice, were the call interrupted and repeated.
    whole = any(within_scope(scope, source) for scope in scopes.values())
    active = 0
    for batch in batches(filed, len(filed) if whole else _BATCH):
        with target.one_writer:
            rows = [row for row in target.graph.chunks(batch) if row.scope == filed[row.id]]
            if rows:
                target.commit(_write(rows, scopes, why), {})
        active += sum(row.state == "active" for row in rows)
    return Moved(
        source=source,
        destination=destination,
        chunks=len(filed),
        active=active,
        scopes=tuple(sorted(set(scopes.values()))),
    )


def _filed_within(source: str, project: str, graph: GraphStore) -> dict[str, str]:
    """Return the scope of every chunk at or under one, by id."""
    where = ChunkFilter(projects=(project,), scope=source, states=())
    return {row.id: row.scope for row in matching_chunks(where, graph)}


def _check_lengths(scopes: Iterable[str]) -> None:
    longest = max(scopes, key=len)
    if len(longest) > MAX_SCOPE:
        raise InvalidInputError(
            f"destination: {longest[:80]}… would have {len(longest)} characters, more than {MAX_SCOPE}"
        )


def _write(rows: Sequence[Chunk], scopes: Mapping[str, str], reason: str | None) -> Write:
    moved = tuple(replace(row, scope=scopes[row.scope]) for row in rows)
    changes = tuple(
        record("move", project=old.project, target=old.id, before=old, after=new, reason=reason)
        for old, new in zip(rows, moved, strict=True)
    )
    return Write(changes=changes, chunks=moved)
