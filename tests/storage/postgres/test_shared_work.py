"""Jobs and nights on many machines: each is done by one, and what a dead one had begun by another."""

import threading
from collections.abc import Iterator, Sequence

import pytest

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

import psycopg

from hydramem.core.errors import StorageError
from hydramem.core.row_types import Job
from hydramem.storage.jobs import Handler, Jobs, job, job_payload
from hydramem.storage.postgres.connection import Database
from hydramem.storage.postgres.graph.graph import PostgresGraph, open_postgres_graph
from hydramem.storage.postgres.job_claims import JobClaims
from hydramem.storage.postgres.project_locks import job_lock
from hydramem.storage.store import Listing
from hydramem.storage.write import Write
from tests.storage.postgres_server import own_schema, server_address

JOBS = 200


@pytest.fixture
def schema() -> Iterator[str]:
    with own_schema() as name:
        yield name


def opened(schema: str) -> PostgresGraph:
    return open_postgres_graph(Database(server_address(), schema=schema, most_connections=6))


def queue(graph: PostgresGraph) -> Jobs:
    lock = threading.RLock()
    return Jobs(graph, lambda write: graph.write(write) and None, lambda projects: lock)


def test_each_job_is_done_by_one_of_four(schema: str) -> None:
    graphs = [opened(schema) for _ in range(4)]
    names = [f"job {number}" for number in range(JOBS)]
    rows = tuple(job("say", project="p", name=name) for name in names)
    graphs[0].write(Write(changes=(), jobs=rows))
    said: list[list[str]] = [[] for _ in graphs]

    def saying(into: list[str]) -> Handler:
        def run(rows: Sequence[Job]) -> None:
            into.extend(job_payload(row)["name"] for row in rows)

        return Handler(run=run, most=4, audited=False)

    queues = [queue(graph) for graph in graphs]
    for each, into in zip(queues, said, strict=True):
        each.serve({"say": saying(into)})
    while graphs[0].jobs(Listing(limit=1)):
        threads = [threading.Thread(target=each.drain) for each in queues]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(name for each in said for name in each) == sorted(names)
    for each, graph in zip(queues, graphs, strict=True):
        each.close()
        graph.close()


def test_what_a_process_does_is_taken_from_it_once_it_is_dead(schema: str) -> None:
    holder, other = opened(schema), opened(schema)
    waiting = job("say", project="p", name="a")
    holder.write(Write(changes=(), jobs=(waiting,)))
    assert holder.claim_jobs([waiting]) == [waiting]
    assert other.claim_jobs([waiting]) == []
    holder.close()  # as its connection does where the process is killed
    assert other.claim_jobs([waiting]) == [waiting]
    other.release_jobs([waiting])
    other.close()


def test_a_job_that_another_has_done_is_not_done_again(schema: str) -> None:
    graph, other = opened(schema), opened(schema)
    waiting = job("say", project="p", name="a")
    graph.write(Write(changes=(), jobs=(waiting,)))
    said: list[str] = []
    first = queue(graph)
    first.serve({"say": Handler(run=lambda rows: said.extend(row.id for row in rows), audited=False)})
    first.drain()
    assert said == [waiting.id]
    assert other.claim_jobs([waiting]) == []
    first.close()
    graph.close()
    other.close()


def test_one_gardener_tends_a_project_until_it_ends(schema: str) -> None:
    graph, other = opened(schema), opened(schema)
    with graph.tending(["p", "q"]) as alone:
        assert alone
        with other.tending(["p"]) as second:
            assert not second
        with other.tending(["r"]) as third:
            assert third
    with other.tending(["q", "p"]) as after:
        assert after
    graph.close()
    other.close()


def test_claims_end_with_an_error_of_the_database(schema: str) -> None:
    one, other = opened(schema), opened(schema)
    claims, others = JobClaims(one.database), JobClaims(other.database)
    assert claims.claim(["j1"]) == {"j1"} and others.claim(["j1"]) == set()
    with pytest.raises(StorageError):
        claims._run("SELECT lock / 0 FROM unnest(%s::bigint[]) AS lock", {1: "j2"})
    assert others.claim(["j1"]) == {"j1"}
    for claim, graph in ((claims, one), (others, other)):
        claim.close()
        graph.close()


def test_a_lost_connection_frees_the_jobs_in_hand_and_is_replaced(schema: str) -> None:
    one, other = opened(schema), opened(schema)
    jobs = [job("say", project="p", name=name) for name in "ab"]
    one.write(Write(changes=(), jobs=tuple(jobs)))
    assert one.claim_jobs(jobs[:1]) == jobs[:1]
    with psycopg.connect(server_address(), autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_locks WHERE locktype = 'advisory' AND granted "
            "AND (classid::bigint << 32) | objid::bigint = %s",
            [job_lock(schema, jobs[0].id)],
        )
    assert other.claim_jobs(jobs) == jobs, "another process does them"
    assert one.claim_jobs(jobs) == [], "on a new connection"
    one.release_jobs(jobs)  # of which it has none any more
    assert one.claim_jobs(jobs) == []
    other.release_jobs(jobs)
    assert one.claim_jobs(jobs) == jobs
    one.close()
    other.close()
