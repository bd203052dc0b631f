"""A night: what is planned is what is made, once, in batches, and only where nothing changed since."""

import json
import threading
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hydramem.core.errors import DiskFullError, InvalidInputError, ModelUnavailableError, StorageError
from hydramem.core.results.garden_results import Gardened
from hydramem.core.row_types import Chunk, Entity, Relation
from hydramem.garden.night.apply import WriteAccess, apply
from hydramem.garden.night.run_phases import UNFINISHED, GardenRun, apply_file, interrupted, plan, run_phases
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseOutcome
from hydramem.garden.proposals.plan_file import key_in, plan_signature
from hydramem.garden.proposals.proposal import Proposal, precondition_hash
from hydramem.storage.in_memory.graph import InMemoryGraph
from hydramem.storage.undo.row_images import TABLES
from hydramem.storage.write import Removal, Write
from tests.storage.rows import chunk, entity, mention, relation, write

NOW = datetime(2026, 1, 2, tzinfo=UTC)
ADA, BOB, LEADS = entity("e1"), entity("e2", "Bob"), relation()
CHUNKS = tuple(chunk(f"c{number:02}", f"Note {number}.") for number in range(40))


@pytest.fixture
def graph() -> InMemoryGraph:
    graph = InMemoryGraph()
    mentions = tuple(mention(row.id) for row in CHUNKS)
    graph.write(write(entities=(ADA, BOB), relations=(LEADS,), chunks=CHUNKS, mentions=mentions))
    return graph


def quieter(row: Chunk) -> Proposal:
    """Propose that a memory counts less."""
    write = Write(changes=(), chunks=(replace(row, importance=0.1),))
    told = {"text": f"{row.text} counts less", "reason": "Nobody asked for it.", "score": 0.5}
    given = {"project": "p", "phase": "reuse", "action": "change", "target": row.id}
    return Proposal(**given, **told, write=write, expects=precondition_hash(row))


def archive() -> Proposal:
    write = Write(changes=(), relations=(replace(LEADS, state="archived"),))
    told = {"text": "Ada leads Bob", "reason": "Nothing supports it.", "score": 0.9}
    given = {"project": "p", "phase": "prune", "action": "archive", "target": LEADS.id}
    return Proposal(**given, **told, write=write, expects=precondition_hash(LEADS, ADA))


def night(graph: InMemoryGraph, folder: Path | None = None, **steps: PhaseOutcome | Exception) -> GardenRun:
    def step(given: PhaseOutcome | Exception):
        def run(context: PhaseContext) -> PhaseOutcome:
            if isinstance(given, Exception):
                raise given
            return given

        return run

    return GardenRun(
        project="p",
        phases=("reuse", "prune", "infer", "maintain"),
        steps={name: step(given) for name, given in steps.items()},  # type: ignore[misc]
        context=lambda phase: PhaseContext(**dict.fromkeys(PhaseContext.__slots__)),  # no phase looks
        access=WriteAccess(graph=graph, commit=lambda rows: graph.write(rows), one_writer=threading.RLock()),
        folder=folder,
        now=NOW,
    )


def resealed(lines: list[str], key: bytes) -> str:
    """Return the first line of a plan as somebody would seal it who has not the store's key."""
    head = json.loads(lines[0])
    head.pop("seal")
    return json.dumps(head | {"seal": plan_signature(key, (head["run"], head))})


def state(graph: InMemoryGraph) -> dict[str, list[object]]:
    return {name: [row for batch in graph.scan(table) for row in batch] for name, table in TABLES.items()}


REUSE = PhaseOutcome(proposals=tuple(map(quieter, CHUNKS)), counts={"looked at": 40})


