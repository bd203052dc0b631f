"""A desk: a home folder, a project and a store of their own, where one coding agent works."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests import waiting
from tests.hosts.real_agents.agents import CodingAgent
from tests.hosts.real_agents.fake_model import FakeModel, ModelRequest

ROOT = Path(__file__).resolve().parents[3]
PROJECT = "billing"
TRIES = 20
"""How often a question is asked where a hook was late, which a busy machine can make it."""
SECONDS = 240.0
"""How long an agent may take for one question on a busy machine."""

# A hook's event is kept once it has been answered, so that a test knows what has been done by now.
_COMMAND = """#!/bin/sh
export PYTHONPATH="{root}"
case " $* " in
*" hook "*)
  event=$(cat)
  printf '%s' "$event" | "{python}" -m hydramem "$@"
  status=$?
  printf '%s\\n' "$event" >>"{events}"
  exit $status
  ;;
esac
exec "{python}" -m hydramem "$@"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Where one agent runs: nothing of the person who runs the tests is read or written."""

    agent: CodingAgent
    program: Path
    node: Path
    model: FakeModel
    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def project(self) -> Path:
        """The folder in which the agent works."""
        return self.folder / PROJECT

    @property
    def store(self) -> Path:
        """The store that `hydramem` takes by itself."""
        return self.home / ".hydramem"

    @property
    def environment(self) -> Mapping[str, str]:
        """What the agent sees: its own variables, and a proxy that refuses what would leave the machine."""
        folders = (str(self.folder / "bin"), str(self.node.parent), "/usr/bin", "/bin")
        proxies = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
        return {
            "PATH": os.pathsep.join(folders),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "DO_NOT_TRACK": "1",
            **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost"),
            **dict.fromkeys(proxies, self.model.address),
            **self.agent.environment(self.model.address),
        }

    def lay_out(self) -> None:
        """Make the folders, the agent's own settings, and a `hydramem` of this checkout on the path."""
        (self.project / ".git").mkdir(parents=True)
        command = self.folder / "bin" / "hydramem"
        command.parent.mkdir()
        command.write_text(_COMMAND.format(root=ROOT, python=sys.executable, events=self._events))
        command.chmod(0o755)
        for name, text in self.agent.files(self.model.address).items():
            path = self.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def ask(self, prompt: str) -> list[ModelRequest]:
        """Ask the agent one question, wait until it has ended, and return what it asked the model."""
        self.model.take_requests()
        done = self.run(*self.agent.words(prompt))
        assert done.returncode == 0, done.stdout + done.stderr
        assert self.model.reply in done.stdout
        return self.model.take_requests()

    def ask_in_time(self, prompt: str) -> list[ModelRequest]:
        """Ask in a new session until no hook was late: its deadline is short for a busy machine.

        What comes late is not injected; that is so by design, and not what such a test is about.
        """
        for _ in range(TRIES):
            late = self._late_hooks()
            asked = self.ask(prompt)
            if self._late_hooks() == late:
                break
        return asked

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run the agent with a command line of its own."""
        return self._run(str(self.program), *words)

    def start(self, prompt: str) -> "subprocess.Popen[bytes]":
        """Ask the agent one question in a process group of its own."""
        return subprocess.Popen(
            [str(self.program), *self.agent.words(prompt)],
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def hydramem(self, *words: str) -> str:
        """Run the command line of HydraMem in the project's folder, and return what it prints."""
        done = self._run("hydramem", *words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def turns(self) -> list[str]:
        """Return the texts of the turns that the store holds, earliest first."""
        kept = self.hydramem("--project", PROJECT, "--json", "timeline", "--kinds", "turn")
        return [turn["text"] for turn in json.loads(kept)]

    def wait_for_turn(self, text: str) -> None:
        """Wait until a turn is stored; what a late hook left, the next event of any session hands on."""
        name = "session.created" if self.agent.host == "opencode" else "SessionStart"
        event = {"hook_event_name": name, "session_id": "next", "cwd": str(self.project), "source": "resume"}

        def is_stored() -> bool:
            self._run("hydramem", "hook", self.agent.host, input=json.dumps(event))
            return text in self.turns()

        wait_for(is_stored, f"not stored: {text}")

    def events(self) -> list[str]:
        """Return the names of the events that hooks have answered."""
        lines = self._events.read_text().splitlines() if self._events.exists() else []
        return [json.loads(line)["hook_event_name"] for line in lines]

    def processes(self) -> dict[int, str]:
        """Return what runs at this desk: command lines by process."""
        found = {}
        mark = f"HOME={self.home}\0".encode()
        for place in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if mark in (place / "environ").read_bytes() + b"\0":
                    found[int(place.name)] = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        return found

    def _late_hooks(self) -> int:
        log = self.store / "hooks.log"
        return log.read_text().count("the time is over") if log.exists() else 0

    @property
    def _events(self) -> Path:
        return self.folder / "events.jsonl"

    def _run(self, *words: str, input: str = "") -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            words,
            cwd=self.project,
            env=self.environment,
            input=input,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )


wait_for = partial(waiting.wait_for, seconds=SECONDS)
