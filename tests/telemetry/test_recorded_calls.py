"""What telemetry records of calls, from whoever they come, and that it never gets in their way."""

import logging
import tarfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import hydramem
from hydramem.core.errors import InvalidInputError
from hydramem.core.results.telemetry_results import TelemetryReport
from hydramem.core.settings.config_loading import load_config
from hydramem.llm.scripted_generator import ScriptedGenerator
from hydramem.memory_api.memory import Memory
from hydramem.operations import BY_NAME, OPERATIONS, call
from hydramem.sharing.connect import call as call_a_client
from hydramem.telemetry.recorded_calls import NOT_RECORDED
from tests.engines import DISK_ENGINE
from tests.sharing.served import served

ENVIRONMENT = {"HYDRAMEM_STORAGE_GRAPH": DISK_ENGINE, "HYDRAMEM_EMBEDDING_MODEL": "hash"}


SETTINGS = load_config(environment=ENVIRONMENT)
"""Settings of a store that keeps its telemetry in a file."""
PLAIN = load_config(environment={**ENVIRONMENT, "HYDRAMEM_STORAGE_GRAPH": "memory"})


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with hydramem.connect(tmp_path / "store", config=PLAIN) as opened:
        yield opened


def recorded(memory: Memory, days: int = 1) -> TelemetryReport:
    found = memory.stats(days=days).telemetry
    assert found is not None
    return found


def calls(memory: Memory) -> dict[str, int]:
    return {use.operation: use.calls for use in recorded(memory).totals}


def test_every_operation_of_the_table_is_recorded_and_nothing_else() -> None:
    wrapped = {name for name, value in vars(Memory).items() if callable(value) and not name.startswith("_")}
    assert wrapped == {operation.name for operation in OPERATIONS} - NOT_RECORDED


def test_a_call_counts_once_whichever_way_it_comes(memory: Memory) -> None:
    memory.remember("Ada leads billing.")
    call(memory, BY_NAME["recall"], {"query": "who leads billing?"}, actor="cli")
    memory.prime()  # reads the curated files with another operation
    call(memory, BY_NAME["recall"], {"query": "who?"}, actor="Ada's own client")
    assert calls(memory) == {"recall": 2, "prime": 1, "remember": 1}
    asked = {use.operation: use.asked for use in recorded(memory).totals}
    assert (asked["recall"], asked["prime"]) == (2, 0), "the start of a session asks nothing"
    surfaces = {use.surface: use.calls for use in recorded(memory).surfaces}
    assert surfaces == {"cli": 1, "other": 1, "python": 4}  # two calls of stats are among them


def test_an_error_counts_by_its_class(memory: Memory) -> None:
    with pytest.raises(InvalidInputError):
        memory.recall(" ")
    found = recorded(memory)
    assert [(each.operation, each.error, each.calls) for each in found.errors] == [
        ("recall", "InvalidInputError", 1)
    ]
    assert [(use.calls, use.errors, use.p50_ms) for use in found.operations] == [(1, 1, None)]


def test_an_error_that_another_program_named_has_no_name_here(tmp_path: Path) -> None:
    class KestrelSecretError(Exception):
        pass

    class Broken(ScriptedGenerator):
        def generate(self, *args: Any, **options: Any) -> Any:
            raise KestrelSecretError

    with hydramem.connect(tmp_path, config=PLAIN, generator=Broken([])) as memory:
        with pytest.raises(KestrelSecretError):
            memory.remember("Ada leads billing.")
        assert [each.error for each in recorded(memory).errors] == ["other"]


def test_hits_relevance_and_what_was_answered(memory: Memory) -> None:
    memory.remember("Ada leads billing.")
    best = memory.recall("who leads billing?")
    none = memory.recall("who leads billing?", min_relevance=1.0, layers=["verified"])
    memory.prime("who leads billing?")
    found = {use.operation: use for use in recorded(memory).totals}
    assert (best.answered, none.hits) == (True, ())
    assert found["recall"].hits == len(best.hits)
    assert (found["recall"].asked, found["recall"].answered, found["recall"].answered_share) == (2, 1, 0.5)
    assert found["recall"].relevance == pytest.approx(best.hits[0].relevance, abs=1e-3)
    assert (found["prime"].asked, found["prime"].answered) == (1, 1)
    given = found["recall"].tokens
    call(memory, BY_NAME["recall"], {"query": "who leads billing?"}, actor="view")
    found = {use.operation: use for use in recorded(memory).totals}
    assert found["recall"].hits == 2 * len(best.hits)
    assert found["recall"].tokens == given > 0, "what the page shows is given to no agent"


