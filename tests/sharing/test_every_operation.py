"""Every row of the table does the same through an owner as in process, its errors too."""

from dataclasses import replace
from pathlib import Path

import pytest

from hydramem.core.inputs import MemoryInput
from hydramem.core.results.hits import Recall
from hydramem.memory_api.memory import connect as open_here
from hydramem.sharing.operation_specs import SPECS
from tests.engines import ENGINE
from tests.sharing.every_row import Recorder, every_row, kinds, look, read, write
from tests.sharing.served import served, settings


@pytest.mark.slow
def test_every_row_does_through_an_owner_what_it_does_in_process(tmp_path: Path) -> None:
    with open_here(tmp_path / "alone", config=settings()) as memory:
        alone = every_row(memory, tmp_path / "files_alone")
    with served(tmp_path / "owned", whole=True) as owner, owner.client() as client:
        owned = every_row(client, tmp_path / "files_owned")
    assert {name for name, _ in owned} == set(SPECS)
    expected = kinds(alone, tmp_path / "files_alone", tmp_path / "alone")
    for one, other in zip(kinds(owned, tmp_path / "files_owned", tmp_path / "owned"), expected, strict=True):
        assert one == other


def test_reads_through_an_owner_return_equal_objects(tmp_path: Path) -> None:
    with served(tmp_path / "store", engine=ENGINE) as owner, owner.client() as client:
        write(Recorder(client, tmp_path), tmp_path)
        client.drain()
        here, there = Recorder(owner.memory, tmp_path), Recorder(client, tmp_path)
        for each in (here, there):
            with each.memory.during(None):  # what was recalled before would rank higher
                read(each)
                look(each)
        raised = 0
        for (name, expected), (_, found) in zip(here.outcomes, there.outcomes, strict=True):
            assert _untimed(found) == _untimed(expected), name
            assert type(found) is type(expected)
            raised += isinstance(expected, tuple) and expected[:1] != () and isinstance(expected[0], type)
    assert raised >= 8


def _untimed(result: object) -> object:
    return replace(result, milliseconds={}) if isinstance(result, Recall) else result


def test_results_that_messages_have_no_type_for_arrive_whole(tmp_path: Path) -> None:
    huge = {"big": 2**80, "small": -(2**70), "deep": [[[2**64]]]}
    with served(tmp_path / "store", engine=ENGINE) as owner, owner.client() as client:
        id = client.remember("A number of atoms.", metadata=huge).id
        assert client.get(id).metadata == huge
        assert client.get(id) == owner.memory.get(id)
        assert client.memories() == owner.memory.memories()
        many = client.remember_many([MemoryInput(text="Bo keeps bees.", metadata=huge)])
        assert client.recall("bees", limit=1).hits == owner.memory.recall("bees", limit=1).hits
        assert client.get(many[0].id).metadata == huge
