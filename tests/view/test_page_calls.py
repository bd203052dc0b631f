"""Operations over the page: the same answers as anywhere else, each change once and with its undo."""

import http.client
import json
import shutil
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic_core import to_json

import hydramem
from hydramem.core.settings.config_loading import load_config
from hydramem.llm.hash_embedder import HashEmbedder
from hydramem.view.page_jobs import MOST_RUNNING
from tests import waiting
from tests.view.conftest import opened_memory, served
from tests.view.lively_memory import HOSTILE, RIGHT_TO_LEFT
from tests.view.page_client import PageClient

IN_MEMORY = {"HYDRAMEM_STORAGE_GRAPH": "memory", "HYDRAMEM_EMBEDDING_MODEL": "hash"}

STOP = "wait_zqx"
"""A word of no text but those that the embedder is to wait at."""


class WaitingEmbedder(HashEmbedder):
    """An embedder that waits where a text says so, until it is told to go on."""

    def __init__(self) -> None:
        super().__init__()
        self.reached, self.may_go_on = threading.Event(), threading.Event()

    def embed_documents(self, texts: Any) -> Any:
        if any(STOP in text for text in texts):
            self.reached.set()
            assert self.may_go_on.wait(60)
        return super().embed_documents(texts)


@pytest.fixture
def embedder() -> WaitingEmbedder:
    return WaitingEmbedder()


@pytest.fixture
def memory(tmp_path: Path, embedder: WaitingEmbedder) -> Iterator[hydramem.Memory]:
    settings = load_config(environment=IN_MEMORY)
    with hydramem.connect(tmp_path / "store", config=settings, embedder=embedder) as opened:
        yield opened


@pytest.fixture
def client(memory: hydramem.Memory, embedder: WaitingEmbedder) -> Iterator[PageClient]:
    with served(memory) as address:
        yield PageClient(address)
        embedder.may_go_on.set()


wait_for = partial(waiting.wait_for, seconds=30)


def as_json(value: object) -> Any:
    """Return a result as the command line prints it with `--json`."""
    return json.loads(to_json(value))


def test_answers_are_those_of_the_command_line(client: PageClient, memory: hydramem.Memory) -> None:
    id = memory.remember("Ada prefers tea at nine.", entities=["Ada"]).id
    memory.relate("Ada", "works with", "Grace", valid_from="2020")
    assert client.result("get", id=id) == as_json(memory.get(id))
    assert client.result("memories", limit=5) == as_json(memory.memories(limit=5))
    assert client.result("relations", as_of="2021-01-01") == as_json(memory.relations(as_of="2021-01-01"))
    assert client.result("history", id=id) == as_json(memory.history(id))
    assert client.result("conflicts") == as_json(memory.conflicts())
    assert client.result("graph", center="Ada") == as_json(memory.graph(center="Ada"))
    assert client.result("projects") == as_json(memory.projects())
    with pytest.raises(hydramem.NotFoundError) as raised:
        memory.get("c_none")
    error = {"code": "NotFoundError", "message": str(raised.value)}
    assert client.call("get", id="c_none").json == {"error": error}


def test_a_change_says_the_run_that_undo_takes(client: PageClient, memory: hydramem.Memory) -> None:
    done = client.call("remember", text="Bo keeps bees.").json
    (run,) = memory.changes()
    assert (done["run"], run.actors, run.operations) == (run.run, ("view",), ("remember",))
    assert client.call("forget", ids=["c_none"]).status == 404
    assert client.call("stats").json["run"] is client.call("review").json["run"] is None, "nothing changed"
    assert client.call("forget", scope="/", dry_run=True).json["run"] is None
    undone = client.call("undo", id=done["run"]).json
    assert memory.memories() == () and undone["run"] == undone["result"]["run"]
    again = client.call("undo", id=undone["run"]).json
    assert [row.text for row in memory.memories()] == ["Bo keeps bees."] and again["run"]


def test_a_repeated_request_is_done_once(client: PageClient, memory: hydramem.Memory) -> None:
    turns = [{"author": "user", "text": "Where do we deploy?"}]  # the same turn again would be another one
    replies = [client.call("capture", "key-1", session="talk", turns=turns) for _ in range(3)]
    assert len({reply.body for reply in replies}) == 1 and replies[0].status == 200
    assert len(memory.memories(session="talk")) == len(memory.changes(operation="capture")) == 1
    other = client.call("capture", "key-2", session="talk", turns=turns).json
    assert other["run"] != replies[0].json["run"] and len(memory.memories(session="talk")) == 2
    reused = client.call("remember", "key-1", text="Bo keeps bees.")
    assert (reused.status, reused.code) == (400, "InvalidInputError") and b"key-1" in reused.body


