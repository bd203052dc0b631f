"""`hydramem view` as a process: its address, its signals, and its place beside an owner."""

import http.client
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import hydramem
from hydramem.cli.main import run
from hydramem.core.settings.config_loading import load_config
from hydramem.storage.files.folder_lock import is_locked
from tests.view.page_client import PageClient
from tests.view.test_page_calls import STOP, WaitingEmbedder, wait_for

pytestmark = pytest.mark.costly  # processes, and a store that outlives them

HASH = {"HYDRAMEM_EMBEDDING_MODEL": "hash"}
SECONDS = 60.0
"""How long a process may take to start on a busy machine."""


@contextmanager
def viewed(store: Path, *words: str) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """Run `hydramem view`; yield the process and the address that it printed."""
    command = [sys.executable, "-m", "hydramem", "--store", str(store), "view", "--no-open", *words]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **HASH}
    ) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def ended(process: "subprocess.Popen[str]", sent: signal.Signals) -> tuple[int, str]:
    """Ask a process to end; return its exit code and what it wrote to standard error."""
    process.send_signal(sent)
    code = process.wait(SECONDS)
    assert process.stderr is not None
    return code, process.stderr.read()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with hydramem.connect(tmp_path / "store", config=load_config(environment=HASH)) as memory:
        memory.remember("Ada prefers tea at nine.")
    return tmp_path / "store"


def test_it_becomes_the_owner_and_leaves_the_store_closed(store: Path) -> None:
    with viewed(store, "--project", "default") as (process, address):
        client = PageClient(address)
        assert address == f"http://{client.host}/#token={client.token}" and len(client.token) >= 32
        assert [row["text"] for row in client.result("memories")] == ["Ada prefers tea at nine."]
        assert is_locked(store)
        idle = http.client.HTTPConnection(client.host)  # as a browser keeps one
        idle.request("GET", "/")
        idle.getresponse().read()
        half = socket.create_connection(("127.0.0.1", int(client.host.partition(":")[2])))
        half.sendall(b"GET / HTTP/1.1\r\n")
        code, said = ended(process, signal.SIGTERM)
        idle.close()
        half.close()
    assert (code, said) == (0, "")
    assert not is_locked(store)


def test_beside_an_owner_it_is_a_client_and_ends_with_an_open_stream(tmp_path: Path) -> None:
    """The owner works at a job that reports nothing; the page's server does not wait for it."""
    embedder = WaitingEmbedder()
    config = load_config(environment=HASH)
    with hydramem.connect(tmp_path / "store", config=config, embedder=embedder) as owner:
        with viewed(tmp_path / "store") as (process, address):
            client = PageClient(address)
            client.result("remember", text="Bo keeps bees.")
            assert [row.text for row in owner.memories()] == ["Bo keeps bees."]
            assert owner.changes()[0].actors == ("view",)
            job = client.start("remember", text=f"{STOP} for it")
            assert embedder.reached.wait(SECONDS)
            stream = http.client.HTTPConnection(client.host)
            headers = {"Authorization": f"Bearer {client.token}"}
            stream.request("GET", f"/api/jobs/{job}/events", headers=headers)
            reply = stream.getresponse()
            code, said = ended(process, signal.SIGINT)
            assert (code, said) == (0, "") and reply.read() == b"", "the stream ends as a stream does"
            stream.close()
        embedder.may_go_on.set()
        owner.remember("The owner goes on.")
        wait_for(lambda: any("goes on" in row.text for row in owner.memories()))


def test_a_port_that_is_taken(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert run(["--store", str(store), "view", "--no-open", "--port", port]) == 1
    assert f"port: {port} cannot be used" in capsys.readouterr().err
    assert run(["--store", str(store), "view", "--no-open", "--port", "70000"]) == 1
    assert "port: 70000" in capsys.readouterr().err
    assert not is_locked(store)


def test_no_memory_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--store", str(tmp_path / "none"), "view", "--no-open"]) == 1
    assert "no memory here yet" in capsys.readouterr().err and not (tmp_path / "none").exists()


def test_only_this_machine_can_connect(store: Path) -> None:
    with viewed(store) as (process, address):
        port = int(PageClient(address).host.partition(":")[2])
        listening = Path("/proc/net/tcp").read_text().splitlines()
        own = [line.split()[1] for line in listening if line.split()[1].endswith(f":{port:04X}")]
        assert own and set(own) == {f"0100007F:{port:04X}"}
        assert not any(f":{port:04X} " in line for line in Path("/proc/net/tcp6").read_text().splitlines())
        ended(process, signal.SIGTERM)
