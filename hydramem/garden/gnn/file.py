"""A trained scorer as a file: written whole or not at all, read without running anything that it holds."""

from dataclasses import fields
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
import torch

from hydramem.core.errors import StorageError
from hydramem.garden.fingerprint import Fingerprint
from hydramem.garden.gnn.model import VERSION, Model
from hydramem.garden.meanings import Lens

_PARTS = {"fingerprint": Fingerprint, "lens": Lens}


def save(model: Model, file: Path) -> None:
    """Write a model; whoever reads it meanwhile has the old one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_suffix(".new")
    torch.save({"version": VERSION, **_plain(model)}, fresh)
    fresh.replace(file)


def load(file: Path) -> Model | None:
    """Read a model; None where there is none, or one of another version.

    Raises:
        StorageError: The file is no model any more.
    """
    if not file.is_file():
        return None
    try:
        held = torch.load(file, weights_only=True)
        if held.pop("version") != VERSION:
            return None
        parts = {name: _read(held[name]) for name in held}
        for name, kind in _PARTS.items():
            parts[name] = None if parts[name] is None else kind(**parts[name])
        return Model(**parts)
    except (
        *(OSError, KeyError, TypeError, ValueError, AttributeError),
        *(RuntimeError, EOFError, UnpicklingError),
    ) as error:
        raise StorageError(f"{file}: is no trained scorer any more; delete it") from error


def _plain(value: Any) -> Any:
    """Return a value as tensors, dictionaries and what Python has: the file names no type of ours."""
    if isinstance(value, np.ndarray):
        # Torch has no unsigned integers of 64 bits to store; as signed ones they are the same bits.
        return torch.from_numpy(value.view(np.int64) if value.dtype == np.uint64 else value)
    if isinstance(value, Model | Fingerprint | Lens):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return dict(value) if isinstance(value, dict) else value


def _read(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        array = value.numpy()
        return array.view(np.uint64) if array.dtype == np.int64 else array
    return {name: _read(each) for name, each in value.items()} if isinstance(value, dict) else value
