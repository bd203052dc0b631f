"""What was made from an erased text goes with it, and what others made stays."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import hydramem
from hydramem.core.row_types import Chunk, Entity, Link, Times
from hydramem.core.time import now
from hydramem.ingest.knowledge.end_validity import DISTILLED_FROM
from hydramem.ingest.pending_jobs import EMBED, ENCODE
from hydramem.storage.changes import in_run, record
from hydramem.storage.exchange.manifest import PARTS
from hydramem.storage.jobs import job
from hydramem.storage.store import Listing
from hydramem.storage.write import Write
from tests.engines import ENGINE
from tests.erase.test_erase import NEIGHBOUR, SECRET, config


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[hydramem.Memory]:
    with hydramem.connect(tmp_path, config=config(ENGINE)) as memory:
        yield memory


def rows(memory: hydramem.Memory) -> str:
    """Return every row of the graph as text, but receipts."""
    scan = memory._use().graph.scan
    return "\n".join(repr(row) for part in PARTS for batch in scan(part.table) for row in batch)


def put(memory: hydramem.Memory, *, changes: Any = (), **written: Any) -> None:
    memory._use().mirror.commit(replace(Write(changes=changes, verbatim=not changes), **written), {})


def chunk(memory: hydramem.Memory, id: str) -> Chunk:
    return memory._use().graph.chunks([id])[0]


def entity(memory: hydramem.Memory, name: str) -> Entity:
    return next(row for row in memory.entities(containing=name) if row.name == name)


def turns(memory: hydramem.Memory, *texts: str) -> list[str]:
    said = [hydramem.SaidTurn(author="user", text=text) for text in texts]
    return list(memory.capture("chat", said).turns)


def distilled(memory: hydramem.Memory, text: str, quote: str, of: list[str]) -> str:
    rests_on = {"turns": of, "quote": quote, "said_at": now().isoformat(), "until": 1}
    id = memory.remember(text, kind="fact", metadata={DISTILLED_FROM: rests_on}).id
    for turn in of:
        link = Link(
            id=f"l_{turn[2:]}", source=turn, target=id, type="supports", weight=1.0, reason=quote,
            times=Times(recorded_at=now()),
        )  # fmt: skip
        put(memory, links=(link,))
    return id


def test_facts_go_with_their_turns(memory: hydramem.Memory) -> None:
    first, second = turns(memory, SECRET, NEIGHBOUR)
    alone = distilled(memory, "The red book of Quillfeather is in nineteen.", "vermilion ledger", [first])
    both = distilled(memory, "Carla Diaz works on billing.", "with Carla Diaz", [first, second])
    quoting = distilled(memory, "Quillfeather has a red book.", "vermilion ledger", [second, first])
    memory.erase([first])
    left = {row.id for row in memory.memories(limit=10)}
    assert left == {second, both} and not {alone, quoting} & left
    assert chunk(memory, both).metadata[DISTILLED_FROM]["turns"] == [second]  # type: ignore[index]
    assert "vermilion" not in rows(memory) and memory.doctor().healthy


def test_a_session_without_rows_goes(memory: hydramem.Memory) -> None:
    (turn,) = turns(memory, SECRET)
    assert [row.name for row in memory.sessions()] == ["chat"]
    assert memory.erase([turn]).removed["sessions"] == 1
    assert not memory.sessions()


def test_words_that_a_model_wrote_beside_it(memory: hydramem.Memory) -> None:
    kept, secret = memory.remember(NEIGHBOUR), memory.remember(SECRET)
    run = next(entry.run for entry in memory.history(secret.id).entries if entry.run)
    before = chunk(memory, kept.id)
    after = replace(before, summary="Billing, unlike the red book in cabinet 19.", keywords=("red book",))
    with in_run(run):
        change = record("link", project=before.project, target=kept.id, before=before, after=after)
    put(memory, changes=(change,), chunks=(after,))
    memory.erase([secret.id])
    left = chunk(memory, kept.id)
    assert (left.summary, left.keywords) == (before.summary, before.keywords)
    assert "red book" not in rows(memory)


def test_descriptions_and_aliases_of_entities(memory: hydramem.Memory) -> None:
    memory.remember(NEIGHBOUR)
    memory.remember("Carla Diaz met Bob Marsh.")
    secret = memory.remember("Bob Marsh, called Quillfeather, keeps the vermilion ledger with Carla Diaz.")
    memory.entity("Carla Diaz", description="Leads billing.")
    bob = entity(memory, "Bob Marsh")
    described = replace(bob, description="Keeper of the red book.", aliases=("Quillfeather", "Marsh"))
    put(memory, entities=(described,))
    memory.erase([secret.id])
    left = entity(memory, "Bob Marsh")
    assert (left.id, left.description, left.aliases) == (bob.id, None, ("Marsh",))
    assert left.mention_count == bob.mention_count - 1
    assert entity(memory, "Carla Diaz").description == "Leads billing."
    assert memory.doctor().healthy


def test_jobs_and_queries(memory: hydramem.Memory) -> None:
    kept = memory.remember(NEIGHBOUR)
    secret = memory.remember(SECRET, session="talk")
    jobs = (
        job(EMBED, project="default", chunks=[kept.id, secret.id]),
        job(ENCODE, project="default", chunk=secret.id, text=SECRET),
    )
    jobs = tuple(replace(one, state="failed", error=f"failed on {SECRET}") for one in jobs)
    put(memory, jobs=jobs)
    with memory.during("talk"):
        memory.recall("keeper of the red book?")
        memory.recall("who runs the billing service?")
    memory.recall("the vermilion ledger of Zorblax in cabinet nineteen")
    memory.erase([secret.id])
    (left,) = memory._use().graph.jobs(Listing(limit=10))
    assert json.loads(left.payload)["chunks"] == [kept.id] and left.error is None
    assert "vermilion" not in rows(memory)


def test_what_only_the_history_has_can_be_erased(memory: hydramem.Memory) -> None:
    kept = memory.remember(NEIGHBOUR)
    secret = memory.remember(SECRET)
    run = next(entry.run for entry in memory.history(secret.id).entries if entry.run)
    memory.undo(run)
    assert "vermilion" in rows(memory)
    memory.erase([secret.id])
    assert "vermilion" not in rows(memory)
    assert [row.id for row in memory.memories()] == [kept.id]


def test_neighbours_are_whole(memory: hydramem.Memory) -> None:
    """Every row that has nothing to do with the erased one is the same before and after."""
    for text in (NEIGHBOUR, "Carla Diaz met Bob Marsh in Ghent.", "The office of Initech is in Ghent."):
        memory.remember(text)
    memory.relate("Initech", "employs", "Carla Diaz")
    before = set(rows(memory).splitlines())
    secret = memory.remember(SECRET)
    memory.erase([secret.id])
    after = set(rows(memory).splitlines())
    assert before <= after, before - after
    assert all("operation='erase'" in row for row in after - before), after - before
