"""Whose call runs next: slow calls of one caller do not hold up another's, in the threads and over HTTP."""

import asyncio
import socket
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from fastmcp import Client

import hydramem
from hydramem.core.config import ServerConfig
from hydramem.core.settings.config_loading import load_config
from hydramem.llm.hash_embedder import HashEmbedder
from hydramem.server.call_threads import CallThreads
from hydramem.server.http.front_door import FrontDoor
from hydramem.server.http.limits import Limits
from hydramem.server.http_server import StoppingServer, _served, _server_of
from hydramem.storage.tokens.token_file import TokenFile
from hydramem.storage.tokens.token_rows import make_token
from hydramem.storage.vector_rows import Vector

SLOW = "the slow question"


async def test_one_caller_never_has_all_threads() -> None:
    threads, go_on, began = CallThreads(share=2, threads=3), threading.Event(), Counter[str]()

    def slow() -> bool:
        began["slow"] += 1
        return go_on.wait(60)

    flood = [asyncio.create_task(threads.run("ann", slow)) for _ in range(9)]
    while began["slow"] < 2:
        await asyncio.sleep(0.001)
    assert await threads.run("bob", lambda: 7) == 7
    assert began["slow"] == 2 and not any(each.done() for each in flood)
    go_on.set()
    assert await asyncio.gather(*flood) == [True] * 9
    threads.executor.shutdown()


async def test_the_caller_with_the_fewest_calls_is_next() -> None:
    threads, order = CallThreads(share=2, threads=2), list[str]()
    ends = {name: threading.Event() for name in ("ann1", "ann2", "ann3", "ann4", "bob1", "bob2", "cleo1")}

    def call(name: str) -> None:
        order.append(name)
        assert ends[name].wait(60)

    tasks = [asyncio.create_task(threads.run(name[:-1], call, name)) for name in ends]
    for name in ("ann1", "bob1", "bob2", "cleo1", "ann2", "ann3", "ann4"):
        running = min(len(ends), sum(each.is_set() for each in ends.values()) + 2)
        while len(order) < running:
            await asyncio.sleep(0.001)
        ends[name].set()
    await asyncio.gather(*tasks)
    assert order == ["ann1", "ann2", "bob1", "bob2", "cleo1", "ann3", "ann4"]
    threads.executor.shutdown()


async def test_a_call_that_is_given_up_keeps_its_thread_to_its_end() -> None:
    threads, go_on = CallThreads(share=1, threads=2), threading.Event()
    began = threading.Event()

    def slow() -> None:
        began.set()
        assert go_on.wait(60)

    running = asyncio.create_task(threads.run("ann", slow))
    waiting = asyncio.create_task(threads.run("ann", slow))
    await asyncio.to_thread(began.wait, 60)
    for task in (waiting, running):
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    after = asyncio.create_task(threads.run("ann", lambda: "after"))
    for _ in range(5):
        await asyncio.sleep(0)
    assert not after.done(), "the thread of the first is not free"
    go_on.set()
    assert await after == "after"
    threads.executor.shutdown()


async def test_what_a_call_raises_is_raised_and_its_thread_is_free() -> None:
    threads = CallThreads(share=1, threads=1)

    with pytest.raises(ZeroDivisionError):
        await threads.run("ann", lambda: 1 // 0)
    assert await threads.run("bob", lambda: 1) == 1
    threads.executor.shutdown()


class Slow(HashEmbedder):
    """Embeds a question, but one of them only once it may."""

    def __init__(self) -> None:
        super().__init__(64)
        self.go_on = threading.Event()
        self.asked = threading.Semaphore(0)

    def embed_query(self, text: str) -> Vector:
        if text == SLOW:
            self.asked.release()
            assert self.go_on.wait(60)
        return super().embed_query(text)


@pytest.mark.costly  # a server and two clients over HTTP
def test_a_token_that_floods_with_slow_calls_does_not_delay_another(tmp_path: Path) -> None:
    embedder, settings = Slow(), ServerConfig(tools="all", concurrent_calls=64)
    store = TokenFile(tmp_path)
    names = {name: make_token(store, name, role="reader", projects=["default"])[1] for name in ("ann", "bob")}
    config = load_config(environment={"HYDRAMEM_STORAGE_GRAPH": "memory"})
    with hydramem.connect(tmp_path, config=config, embedder=embedder) as memory, socket.socket() as free:
        memory.remember("The quick fox rests.")
        served = _served(memory, settings=settings, project="default", tools=None, token=None, store=store)
        door = FrontDoor(
            _server_of(served, settings=settings).http_app(),
            tokens=served.tokens,
            needs_token=True,
            limits=Limits(per_minute=0, concurrent=settings.concurrent_calls),
            most_bytes=2**20,
            read_store=lambda: None,
        )
        free.bind(("127.0.0.1", 0))
        free.listen()
        server = StoppingServer(
            uvicorn.Config(door, ws="none", lifespan="on", log_level="error"),
            door,
            20,
            served.threads.executor,
        )
        thread = threading.Thread(target=server.run, kwargs={"sockets": [free]})
        thread.start()
        url = f"http://127.0.0.1:{free.getsockname()[1]}/mcp"
        try:
            asyncio.run(_flood(url, names, embedder))
        finally:
            embedder.go_on.set()
            server.should_exit = True
            thread.join(60)


async def _flood(url: str, tokens: dict[str, str], embedder: Slow) -> None:
    async def ask(client: Client[Any], query: str) -> str:
        answer = await client.call_tool("recall", {"query": query})
        return answer.content[0].text

    async with Client(url, auth=tokens["ann"]) as ann, Client(url, auth=tokens["bob"]) as bob:
        flood = [asyncio.create_task(ask(ann, SLOW)) for _ in range(12)]
        assert await asyncio.to_thread(embedder.asked.acquire, timeout=60)
        answer = await asyncio.wait_for(ask(bob, "what does the quick fox do?"), 50)
        assert "quick fox" in answer
        assert not any(each.done() for each in flood), "the flood runs and waits meanwhile"
        embedder.go_on.set()
        assert len(await asyncio.gather(*flood)) == 12
