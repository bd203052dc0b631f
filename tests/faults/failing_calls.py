"""Writes, syncs and truncations that fail on demand, as they do on a full or broken disk.

`library` builds `failing_calls.c` once; a child process that is started with `environment` has it loaded, and
chooses with `failing` which of its calls fail:

    with failing("*/graph/*.wal", WRITES, error=errno.ENOSPC) as calls:
        memory.remember("Too long for this disk.")
    assert calls.failed() == 1

Only calls through the C library are seen: every write of LadybugDB, Kuzu, LanceDB and Python is one.
"""

import ctypes
import errno
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

WRITES, SYNCS, TRUNCATIONS = 1, 2, 4
ALL = WRITES | SYNCS | TRUNCATIONS
SOURCE = Path(__file__).with_suffix(".c")


@functools.cache
def library() -> Path:
    """Return the built library; skip the test where it cannot be built."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not sys.platform.startswith("linux") or compiler is None:
        pytest.skip("failing calls need Linux and a C compiler")
    built = Path(tempfile.mkdtemp(prefix="hydramem-faults-")) / "failing_calls.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(built), str(SOURCE), "-ldl", "-pthread"]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return built


def environment(**more: str) -> Mapping[str, str]:
    """Return the environment of a child process whose calls can be made to fail."""
    return {**os.environ, "LD_PRELOAD": str(library()), **more}


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls that a rule matched.

    Attributes:
        seen: Returns how many calls matched so far.
        failed: Returns how many of them failed.
    """

    seen: Callable[[], int]
    failed: Callable[[], int]


@contextmanager
def failing(
    pattern: str,
    kinds: int,
    *,
    first: int = 0,
    times: int = -1,
    error: int = errno.EIO,
    partial: int = 0,
) -> Iterator[Calls]:
    """Make calls of this process fail; within a child that was started with `environment`.

    Args:
        pattern: Shell pattern of the whole path of the file.
        kinds: Which calls: WRITES, SYNCS, TRUNCATIONS, or several of them.
        first: How many matching calls succeed before.
        times: How many fail then; all that follow where it is negative, none where it is 0.
        error: What they fail with.
        partial: Bytes of a write that are written although it fails.
    """
    shim = ctypes.CDLL(None)
    arguments = (ctypes.c_long(first), ctypes.c_long(times), error, ctypes.c_long(partial))
    shim.faults_arm(pattern.encode(), kinds, *arguments)
    shim.faults_seen.restype = shim.faults_failed.restype = ctypes.c_long
    try:
        yield Calls(seen=shim.faults_seen, failed=shim.faults_failed)
    finally:
        shim.faults_disarm()
