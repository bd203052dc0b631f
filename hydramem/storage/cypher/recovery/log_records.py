"""Reads the write-ahead logs of the graph engines without the engines: how far a log holds whole commits.

LadybugDB 0.22: a header of 25 bytes (id of the database, a flag, a checksum), then records: a length (u64),
the record and a checksum (u64) over both. A record begins with its kind, one byte. The checksum is that of
DuckDB (`src/common/checksum.cpp` of v1.3).

Kuzu 0.11: records that follow each other, without lengths and checksums. Only the engine can read them. Here
the places are found where a commit seems to end: a COMMIT, then the BEGIN and first record of the next one.
"""

import re
import struct
from dataclasses import dataclass

import numpy as np

_HEADER = 25
_LENGTH = struct.Struct("<Q")
_AROUND = 2 * _LENGTH.size
_COMMIT, _CHECKPOINT = 2, 254
_KUZU_COMMIT = re.compile(rb"\x02(?=\x01[\x1e-\x23].\x00{7})", re.DOTALL)
_WORD = 0xBF58476D1CE4E5B9
_MURMUR = 0xC6A4A7935BD1E995
_SEED = 0xE17A1465
_MASK = (1 << 64) - 1
_FEW_WORDS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class LogState:
    """How much of a log can be read.

    Attributes:
        size: Bytes of the log.
        bad: The first byte that cannot be read; `size` where there is none.
        commits: Where each whole commit before that ends, in order.
        damaged: Whether the log goes on after what cannot be read, with writes that were acknowledged. Else
            only its end is missing, as after a process that died while it wrote.
    """

    size: int
    bad: int
    commits: tuple[int, ...]
    damaged: bool

    @property
    def end(self) -> int:
        """Where the last whole commit ends; 0 where there is none."""
        return self.commits[-1] if self.commits else 0

    @property
    def whole(self) -> bool:
        """Whether the log can be read to its end and ends with a commit."""
        return self.bad == self.size and (self.end == self.size or self.size == _HEADER)


def read_checked_log(log: bytes) -> LogState:
    """Read a log of LadybugDB, every record and checksum of it."""
    size, commits = len(log), list[int]()
    at = _HEADER if size >= _HEADER and _stored(log, _HEADER - 8) == checksum(log[: _HEADER - 8]) else 0
    while at and at < size:
        end = _record_end(log, at)
        if end is None:
            break
        if log[at + _LENGTH.size] in (_COMMIT, _CHECKPOINT):
            commits.append(end)
        at = end
    return LogState(size=size, bad=at, commits=tuple(commits), damaged=_goes_on(log, at))


def _record_end(log: bytes, at: int) -> int | None:
    """Return where the record at a place ends; None where there is no whole record."""
    end = _claimed_end(log, at)
    if end is None or end > len(log) or end - at <= _AROUND:
        return None
    last = end - _LENGTH.size
    return end if _stored(log, last) == checksum(log[at:last]) else None


def _claimed_end(log: bytes, at: int) -> int | None:
    if at + _LENGTH.size > len(log):
        return None
    return at + _stored(log, at) + _AROUND


def _stored(log: bytes, at: int) -> int:
    number: int = _LENGTH.unpack_from(log, at)[0]
    return number


def _goes_on(log: bytes, bad: int) -> bool:
    """Say whether acknowledged writes may follow a place where no record can be read."""
    if bad >= len(log):
        return False
    end = _claimed_end(log, bad)
    # Blocks of zeros are what a file system leaves of a write that it had only made room for.
    if bad and end is not None and end < len(log) and log[end:].strip(b"\0"):
        return True
    commit = _LENGTH.pack(9) + bytes([_COMMIT])
    found = log.find(commit, bad + 1)
    while found >= 0:
        if _record_end(log, found) is not None:
            return True
        found = log.find(commit, found + 1)
    return False


def checksum(data: bytes) -> int:
    """Return the engine's checksum: 8 bytes at a time by a constant, what is left by MurmurHash64A."""
    count, left = divmod(len(data), _LENGTH.size)
    total = 5381
    if count < _FEW_WORDS:
        for word in struct.unpack_from(f"<{count}Q", data):
            total ^= word * _WORD
        total &= _MASK
    else:
        words = np.frombuffer(data, dtype="<u8", count=count)
        total ^= int(np.bitwise_xor.reduce(words * np.uint64(_WORD)))
    return total ^ _murmur(data[-left:]) if left else total


def _murmur(rest: bytes) -> int:
    """Hash fewer than 8 bytes."""
    mixed = (_SEED ^ (len(rest) * _MURMUR)) & _MASK
    mixed = ((mixed ^ int.from_bytes(rest, "little")) * _MURMUR) & _MASK
    mixed = ((mixed ^ (mixed >> 47)) * _MURMUR) & _MASK
    return mixed ^ (mixed >> 47)


def read_unchecked_log(log: bytes, read_to: int | None) -> LogState:
    """Judge a log of Kuzu by what the engine made of it.

    Args:
        log: The log as it was.
        read_to: Where the engine stopped reading, after its last whole commit; None where it read none of it,
            since it crashed, hung or refused.
    """
    commits = tuple(found.end() for found in _KUZU_COMMIT.finditer(log))
    if read_to is None:
        return LogState(size=len(log), bad=0, commits=commits, damaged=True)
    read = (*(end for end in commits if end < read_to), read_to) if read_to else ()
    # A process that died was writing one transaction. A commit that is followed by another one was done.
    damaged = any(end > read_to for end in commits)
    return LogState(size=len(log), bad=read_to, commits=read, damaged=damaged)
