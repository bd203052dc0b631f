"""Forget and revive: out of recall and back, with what rested on it."""

from pathlib import Path

import pytest

from hydramem.core.errors import NotFoundError
from hydramem.core.row_types import Document
from hydramem.ingest.memories.forget import forget, revive
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.store import Listing
from tests.ingest.conftest import Kit


@pytest.fixture
def page(kit: Kit, tmp_path: Path) -> Document:
    path = tmp_path / "page.md"
    # Each section has enough words to be a chunk of its own.
    more = "Some more words that tell of nothing in particular, so that this stays apart from the rest."
    path.write_text(
        f"# Team\n\n## One\n\nAda leads Kestrel. {more}\n\n## Two\n\nKestrel uses MySQL. {more}\n\n"
        f"## Three\n\nKestrel runs. {more}\n"
    )
    kit.ingest(path)
    return kit.graph.list_documents("notes", Listing())[0]


def holding(kit: Kit, words: str) -> str:
    return next(row.id for row in kit.chunks() if words in row.text)


def test_a_forgotten_chunk_takes_along_only_what_rested_on_it_alone(kit: Kit, page: Document) -> None:
    before = kit.triples()
    id = holding(kit, "Ada leads")
    done = forget([id], graph=kit.graph, mirror=kit.mirror)
    assert (done.chunks, done.relations) == ((id,), 1)
    (change,) = kit.graph.changes(target=id)
    assert change.operation == "forget"
    assert '"state": "active"' in str(change.before) and '"state": "archived"' in str(change.after)
    assert before - kit.triples() == {("Ada", "leads", "Kestrel")}
    assert kit.counted_right()
    assert kit.vectors.matching("Ada", ChunkFilter(), 5) == ()


def test_revive_is_the_way_back(kit: Kit, page: Document) -> None:
    chunks, triples, names = kit.chunks(), kit.triples(), kit.vectors.entity_hashes()
    forget([page.id], graph=kit.graph, mirror=kit.mirror)
    assert (kit.chunks(), kit.triples()) == ([], set())
    assert forget([page.id], graph=kit.graph, mirror=kit.mirror).chunks == ()
    assert kit.graph.documents([page.id])[0].state == "archived"
    done = revive([page.id], graph=kit.graph, mirror=kit.mirror)
    assert len(done.chunks) == len(chunks)
    assert revive([page.id], graph=kit.graph, mirror=kit.mirror).chunks == ()
    assert (kit.chunks(), kit.triples(), kit.vectors.entity_hashes()) == (chunks, triples, names)
    assert kit.counted_right()
    query = kit.embedder.embed_query("Kestrel")
    assert kit.vectors.nearest_entities(query, ("notes",), 1)[0].score > 0.99


def test_an_unknown_id_is_an_error_and_nothing_is_written(kit: Kit, page: Document) -> None:
    for withdraw in (forget, revive):
        with pytest.raises(NotFoundError, match="c_nowhere"):
            withdraw([page.id, "c_nowhere"], graph=kit.graph, mirror=kit.mirror)
    assert kit.graph.documents([page.id])[0].state == "active"
