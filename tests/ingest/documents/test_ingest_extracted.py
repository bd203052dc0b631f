"""What an agent extracted: stored as given, checked before anything is written."""

import math
from collections.abc import Sequence
from typing import Any

import pytest

from hydramem.core.config import MemoryConfig
from hydramem.core.errors import InvalidInputError
from hydramem.core.results.write_results import Ingested
from hydramem.ingest.documents.ingest_extracted import (
    ExtractedChunk,
    ExtractedEntity,
    ExtractedRelation,
    ingest_extracted,
)
from tests.ingest.conftest import Kit

CHUNKS = (ExtractedChunk(text="Ada leads billing."), ExtractedChunk(text="Billing uses Kestrel."))
LEADS = ExtractedRelation(subject="Ada", type="leads", object="billing", quote="Ada leads billing")


def claim(**fields: Any) -> ExtractedRelation:
    return ExtractedRelation(**{"subject": "A", "type": "r", "object": "B"} | fields)


def store(
    kit: Kit,
    chunks: Sequence[ExtractedChunk] = CHUNKS,
    entities: Sequence[ExtractedEntity] = (),
    relations: Sequence[ExtractedRelation] = (LEADS,),
) -> Ingested:
    return ingest_extracted(
        "chat",
        chunks,
        entities=entities,
        relations=relations,
        target=kit.target(),
        settings=kit.settings,
        screening=MemoryConfig(),
    )


def test_it_is_stored_with_its_evidence(kit: Kit) -> None:
    done = store(kit, entities=[ExtractedEntity(name="Ada", type="person", aliases=("Ada Hale",))])
    assert (done.documents, done.chunks, done.entities, done.relations) == (1, 2, 2, 1)
    (relation,) = kit.relations()
    assert relation.evidence == (kit.chunks()[0].id,)
    assert kit.known(["ada hale"])["ada hale"] == kit.known(["ada"])["ada"]
    assert kit.counted_right()
    times = [("2019-01-01", "2021-01-01"), ("2023-01-01", None)]
    store(kit, relations=[claim(valid_from=start, valid_to=end) for start, end in times])
    assert len(kit.relations()) == 3, "employed twice is two relations"


def test_another_version_replaces_it(kit: Kit) -> None:
    store(kit)
    assert store(kit).unchanged == len(kit.writes) == 1
    done = store(kit, chunks=CHUNKS[1:], relations=())
    assert (done.retired_chunks, kit.texts(), kit.relations()) == (1, ["Billing uses Kestrel."], [])
    assert kit.counted_right()


@pytest.mark.parametrize(
    ("relation", "named"),
    [
        (claim(confidence=math.nan), "confidence"),
        (claim(confidence="94"), "confidence"),
        (claim(object="Ａ"), "itself"),
        (claim(type=""), "type"),
        (claim(valid_from="2024-01-02", valid_to="2024-01-01"), "before"),
        (claim(valid_from="2024-01-02T10:00"), "valid_from"),
    ],
)
def test_a_wrong_relation_is_refused_and_nothing_is_written(
    kit: Kit, relation: ExtractedRelation, named: str
) -> None:
    with pytest.raises(InvalidInputError, match=named):
        store(kit, relations=(LEADS, relation))
    assert kit.writes == []


@pytest.mark.parametrize("text", [" ", "a\0b", "\ud800"])
def test_a_wrong_text_is_refused(kit: Kit, text: str) -> None:
    with pytest.raises(InvalidInputError, match=r"chunks\[1\]"):
        store(kit, chunks=(CHUNKS[0], ExtractedChunk(text=text)))
    with pytest.raises(InvalidInputError, match="chunks"):
        store(kit, chunks=())
    with pytest.raises(InvalidInputError, match=r"entities\[0\]"):
        store(kit, entities=[ExtractedEntity(name=text)])
    assert kit.writes == []
