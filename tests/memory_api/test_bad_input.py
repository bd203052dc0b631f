"""Bad input at the public surface: a clear error or a report, nothing half written, nothing lost."""

import json
import math
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

import hydramem
from hydramem.core.errors import EmbeddingMismatchError, InvalidInputError, NotFoundError, StorageError
from hydramem.ingest.documents.ingest_extracted import ExtractedChunk, ExtractedRelation
from hydramem.llm.hash_embedder import HashEmbedder
from tests.engines import DISK_ENGINE
from tests.memory_api.conftest import settings


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[hydramem.Memory]:
    """A memory whose every call is refused: it is empty in the end."""
    with hydramem.connect(tmp_path_factory.mktemp("empty"), config=settings()) as memory:
        yield memory
        assert memory.stats().counts.changes == memory.stats().counts.chunks == 0


def test_what_cannot_be_read_is_reported_and_the_rest_is_ingested(
    memory: hydramem.Memory, tmp_path: Path
) -> None:
    docs, deep = tmp_path / "docs", "[" * 10_000 + "]" * 10_000
    docs.mkdir()
    (docs / "good.md").write_text("# Good\n\nAda Lovelace leads the Billing Service.\n")
    (docs / "headings.md").write_text("".join(f"{'#' * (1 + n % 6)} Heading {n}\n" for n in range(200)))
    (docs / "latin.txt").write_bytes("Der Schlüssel liegt in Zürich bei der Königin. ".encode("latin-1") * 20)
    (docs / "utf16.txt").write_text("The beacon stands at Reykjavik harbour.", encoding="utf-16")
    (docs / "nul.txt").write_bytes(b"The walrus\x00 sleeps in Tromso tonight and every night.\n" * 3)
    (docs / "surrogate.json").write_text('[{"role": "user", "content": "the lone \\ud800 penguin speaks"}]')
    (docs / "empty.txt").write_text("")
    (docs / "binary.txt").write_bytes(bytes(range(256)) * 40)
    (docs / "zero.txt").symlink_to("/dev/zero")
    os.mkfifo(docs / "pipe.txt")
    (docs / "loop.txt").symlink_to(docs / "loop.txt")
    (docs / "circle").symlink_to(docs)
    (docs / "gone.txt").symlink_to(docs / "nowhere.txt")
    (docs / "deep.json").write_text(deep)
    (docs / "deep.jsonl").write_text(f'{{"role": "user", "content": {deep}}}\n')
    with (docs / "huge.txt").open("wb") as file:
        file.truncate(50 * 2**20)
    with pytest.raises(InvalidInputError, match=r"nowhere\.md"):
        memory.ingest([str(docs / "good.md"), str(docs / "nowhere.md")])
    assert memory.documents() == (), "a missing source is an error before anything is written"
    reasons = {Path(each.source).name: each.reason for each in memory.ingest([str(docs)]).skipped}
    unread = {"empty.txt", "binary.txt", "zero", "pipe.txt", "loop.txt", "gone.txt", "huge.txt"}
    assert unread <= reasons.keys() <= unread | {"deep.json", "deep.jsonl"}
    assert all(reasons.values()) and "MB" in reasons["huge.txt"]
    for words in ("Ada Lovelace", "Heading 77", "Zürich Königin", "beacon Reykjavik", "walrus", "penguin"):
        assert memory.recall(words, limit=3).hits, words
    named = memory.ingest([str(docs / "pipe.txt"), "/dev/zero"])
    assert len(named.skipped) == 2, "one that is named by itself is reported like one in a folder"


