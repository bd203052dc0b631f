"""How soon the MCP server lists its tools after its process has started, beside an idle interpreter.

A client that starts a server for one question does not wait for it (docs/mcp.md). The machine may be busy:
starts of both kinds alternate, so that they share its load, and their ratio says more than either.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from statistics import median

import psutil

from benchmarks.results import table

_ASKED = (("initialize", {"protocolVersion": "2025-06-18"}), ("tools/list", {}))


@dataclass(frozen=True, slots=True, kw_only=True)
class McpStart:
    """Medians of a number of starts; seconds.

    Attributes:
        wall, cpu: Until `initialize` and `tools/list` are answered; CPU is user and system.
        slowest: The longest wall time.
        bare_wall, bare_cpu: Of `python -c pass`, to its end.
        load: Load average of the last minute, as the first and as the last start began, and the cores.
    """

    runs: int
    wall: float
    cpu: float
    slowest: float
    bare_wall: float
    bare_cpu: float
    load: tuple[float, float]
    cores: int

    @property
    def ratio(self) -> float:
        """Wall time in starts of a bare interpreter."""
        return self.wall / self.bare_wall


def measure(runs: int = 10) -> McpStart:
    """Start the server and a bare interpreter by turns, each in a process of its own."""
    before = os.getloadavg()[0]
    served, bare = [], []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(runs):
            bare.append(_bare())
            served.append(_served(folder))
    return McpStart(
        runs=runs,
        wall=median(wall for wall, _ in served),
        cpu=median(cpu for _, cpu in served),
        slowest=max(wall for wall, _ in served),
        bare_wall=median(wall for wall, _ in bare),
        bare_cpu=median(cpu for _, cpu in bare),
        load=(before, os.getloadavg()[0]),
        cores=os.cpu_count() or 1,
    )


def shown(found: McpStart) -> str:
    """Return the measurement as a table."""
    rows = [
        ("`initialize` and `tools/list` answered", f"{found.wall:.2f} s", f"{found.cpu:.2f} s"),
        ("`python -c pass`", f"{found.bare_wall:.2f} s", f"{found.bare_cpu:.2f} s"),
    ]
    about = (
        f"Medians of {found.runs} starts; the slowest took {found.slowest:.2f} s, the median "
        f"{found.ratio:.1f} times a bare interpreter. Load average {found.load[0]:.1f} to "
        f"{found.load[1]:.1f} on {found.cores} cores."
    )
    return "\n".join([*table(("from process start", "wall", "CPU"), rows), "", about])


def _served(folder: str) -> tuple[float, float]:
    command = [sys.executable, "-m", "hydramem", "--store", folder, "serve"]
    began = time.perf_counter()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        for number, (method, params) in enumerate(_ASKED):
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        for number, _ in enumerate(_ASKED):
            assert json.loads(process.stdout.readline())["id"] == number
        wall = time.perf_counter() - began
        times = psutil.Process(process.pid).cpu_times()
        process.kill()
    return wall, times.user + times.system


def _bare() -> tuple[float, float]:
    before, began = os.times(), time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    wall, after = time.perf_counter() - began, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return wall, cpu
