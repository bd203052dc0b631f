"""Limits: how much is kept and for how long, compared with what is stored. Pure except for the counts."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from hydramem.core.config import LimitsConfig
from hydramem.core.results.knowledge_results import Cutoffs, LimitUsage, LimitUse, Past
from hydramem.storage.store import GraphStore

MEGABYTE = 1_000_000


def cutoffs(limits: LimitsConfig, at: datetime) -> Cutoffs:
    """Return the moments before which rows are past their time. Pure."""

    def before(days: int) -> datetime | None:
        return at - timedelta(days=days) if days else None

    return Cutoffs(
        at=at,
        archived=before(limits.archived_days),
        changes=before(limits.change_days),
        sessions=before(limits.session_days),
    )


def usage(
    limits: LimitsConfig, *, graph: GraphStore, memories: Mapping[str, int], at: datetime
) -> LimitUsage:
    """Count what has a limit, and the memories that expired."""
    return LimitUsage(
        memories=memories,
        document_bytes=graph.document_bytes() if limits.document_mb else {},
        past=graph.past(cutoffs(limits, at)),
    )


def uses(limits: LimitsConfig, counted: LimitUsage) -> tuple[LimitUse, ...]:
    """Return the use of each configured limit, those of projects by name. Pure."""
    return tuple(_uses(limits, counted))


def over(limits: LimitsConfig, counted: LimitUsage) -> tuple[LimitUse, ...]:
    """Return the limits that are exceeded. Pure."""
    return tuple(use for use in _uses(limits, counted) if use.over)


def _uses(limits: LimitsConfig, counted: LimitUsage) -> Iterator[LimitUse]:
    megabytes = {name: count / MEGABYTE for name, count in counted.document_bytes.items()}
    yield from _by_project("memories", limits.memories, counted.memories)
    yield from _by_project("document_mb", limits.document_mb, megabytes)
    yield from _by_age(limits, counted.past)


def _by_project(limit: str, allowed: int, used: Mapping[str, float]) -> Iterator[LimitUse]:
    for project, count in sorted(used.items()) if allowed else ():
        yield LimitUse(limit=limit, project=project, used=count, allowed=allowed, over=count > allowed)


def _by_age(limits: LimitsConfig, past: Past) -> Iterator[LimitUse]:
    days = (
        ("archived_days", limits.archived_days, past.archived),
        ("change_days", limits.change_days, past.changes),
        ("session_days", limits.session_days, past.sessions),
    )
    for limit, allowed, older in days:
        if allowed:
            yield LimitUse(limit=limit, used=older, allowed=allowed, over=older > 0)


def sentences(found: Sequence[LimitUse]) -> tuple[str, ...]:
    """Return a sentence for each exceeded limit, for the notes of a result."""
    return tuple(_sentence(use) for use in found if use.over)


def _sentence(use: LimitUse) -> str:
    if use.project is None:
        return f"limits.{use.limit}: {use.used:,.0f} rows are older than {use.allowed:,} days"
    return f"limits.{use.limit}: project {use.project!r} holds {use.used:,.6g}, more than {use.allowed:,}"


def noted(limits: LimitsConfig, project: str, graph: GraphStore) -> tuple[str, ...]:
    """Return a note where a project has more memories than its limit; counts only where there is one."""
    if not limits.memories:
        return ()
    memories = sum(count.memories for count in graph.scope_counts(project, "/"))
    return sentences(over(limits, LimitUsage(memories={project: memories})))
