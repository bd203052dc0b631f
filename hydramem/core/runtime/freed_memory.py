"""Memory that was freed goes back to the system: the allocators of the process would keep much of it."""

import ctypes
import sys
from functools import cache
from typing import Any

_M_MMAP_THRESHOLD = -3  # of malloc.h
_LARGE_BLOCK = 1 << 20


def return_large_blocks() -> None:
    """Have the C library give blocks of a MiB and more back as soon as they are freed, from now on.

    Compaction of LanceDB frees blocks of many MiB. After the first, glibc takes such blocks for usual and
    keeps them: 300 MiB of 940 after 3,000 chunks. A fixed threshold is off that track.
    """
    mallopt = _of_c_library("mallopt")
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _LARGE_BLOCK)


def return_freed_memory() -> None:
    """Give back what is free now; to call after something large was loaded or rewritten. Takes milliseconds.

    Loading 10,000 chunks left 50 MiB in the pools of Arrow and of the C library that nothing used.
    """
    if "pyarrow" in sys.modules:
        import pyarrow as pa  # waits where another thread is importing it

        pa.default_memory_pool().release_unused()
    trim = _of_c_library("malloc_trim")
    if trim is not None:
        trim(0)


@cache
def _of_c_library(name: str) -> Any:
    """Return a function of glibc; None elsewhere: musl has none of these, and needs none."""
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
