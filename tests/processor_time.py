"""Fails a default test that takes more than half a second of processor time and is not marked `costly`.

Processor time, not time that passes, so that it matters little what else the machine does. What fixtures of a
module or of a session take belongs to no test. Whoever comes first loads a library, and a machine can be slow
for a moment: a test over the limit runs again, up to three times, and its quickest run counts, by a limit
that grows where the machine is slow just then. `--durations=N` shows what tests took.
"""

import os
import time
from collections.abc import Iterator
from importlib.util import find_spec
from math import inf
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

LIMIT = 0.5
"""Seconds of processor time, of this process and of those that it started, on a usual machine."""

_EXEMPT = ("slow", "costly")
_EXTRAS = ("agent", "crewai", "langgraph", "playwright", "torch")
_MORE_RUNS = 3
_USUAL_LOOP_SECONDS = 0.065


def _used() -> float:
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def machine_slowness() -> float:
    """Return how many times longer than a usual machine this one takes for a loop just now, at least 1."""
    begun = time.process_time()
    sum(number * number for number in range(1_500_000))
    return max(1.0, (time.process_time() - begun) / _USUAL_LOOP_SECONDS)


class ProcessorTime:
    """Measures each test, and fails those over the limit."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.shared = 0.0
        """Seconds that fixtures of a wider scope took while the present test was set up."""
        self.depth = 0

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
        """Count what a fixture of a module or session takes, once where one needs another."""
        if fixturedef.scope == "function":
            return (yield)
        self.depth += 1
        begun = _used()
        try:
            return (yield)
        finally:
            self.depth -= 1
            if not self.depth:
                self.shared += _used() - begun

    def run(self, item: pytest.Item, nextitem: pytest.Item | None) -> tuple[list[pytest.TestReport], float]:
        """Run a test; return its reports and its seconds."""
        self.shared, begun = 0.0, _used()
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        return reports, _used() - begun - self.shared

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """Run a test, again where it passed and took too long, and report it."""
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        reports, seconds = self.run(item, nextitem)
        limit = inf if any(item.get_closest_marker(name) for name in _EXEMPT) else self.limit
        for _ in range(_MORE_RUNS):
            if seconds <= limit or not all(report.passed for report in reports):
                break
            limit = self.limit * machine_slowness()
            reports, again = self.run(item, nextitem)
            seconds = min(seconds, again)
        if seconds > limit and all(report.passed for report in reports):
            [call] = [report for report in reports if report.when == "call"]
            call.outcome = "failed"
            call.longrepr = (
                f"{item.nodeid} took {seconds:.2f} s of processor time, and a default test has "
                f"{limit:.2f}: make it smaller, or mark it `costly` or `slow` with the reason"
            )
        for report in reports:
            report.user_properties.append(("processor seconds", seconds))
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True


def pytest_configure(config: pytest.Config) -> None:
    """Measure from here on; nothing is too long on a named engine, or beside large libraries of extras."""
    others = "HYDRAMEM_TEST_ENGINE" in os.environ or any(map(find_spec, _EXTRAS))
    limit = inf if others else LIMIT
    config.pluginmanager.register(ProcessorTime(limit), "processor time")


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the tests that took most, where durations are asked for."""
    if config.getoption("durations") is None:
        return
    took = {
        report.nodeid: dict(report.user_properties).get("processor seconds", 0.0)
        for found in terminalreporter.stats.values()
        for report in found
        if isinstance(report, pytest.TestReport) and report.when == "call"
    }
    terminalreporter.section(f"processor time: {sum(took.values()):.0f} s in {len(took)} tests")
    for nodeid, seconds in sorted(took.items(), key=lambda pair: -pair[1])[: config.getoption("durations")]:
        terminalreporter.write_line(f"{seconds:7.2f} s  {nodeid}")