def test_a_plan_changes_nothing_and_applying_it_makes_exactly_that(
    graph: InMemoryGraph, tmp_path: Path
) -> None:
    before, file = state(graph), tmp_path / "plan.jsonl"
    planned = plan(night(graph, reuse=REUSE, prune=PhaseOutcome(proposals=(archive(),))), out=file)
    assert state(graph) == before and planned.state == "planned" and planned.run is None
    assert len(planned.changes) == 41 and planned.changes[-1].text == "Ada leads Bob"
    done = apply_file(night(graph), file)
    assert (done.state, sum(each.applied for each in done.phases)) == ("completed", 41)
    assert {row.importance for row in graph.chunks([row.id for row in CHUNKS])} == {0.1}
    assert graph.relations(["e1"])[0].state == "archived"
    changes = graph.changes(run=done.run)
    assert len(changes) == 41 and {change.operation for change in changes} == {"garden"}
    assert {change.reason for change in changes} == {"Nobody asked for it.", "Nothing supports it."}
    assert all(change.before and change.after for change in changes)
    again = apply_file(night(graph), file)
    assert sum(each.standing for each in again.phases) == 41 and again.run == done.run
    assert len(graph.changes(run=done.run)) == 41


def test_what_changed_since_the_plan_is_refused(graph: InMemoryGraph, tmp_path: Path) -> None:
    file = tmp_path / "plan.jsonl"
    plan(night(graph, reuse=REUSE, prune=PhaseOutcome(proposals=(archive(),))), out=file)
    told = replace(CHUNKS[3], summary="written since")
    graph.write(write(chunks=(told,), entities=(replace(ADA, description="new"),)))
    done = apply_file(night(graph), file)
    assert [each.text for each in done.refused] == ["Note 3. counts less", "Ada leads Bob"]
    assert "changed since" in done.refused[0].why
    assert graph.chunks([told.id]) == (told,)
    for report in done.phases:
        parts = (report.applied, report.refused, report.standing, report.dropped, report.left)
        assert report.proposals == sum(parts)


def test_a_later_phase_leaves_alone_what_an_earlier_one_touches(graph: InMemoryGraph) -> None:
    both = replace(archive(), phase="infer", action="judge")
    done = run_phases(
        night(graph, infer=PhaseOutcome(proposals=(both,)), prune=PhaseOutcome(proposals=(archive(),)))
    )
    assert [(each.phase, each.applied, each.dropped) for each in done.phases] == [
        ("infer", 1, 0),
        ("prune", 0, 1),
    ]


def test_what_hangs_on_a_thing_that_goes_is_not_written_beside_it(graph: InMemoryGraph) -> None:
    """Two merges that each move a relation to what the other takes out."""
    twins = (entity("e7", "Ada B"), entity("e8", "Acme"), entity("e9", "Acme Inc"))
    between = relation("e7", "leads", "e9")
    graph.write(write(entities=twins, relations=(between,)))

    def merge(keep: Entity, gone: Entity, moved: Relation) -> Proposal:
        rows = Write(changes=(), relations=(moved,), removed=Removal(entities=(gone.id,)))
        return replace(
            archive(),
            target=keep.id,
            write=rows,
            expects=precondition_hash(keep, gone, between, absent=(moved,)),
        )

    first = merge(ADA, twins[0], relation("e1", "leads", "e9"))
    second = merge(twins[1], twins[2], relation("e7", "leads", "e8"))
    assert plan(night(graph, prune=PhaseOutcome(proposals=(first, second)))).phases[0].dropped == 1
    others = [replace(quieter(row), phase="prune") for row in CHUNKS]  # so that a batch holds both
    done = apply((*others, first, second), night(graph).access, run="w_night")
    assert first.id in done.made and list(done.refused) == [second.id]


def test_a_phase_that_fails_is_told_and_costs_the_others_nothing(graph: InMemoryGraph) -> None:
    failed = ModelUnavailableError("ollama: no answer")
    done = run_phases(night(graph, infer=failed, prune=PhaseOutcome(proposals=(archive(),), state="partial")))
    assert [(each.phase, each.state) for each in done.phases] == [("infer", "failed"), ("prune", "partial")]
    assert done.phases[0].notes == ("ollama: no answer",) and done.state == "failed"