@pytest.mark.engine
@pytest.mark.costly  # the languages that these words could break are those of the engine and of the vectors
@pytest.mark.parametrize("memory", [DISK_ENGINE], indirect=True)
def test_cypher_and_sql_are_ordinary_words(memory: hydramem.Memory) -> None:
    kept = memory.remember("Ada Lovelace leads billing.").id
    for text in (
        "'; MATCH (n) DETACH DELETE n; // Robert'); DROP TABLE chunks;--",
        '" OR 1=1 -- `backticks` $dollar {brace} \\ back %_*?[a-z]',
        "naïve Ünïcode Москва 東京 🦀",
    ):
        id = memory.remember(
            f"{text} is a name", scope="/a", categories=[text], author=text, session=text, source=text
        ).id
        assert id in {hit.id for hit in memory.recall(text, categories=[text], session=text).hits}
        assert [row.id for row in memory.memories(session=text)] == [id]
        memory.entities(containing=text, type=text)
        memory.relations(type=text)
        for missing in (memory.neighbors, memory.get, memory.document):
            with pytest.raises(NotFoundError):
                missing(f"{text} nobody")
    assert memory.recall("x", project="other").hits == ()
    assert memory.get(kept).state == "active" and len(memory.memories()) == 4


def test_a_limit_out_of_bounds_is_refused(empty: hydramem.Memory) -> None:
    reads = (empty.memories, empty.documents, empty.entities, empty.relations, empty.sessions)
    for limit in (0, -1, 1_000_000_000, 1.5, "3", True, None):
        for read in reads:
            with pytest.raises(InvalidInputError, match="limit"):
                read(limit=limit)
        with pytest.raises(InvalidInputError, match="limit"):
            empty.recall("anything", limit=limit)
    with pytest.raises(InvalidInputError, match="offset"):
        empty.memories(offset=-1)


def test_a_text_that_cannot_be_asked_or_stored_is_refused(empty: hydramem.Memory) -> None:
    for text in ("", " \n\t", "x" * 1_048_576, "a\x00b", "lone \ud800 surrogate", json.loads("{}")):
        with pytest.raises(InvalidInputError, match="query"):
            empty.recall(text)
        with pytest.raises(InvalidInputError, match="text"):
            empty.remember(text)
    with pytest.raises(InvalidInputError, match="text"):
        empty.remember("x" * 100_001)


def test_arguments_of_the_wrong_type_or_without_sense_are_refused(empty: hydramem.Memory) -> None:
    shares = (math.nan, math.inf, -0.1, 94, "94", None, True)
    wrong = [
        ("scope", {"scope": "no/slash"}),
        ("kind", {"kind": "rumour"}),
        ("valid_from", {"valid_from": datetime(2024, 5, 1)}),
        ("happened_at", {"happened_at": "2024-05-01T10:00"}),
        ("before it begins", {"valid_from": "2024-05-01", "valid_to": "2023-05-01"}),
        *(("confidence", {"confidence": share}) for share in shares),
    ]
    for named, fields in wrong:
        with pytest.raises(InvalidInputError, match=named):
            empty.remember("Ada leads billing.", **fields)
    for named, options in (("project", {"project": 7}), ("as_of", {"as_of": "someday"})):
        with pytest.raises(InvalidInputError, match=named):
            empty.recall("x", **options)
    itself = ExtractedRelation(subject="Ada", type="is", object="ADA")
    with pytest.raises(InvalidInputError, match="itself"):
        empty.ingest_extracted("chat", [ExtractedChunk(text="Ada is Ada.")], relations=[itself])


class TooShort(HashEmbedder):
    """Promises 384 dimensions and gives 100."""

    def embed_documents(self, texts: "list[str]") -> "np.ndarray":  # type: ignore[override]
        return np.ones((len(texts), 100), dtype=np.float32)


@pytest.mark.costly  # whose files of vectors have a dimension
def test_a_vector_of_another_dimension_is_an_error(tmp_path: Path) -> None:
    with (
        hydramem.connect(tmp_path, config=settings(DISK_ENGINE), embedder=TooShort(384)) as memory,
        pytest.raises((InvalidInputError, StorageError, EmbeddingMismatchError), match="100"),
    ):
        memory.remember("Ada leads billing.")
