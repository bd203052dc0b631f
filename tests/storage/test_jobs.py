"""The durable queue: what waits is done once, what fails is tried again, what is left survives."""

import os
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from hydramem.core.errors import ModelUnavailableError, StorageError
from hydramem.core.row_types import Job, Usage
from hydramem.storage.changes import acting_as, current_actor, current_run, in_one_run
from hydramem.storage.in_memory.graph import InMemoryGraph
from hydramem.storage.jobs import MOST_ATTEMPTS, Handler, Jobs, job, job_payload
from hydramem.storage.store import Listing
from hydramem.storage.write import Write
from tests.waiting import wait_for

EVERY = Listing(limit=1000)


class Place:
    """A queue over a graph store in memory."""

    def __init__(self) -> None:
        self.graph = InMemoryGraph()
        self.one_writer = threading.RLock()
        self.queue = self.opened()

    def opened(self) -> Jobs:
        return Jobs(self.graph, self.commit, lambda projects: self.one_writer)

    def commit(self, write: Write) -> None:
        with self.one_writer:
            self.graph.write(write)
        self.queue.noticed(write)

    def add(self, *names: str, kind: str = "say") -> None:
        self.commit(Write(changes=(), jobs=tuple(job(kind, project="p", name=name) for name in names)))

    def rows(self) -> tuple[Job, ...]:
        return self.graph.jobs(EVERY)


@pytest.fixture
def place() -> Iterator[Place]:
    made = Place()
    yield made
    made.queue.close()


def saying(into: list[list[str]], most: int = 1) -> dict[str, Handler]:
    def run(rows: Sequence[Job]) -> None:
        into.append([job_payload(row)["name"] for row in rows])

    return {"say": Handler(run=run, most=most, audited=False)}


def failing(times: int, into: list[str]) -> dict[str, Handler]:
    """Fail so many times, then do it."""
    left = [times]

    def run(rows: Sequence[Job]) -> None:
        if left[0]:
            left[0] -= 1
            raise ModelUnavailableError("the model sleeps")
        into.extend(job_payload(row)["name"] for row in rows)

    return {"say": Handler(run=run)}


def test_jobs_are_done_without_being_asked(place: Place) -> None:
    said: list[list[str]] = []
    place.add("a")
    place.queue.serve(saying(said))
    wait_for(lambda: said == [["a"]])
    place.add("b")
    wait_for(lambda: not place.rows())
    assert said == [["a"], ["b"]]


def test_what_fails_is_tried_again_without_being_asked(place: Place) -> None:
    said: list[str] = []
    place.queue.serve(failing(1, said))
    place.add("a")
    wait_for(lambda: said == ["a"])


def test_a_drain_says_what_its_jobs_cost(place: Place) -> None:
    place.add("a", "b", "c")
    place.queue.serve({"say": Handler(run=lambda rows: Usage(calls=1, reply_tokens=len(rows)))})
    assert place.queue.drain().usage == Usage(calls=3, reply_tokens=3)
    assert place.queue.drain().usage == Usage()


def test_jobs_of_one_kind_are_done_together_and_in_order(place: Place) -> None:
    said: list[list[str]] = []
    place.add(*"abcde")
    place.queue.serve(saying(said, most=2))
    assert place.queue.drain().done == 5
    assert said == [["a", "b"], ["c", "d"], ["e"]]
    assert place.rows() == ()


def test_jobs_are_done_in_the_run_and_the_name_of_their_write(place: Place) -> None:
    said: list[tuple[str, str | None, int]] = []
    handler = Handler(run=lambda rows: said.append((current_actor(), current_run(), len(rows))), most=9)
    place.queue.serve({"say": handler})
    with acting_as("ada"), in_one_run("w_1"):
        place.add("a", "b")
    with in_one_run("w_2"):
        place.add("c")
    assert place.queue.drain().done == 3
    assert said == [("ada", "w_1", 2), ("python", "w_2", 1)]


