"""The front door: health, limits, bodies and the stop, in front of an application that only answers."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hydramem.core.errors import StorageError
from hydramem.server.http.front_door import FrontDoor
from hydramem.server.http.known_tokens import KnownTokens, token_hash
from hydramem.server.http.limits import Limits
from hydramem.server.http_server import TokenCheck
from hydramem.storage.changes import AGENT
from hydramem.storage.tokens.token_file import TokenFile

TOKEN = "s3cret-for-tests"
BEARER = (b"authorization", f"Bearer {TOKEN}".encode())


class Inside:
    """What is behind the door: it reads the body, waits until it may answer, and says what it read."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def have_come(self, number: int) -> None:
        """Wait until so many requests have come."""
        while len(self.bodies) < number:
            await asyncio.sleep(0.005)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.bodies.append((await receive())["body"])
        await self.may_answer.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"inside"})


class Asker:
    """Asks a door, as a server of ASGI does."""

    def __init__(
        self,
        folder: Path,
        *,
        needs_token: bool = True,
        per_minute: int = 0,
        concurrent: int = 0,
        most_bytes: int = 100,
        read_store: Callable[[], None] = lambda: None,
    ) -> None:
        self.inside = Inside()
        self.limits = Limits(per_minute=per_minute, concurrent=concurrent)
        self.door = FrontDoor(
            self.inside,
            tokens=KnownTokens(
                store=TokenFile(folder), environment=token_hash(TOKEN), tools="agent", project="default"
            ),
            needs_token=needs_token,
            limits=self.limits,
            most_bytes=most_bytes,
            read_store=read_store,
        )

    async def ask(
        self, path: str = "/mcp", *parts: bytes, method: str = "POST", headers: Any = (BEARER,)
    ) -> tuple[int, dict[str, str], str]:
        """Return status, headers and text of the answer to a request with these parts of a body."""
        messages = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
        messages.append({"type": "http.request", "body": b"", "more_body": False})
        said: list[Any] = []

        async def receive() -> Any:
            return messages.pop(0) if messages else await asyncio.Event().wait()

        async def send(message: Any) -> None:
            said.append(message)

        scope = {"type": "http", "path": path, "method": method, "headers": list(headers)}
        await self.door(scope, receive, send)
        given = {name.decode(): value.decode() for name, value in said[0]["headers"]}
        return said[0]["status"], given, b"".join(each.get("body", b"") for each in said).decode()


async def test_a_body_arrives_whole_and_one_that_is_too_large_does_not(tmp_path):
    asker = Asker(tmp_path, most_bytes=10)
    assert (await asker.ask("/mcp", b"12345", b"67890"))[0] == 200
    status, headers, text = await asker.ask("/mcp", b"12345", b"678901")
    assert (status, headers["connection"]) == (413, "close") and "10 bytes" in text
    assert asker.inside.bodies == [b"1234567890"]


async def test_the_body_of_an_unknown_caller_is_not_read(tmp_path):
    asker = Asker(tmp_path, most_bytes=1)
    status, *_ = await asker.ask("/mcp", b"12345", headers=[])
    assert status == 200 and asker.inside.bodies == [b"12345"], "what is inside answers 401 for it"


async def test_a_request_has_one_token(tmp_path):
    asker = Asker(tmp_path)
    for headers in ([BEARER, BEARER], [BEARER, (b"Authorization", b"Bearer x")]):
        assert (await asker.ask(headers=headers))[0] == 400
    assert not asker.inside.bodies


async def test_a_caller_makes_so_many_requests_a_minute(tmp_path):
    asker = Asker(tmp_path, per_minute=3)
    assert [(await asker.ask())[0] for _ in range(3)] == [200] * 3
    status, headers, text = await asker.ask()
    assert status == 429 and 1 <= int(headers["retry-after"]) <= 20
    assert "3 a minute" in text and headers["retry-after"] in text
    assert (await asker.ask(headers=[]))[0] == 200, "another caller has a limit of its own"
    for wrong in range(5):
        await asker.ask(headers=[(b"authorization", b"Bearer wrong%d" % wrong)])
    assert (await asker.ask(headers=[(b"authorization", b"Bearer new")]))[0] == 429


def test_the_bucket_fills_again():
    now = [0.0]
    limits = Limits(per_minute=60, concurrent=0, clock=lambda: now[0])
    assert [limits.wait_for_rate("ann") for _ in range(61)] == [0] * 60 + [1]
    now[0] += 1
    assert [limits.wait_for_rate("ann") for _ in range(2)] == [0, 1]
    now[0] += 3600
    assert [limits.wait_for_rate("ann") for _ in range(61)] == [0] * 60 + [1]
    assert limits.wait_for_rate("bo") == 0


async def test_where_no_token_can_be_read_nobody_comes_in(tmp_path):
    (tmp_path / "tokens.json").write_text("{")

    asker = Asker(tmp_path)
    status, _, text = await asker.ask(headers=[(b"authorization", b"Bearer another")])
    assert (status, text) == (503, "not ready") and not asker.inside.bodies