def test_tokens_given_stand_beside_those_of_the_whole_sources(memory: Memory, tmp_path: Path) -> None:
    page = "\n\n".join(
        f"Pier {place} of the harbour was built by masons of Oslo, stone {place}." for place in range(90)
    )
    (tmp_path / "harbour.md").write_text(page)
    memory.ingest([str(tmp_path / "harbour.md")])
    said = [hydramem.SaidTurn(author="Ada", text=f"Berth {place} is free.") for place in range(5)]
    memory.capture("talk", said)
    memory.remember("Kestrel is a ship.")
    found = memory.recall("Pier 7 of the harbour", limit=2, kinds=["passage"])
    memory.recall("Berth 3 is free", limit=1, kinds=["turn"])
    memory.recall("Kestrel", limit=1, kinds=["note"])
    document = memory.document(found.hits[0].document or "")
    turns = sum(turn.tokens for turn in memory.memories(kinds=["turn"]))
    note = memory.memories(kinds=["note"])[0].tokens
    given = sum(memory.get(hit.id).tokens for hit in found.hits)
    one_turn = memory.memories(kinds=["turn"])[0].tokens
    whole = sum(chunk.tokens for chunk in document.chunks)
    (day,) = recorded(memory).tokens
    assert day.given == given + one_turn + note
    assert day.baseline == whole + turns + note
    assert day.saved == day.baseline - day.given > 0


def test_memories_count_by_kind_and_only_new_ones(memory: Memory) -> None:
    first = memory.remember("Ada leads billing.")
    memory.remember("Ada leads billing.")
    memory.remember("The launch was in Oslo.", kind="event", happened_at="2026-03-01")
    memory.forget([first.id])
    memory.capture("talk", [hydramem.SaidTurn(author="Ada", text="Berth 3 is free.")])
    stored = {each.kind: each.stored for each in recorded(memory).memories}
    assert stored == {"note": 1, "event": 1, "turn": 1}


