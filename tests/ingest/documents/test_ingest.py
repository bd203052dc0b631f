"""The flow over whole stores: what is stored, what a second run changes, what a death leaves."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from hydramem.core.config import IngestConfig
from hydramem.core.row_types import Document, RelationCandidate, Verdict
from hydramem.ingest.documents.ingest import Progress, ingest
from hydramem.ingest.memories.forget import forget
from hydramem.storage.in_memory.graph import InMemoryGraph
from tests.ingest.conftest import KilledError, Kit

GUIDE = """# Harbour

The board service depends on Kestrel. Kestrel is owned by Lantern.
It shows every ship that is due at the piers today.

## People

Priya Raman leads Lantern. Jonas Hale works for Lantern. Both can be asked about the board on all days.
"""

NEW_WORDS = (
    "A new start. These words stand first, and they are enough of them to be a chunk of their own here."
)


@pytest.fixture
def guide(tmp_path: Path) -> Path:
    path = tmp_path / "guide.md"
    path.write_text(GUIDE)
    return path


def long_text(sentences: int) -> str:
    return "Long\n\n" + " ".join(
        f"Sentence {number} tells of Crate{number} Alpha." for number in range(sentences)
    )


def test_a_document_becomes_chunks_entities_and_relations(kit: Kit, guide: Path) -> None:
    done = kit.ingest(guide)
    assert (done.documents, done.chunks, done.skipped) == (1, 2, ())
    assert [row.heading_path for row in kit.chunks()] == [("Harbour",), ("Harbour", "People")]
    assert {
        ("board service", "depends_on", "Kestrel"),
        ("Kestrel", "owned_by", "Lantern"),
        ("Priya Raman", "leads", "Lantern"),
        ("Jonas Hale", "works_for", "Lantern"),
    } <= kit.triples()
    assert done.relations == len(kit.relations())
    assert kit.counted_right()
    texts = {row.id: row.text for row in kit.chunks()}
    for relation in kit.relations():
        assert all(relation.quote in texts[chunk] for chunk in relation.evidence)
        mentioned = {mention.entity for mention in kit.graph.mentions(relation.evidence)}
        assert {relation.subject, relation.object} <= mentioned
        assert relation.verdict is None, "nothing verified it"
    (write,) = kit.writes
    (change,) = write.changes
    assert change.target == write.documents[0].id
    assert set(json.loads(change.after)["chunks"]) == texts.keys()
    embedded = len(kit.embedded)
    again = kit.ingest(guide)
    assert (again.documents, again.unchanged, again.chunks) == (0, 1, 0)
    assert (len(kit.writes), len(kit.embedded)) == (1, embedded)


def test_a_document_that_was_cut_in_another_way_is_replaced_once_it_is_edited(tmp_path: Path) -> None:
    kit, path = Kit(settings=IngestConfig(chunk_tokens=40, overlap_tokens=0)), tmp_path / "long.txt"
    path.write_text(long_text(30))
    kit.ingest(path)
    before = kit.texts()
    kit.settings = IngestConfig()
    assert (kit.ingest(path).unchanged, kit.texts()) == (1, before)
    path.write_text(long_text(31))
    kit.ingest(path)
    assert len(kit.texts()) < len(before)
    assert kit.counted_right()


def test_an_edit_replaces_what_changed_and_retires_what_only_that_supported(kit: Kit, guide: Path) -> None:
    kit.ingest(guide)
    kit.embedded.clear()
    guide.write_text(GUIDE.replace("Priya Raman leads", "Tom Berg leads"))
    done = kit.ingest(guide)
    assert (done.documents, done.chunks, done.retired_chunks) == (1, 1, 1)
    assert ("Priya Raman", "leads", "Lantern") not in kit.triples()
    assert {("Tom Berg", "leads", "Lantern"), ("Jonas Hale", "works_for", "Lantern")} <= kit.triples()
    assert not any("depends on" in text for text in kit.embedded), "the unchanged chunk was embedded again"
    assert kit.counted_right()


def test_text_put_in_above_moves_chunks_without_embedding_them_again(kit: Kit, guide: Path) -> None:
    kit.ingest(guide)
    before = {row.text: row.id for row in kit.chunks()}
    kit.embedded.clear()
    guide.write_text(GUIDE.replace("# Harbour\n", f"# Harbour\n\n## First\n\n{NEW_WORDS}\n\n## Services\n"))
    kit.ingest(guide)
    guide.write_text(GUIDE)
    kit.ingest(guide)
    assert {row.text: row.id for row in kit.chunks()} == before
    assert sum("Priya" in text for text in kit.embedded) == 0
    assert kit.counted_right()


def test_a_document_that_was_emptied_keeps_nothing_until_it_is_filled_again(kit: Kit, guide: Path) -> None:
    kit.ingest(guide)
    texts, triples = kit.texts(), kit.triples()
    guide.write_text("\n")
    assert kit.ingest(guide).skipped == ()
    assert (kit.texts(), kit.relations()) == ([], [])
    guide.write_text(GUIDE)
    kit.ingest(guide)
    assert (kit.texts(), kit.triples()) == (texts, triples)
    assert kit.counted_right()


@pytest.mark.parametrize("dies_after", range(8))
def test_a_death_in_a_large_document_leaves_no_half_of_it(kit: Kit, tmp_path: Path, dies_after: int) -> None:
    path = tmp_path / "long.txt"
    path.write_text(long_text(40))
    kit.dies_after = dies_after
    sizes = {"chunk_tokens": 24, "overlap_tokens": 0, "batch_chunks": 4}
    try:
        kit.ingest(path, **sizes)
    except KilledError:
        assert (kit.texts(), kit.relations()) == ([], [])
    kit.dies_after = None
    whole = Kit()
    whole.ingest(path, **sizes)
    kit.ingest(path, **sizes)
    assert kit.texts() == whole.texts()
    assert kit.triples() == whole.triples()
    assert kit.counted_right()
    # The batch that was being committed is lost, and the next one, which the model was at meanwhile.
    assert len([text for text in kit.embedded if "Sentence" in text]) <= len(whole.texts()) + 2 * 4


def test_a_death_while_a_large_document_is_replaced_leaves_the_old_one(kit: Kit, tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("Long\n\nAda Hale leads Kestrel Works.")
    kit.ingest(path)
    old = kit.texts(), kit.triples()
    path.write_text(long_text(40))
    kit.dies_after = 3
    with pytest.raises(KilledError):
        kit.ingest(path, chunk_tokens=24, batch_chunks=4)
    assert (kit.texts(), kit.triples()) == old


def test_what_a_person_forgot_stays_forgotten_when_its_document_is_edited(kit: Kit, guide: Path) -> None:
    kit.ingest(guide)
    people = next(row for row in kit.chunks() if "Priya" in row.text)
    forget([people.id], graph=kit.graph, mirror=kit.mirror)
    guide.write_text(GUIDE.replace("depends on Kestrel", "depends on Heron"))
    kit.ingest(guide)
    assert not any("Priya" in text for text in kit.texts())


def test_refused_relations_are_not_stored_and_are_on_record(kit: Kit, guide: Path) -> None:
    def no_work(candidates: Sequence[RelationCandidate]) -> list[Verdict]:
        for candidate in candidates:
            assert candidate.subject.name in candidate.passages[0].text
        decisions = ["rejected" if each.relation.type == "works_for" else "deferred" for each in candidates]
        return [Verdict(decision=each, score=0.5, stage="srmkg", verifier="test") for each in decisions]

    kit.ingest(guide, accept=no_work)
    assert {row.type for row in kit.relations()} == {"depends_on", "owned_by", "leads"}
    assert {row.verdict for row in kit.relations()} == {"deferred"}
    first, *others = kit.graph.changes()
    (refused,) = json.loads(first.after)["relations_refused"]
    (row,) = [json.loads(change.after) for change in others if change.target == refused]
    assert (row["verdict"], row["type"], row["verifier"]) == ("rejected", "works_for", "test")


def test_two_documents_name_one_entity_and_many_are_looked_up_at_once(tmp_path: Path) -> None:
    class CountingGraph(InMemoryGraph):
        reads = 0

        def documents(self, ids: Sequence[str]) -> tuple[Document, ...]:
            self.reads += 1
            return super().documents(ids)

    graph = CountingGraph()
    kit = Kit(graph=graph)
    for number in range(60):
        (tmp_path / f"{number}.txt").write_text(f"Crate{number} Alpha stands in hall {number}.")
    (tmp_path / "a.txt").write_text("Theodred II (Bishop of Elmham)\nTheodred II was a bishop of Elmham.")
    (tmp_path / "b.txt").write_text("Elmham\nElmham was the see of Theodred II until 997.")
    assert (kit.ingest(tmp_path).documents, kit.ingest(tmp_path).unchanged) == (62, 62)
    assert graph.reads <= 6
    (id,) = set(kit.known(["theodred ii", "theodred ii (bishop of elmham)"]).values())
    assert len(kit.graph.mentioned([id])) == 2


def twelve_notes(folder: Path) -> None:
    for number in range(12):
        (folder / f"{number:02}.txt").write_text(f"Ada wrote note number {number}.")


def test_what_is_reported_as_done_is_stored(kit: Kit, tmp_path: Path) -> None:
    twelve_notes(tmp_path)
    stored: list[tuple[int, int]] = []

    def look(progress: Progress) -> None:
        stored.append((progress.done, len(kit.texts())))

    ingest([tmp_path], target=kit.target(), settings=IngestConfig(batch_chunks=4), progress=look)
    assert all(done == texts for done, texts in stored) and stored[-1] == (12, 12)
    assert any(0 < done < 12 for done, _ in stored)
    stored.clear()
    ingest([tmp_path], target=kit.target(), settings=kit.settings, progress=look)
    assert [done for done, _ in stored] == list(range(1, 13)), "nothing is left to store"


def test_an_interruption_between_batches_keeps_what_was_committed(kit: Kit, tmp_path: Path) -> None:
    twelve_notes(tmp_path)
    read: list[str] = []

    def interrupt(progress: Progress) -> None:
        read.append(progress.what)
        if len(read) == 10:
            raise KeyboardInterrupt

    settings = IngestConfig(batch_chunks=4)
    with pytest.raises(KeyboardInterrupt):
        ingest([tmp_path], target=kit.target(), settings=settings, progress=interrupt)
    # The second batch was with the model; it is kept where that was done with it.
    assert len(kit.texts()) in (4, 8)
    kit.ingest(tmp_path)
    assert len(kit.texts()) == 12
    assert kit.counted_right()


def test_a_chunk_forgotten_while_its_document_is_read_again_stays_forgotten(kit: Kit, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    told = "Ada leads billing. She is asked about each invoice before it goes out to a customer of ours."
    used = "Billing uses Kestrel. It sends what is due on the first day of each month, and keeps a copy."
    rest = f"## One\n\n{told}\n\n## Two\n\n{used}\n"
    page.write_text(f"# Page\n\n{rest}")
    kit.ingest(page)
    victim = next(row.id for row in kit.chunks() if "Kestrel" in row.text)
    page.write_text(f"# Page\n\n{NEW_WORDS}\n\n{rest}")

    def forgetful(progress: Progress) -> None:
        forget([victim], graph=kit.graph, mirror=kit.mirror)

    ingest([page], target=kit.target(), settings=kit.settings, progress=forgetful)
    assert kit.graph.chunks([victim])[0].state == "archived"
    assert NEW_WORDS in kit.texts()
    assert kit.counted_right()
