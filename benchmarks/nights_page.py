"""The results page's section on runs of the gardener, and the same figures as text."""

from collections.abc import Sequence

from benchmarks.nights import NightAtScale
from benchmarks.results import table, where, with_section

TITLE = "## A run of the gardener"


def shown(night: NightAtScale) -> str:
    """Return the figures as a person reads them."""
    phases = "\n".join(
        f"    {one.name:10} {one.state:10} {one.seconds:8.1f} s  {one.applied:6} of {one.proposals} made"
        for one in night.phases
    )
    waits = "\n".join(
        f"    {name:16} p50 {one.p50:7.1f}  p95 {one.p95:7.1f}  longest {one.longest:7.1f} ms"
        f"{f' ({one.worst_in})' if one.worst_in else ''}, {one.calls} calls"
        for name, one in night.waits.items()
    )
    return "\n".join(
        [
            f"{night.entities:,} entities, {night.relations:,} relations, {night.engine}: {night.state} in "
            f"{night.seconds:.1f} s (plan {night.plan_seconds:.1f}, apply {night.apply_seconds:.1f}), "
            f"{night.peak_mb:,.0f} MB",
            phases,
            f"    writer lock: {night.longest_hold_ms:.0f} ms at the longest ({night.hold_in}); "
            f"{night.over_50_ms} of {night.holds} holds over 50 ms",
            waits,
        ]
    )


def placed(page: str, nights: Sequence[NightAtScale]) -> str:
    """Return a results page with the section of these figures."""
    about = where()
    names = [one.name for one in max(nights, key=lambda night: len(night.phases)).phases]
    sizes = [
        (
            *(f"{one.entities:,}", f"{one.relations:,}", one.engine, f"{one.seconds:.0f}"),
            *(f"{one.plan_seconds:.0f}", f"{one.apply_seconds:.0f}", f"{one.peak_mb:,.0f}"),
            *(f"{one.longest_hold_ms:.0f}", f"{one.over_50_ms} of {one.holds}"),
        )
        for one in nights
    ]
    phases = [(f"{one.entities:,}", *(_seconds(one, name) for name in names)) for one in nights]
    waits = [
        (f"{one.entities:,}", name, f"{wait.p50:.0f} / {wait.p95:.0f} / {wait.longest:.0f}", wait.worst_in)
        for one in nights
        for name, wait in one.waits.items()
    ]
    head = ("entities", "relations", "graph", "seconds", "plan", "apply", "peak MB", "lock ms", "over 50 ms")
    return with_section(
        page,
        TITLE,
        [
            "",
            "One run without a model on a synthetic memory, while one thread recalls and another remembers.",
            "`lock ms` is the longest time that the run held the writer lock, `over 50 ms` how often it held",
            "it for longer than that. Calls are p50 / p95 / longest in milliseconds, with the step of the",
            "run",
            f"during the longest. `python -m benchmarks garden`, {about['date']}, {about['machine']}.",
            "",
            *table(head, sizes),
            "",
            "Seconds by phase, and how many of its proposals were applied:",
            "",
            *table(("entities", *names), phases),
            "",
            *table(("entities", "call", "ms", "longest in"), waits),
        ],
    )


def _seconds(night: NightAtScale, name: str) -> str:
    found = next((one for one in night.phases if one.name == name), None)
    if found is None:
        return ""
    made = f", {found.applied} of {found.proposals}" if found.proposals else ""
    return f"{found.seconds:.1f}{made}"
