"""Whatever comes over a connection, other clients are served, and nothing is left of the one that sent it."""

import os
import random
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import msgspec
import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hydramem.core.errors import InvalidInputError, StorageError, StoreBusyError
from hydramem.sharing import serve_clients
from hydramem.sharing.client import Client
from hydramem.sharing.wire import channel, messages
from hydramem.sharing.wire.address import connect_to
from hydramem.sharing.wire.channel import Channel
from hydramem.sharing.wire.exact_values import to_wire
from hydramem.sharing.wire.messages import PROTOCOL, Call, Hello, Proof, ToClient, Welcome, proof
from hydramem.sharing.wire.owner_link import OwnerGoneError, OwnerLink
from tests.engines import ENGINE
from tests.examples import FEW
from tests.sharing.background_owners import SECONDS, wait_for
from tests.sharing.served import Served, served

_encode = msgspec.msgpack.encode


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("channel") / "store", engine=ENGINE) as owner:
        yield owner


@pytest.fixture(scope="module")
def other(owner: Served) -> Iterator[Client]:
    """Return a client that must not notice."""
    with owner.client() as client:
        client.remember("Ada leads the billing team.")
        yield client


@pytest.fixture(autouse=True)
def unharmed(owner: Served, other: Client) -> Iterator[None]:
    """Check that the other client is answered, and that no connection or thread stays."""
    yield
    assert len(other.memories()) == 1
    wait_for(lambda: len(owner.server._channels) <= 1 and _client_threads() <= 1, "connections end")


def _client_threads() -> int:
    return sum(thread.name == "hydramem-client" for thread in threading.enumerate())


def raw(owner: Served) -> socket.socket:
    """Return a connection that has said nothing yet."""
    return connect_to(owner.note.address, SECONDS)


def greeted(owner: Served) -> Channel:
    """Return a connection of which both sides know that the other has the key."""
    return OwnerLink(owner.folder, owner.note)._channel


