"""A process that has a store open, which others use beside it."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_HOLDS = (
    "import hydramem, sys\n"
    "with hydramem.connect(sys.argv[1]):\n"
    "    print('open', flush=True)\n"
    "    sys.stdin.read()\n"
)


@contextmanager
def owner(store: Path) -> Iterator[None]:
    """Have another process hold a store, with the settings of the environment."""
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDS, str(store)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as held:
        assert held.stdout is not None
        assert held.stdout.readline() == "open\n"
        try:
            yield
        finally:
            held.communicate(timeout=30)
