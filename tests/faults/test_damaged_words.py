"""Words that were damaged in one of the two stores: the ids show which side is right."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import hydramem
from hydramem.storage.cypher.schema_statements import graph_file
from hydramem.storage.repair.content_address import chunk_fits_id
from hydramem.storage.schema import CHUNK
from hydramem.storage.vector_rows import ChunkVector
from tests.engines import DISK_ENGINE
from tests.faults.damage import flip
from tests.faults.stores import CONFIG, remember, sentence

PAGE = "# Harbour\n\nThe harbour master keeps the keys of every crate that arrives at night.\n"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[hydramem.Memory]:
    with hydramem.connect(tmp_path / "store", config=CONFIG) as memory:
        yield memory


def change_words(memory: hydramem.Memory, id: str, text: str) -> None:
    """Change a chunk's words in the graph alone, as damage does."""
    engine = memory._opened.graph._engine  # type: ignore[attr-defined]
    with engine.writing() as query:
        query("MATCH (c:Chunk {id: $id}) SET c.text = $text", {"id": id, "text": text})


def change_vector_words(memory: hydramem.Memory, id: str, text: str) -> None:
    """Change a chunk's words in the vectors alone."""
    (row,) = memory._opened.graph.chunks([id])
    vector = memory._opened.vectors.vectors([id])[id]
    memory._opened.vectors.put([ChunkVector(chunk=replace(row, text=text), vector=vector)])


@pytest.mark.costly
def test_a_letter_flipped_in_the_graph_file_is_put_right_from_the_vectors(tmp_path: Path) -> None:
    with hydramem.connect(tmp_path / "store", config=CONFIG) as memory:
        ids = [remember(memory, number) for number in range(4)]
        memory._opened.graph.checkpoint()
    file = graph_file(tmp_path / "store" / "graph", DISK_ENGINE)
    place = file.read_bytes().index(sentence(2).encode())
    flip(file, place + 30)
    with hydramem.connect(tmp_path / "store", config=CONFIG) as memory:
        assert memory.get(ids[2]).text != sentence(2)
        found = memory.doctor()
        assert (found.healthy, found.damaged, found.stale) == (False, 1, 1)
        assert f"the graph holds damaged words of 1 chunks ({ids[2]})" in found.problems[0]
        fixed = memory.doctor(fix=True)
        assert fixed.healthy and fixed.damaged == 0
        assert [memory.get(id).text for id in ids] == [sentence(number) for number in range(4)]
        assert memory.recall(sentence(2), limit=1).hits[0].id == ids[2]


@pytest.mark.costly
def test_a_damaged_passage_is_put_right_with_its_headings(memory: hydramem.Memory, tmp_path: Path) -> None:
    (tmp_path / "harbour.md").write_text(PAGE)
    memory.ingest([str(tmp_path / "harbour.md")])
    (chunk,) = memory.document(memory.documents()[0].id).chunks
    assert memory.doctor().healthy
    change_words(memory, chunk.id, chunk.text.replace("keys", "kegs"))
    assert memory.doctor(fix=True).healthy
    assert memory.get(chunk.id).text == chunk.text


def test_a_damaged_source_is_put_right_from_the_chunks(memory: hydramem.Memory, tmp_path: Path) -> None:
    (tmp_path / "harbour.md").write_text(PAGE)
    memory.ingest([str(tmp_path / "harbour.md")])
    (document,) = memory.documents()
    engine = memory._opened.graph._engine  # type: ignore[attr-defined]
    with engine.writing() as query:
        query("MATCH (d:Document) SET d.source = 'harbour.mc'", {})
    found = memory.doctor()
    assert (found.healthy, found.damaged) == (False, 1) and document.id in found.problems[0]
    assert memory.doctor(fix=True).healthy
    assert memory.documents() == (document,)
    with engine.writing() as query:
        query("MATCH (d:Document) SET d.source = 'harbour.mc'", {})
        query("MATCH (c:Chunk) SET c.source = 'harbour.mc'", {})
    fixed = memory.doctor(fix=True)
    assert (fixed.healthy, fixed.damaged) == (False, 1) and "nothing is overwritten" in fixed.problems[0]


@pytest.mark.costly
def test_damaged_words_in_the_vectors_are_put_right_from_the_graph(memory: hydramem.Memory) -> None:
    id = remember(memory, 1)
    change_vector_words(memory, id, "Crate 1 is lost.")
    found = memory.doctor()
    assert (found.damaged, found.stale) == (0, 1)
    assert memory.doctor(fix=True).healthy
    assert memory.get(id).text == sentence(1)
    assert memory._opened.vectors.stored_chunks([id])[0].text == sentence(1)


def test_where_neither_side_is_right_nothing_is_overwritten(memory: hydramem.Memory) -> None:
    id = remember(memory, 1)
    change_vector_words(memory, id, "Crate 1 is lost.")
    change_words(memory, id, "Crate 1 is found.")
    fixed = memory.doctor(fix=True)
    assert (fixed.healthy, fixed.damaged) == (False, 1)
    assert id in fixed.problems[-1] and "nothing is overwritten" in fixed.problems[-1]
    assert memory.get(id).text == "Crate 1 is found."
    assert memory._opened.vectors.stored_chunks([id])[0].text == "Crate 1 is lost."


def test_the_words_of_a_turn_are_not_in_its_id_so_none_are_overwritten(memory: hydramem.Memory) -> None:
    with memory.session("harbour") as session:
        session.say("The crane at pier two is broken.", author="ada")
    memory.drain()
    (turn,) = memory.memories(kinds=["turn"])
    change_words(memory, turn.id, "The crane at pier two is mended.")
    fixed = memory.doctor(fix=True)
    assert (fixed.healthy, fixed.damaged) == (False, 1)
    assert memory._opened.vectors.stored_chunks([turn.id])[0].text.endswith("is broken.")
    assert memory.get(turn.id).text.endswith("is mended.")


@pytest.mark.costly  # every operation on an engine on disk
def test_every_chunk_of_a_store_in_use_fits_its_id_or_has_none_of_its_words_in_it(
    memory: hydramem.Memory, tmp_path: Path
) -> None:
    (tmp_path / "harbour.md").write_text(PAGE + PAGE)
    memory.ingest([str(tmp_path / "harbour.md")])
    old = remember(memory, 1)
    memory.forget([old])
    remember(memory, 1)
    memory.remember("The gate of pier six is green.", happened_at="2024-05-01")
    first = memory.remember("The harbour office is in hall 3.").id
    memory.remember("The harbour office is in hall 5 now.", replaces=[first])
    rows = [row for batch in memory._opened.graph.scan(CHUNK) for row in batch]
    assert len(rows) >= 7
    fits = [chunk_fits_id(row) for row in rows]
    assert False not in fits and fits.count(None) <= 1
    for row in rows:
        assert not chunk_fits_id(replace(row, text=row.text.replace("a", "e", 1)))