def framed(content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + content


def ended(connection: socket.socket) -> bool:
    """Say whether the other side closes the connection; what it sends before is thrown away."""
    connection.settimeout(SECONDS)
    try:
        while connection.recv(65536):
            pass
    except TimeoutError:
        return False
    except OSError:
        return True
    return True


DEEP = b"\x91" * 3_000 + b"\xc0"
GARBAGE = {
    "text": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "four gigabytes": b"\xff\xff\xff\xff" + b"x" * 100,
    "nothing": b"",
    "empty message": framed(b""),
    "half a length": b"\0\0",
    "no MessagePack": framed(b"\xc1\xc1\xc1"),
    "another type": framed(_encode({"type": "Nonsense", "a": 1})),
    "a number": framed(_encode(7)),
    "a list": framed(_encode([1, 2, 3])),
    "nested": framed(DEEP),
    "huge array": framed(b"\xdd\xff\xff\xff\xff"),
    "huge map": framed(b"\xdf\xff\xff\xff\xff"),
    "huge array within": framed(b"\x82\xa4type\xa4Call\xa9arguments\xdd\xff\xff\xff\xff"),
    "huge text": framed(b"\xdb\xff\xff\xff\xff"),
    "wrong types": framed(_encode({"type": "Hello", "protocol": "x", "version": 1, "nonce": []})),
    "a call before the proof": framed(_encode(Call(operation="stats", project="default"))),
    "an answer": framed(_encode(messages.CallResult(msgspec.Raw(b"\xc0")))),
    "a wrong proof": framed(_encode(Hello(PROTOCOL, "1", b"n" * 16))) + framed(_encode(Proof(b"p" * 32))),
}


def test_garbage_ends_its_own_connection_and_the_owner_stays_as_large_as_it_is(owner: Served) -> None:
    process, held = psutil.Process(), list[tuple[int, int]]()
    for _ in range(6):
        for name, content in GARBAGE.items():
            with raw(owner) as connection:
                connection.sendall(content)
                connection.shutdown(socket.SHUT_WR)
                assert ended(connection), name
        wait_for(lambda: len(owner.server._channels) <= 1 and _client_threads() <= 1, "connections end")
        held.append((process.num_fds(), process.memory_info().rss))
    assert held[-1][0] <= held[0][0] + 2
    assert held[-1][1] < held[0][1] + 50_000_000


def test_garbage_ends_a_connection_that_has_proved_itself(owner: Served) -> None:
    for name in ("four gigabytes", "no MessagePack", "nested", "huge array", "huge map", "huge text"):
        known = greeted(owner)
        known.socket.sendall(GARBAGE[name])
        known.socket.shutdown(socket.SHUT_WR)
        assert ended(known.socket), name
        known.close()


@settings(FEW, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(st.binary(max_size=60) | st.binary(max_size=60).map(framed), max_size=4))
def test_any_bytes_end_their_own_connection(owner: Served, parts: list[bytes]) -> None:
    for connect in (raw, lambda owner: greeted(owner).socket):
        connection = connect(owner)
        try:
            connection.sendall(b"".join(parts))
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it was closed before
        assert ended(connection)
        connection.close()


def test_calls_with_bytes_changed_are_answered_or_ended(owner: Served) -> None:
    """Change bytes of true calls (seeded): each is answered, refused, or ends its connection."""
    draw = random.Random(17)
    whole = _encode(
        Call(operation="recall", project="default", arguments=to_wire({"query": "billing", "limit": 3}))
    )
    for _ in range(60):
        content = bytearray(whole)
        for _ in range(draw.randint(1, 4)):
            content[draw.randrange(len(content))] = draw.randrange(256)
        known = greeted(owner)
        known.socket.sendall(framed(bytes(content)))
        known.socket.shutdown(socket.SHUT_WR)
        assert ended(known.socket)
        known.close()


def test_a_silent_client_is_let_go(owner: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve_clients, "_HANDSHAKE_SECONDS", 0.3)
    with raw(owner) as silent:
        assert ended(silent)
    with raw(owner) as half:
        half.sendall(framed(_encode(Hello(PROTOCOL, "1", b"n" * 16))))
        assert ended(half)


def test_a_client_that_sends_its_greeting_byte_by_byte_is_let_go(
    owner: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve_clients, "_HANDSHAKE_SECONDS", 0.4)
    with raw(owner) as slow, pytest.raises(OSError):
        for byte in framed(_encode(Hello(PROTOCOL, "1" * 400, b"n" * 16))):  # all of it takes 8 s
            slow.sendall(bytes([byte]))
            time.sleep(0.02)


def test_a_call_that_comes_byte_by_byte_is_answered(owner: Served) -> None:
    known = greeted(owner)
    for byte in framed(_encode(Call(operation="projects", project="default"))):
        known.socket.sendall(bytes([byte]))
        time.sleep(0.001)
    assert isinstance(known.receive(SECONDS), messages.CallResult)
    known.close()


def test_a_client_that_never_reads_a_large_answer_hinders_nobody(owner: Served, other: Client) -> None:
    known = greeted(owner)
    known.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    known.socket.settimeout(0.3)
    asked = framed(_encode(Call(operation="owner.config", project="default")))
    with pytest.raises(TimeoutError):
        while True:  # until the owner waits for this client to read
            known.socket.sendall(asked)
    for _ in range(5):
        assert len(other.memories()) == 1
    known.close()


def test_a_wrong_key_is_refused_on_both_sides(owner: Served) -> None:
    with pytest.raises(OwnerGoneError, match="not the owner"):
        OwnerLink(owner.folder, replace(owner.note, key="00" * 32))
    connection = Channel(raw(owner), ToClient)
    nonce = b"n" * 16
    connection.send(Hello(PROTOCOL, "1", nonce))
    welcome = connection.receive(SECONDS)
    connection.send(Proof(proof("00" * 32, b"client", nonce, welcome.nonce)))
    assert ended(connection.socket)
    connection.close()


def test_a_proof_is_good_for_one_connection(owner: Served) -> None:
    nonce, key = b"n" * 16, owner.note.key
    first, replayed, mirrored = (Channel(raw(owner), ToClient) for _ in range(3))
    first.send(Hello(PROTOCOL, "1", nonce))
    said = Proof(proof(key, b"client", nonce, first.receive(SECONDS).nonce))
    first.send(said)
    first.send(Call(operation="projects", project="default"))
    assert isinstance(first.receive(SECONDS), messages.CallResult)
    replayed.send(Hello(PROTOCOL, "1", nonce))
    assert isinstance(replayed.receive(SECONDS), Welcome)
    replayed.send(said)
    assert ended(replayed.socket)
    mirrored.send(Hello(PROTOCOL, "1", nonce))
    mirrored.send(Proof(mirrored.receive(SECONDS).proof))  # the owner's own proof, sent back
    assert ended(mirrored.socket)
    for each in (first, replayed, mirrored):
        each.close()


def test_operations_and_arguments_that_are_none_are_refused(owner: Served) -> None:
    connection = owner.link()
    for name in ("", "x" * 10_000, "__class__", "close", "_use", "owner.nonsense", "remember\0", "Recall"):
        with pytest.raises(InvalidInputError, match="no such operation"):
            connection.call(Call(operation=name, project="default"))
    for argument in ("self", "__class__", "memory", "progress", "nonsense", "", "a b"):
        for name in ("stats", "recall", "doctor"):
            asked = Call(operation=name, project="default", arguments=to_wire({argument: "x", "query": "y"}))
            with pytest.raises(InvalidInputError):
                connection.call(asked)
    assert len(msgspec.msgpack.decode(connection.call(Call(operation="projects", project="default")))) == 1
    connection.close()


def test_a_request_and_an_answer_over_the_limit_are_named(
    owner: Served, other: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channel, "MOST_BYTES", 500)
    with pytest.raises(InvalidInputError, match="remember: what is given takes"):
        other.remember("x" * 1_000)
    with pytest.raises(InvalidInputError, match=r"config: the answer takes"):
        _ = other.config
    monkeypatch.undo()
    assert other.config == owner.memory.config


class Program:
    """Another program at an address: does what it is given with each connection."""

    def __init__(self, serve: Callable[[socket.socket], None]) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"tcp:127.0.0.1:{self._listener.getsockname()[1]}"
        self._serve = serve
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                self._serve(connection)

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *raised: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(SECONDS)
        assert not self._thread.is_alive()


def _linked(owner: Served, program: Program, seconds: float = SECONDS) -> OwnerLink:
    return OwnerLink(owner.folder, replace(owner.note, address=program.address, wait_seconds=seconds))


@pytest.mark.parametrize(
    "said",
    [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"", framed(_encode(Welcome(PROTOCOL, "1", b"", b"")))],
    ids=["http", "nothing", "no proof"],
)
def test_another_program_at_the_address_is_not_taken_for_the_owner(owner: Served, said: bytes) -> None:
    with Program(lambda connection: connection.sendall(said)) as program, pytest.raises(OwnerGoneError):
        _linked(owner, program)


def test_a_program_that_says_nothing_is_named_in_time(owner: Served) -> None:
    with (
        Program(lambda connection: ended(connection)) as program,
        pytest.raises(StoreBusyError, match=f"process {os.getpid()} .*not answered"),
    ):
        _linked(owner, program, 0.5)


def welcomed(owner: Served, connection: socket.socket, protocol: int) -> Channel:
    """Welcome a client as an owner of another version does."""
    said = Channel(connection, messages.ToOwner)
    hello, nonce = said.receive(SECONDS), b"o" * 16
    said.send(Welcome(protocol, "9.9", nonce, proof(owner.note.key, b"owner", hello.nonce, nonce)))
    return said


@pytest.mark.parametrize(
    ("protocol", "older"), [(PROTOCOL - 1, r"\(it\)"), (PROTOCOL + 1, r"\(this program\)")]
)
def test_versions_that_cannot_talk_say_which_is_older(owner: Served, protocol: int, older: str) -> None:
    with Program(lambda connection: ended(welcomed(owner, connection, protocol).socket)) as program:
        with pytest.raises(StoreBusyError, match=rf"HydraMem 9\.9.*older one {older}") as caught:
            _linked(owner, program)
        assert "hydramem stop" in str(caught.value) and f"process {os.getpid()}" in str(caught.value)
    connection = Channel(raw(owner), ToClient)  # a client of another version learns that of the owner
    connection.send(Hello(protocol, "9.9", b"n" * 16))
    assert connection.receive(SECONDS).protocol == PROTOCOL
    connection.close()


def test_an_owner_in_the_background_of_an_older_version_is_asked_to_leave(owner: Served) -> None:
    said: list[Any] = []

    def serve(connection: socket.socket) -> None:
        other = welcomed(owner, connection, PROTOCOL - 1)
        said.extend((other.receive(SECONDS), other.receive(SECONDS)))
        other.send(messages.CallResult(msgspec.Raw(_encode(True))))

    with Program(serve) as program, pytest.raises(OwnerGoneError, match="newer version"):
        OwnerLink(owner.folder, replace(owner.note, address=program.address, background=True))
    assert [type(each) for each in said] == [Proof, Call]
    assert said[1].operation == messages.LEAVE


def test_a_call_that_kills_the_owner_twice_is_not_tried_on_a_third(owner: Served) -> None:
    """A link whose owner dies in the middle of a call, again and again."""
    deaths = []

    class Dying(OwnerLink):
        def call(self, call: Call, on_report: Callable[..., None] | None = None) -> msgspec.Raw:
            deaths.append(call.request)
            self.is_idle = False
            raise OwnerGoneError("killed", begun=True)

    client = Client(
        owner.folder, "default", Dying(owner.folder, owner.note), lambda: Dying(owner.folder, owner.note)
    )
    with client, pytest.raises(StorageError, match="has died 2 times during remember"):
        client.remember("This kills it.")
    assert len(deaths) == 2 and deaths[0] == deaths[1] is not None


def test_more_clients_at_once_than_the_queue_of_connections_holds_are_all_served(owner: Served) -> None:
    with ThreadPoolExecutor(200) as pool:
        links = list(pool.map(lambda _: owner.link(), range(200)))
    for each in links:
        each.close()
