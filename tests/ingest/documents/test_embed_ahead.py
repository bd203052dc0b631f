"""Ingest has the model work ahead of the store: in order, losing nothing, and telling what went wrong."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hydramem.core.config import IngestConfig
from hydramem.core.errors import ModelError
from hydramem.ingest.documents.embed_ahead import EmbeddingAhead
from hydramem.ingest.documents.ingest import ingest
from hydramem.storage.vector_rows import Vector
from hydramem.storage.write import Write
from tests.ingest.conftest import Kit
from tests.storage.rows import chunk


def files(folder: Path, count: int) -> list[Path]:
    paths = [folder / f"{number:02}.txt" for number in range(count)]
    for number, path in enumerate(paths):
        path.write_text(f"Ada{number} leads team {number}.", encoding="utf-8")
    return paths


def test_batches_are_committed_in_the_order_of_their_sources(tmp_path: Path) -> None:
    kit = Kit()
    done = kit.ingest(*files(tmp_path, 9), batch_chunks=2)
    assert done.chunks == 9
    texts = [row.text for write in kit.writes for row in write.chunks]
    assert [len(write.chunks) for write in kit.writes] == [2, 2, 2, 2, 1]
    assert texts == [f"Ada{number} leads team {number}." for number in range(9)]
    assert len(kit.vectors.vectors([row.id for write in kit.writes for row in write.chunks])) == 9


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
    assert len(kit.writes) == 3


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


def test_leaving_stops_the_model_after_the_call_it_is_in() -> None:
    calls: list[int] = []
    begun, leave = threading.Event(), threading.Event()

    def embed(texts: Mapping[str, str]) -> Mapping[str, Vector]:
        calls.append(len(texts))
        begun.set()
        assert leave.wait(60)
        return {id: np.ones(2, dtype=np.float32) for id in texts}

    with EmbeddingAhead(embed) as ahead:
        first = ahead.start([chunk(f"c{number}") for number in range(1000)])
        second = ahead.start([chunk("last")])
        second.add_done_callback(lambda _: leave.set())  # what has not begun is cancelled on the way out
        assert begun.wait(60)
    assert first.done() and second.cancelled()
    assert sum(calls) < 200
