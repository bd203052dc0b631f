"""Which memories were compared already, and which of their pairs a model may be asked about: ids in a file.

It is derived: where it is lost, or another classifier judges, memories are compared again.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from hydramem.llm.pair_classifier import card
from hydramem.storage.files.durable_files import storage_errors, write_whole

_FILE = "compared.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubtfulPair:
    """Two memories of which the later may take the earlier one's place, too doubtful for a link."""

    newer: str
    older: str
    probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedMemories:
    """What earlier runs compared.

    Attributes:
        ids: The memories that were compared with others of their time.
        down_to: The promise of a pair of them from which it was compared; below it, it waits.
        doubtful: The pairs that no link holds, and that a model was not asked about.
    """

    ids: frozenset[str] = frozenset()
    down_to: float = 0.0
    doubtful: tuple[DoubtfulPair, ...] = ()


def read_compared(folder: Path) -> ComparedMemories:
    """Return what was compared; nothing where the file is not there, is damaged or of another classifier.

    Args:
        folder: The gardener's.

    Raises:
        StorageError: The file cannot be read.
    """
    file = folder / _FILE
    with storage_errors(file, "cannot be read"):
        if not file.exists():
            return ComparedMemories()
        stored = file.read_bytes()
    try:
        read = json.loads(stored)
        if read["classifier"] != card()["sha256"]:
            return ComparedMemories()
        pairs = tuple(DoubtfulPair(newer=one, older=two, probability=p) for one, two, p in read["doubtful"])
        down_to = float(read.get("down_to", 0.0))
        return ComparedMemories(ids=frozenset(read["memories"]), down_to=down_to, doubtful=pairs)
    except (ValueError, KeyError, TypeError):
        return ComparedMemories()


def save_compared(compared: ComparedMemories, folder: Path) -> None:
    """Save what was compared.

    Args:
        compared: All of it.
        folder: The gardener's.

    Raises:
        StorageError: It cannot be written.
    """
    file = folder / _FILE
    pairs = [(each.newer, each.older, round(each.probability, 4)) for each in compared.doubtful]
    made = {
        "classifier": card()["sha256"],
        "memories": sorted(compared.ids),
        "down_to": compared.down_to,
        "doubtful": pairs,
    }
    with storage_errors(file, "cannot be written"):
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(file, json.dumps(made))
