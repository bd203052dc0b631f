"""Every refusal of the page's server, and what no answer of it ever holds."""

import json
import logging
import socket
from collections.abc import Iterator

import pytest

import hydramem
from hydramem.core.settings.config_loading import load_config
from hydramem.view.guard import POLICY
from hydramem.view.page_app import MOST_BODY_BYTES
from tests.view.conftest import served
from tests.view.page_client import PageClient, PageReply

IN_MEMORY = {"HYDRAMEM_STORAGE_GRAPH": "memory", "HYDRAMEM_EMBEDDING_MODEL": "hash"}
WRITE = ("POST", "/api/call/remember", {"text": "Never stored."})
PRIVATE = ("/api/page", "/api/jobs/j_none", "/api/jobs/j_none/events", "/api/nothing", "/nothing")


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[hydramem.Memory]:
    folder = tmp_path_factory.mktemp("guarded") / "store"
    with hydramem.connect(folder, config=load_config(environment=IN_MEMORY)) as opened:
        yield opened


@pytest.fixture(scope="module")
def client(memory: hydramem.Memory) -> Iterator[PageClient]:
    with served(memory) as address:
        yield PageClient(address)


@pytest.fixture(autouse=True)
def nothing_is_written(memory: hydramem.Memory) -> Iterator[None]:
    yield
    assert memory.changes() == ()


def refused(reply: PageReply, status: int, code: str) -> None:
    """Check a refusal, and that it says no more than that."""
    assert (reply.status, reply.code) == (status, code)
    assert reply.headers["content-security-policy"] == POLICY
    assert reply.headers["cache-control"] == "no-store"


def test_another_host_or_port(client: PageClient) -> None:
    for host in ("evil.example", "127.0.0.1", "127.0.0.1:1", "localhost:1", "[::1]:1", ""):
        for method, path in (("GET", "/"), ("GET", "/assets/app.js"), ("GET", "/api/page"), WRITE[:2]):
            refused(client.ask(method, path, {}, host=host), 421, "UnknownHost")


def test_a_foreign_origin(client: PageClient) -> None:
    for origin in (
        "http://evil.example",
        "null",
        "http://127.0.0.1:1",
        "https://{host}",
        "http://{host}.evil",
        "",
    ):
        foreign = origin.format(host=client.host)
        for method, path in (("GET", "/"), ("GET", "/api/page"), WRITE[:2], ("DELETE", "/api/jobs/j")):
            refused(client.ask(method, path, {}, origin=foreign), 403, "ForeignOrigin")


def test_the_origin_has_the_name_of_the_host(client: PageClient) -> None:
    name = client.host.replace("127.0.0.1", "localhost")
    assert client.ask("GET", "/api/page", host=name, origin=f"http://{name}").status == 200
    refused(client.ask("GET", "/api/page", origin=f"http://{name}"), 403, "ForeignOrigin")


def test_a_write_without_an_origin_or_from_another_site(client: PageClient) -> None:
    refused(client.ask(*WRITE, without="Origin"), 403, "ForeignOrigin")
    assert client.ask("GET", "/api/page", without="Origin").status == 200
    for site in ("cross-site", "same-site", "none"):
        refused(client.ask(*WRITE, sec_fetch_site=site), 403, "ForeignOrigin")


def test_no_token_or_a_wrong_one(client: PageClient) -> None:
    for token in ("Bearer wrong", "Bearer ", "", "Basic {token}", "{token}", "Bearer {token}x"):
        given = token.format(token=client.token)
        refused(client.ask(*WRITE, authorization=given), 401, "NoToken")
        for path in PRIVATE:
            refused(client.ask("GET", path, authorization=given), 401, "NoToken")


def test_the_token_is_taken_from_nowhere_else(client: PageClient) -> None:
    for place in (f"/api/page?token={client.token}", f"/api/page?authorization={client.token}"):
        refused(client.ask("GET", place, without="Authorization"), 401, "NoToken")
    cookie = f"token={client.token}; hydramem={client.token}"
    refused(client.ask("GET", "/api/page", without="Authorization", cookie=cookie), 401, "NoToken")


def test_the_page_and_its_files_need_no_token(client: PageClient) -> None:
    for path, kind in (
        ("/", "text/html"),
        ("/assets/app.js", "text/javascript"),
        ("/assets/app.css", "text/css"),
    ):
        reply = client.ask("GET", path, without="Authorization")
        assert (reply.status, reply.headers["content-type"].partition(";")[0]) == (200, kind)
        assert reply.headers["content-security-policy"] == POLICY
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert "server" not in reply.headers
    assert client.ask("HEAD", "/", without="Authorization").status == 200


def test_a_path_out_of_the_assets(client: PageClient) -> None:
    for path in (
        "/assets/../guard.py",
        "/assets/%2e%2e/guard.py",
        "/assets/..%2fguard.py",
        "/assets/%2e%2e%2f%2e%2e%2fcore/config.py",
        "/assets//etc/passwd",
        "/assets/..\\guard.py",
        "/assets/index.html",
        "/assets/app.js%00",
        "/assets/",
    ):
        refused(client.ask("GET", path, without="Authorization"), 404, "NotFound")