async def test_a_caller_has_so_many_requests_at_a_time(tmp_path):
    asker = Asker(tmp_path, concurrent=2)
    asker.inside.may_answer.clear()
    running = [asyncio.create_task(asker.ask()) for _ in range(2)]
    await asker.inside.have_come(2)
    status, headers, text = await asker.ask()
    assert status == 429 and headers["retry-after"] == "1" and "2 requests" in text
    asker.inside.may_answer.set()
    assert [(await each)[0] for each in running] == [200, 200]
    assert (await asker.ask())[0] == 200


async def test_a_caller_has_so_many_streams_open(tmp_path):
    asker = Asker(tmp_path, concurrent=2)
    asker.inside.may_answer.clear()
    streams = [asyncio.create_task(asker.ask(method="GET")) for _ in range(2)]
    await asker.inside.have_come(2)
    status, headers, text = await asker.ask(method="GET")
    assert status == 429 and headers["retry-after"] == "1" and "2 streams" in text
    call = asyncio.create_task(asker.ask())
    await asker.inside.have_come(3)  # open streams keep no call out
    assert await asker.door.stop(0.05) is False, "the call runs, and a stop has a bound"
    streams[0].cancel()
    await asyncio.wait(streams[:1])
    asker.inside.may_answer.set()
    assert (await call)[0] == (await streams[1])[0] == 200
    assert await asker.door.stop(1)
    assert [asker.limits.begin_stream(AGENT) for _ in range(3)] == [True, True, False]


@pytest.mark.costly
def test_many_callers_make_none_forgotten_whose_request_runs():
    limits = Limits(per_minute=1, concurrent=1)
    limits.begin("busy")
    for number in range(10_100):
        limits.wait_for_rate(str(number))
    assert not limits.begin("busy")
    assert limits.wait_for_rate("0") == 0, "as one who never asked"


@pytest.mark.parametrize("headers", [[], [(b"host", b"evil.example")], [BEARER]])
async def test_health_needs_no_token_and_tells_nothing(tmp_path, headers):
    asker = Asker(tmp_path, per_minute=1)
    for _ in range(3):
        assert (await asker.ask("/healthz", headers=headers, method="GET"))[::2] == (200, "ok")
        assert (await asker.ask("/readyz", headers=headers, method="GET"))[::2] == (200, "ready")
    assert not asker.inside.bodies


async def test_a_store_that_cannot_be_read_is_not_ready_and_does_not_say_why(tmp_path):
    calls = []

    def read() -> None:
        calls.append(1)
        raise StorageError("/srv/secret/path is damaged")

    asker = Asker(tmp_path, read_store=read)
    answers = await asyncio.gather(*(asker.ask("/readyz", method="GET") for _ in range(20)))
    assert {answer[::2] for answer in answers} == {(503, "not ready")}
    assert (await asker.ask("/healthz", method="GET"))[0] == 200
    assert len(calls) == 1, "nobody can make the store work by asking"


async def test_a_stop_waits_for_what_runs_and_refuses_the_rest(tmp_path):
    asker = Asker(tmp_path)
    asker.inside.may_answer.clear()
    running = asyncio.create_task(asker.ask())
    await asker.inside.have_come(1)
    stop = asyncio.create_task(asker.door.stop(5))
    await asyncio.sleep(0)
    status, headers, text = await asker.ask()
    assert status == 503 and headers["retry-after"] and "stops" in text
    assert (await asker.ask("/readyz", method="GET"))[0] == 503
    assert (await asker.ask("/healthz", method="GET"))[0] == 200
    assert not stop.done()
    asker.inside.may_answer.set()
    assert await stop and (await running)[0] == 200


async def test_a_slow_look_up_of_a_token_keeps_nobody_waiting(tmp_path):
    asked, looked_up = threading.Event(), threading.Event()

    class SlowTokens(TokenFile):
        def rows(self):
            asked.set()
            assert looked_up.wait(30), "nothing else ran meanwhile"
            return super().rows()

    tokens = KnownTokens(store=SlowTokens(tmp_path), environment=None, tools="agent", project="default")
    checking = asyncio.create_task(TokenCheck(tokens).verify_token("hm_unknown"))
    while not asked.is_set():
        await asyncio.sleep(0.001)
    looked_up.set()
    assert await checking is None


async def test_slow_calls_keep_nobody_out(tmp_path):
    asker, may_end = Asker(tmp_path), threading.Event()
    slow = [asyncio.create_task(asyncio.to_thread(may_end.wait, 60)) for _ in range(64)]
    await asyncio.sleep(0)  # each has begun, or waits for a thread
    try:
        assert (await asyncio.wait_for(asker.ask("/readyz", method="GET"), 30))[0] == 200
        assert (await asyncio.wait_for(asker.ask("/mcp", b"hello"), 30))[0] == 200
    finally:
        may_end.set()
    await asyncio.gather(*slow)
