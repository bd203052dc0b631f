"""Ingest has the model work ahead of the store: in order, losing nothing, and telling what went wrong."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from hydramem.core.config import IngestConfig
from hydramem.core.errors import ModelError
from hydramem.ingest.documents.ingest import ingest
from hydramem.storage.vector_rows import Vector
from hydramem.storage.write import Write
from tests.ingest.conftest import Kit


def files(folder: Path, count: int) -> list[Path]:
    paths = [folder / f"{number:02}.txt" for number in range(count)]
    for number, path in enumerate(paths):
        path.write_text(f"Ada{number} leads team {number}.", encoding="utf-8")
    return paths


def test_the_model_works_on_the_next_batch_while_one_is_committed(tmp_path: Path) -> None:
    kit = Kit()
    third = threading.Event()

    def embed(texts: Sequence[str]) -> Vector:
        if any("team 2" in text for text in texts):
            third.set()
        return kit.embed(texts)

    def commit(write: Write, vectors: Mapping[str, Vector]) -> None:
        # A model that only worked between commits would not get to the third before the second is in.
        assert len(kit.writes) != 1 or third.wait(60)
        kit.commit(write, vectors)

    target = replace(kit.target(), embed=embed, commit=commit)
    ingest(files(tmp_path, 3), target=target, settings=IngestConfig(batch_chunks=1))
    assert [row.text[:4] for write in kit.writes for row in write.chunks] == ["Ada0", "Ada1", "Ada2"]
    assert len(kit.vectors.vectors([row.id for write in kit.writes for row in write.chunks])) == 3


def test_what_the_model_raises_comes_out_and_what_went_before_is_stored(tmp_path: Path) -> None:
    kit = Kit()

    def embed(texts: Sequence[str]) -> Vector:
        if any("team 3" in text for text in texts):
            raise ModelError("out of order")
        return kit.embed(texts)

    before = set(threading.enumerate())
    target = replace(kit.target(), embed=embed)
    with pytest.raises(ModelError, match="out of order"):
        ingest(files(tmp_path, 6), target=target, settings=IngestConfig(batch_chunks=1))
    assert [row.text[:4] for write in kit.writes for row in write.chunks] == ["Ada0", "Ada1", "Ada2"]
    assert not set(threading.enumerate()) - before
    assert kit.ingest(*files(tmp_path, 6), batch_chunks=1).unchanged == 3