def test_one_key_at_the_same_time_is_one_write(client: PageClient, memory: hydramem.Memory) -> None:
    turns = [{"author": "user", "text": "Where do we deploy?"}]
    replies: list[bytes] = []

    def send() -> None:
        replies.append(client.call("capture", "key-1", session="talk", turns=turns).body)

    threads = [threading.Thread(target=send) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(replies) == 6 and len(set(replies)) == 1
    assert len(memory.memories(session="talk")) == 1


def test_hostile_text_comes_back_as_it_went_in(client: PageClient) -> None:
    texts = (HOSTILE, RIGHT_TO_LEFT, "a\u202eb\u200b\u2028c", "</script>\x7f\x1b[31m", "x" * 9_000)
    for text in texts:
        id = client.result("remember", text=text)["id"]
        reply = client.call("get", id=id)
        assert reply.json["result"]["text"] == text
        assert reply.headers["content-type"] == "application/json"
        missing = client.call("get", id=text[:100])
        assert missing.status in (400, 404) and missing.headers["content-type"] == "application/json"
    found = client.result("memories", states=["active", "quarantined"])  # hidden characters are quarantined
    assert {row["text"] for row in found} == set(texts)


def test_searches_of_a_person_do_not_count_as_use(client: PageClient, memory: hydramem.Memory) -> None:
    memory.remember("Ada prefers tea at nine.")
    assert client.result("recall", query="tea")["hits"]
    memory.garden(plan=True)  # writes what is noted
    assert memory.sessions() == ()
    assert memory.memories()[0].recall_count == 0


def test_what_the_page_has_to_know_first(client: PageClient, memory: hydramem.Memory) -> None:
    memory.remember("Elsewhere.", project="elsewhere")
    page = client.ask("GET", "/api/page").json
    assert (page["folder"], page["project"]) == (str(memory.folder), "default")
    assert page["projects"] == ["default", "elsewhere"]
    assert (page["read_only"], page["model"]) == (False, False)
    rows = {row["name"]: row for row in page["operations"]}
    assert rows["remember"]["effect"] == "write" and rows["remember"]["once"] is True
    assert "project" in rows["remember"]["arguments"] and "project" not in rows["get"]["arguments"]
    assert not {"erase", "restore"} & rows.keys()


@pytest.mark.slow  # it measures time
def test_no_answer_waits_for_an_acknowledgement(client: PageClient) -> None:
    """Where a socket gathers small packets, each request on an open connection takes 40 ms more."""
    connection = http.client.HTTPConnection(client.host)
    times = []
    for _ in range(40):
        began = time.perf_counter()
        connection.request("POST", "/api/call/jobs", b"{}", client.headers())
        connection.getresponse().read()
        times.append(time.perf_counter() - began)
    connection.close()
    assert min(times) < 0.035


def events_of(client: PageClient, job: str) -> list[tuple[str, Any]]:
    """Read the events of a job until the stream ends."""
    reply = client.ask("GET", f"/api/jobs/{job}/events")
    assert reply.headers["content-type"].startswith("text/event-stream")
    events = []
    for block in reply.body.decode().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if lines:
            events.append((lines["event"], json.loads(lines["data"])))
    return events


def test_a_job_runs_and_tells_its_end(client: PageClient, memory: hydramem.Memory) -> None:
    memory.remember("Ada Lovelace leads the Billing Service.")
    job = client.start("garden")
    events = events_of(client, job)
    assert events[-1][0] == "done" and {kind for kind, _ in events[:-1]} <= {"progress"}
    assert all({"done", "total", "what"} == said.keys() for kind, said in events if kind == "progress")
    state = client.job(job)
    assert (state["state"], state["operation"]) == ("done", "garden")
    assert state["result"] == events[-1][1]["result"] and state["result"][0]["state"] == "completed"
    assert events_of(client, job) == events[-1:], "one who comes late hears the end"


def test_a_job_that_fails_says_why(client: PageClient) -> None:
    job = client.start("get", id="c_none")
    assert events_of(client, job)[-1][0] == "failed"
    state = client.job(job)
    assert (state["state"], state["error"]["code"]) == ("failed", "NotFoundError")


def test_a_job_ends_at_its_next_report(
    client: PageClient, memory: hydramem.Memory, embedder: WaitingEmbedder
) -> None:
    waiting = client.start("remember", text=f"{STOP} for it")
    assert embedder.reached.wait(30)
    assert client.job(waiting)["state"] == "running"
    garden = client.start("garden")  # its first report comes before it needs the writer
    client.ask("DELETE", f"/api/jobs/{garden}")
    embedder.may_go_on.set()
    wait_for(lambda: client.job(garden)["state"] != "running")
    state = client.job(garden)
    assert (state["state"], state["error"]["code"]) == ("failed", "Cancelled")
    wait_for(lambda: client.job(waiting)["state"] == "done")
    assert [row.text for row in memory.memories()] == [f"{STOP} for it"]


def test_so_many_jobs_and_no_more(client: PageClient, embedder: WaitingEmbedder) -> None:
    jobs = [client.start("remember", text=f"{STOP} {number}") for number in range(MOST_RUNNING)]
    reply = client.ask("POST", "/api/jobs/remember", {"text": "One too many."})
    assert (reply.status, reply.code) == (429, "TooManyJobs")
    embedder.may_go_on.set()
    wait_for(lambda: all(client.job(job)["state"] == "done" for job in jobs))
    client.start("remember", text="Now there is room.")


@pytest.mark.costly  # a whole night on the real engine
def test_a_plan_of_the_gardener_can_be_applied(lively: Path, tmp_path: Path) -> None:
    shutil.copytree(lively, tmp_path / "store")
    with opened_memory(tmp_path / "store") as memory, served(memory) as address:
        client = PageClient(address)
        (plan,) = client.result("garden", plan=True, keep=True)
        assert plan["state"] == "planned" and plan["changes"]
        done = client.call("garden", apply_kept=plan["plan"]).json
        assert done["run"] == done["result"][0]["run"] is not None
        assert client.call("undo", id=done["run"]).status == 200
