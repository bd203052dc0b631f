"""Damage to every kind of file of a store: repaired, refused or named; none is silent, hangs or crashes."""

import json
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import hydramem
from hydramem.storage.cypher.checkpoints.generations import POINTER
from hydramem.storage.cypher.schema_statements import MARKER
from hydramem.verification.grounding.model_replies import Kept
from tests import ROOT
from tests.engines import DISK_ENGINE
from tests.faults.results import note_results, rounds
from tests.faults.stores import CONFIG, remember

Case = tuple[str, str, int]
HELD = {"harmless", "refused", "repaired", "named"}
WAYS = ("flip", "zeros", "cut", "empty", "delete")
KINDS = {
    "graph": f"graph/{DISK_ENGINE}*.db",
    "log": f"graph/{DISK_ENGINE}*.db.wal",
    "pointer": f"graph/{POINTER}",
    "marker": f"graph/{MARKER}",
    "vectors": "vectors/chunks.lance/data/*",
    "entity vectors": "vectors/entities.lance/data/*",
    "text index": "vectors/chunks.lance/_indices/*/*",
    "manifests": "vectors/*.lance/_versions/*.manifest",
    "latest version": "vectors/*.lance/_versions/*.json",
    "transactions": "vectors/*.lance/_transactions/*",
    "deletions": "vectors/*.lance/_deletions/*",
    "replies": "models/vog_replies.db",
    "anchors": "models/relevance/*",
    "curated": "curated/default/MEMORY.md",
    "settings": "config.yml",
    "lock": "owner.json",
}


def fill(memory: hydramem.Memory, folder: Path) -> None:
    """Write something of each kind."""
    page = folder / "harbour.md"
    page.write_text("# Harbour\n\nThe harbour master keeps the keys of every crate.\n", encoding="utf-8")
    memory.ingest([str(page)])
    for number in range(6):
        remember(memory, number)
    for name in ("Acme", "Birch", "Cedar"):
        memory.relate("Ada", "works for", name)
    memory.curate("memory", [hydramem.CuratedChange(action="add", content="The user likes short answers.")])
    memory._opened.replies.put([Kept(key="a", reply="{}", chunks=("b",))])
    memory._opened.vectors.maintain(force=True)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose process died, with rows in the graph file, in the log, in the index and beside it."""
    folder = tmp_path_factory.mktemp("original")
    with hydramem.connect(folder / "live", config=CONFIG) as memory:
        fill(memory, folder)
    with hydramem.connect(folder / "live", config=CONFIG) as memory:
        memory._opened.graph.checkpoint()
        for number in range(6, 9):
            remember(memory, number)
        memory.forget([remember(memory, 9)])
        memory.drain()
        shutil.copytree(folder / "live", folder / "killed")
    (folder / "killed" / "owner.lock").unlink()
    (folder / "killed" / "config.yml").write_text(f"storage:\n  graph: {DISK_ENGINE}\n", encoding="utf-8")
    return folder / "killed"


def cases(store: Path, seed: int, each: int, kinds: Sequence[str] = tuple(KINDS)) -> Iterator[Case]:
    """Yield damages: for each kind of file some ways, each at a random place of a random file of the kind."""
    draw = random.Random(seed)
    for offset, kind in enumerate(kinds):
        files = [file for file in sorted(store.glob(KINDS[kind])) if file.stat().st_size]
        # A curated file that lost a part or a letter is one that a person has edited.
        ways = [way for way in WAYS if kind != "curated" or way in ("zeros", "empty", "delete")]
        for number in range(each if files else 0):
            file = draw.choice(files)
            yield (
                str(file.relative_to(store)),
                ways[(offset + number) % len(ways)],
                draw.randrange(file.stat().st_size),
            )


def outcomes(store: Path, damages: Sequence[Case]) -> list[dict[str, object]]:
    """Return what became of each damage."""
    command = [sys.executable, "-m", "tests.faults.damaged_files_child", str(store), json.dumps(damages)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr[-3000:]
    return [json.loads(line) for line in ended.stdout.splitlines()]


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_no_damage_is_silent_and_none_hangs_or_crashes(original: Path) -> None:
    damages = list(cases(original, 17, rounds(1, full=12)))
    found = outcomes(original, damages)
    assert len(found) == len(damages)
    wrong = [one for one in found if one["outcome"] not in HELD]
    assert not wrong, json.dumps(wrong, indent=1)
    counts = Counter(str(one["outcome"]) for one in found)
    note_results(DISK_ENGINE, "damaged files", {"damages": len(found), **counts})
