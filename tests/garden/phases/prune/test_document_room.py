"""Where documents take too much room, what is out of use longest goes, and nothing that is in use."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from hydramem.core.row_types import Chunk, Document, Times
from hydramem.core.time import now
from tests.garden.memories import night, opened, put, rows
from tests.garden.rows import chunk, document, entity, relation
from tests.storage.rows import mention

NOW = now()
LIMIT = {"LIMITS_DOCUMENT_MB": "1"}


def times(days: float) -> Times:
    return Times(recorded_at=NOW - timedelta(days=500), retired_at=NOW - timedelta(days=days))


def page(id: str, days: float | None = None, **fields: object) -> Document:
    gone: dict[str, object] = {} if days is None else {"state": "archived", "times": times(days)}
    return document(id, **(gone | fields))


def passage(id: str, of: str, state: str = "active", days: float = 0, **fields: object) -> Chunk:
    """Return a passage of 300 kB."""
    given: dict[str, object] = {"project": "default", "kind": "passage", "document": of, "state": state}
    if state != "active":
        given["times"] = times(days)
    return chunk(id, f"{id} " + "word " * 60_000, **(given | fields))


def test_versions_go_first_then_what_was_archived_longest(tmp_path: Path) -> None:
    documents = (page("d_now"), page("d_older", 90), page("d_newer", 10))
    chunks = (
        passage("c_now", "d_now"),
        passage("c_second", "d_now", "superseded", 20),
        passage("c_first", "d_now", "superseded", 30),
        passage("c_older", "d_older", "archived", 90),
        passage("c_newer", "d_newer", "archived", 10),
    )
    with opened(tmp_path, **LIMIT) as memory:
        put(memory, documents=documents[:1], chunks=chunks[:3])
        assert night(memory, "prune").phases[0].proposals == 0, "0.9 MB is within the limit"
        put(memory, documents=documents, chunks=chunks)
        before = rows(memory)
        assert any(use.over for use in memory.stats().limits)
        report = night(memory, "prune")
        assert {each.target for each in report.changes} == {"c_first", "c_second"}
        assert all("more than 1 MB" in each.reason for each in report.changes)
        assert {row.id for row in rows(memory)["Chunk"]} == {"c_now", "c_older", "c_newer"}
        assert not any(use.over for use in memory.stats().limits)
        memory.undo(str(report.run))
        assert rows(memory) == before
        report = night(memory, "prune")
        assert {each.target for each in report.changes} == {"d_older", "d_newer"}, "what was undone stays"
        assert {row.id for row in rows(memory)["Document"]} == {"d_now"}


def test_what_is_in_use_or_protected_stays_and_that_is_told(tmp_path: Path) -> None:
    ada, bob = (entity(id, name) for id, name in (("e_1", "Ada"), ("e_2", "Bob")))
    said = relation("e_1", "leads", "e_2", origin="asserted", evidence=("c_rests",), verdict="accepted")
    chunks = (
        passage("c_now", "d_now"),
        passage("c_also", "d_now"),
        passage("c_trusted", "d_now", "superseded", 30, layer="verified"),
        passage("c_rests", "d_now", "superseded", 31),
        passage("c_unfinished", "d_unfinished", "archived", 32),
    )
    with opened(tmp_path, **LIMIT) as memory:
        put(
            memory,
            documents=(page("d_now"), page("d_unfinished", 32, content_hash="")),
            chunks=chunks,
            entities=(ada, bob),
            mentions=(mention("c_rests", "e_1"), mention("c_rests", "e_2")),
            relations=(said,),
        )
        before = rows(memory)
        [phase] = night(memory, "prune").phases
        assert phase.proposals == 0 and rows(memory) == before
        assert any("1.5 MB" in note and "limits.document_mb" in note for note in phase.notes)
        put(memory, relations=(replace(said, origin="extracted"),))
        [change] = night(memory, "prune").changes
        assert change.target == "c_rests"
        [left] = rows(memory)["RELATES"]
        assert left.evidence == () and left.state == "active"