def test_an_interrupted_night_is_finished_by_the_next(graph: InMemoryGraph, tmp_path: Path) -> None:
    given = night(graph, tmp_path, reuse=REUSE)
    stopping = iter([False, True])
    cut = replace(given, access=replace(given.access, stopping=lambda: next(stopping)))
    first = run_phases(cut)
    assert first.state == "partial" and 0 < first.phases[0].applied < 40
    assert first.phases[0].left == 40 - first.phases[0].applied
    assert (tmp_path / UNFINISHED).exists()
    second = run_phases(night(graph, tmp_path, reuse=PhaseOutcome()))
    assert second.resumed == first.phases[0].left
    assert not (tmp_path / UNFINISHED).exists()
    assert len(graph.changes(run=first.run)) == 40


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda lines: [], "is no plan"),
        (lambda lines: [*lines, lines[1]], "twice"),
        (lambda lines: [lines[0], json.dumps(json.loads(lines[1]) | {"seal": None})], "line 2: was changed"),
        (lambda lines: [lines[0].replace('"p"', '"q"'), lines[1]], "project"),
        (lambda lines: [lines[0].replace('"version": 1', '"version": 9'), lines[1]], "another version"),
        (lambda lines: [lines[0], lines[1][:40]], "line 2"),
        (lambda lines: [lines[0], lines[1].replace("Nobody asked", "You asked")], "was changed"),
        (lambda lines: [lines[0], json.dumps(json.loads(lines[1]) | {"expects": {}})], "was changed"),
        (lambda lines: [lines[0].replace('"run": "w_', '"run": "../w_'), lines[1]], "was changed"),
        (lambda lines: [json.dumps(json.loads(lines[0]) | {"seal": "é"}), lines[1]], "was changed"),
        (lambda lines: [json.dumps(json.loads(lines[0]) | {"seal": None}), lines[1]], "was changed"),
        (lambda lines: [resealed(lines, b"guessed"), lines[1]], "another store"),
    ],
)
def test_a_plan_that_was_changed_is_refused(graph: InMemoryGraph, tmp_path: Path, change, told: str) -> None:
    file, before = tmp_path / "plan.jsonl", state(graph)
    plan(night(graph, reuse=PhaseOutcome(proposals=(quieter(CHUNKS[0]),))), out=file)
    file.write_text("".join(f"{line}\n" for line in change(file.read_text().splitlines())))
    with pytest.raises(InvalidInputError, match=told):
        apply_file(night(graph), file)
    assert state(graph) == before


def test_a_line_may_be_taken_out_of_a_plan_and_none_of_another_put_in(
    graph: InMemoryGraph, tmp_path: Path
) -> None:
    file, other = tmp_path / "plan.jsonl", tmp_path / "other.jsonl"
    plan(night(graph, reuse=PhaseOutcome(proposals=tuple(map(quieter, CHUNKS[:3])))), out=file)
    plan(night(graph, reuse=PhaseOutcome(proposals=(quieter(CHUNKS[3]),))), out=other)
    lines = file.read_text().splitlines()
    file.write_text("\n".join([*lines[:2], other.read_text().splitlines()[1]]) + "\n")
    with pytest.raises(InvalidInputError, match="line 3"):
        apply_file(night(graph), file)
    file.write_text("\n".join(lines[:3]) + "\n")
    report = apply_file(night(graph), file)
    assert sum(phase.applied for phase in report.phases) == 2
    assert report.notes == ("1 change of the plan left out.",)