def test_documents_verdicts_and_nights(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(
        "# Ships\n\nKestrel belongs to Ada Byron. Ada Byron works for Harbour Works."
    )
    done = memory.ingest([str(tmp_path / "page.md")])
    judged = memory.verify("Ada Byron", "owns", "Kestrel")
    memory.garden(plan=True)
    memory.garden(phases=["prune"])
    assert memory.garden(status=True)
    found = recorded(memory)
    (ingested,) = found.ingested
    assert (ingested.documents, ingested.chunks) == (done.documents, done.chunks)
    assert judged.accepted + judged.rejected + judged.deferred == 1
    (verdicts,) = found.verdicts
    for name in ("accepted", "rejected", "deferred"):
        assert getattr(verdicts, name) == getattr(judged, name)
    assert [night.runs for night in found.nights] == [1]  # a plan is no run


@pytest.mark.costly  # what is in a file
def test_no_byte_of_what_was_said_named_or_asked_is_in_the_file(tmp_path: Path) -> None:
    folder = tmp_path / "Waldmeister"
    (tmp_path / "Quittenbrot.md").write_text("# Zwetschge\n\nRadieschen grows in Pastinake.")
    with hydramem.connect(folder, config=SETTINGS, project="Mangold") as memory:
        ids = [
            memory.remember("Ada Topinambur leads billing.", source="Rucola", categories=["Estragon"]).id,
            *memory.capture(
                "Liebstock", [hydramem.SaidTurn(author="Sellerie", text="Fenchel is here.")]
            ).turns,
        ]
        memory.ingest([str(tmp_path / "Quittenbrot.md")])
        ids += [hit.id for hit in memory.recall("Kohlrabi of Topinambur", session=None).hits]
        memory.prime("Schwarzwurzel", session="Liebstock")
        call(memory, BY_NAME["recall"], {"query": "Fenchel"}, actor="Pimpinelle", request="Portulak")
        with pytest.raises(hydramem.NotFoundError):
            memory.neighbors("Mispel")
        assert recorded(memory).totals
        assert_nothing_in(folder, ids)
        receipt = memory.erase([ids[0]])
        assert not [each for each in receipt.to_edit if "telemetry" in each.path]
        done = calls(memory)
        assert done["erase"] == done["remember"] == 1, "the calls stay"
    assert_nothing_in(folder, ids)


def assert_nothing_in(folder: Path, ids: list[str]) -> None:
    words = (
        "Waldmeister Quittenbrot Zwetschge Radieschen Pastinake Mangold Topinambur Rucola Estragon Liebstock "
        "Sellerie Fenchel Kohlrabi Schwarzwurzel Pimpinelle Portulak Mispel billing"
    )
    files = sorted(folder.glob("telemetry*"))
    assert files
    data = b"".join(file.read_bytes() for file in files)
    assert b"recall" in data  # the words of the closed lists can be found this way
    for text in (*words.split(), *ids):
        for form in (text, text.lower(), text.casefold()):
            for encoding in ("utf-8", "utf-16-le"):
                assert form.encode(encoding) not in data, text


@pytest.mark.costly  # a backup is of files
def test_a_backup_leaves_it_out_and_a_wipe_deletes_it_alone(tmp_path: Path) -> None:
    with hydramem.connect(tmp_path / "store", config=SETTINGS) as memory:
        id = memory.remember("Ada leads billing.").id
        assert calls(memory) == {"remember": 1}
        backup = memory.backup(str(tmp_path / "backup.tar.gz"))
        with tarfile.open(backup.file) as archive:
            assert not [name for name in archive.getnames() if "telemetry" in name]
        memory.restore(backup.file)
        before = calls(memory)
        assert before["restore"] == before["remember"] == 1
        done = memory.wipe_telemetry()
        assert done.calls == sum(before.values()) + 1 and done.bytes > 0
        assert not list((tmp_path / "store").glob("telemetry*"))
        assert recorded(memory).totals == ()
        assert memory.get(id).text == "Ada leads billing."


def test_it_is_off_by_one_setting(tmp_path: Path) -> None:
    off = load_config(environment={**ENVIRONMENT, "HYDRAMEM_TELEMETRY_ENABLED": "false"})
    with hydramem.connect(tmp_path, config=off) as memory:
        memory.remember("Ada leads billing.")
        assert recorded(memory) == replace(
            recorded(memory), state="off: telemetry.enabled is false", totals=()
        )
        assert memory.doctor().telemetry == "off: telemetry.enabled is false"
    assert not list(tmp_path.glob("telemetry*"))


def test_a_file_that_cannot_be_written_fails_nothing_and_says_so_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with hydramem.connect(tmp_path, config=SETTINGS) as memory:
        (tmp_path / "telemetry.db").mkdir()
        with caplog.at_level(logging.WARNING):
            for _ in range(3):
                memory.remember("Ada leads billing.")
                assert recorded(memory).state.startswith("off: ")
        assert len([each for each in caplog.records if "telemetry" in each.getMessage()]) == 1
        assert memory.doctor().healthy
        assert memory.doctor().telemetry.startswith("off: ")
        (tmp_path / "telemetry.db").rmdir()


def test_calls_beyond_the_bound_are_dropped_and_counted(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hydramem.telemetry.recorder._MOST_WAITING", 3)
    for _ in range(5):
        memory.projects()
    found = recorded(memory)
    assert [use.calls for use in found.totals] == [3]
    assert found.dropped == 2


def test_days_must_be_a_number_of_days(memory: Memory) -> None:
    for days in (0, 401, True, "7"):
        with pytest.raises(InvalidInputError, match="days"):
            memory.stats(days=days)  # type: ignore[arg-type]
    assert memory.stats().telemetry is None


@pytest.mark.costly  # only a store on disk has clients
def test_a_call_of_a_client_counts_once_at_the_owner_under_its_own_surface(tmp_path: Path) -> None:
    with served(tmp_path / "store") as owner, owner.client() as client:
        client.remember("Ada leads billing.")
        call_a_client(client, "recall", {"query": "who leads billing?"}, actor="hook")
        here, there = owner.memory.stats(days=1).telemetry, client.stats(days=1).telemetry
        assert here is not None
        assert there is not None
        assert {use.operation: use.calls for use in here.totals} == {"remember": 1, "recall": 1}
        assert {use.surface: use.calls for use in here.surfaces} == {"python": 1, "hook": 1}
        assert {use.operation: use.calls for use in there.totals} == {"remember": 1, "recall": 1, "stats": 1}
        assert client.wipe_telemetry().calls == 4
        assert not list((tmp_path / "store").glob("telemetry*"))