def test_closing_gives_back_what_was_claimed_and_not_tried(place: Place) -> None:
    begun, hold = threading.Event(), threading.Event()

    def run(rows: Sequence[Job]) -> None:
        begun.set()
        assert_set(hold)

    place.queue.serve({"say": Handler(run=run)})
    place.add(*"abc")
    assert begun.wait(60)
    closing = threading.Thread(target=place.queue.close)
    closing.start()
    wait_for(lambda: place.queue.closing)
    hold.set()
    closing.join()
    place.queue.close()  # harmless when repeated
    assert [(job_payload(row)["name"], row.state, row.attempts) for row in place.rows()] == [
        ("b", "waiting", 0),
        ("c", "waiting", 0),
    ]


def test_what_closing_cuts_short_is_not_held_against_it(place: Place) -> None:
    begun = threading.Event()

    def run(rows: Sequence[Job]) -> None:
        begun.set()
        while not place.queue.closing:
            time.sleep(0.01)
        raise StorageError("closed under it")

    place.queue.serve({"say": Handler(run=run)})
    place.add("a")
    assert begun.wait(60)
    place.queue.close()
    (row,) = place.rows()
    assert (row.state, row.attempts, row.error) == ("waiting", 0, None)


def test_what_fails_is_tried_again_until_it_is_given_up_and_can_be_retried(place: Place) -> None:
    said: list[str] = []
    place.queue.serve(failing(MOST_ATTEMPTS, said))
    place.add("a")
    first = place.queue.drain()
    assert (first.done, first.failed, first.left) == (0, 0, 1)
    (row,) = place.rows()
    assert (row.state, row.attempts) == ("waiting", 1)
    assert "the model sleeps" in str(row.error)
    assert sum(place.queue.drain().failed for _ in range(MOST_ATTEMPTS - 1)) == 1
    assert place.queue.counts() == {"failed": 1}
    assert place.queue.drain().done == 0
    assert place.queue.drain(retry=True).done == 1
    assert said == ["a"]


def test_jobs_that_nobody_does_wait(place: Place) -> None:
    place.queue.serve(saying([]))
    place.add("a", kind="sing")
    assert place.queue.drain().left == 1


def test_drain_gives_up_waiting_when_its_time_is_over(place: Place) -> None:
    hold = threading.Event()
    place.queue.serve({"say": Handler(run=lambda rows: assert_set(hold))})
    place.add("a")
    assert place.queue.drain(0.3).left == 1
    hold.set()
    assert place.queue.drain().left == 0


def assert_set(event: threading.Event) -> None:
    assert event.wait(60)


def test_what_a_dead_process_had_begun_is_done_again_but_not_for_ever(place: Place) -> None:
    place.add("a", "killer")
    rows = [
        replace(row, state="running", attempts=1 if job_payload(row)["name"] == "a" else MOST_ATTEMPTS)
        for row in place.rows()
    ]
    place.graph.write(Write(changes=(), jobs=tuple(rows)))
    said: list[list[str]] = []
    place.queue.serve(saying(said))
    place.queue.drain()
    assert said == [["a"]]
    assert place.queue.counts() == {"failed": 1}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_leaves_the_jobs_to_its_parent(place: Place) -> None:
    said: list[list[str]] = []
    place.queue.serve(saying(said))
    child = os.fork()
    if child == 0:
        place.queue._wake(0.0)
        place.queue.close()
        os._exit(0 if place.queue._thread is None else 1)
    assert os.waitpid(child, 0)[1] == 0
    place.add("a")
    wait_for(lambda: said == [["a"]])


@pytest.mark.slow  # measures time
def test_quick_jobs_keep_up_with_many_writers(place: Place) -> None:
    """Each call waits for a lock that seven writers want too; several quick ones run under one hold of it."""
    writers, each = 8, 60

    def link(rows: Sequence[Job]) -> None:
        with place.one_writer:
            time.sleep(0.0005)

    def write() -> None:
        for number in range(each):
            with place.one_writer:
                time.sleep(0.002)
                place.add(f"job {number}")
            time.sleep(0.0005)

    place.queue.serve({"say": Handler(run=link, quick=True)})
    threads = [threading.Thread(target=write) for _ in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(place.rows()) <= 200
    assert place.queue.drain().left == 0
