"""What is freed goes back to the system."""

import subprocess
import sys

import pytest

_WHILE_ANOTHER_THREAD_IMPORTS = """
import sys, threading
from hydramem.core.runtime.freed_memory import return_freed_memory
thread = threading.Thread(target=__import__, args=("pyarrow",))
thread.start()
while "pyarrow" not in sys.modules:
    pass
return_freed_memory()
thread.join()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, and only glibc keeps it")
def test_freed_memory_is_given_back() -> None:
    script = """
from pathlib import Path
from hydramem.core.runtime.freed_memory import return_freed_memory
def mebibytes():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024
blocks = [bytes(2000) for _ in range(50_000)]
last = blocks.pop()  # lies behind the others, so that the heap does not end before it
del blocks
held = mebibytes()
return_freed_memory()
print(held - mebibytes())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert float(done.stdout) > 50


@pytest.mark.costly  # processes
def test_memory_is_given_back_while_another_thread_imports_arrow() -> None:
    for _ in range(3):
        subprocess.run([sys.executable, "-c", _WHILE_ANOTHER_THREAD_IMPORTS], check=True, timeout=60)