def test_writers_get_their_turn_and_vectors_hear_of_batches_when_others_can_write_again(
    graph: InMemoryGraph,
) -> None:
    lock, sizes, turns, told = threading.Lock(), list[int](), list[int](), list[int]()

    def commit(rows: Write) -> None:
        assert rows.deferred and rows.gathered, "the vector store hears of it later"
        sizes.append(len(rows.chunks))
        graph.write(rows)

    def free(heard: list[int]) -> None:
        assert lock.acquire(blocking=False)
        heard.append(len(sizes))
        lock.release()

    access = WriteAccess(
        graph=graph,
        commit=commit,
        one_writer=lock,
        deliver=lambda: free(told),
        progress=lambda done, whole: free(turns),
    )
    done = apply([quieter(row) for row in CHUNKS], access, run="w_night")
    assert len(done.made) == len(CHUNKS) == sum(sizes)
    assert sizes[0] <= 2, "nobody knows how long the first one takes"
    assert len(sizes) > 2 and turns == [*range(1, len(sizes) + 1)], "between any two batches"
    assert told == [len(sizes)], "of all of them at once"


def test_a_night_that_a_store_ends_says_how_far_it_came(graph: InMemoryGraph, tmp_path: Path) -> None:
    given, reports, told = night(graph, tmp_path, reuse=REUSE), list[Gardened](), list[int]()
    commits = 0

    def commit(rows: Write) -> None:
        nonlocal commits
        commits += 1
        if commits == 3:
            raise DiskFullError("the disk is full")
        graph.write(rows)

    access = replace(given.access, commit=commit, deliver=lambda: told.append(commits))
    cut = replace(given, access=access, interrupted=reports.append)
    with pytest.raises(
        DiskFullError, match=r"full; p: \d+ of 40 changes are made .* the next run makes the rest"
    ):
        run_phases(cut)
    (report,) = reports
    assert told == [3], "vectors hear of what was made before it failed"
    assert report.state == "interrupted" and 0 < report.phases[0].applied < 40
    assert report.notes == (f"{report.phases[0].left} changes left to the next run: the disk is full.",)
    second = run_phases(night(graph, tmp_path, reuse=PhaseOutcome()))
    assert (second.resumed, second.resumed_run) == (report.phases[0].left, report.run)
    assert len(graph.changes(run=report.run)) == 40


def test_what_somebody_writes_before_the_lock_is_had_is_looked_at_again(graph: InMemoryGraph) -> None:
    changed = replace(CHUNKS[0], importance=0.9)

    class Lock:
        """Where somebody else was faster."""

        def __enter__(self) -> None:
            if graph.chunks([CHUNKS[0].id])[0] != changed:
                graph.write(write(chunks=(changed,)))

        def __exit__(self, *_: object) -> None:
            pass

    access = WriteAccess(
        graph=graph,
        commit=lambda rows: graph.write(rows) and None,
        one_writer=Lock(),
        revision=lambda: len(graph.changes()),
    )
    done = apply([quieter(CHUNKS[0]), quieter(CHUNKS[1])], access, run="w_night")
    assert len(done.made) == len(done.refused) == 1
    assert graph.chunks([CHUNKS[0].id]) == (changed,)


def test_the_key_of_plans_is_the_users_alone(tmp_path: Path) -> None:
    key = key_in(tmp_path / "garden")
    assert len(key) == 32 and key_in(tmp_path / "garden") == key != key_in(tmp_path / "other")
    file = tmp_path / "garden" / "seal.key"
    assert file.stat().st_mode & 0o077 == 0
    file.write_bytes(b"short")
    with pytest.raises(StorageError, match="is no key"):
        key_in(tmp_path / "garden")


def test_what_an_interrupted_night_left_is_given_up_where_it_cannot_be_read(
    graph: InMemoryGraph, tmp_path: Path
) -> None:
    (tmp_path / UNFINISHED).write_text("{}\n", encoding="utf-8")
    assert interrupted(night(graph, tmp_path)) is None
    done = run_phases(night(graph, tmp_path, reuse=REUSE))
    assert done.state == "completed" and done.phases[0].applied == 40
    assert "given up" in done.notes[0] and not (tmp_path / UNFINISHED).exists()
