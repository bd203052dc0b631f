"""Seals: what tells that a line of a plan is as the store wrote it; an edited one could do anything at all.

The key is a file of the store that its user alone may read; a copy of the plan without it proves nothing.
"""

import hmac
import json
import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hydramem.core.errors import StorageError

_FILE = "seal.key"

_BYTES = 32


def seal_of(key: bytes, lines: Iterable[Any]) -> str:
    """Return the seal of some JSON values, in their order.

    Args:
        key: The store's.
        lines: What is sealed; how it is laid out does not matter.
    """
    sealed = hmac.new(key, digestmod="sha256")
    for line in lines:
        sealed.update(json.dumps(line, sort_keys=True).encode() + b"\n")
    return sealed.hexdigest()


def is_sealed(key: bytes, lines: Iterable[Any], seal: object) -> bool:
    """Say whether a seal is that of some JSON values."""
    return isinstance(seal, str) and seal.isascii() and hmac.compare_digest(seal_of(key, lines), seal)


def key_in(folder: Path) -> bytes:
    """Return a store's key, made at first use.

    Args:
        folder: Where it is kept.

    Raises:
        StorageError: It can be neither read nor made.
    """
    file = folder / _FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            _make(file)
        key = file.read_bytes()
    except OSError as error:
        raise StorageError(f"{file}: the key of plans cannot be had: {error.strerror or error}") from error
    if len(key) != _BYTES:
        raise StorageError(f"{file}: is no key; delete it, and plan anew")
    return key


def _make(file: Path) -> None:
    beside = file.with_name(f"{file.name}.new")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as made:
        made.write(secrets.token_bytes(_BYTES))
        made.flush()
        os.fsync(made.fileno())
    beside.replace(file)