def test_a_path_that_is_none(client: PageClient) -> None:
    for path in ("/nothing", "/api", "/api/call", "//api/page"):
        refused(client.ask("GET", path), 404, "NotFound")
    for method, path in (
        ("GET", "/api/jobs/j_1"),
        ("GET", "/api/jobs/j_1/events"),
        ("DELETE", "/api/jobs/j_1"),
    ):
        refused(client.ask(method, path), 404, "NotFoundError")


def test_another_method(client: PageClient) -> None:
    for method in ("GET", "PUT", "DELETE", "OPTIONS"):
        assert client.ask(method, "/api/call/stats").status == 405
    for method, path in (("POST", "/api/page"), ("POST", "/"), ("TRACE", "/"), ("PATCH", "/api/jobs/j_none")):
        assert client.ask(method, path).status == 405


def test_a_body_that_is_too_large(client: PageClient) -> None:
    large = json.dumps({"text": "x" * MOST_BODY_BYTES}).encode()
    refused(client.ask("POST", WRITE[1], large), 413, "TooLarge")
    head = [f"{name}: {value}" for name, value in client.headers().items()]
    lines = ["POST /api/call/remember HTTP/1.1", *head, "Transfer-Encoding: chunked", "", ""]
    name, _, port = client.host.partition(":")
    with socket.create_connection((name, int(port)), timeout=30) as raw:  # no length is said beforehand
        raw.sendall("\r\n".join(lines).encode())
        part = b"%x\r\n%s\r\n" % (65536, b"y" * 65536)
        for _ in range(MOST_BODY_BYTES // 65536 + 2):
            raw.sendall(part)
        assert raw.recv(65536).startswith(b"HTTP/1.1 413")


def test_a_body_that_is_no_json_object(client: PageClient) -> None:
    for body in (
        b'{"text": ',
        b"[]",
        b'"text"',
        b"null",
        b"{'text': 1}",
        b'{"text": NaN}',
        b'\xff\xfe{"text": 1}',
        b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
        b'{"text": "x"} {"text": "y"}',
        b"text=x",
        b'{"text": "\\ud800"}',
    ):
        refused(client.ask("POST", WRITE[1], body), 400, "InvalidInputError")


def test_a_body_of_another_type(client: PageClient) -> None:
    """A form of another site can send these without asking first."""
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        refused(client.ask(*WRITE, content_type=kind), 400, "InvalidInputError")


def test_arguments_that_are_not_those_of_the_operation(client: PageClient) -> None:
    for arguments in (
        {},
        {"text": 7},
        {"text": "x", "no_such": 1},
        {"text": "x", "importance": "high"},
        {"text": "x", "kind": "poem"},
        {"text": ""},
        {"text": "a\x00b"},
        {"text": "x", "project": "../../other"},
    ):
        refused(client.ask("POST", WRITE[1], arguments), 400, "InvalidInputError")
    refused(client.ask(*WRITE, idempotency_key="x" * 201), 400, "InvalidInputError")


def test_files_and_what_no_undo_takes_back(client: PageClient) -> None:
    for operation, arguments in (
        ("ingest", {"sources": ["/etc/hostname"]}),
        ("import_memories", {"source": "/etc/hostname"}),
        ("dump", {"folder": "/tmp/dump"}),
        ("load", {"folder": "/tmp/dump"}),
        ("export_memories", {"path": "/tmp/vault"}),
        ("backup", {"to": "/tmp/backup.tar.gz"}),
        ("garden", {"plan": True, "out": "/tmp/plan.json"}),
        ("garden", {"apply": "/tmp/plan.json"}),
        ("review", {"export": "/tmp/questions.jsonl"}),
        ("review", {"import_": "/etc/hostname"}),
        ("calibrate", {"labels": "/etc/hostname"}),
        ("restore", {"file": "/tmp/backup.tar.gz"}),
        ("erase", {"whole_project": True}),
    ):
        for path in (f"/api/call/{operation}", f"/api/jobs/{operation}"):
            refused(client.ask("POST", path, arguments), 403, "Refused")


def test_an_operation_that_is_none(client: PageClient) -> None:
    for name in ("nothing", "__init__", "close", "during", "remember%20"):
        refused(client.ask("POST", f"/api/call/{name}", {}), 404, "NotFoundError")


def test_the_token_is_in_no_answer_and_no_log(
    client: PageClient, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.DEBUG):
        replies = [
            client.ask("GET", "/"),
            client.ask("GET", "/assets/app.js"),
            client.ask("GET", "/api/page"),
            client.ask("GET", "/nothing"),
            client.ask("POST", "/api/call/stats", {}),
            client.ask("POST", "/api/call/remember", b"{"),
            client.ask("POST", "/api/call/remember", {}, host="evil.example"),
            client.ask("GET", "/api/page", authorization="Bearer wrong"),
        ]
    for reply in replies:
        assert client.token not in f"{reply.headers}" and client.token.encode() not in reply.body
    assert client.token not in caplog.text
    assert client.token not in "".join(capfd.readouterr())


def test_a_request_that_is_no_http(client: PageClient) -> None:
    name, _, port = client.host.partition(":")
    for said in (
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
        b"\r\n\r\n\r\n",
    ):
        with socket.create_connection((name, int(port)), timeout=10) as raw:
            raw.sendall(said)
            raw.shutdown(socket.SHUT_WR)
            answer = raw.recv(65536)
        assert answer[:12] in (b"", b"HTTP/1.1 400")
    assert client.ask("GET", "/api/page").status == 200
