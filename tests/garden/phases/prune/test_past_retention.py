"""What is kept no longer: only what was configured, whole or not at all, and undo brings it back."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from hydramem.core.row_types import Session
from hydramem.core.time import now
from tests.garden.memories import night, opened, put, rows

LONG_AGO = now() - timedelta(days=400)


def test_a_document_and_a_memory_go_with_what_hangs_on_them_and_come_back(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Billing\n\nAda Lovelace leads Billing.\n\n# Shipping\n\nCarl Sun leads Shipping.\n")
    with opened(tmp_path / "store", LIMITS_ARCHIVED_DAYS="30") as memory:
        memory.ingest(str(page))
        (document,) = rows(memory)["Document"]
        note = memory.remember("Grace Hopper leads Sales.")
        memory.forget([document.id, note.id])
        assert night(memory, "prune").phases[0].proposals == 0
        held = rows(memory)
        aged = {
            name: tuple(replace(row, times=replace(row.times, retired_at=LONG_AGO)) for row in held[name])
            for name in ("Document", "Chunk")
        }
        put(memory, documents=aged["Document"], chunks=aged["Chunk"])
        before = rows(memory)
        report = night(memory, "prune")
        after = rows(memory)
        assert after["Document"] == [] and after["Chunk"] == []
        assert all(not row.evidence for row in after["RELATES"])
        memory.undo(report.run)
        assert rows(memory) == before


def test_sessions_that_hold_nothing_go(tmp_path: Path) -> None:
    old = Session(id="s_old", project="default", name="old", started_at=LONG_AGO, last_at=LONG_AGO)
    with opened(tmp_path) as memory:
        put(memory, sessions=(old,))
        assert night(memory, "prune").phases[0].proposals == 0
    with opened(tmp_path / "limited", LIMITS_SESSION_DAYS="30") as memory:
        with memory.session("used"):
            memory.remember("Ada Lovelace leads Billing.")
        used = rows(memory)["Session"]
        aged = tuple(replace(row, last_at=LONG_AGO) for row in used)
        put(memory, sessions=(old, *aged))
        assert [each.target for each in night(memory, "prune").changes] == [old.id]
