"""Doubts: pairs of entities or memories of which the last night could not say whether they are one.

They follow from names, neighbours and words, and every night finds them anew: they are kept beside the
gardener's reports, not in the store, so that asking a person does not take a night.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from hydramem.core.errors import StorageError
from hydramem.storage.files.durable_files import write_whole

_FILE = "doubts.json"

_MOST = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """Two entities or two memories that may be one, by their ids.

    Attributes:
        probability: That they are, where something computed it.
        why: What speaks for it.
    """

    one: str
    other: str
    probability: float | None
    why: str
    of: Literal["entities", "memories"] = "entities"


def keep_doubts(doubts: Iterable[Doubt], folder: Path) -> None:
    """Write down the most uncertain pairs, in place of those of the night before.

    Raises:
        StorageError: They cannot be written.
    """
    chosen = sorted(doubts, key=lambda each: (_certainty(each), each.one, each.other))[:_MOST]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / _FILE, json.dumps([asdict(each) for each in chosen], ensure_ascii=True))
    except OSError as error:
        raise StorageError(f"{folder / _FILE}: cannot be written: {error.strerror or error}") from error


def _certainty(doubt: Doubt) -> float:
    return 0.0 if doubt.probability is None else abs(doubt.probability - 0.5)


def doubts(folder: Path) -> tuple[Doubt, ...]:
    """Return the pairs that were written down; none before the first night.

    Raises:
        StorageError: The file is not such a list any more.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(tuple[Doubt, ...]).validate_json((folder / _FILE).read_bytes())
    except FileNotFoundError:
        return ()
    except (ValidationError, OSError) as error:
        raise StorageError(f"{folder / _FILE}: holds no pairs any more; delete it") from error
