"""What holds for every test: no network, no settings of the developer, and which tests a second engine runs.

In the folders of ON_BOTH_ENGINES a test is marked `engine` where its module has a DISK_ENGINE, or it takes a
fixture `engine`, and its parameters do not name the store in memory. Elsewhere one a room is marked by hand.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from hydramem.core import time

KEPT = {
    "HYDRAMEM_TEST_ENGINE",
    "HYDRAMEM_TEST_FAULTS",
    "HYDRAMEM_TEST_POSTGRES",
    "HYDRAMEM_TEST_RESULTS",
}
LOCAL = {"", "localhost", "127.0.0.1", "::1", "0.0.0.0", "::", "testserver"}
HERE = Path(__file__).parent
ALONE = (
    "graph/snapshot/test_registry.py",
    "hosts/hermes/test_sessions.py",
    "view/test_search.py",
)
"""Files whose tests measure time: `.ci/run` runs their slow ones when nothing else runs."""
ON_BOTH_ENGINES = ("compatibility/", "faults/", "storage/")
"""What keeps data: `.ci/run` runs it on the second engine, too."""

pytest_plugins = ("tests.processor_time",)

for name in [name for name in os.environ if name.startswith("HYDRAMEM_") and name not in KEPT]:
    del os.environ[name]


# How long an example takes, and how long it takes to make one, is the machine's, not the code's.
settings.register_profile("any_machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any_machine")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that a second engine must pass too, and those that want a quiet machine."""
    for item in items:
        path = item.path.relative_to(HERE).as_posix() if item.path.is_relative_to(HERE) else ""
        if path.startswith(ALONE):
            item.add_marker("alone")
        if path.startswith(ON_BOTH_ENGINES) and touches_an_engine(item):
            item.add_marker("engine")


def touches_an_engine(item: pytest.Item) -> bool:
    """Say whether a test uses the engine of this run."""
    named = hasattr(getattr(item, "module", None), "DISK_ENGINE") or "engine" in getattr(
        item, "fixturenames", ()
    )
    callspec = getattr(item, "callspec", None)
    return named and not (callspec and "memory" in callspec.params.values())


@pytest.fixture(autouse=True)
def clock_of_another_process() -> Iterator[None]:
    """Forget a moment in the future that a test recorded: the process of the next test never saw it."""
    last = time._last
    yield
    time._last = min(time._last, max(last, time.clock()))


def refuse_network(event: str, arguments: tuple[object, ...]) -> None:
    """Fail any look-up or connection that would leave this machine, as a cable pulled out would."""
    if event == "socket.connect":
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else ""  # a path is a local socket
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    if isinstance(host, bytes):
        host = host.decode()
    if host is not None and host not in LOCAL:
        raise OSError(f"tests do not use the network: {host}")


sys.addaudithook(refuse_network)
