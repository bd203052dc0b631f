"""Ten thousand events of all hosts, replayed beside one owner: none fails, no turn is lost or doubled."""

import json
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import hydramem
from hydramem.hosts.hooks.answer_event import HookPlace
from hydramem.hosts.hooks.deadline import Deadline
from hydramem.hosts.hooks.hook_program import HookWords, answer
from hydramem.hosts.hooks.waiting_turns import waiting
from tests.faults.results import rounds
from tests.hosts.hooks.conftest import troubles
from tests.hosts.hooks.events import BLOCK, add_lines, claude_answer, claude_line, codex_line, event
from tests.sharing.background_owners import no_owner_left, owner_processes, wait_for

# All ten thousand run with HYDRAMEM_TEST_FAULTS=full.
IN_PROCESS, AS_PROCESSES = rounds(300, full=9_500), rounds(24, full=500)
HOSTS = ("claude-code", "codex", "gemini", "opencode")
TOPICS = ("crane", "ferry", "invoice", "parser", "harbour", "billing", "deploy", "index")


@dataclass
class Session:
    """A session of a host that is under way, and what was said in it."""

    host: str
    id: str
    path: Path
    draw: random.Random
    said: list[str] = field(default_factory=list)
    lately: list[dict[str, object]] = field(default_factory=list)

    def events(self) -> Iterator[tuple[str, bytes]]:
        """Yield events as the host sends them, some twice, some missing, some broken."""
        begin, ask, stop, compact, end = {
            "claude-code": ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"),
            "codex": ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"),
            "gemini": ("SessionStart", "BeforeAgent", "AfterAgent", "PreCompress", "SessionEnd"),
            "opencode": (
                "session.created",
                "chat.message",
                "session.idle",
                "session.compacting",
                "session.deleted",
            ),
        }[self.host]
        yield self.event(begin, source="startup")
        for turn in range(self.draw.randint(2, 9)):
            topic = self.draw.choice(TOPICS)
            asked, told = f"What of {topic} {self.id} {turn}?", f"The {topic} {self.id} has {turn} parts."
            yield self.event(ask, prompt=asked)
            self.write(asked, told)
            stopped = self.event(stop, **self.told(asked, told, turn))
            yield from [stopped] * self.draw.choice((1, 1, 2))
            if self.draw.random() < 0.1:
                yield self.event(compact, trigger="auto")
            if self.draw.random() < 0.1:
                yield self.host, stopped[1][: self.draw.randrange(len(stopped[1]))]
        if self.draw.random() < 0.7:
            yield self.event(end, reason="exit")

    def event(self, name: str, **fields: object) -> tuple[str, bytes]:
        own = {"session_id": self.id, "transcript_path": str(self.path)}
        return self.host, event(self.host, name, **{**own, **fields})

    def write(self, asked: str, told: str) -> None:
        self.said += [asked, told]
        if self.host == "claude-code":
            injected = f"UserPromptSubmit hook additional context: {BLOCK}\n{asked}"
            lines = [claude_line("user", injected, sessionId=self.id), claude_answer(told, sessionId=self.id)]
            add_lines(self.path, lines)
        if self.host == "codex":
            add_lines(self.path, [codex_line("developer", BLOCK), codex_line("user", asked)])
            add_lines(self.path, [codex_line("assistant", told)])

    def told(self, asked: str, told: str, turn: int) -> dict[str, object]:
        if self.host == "gemini":
            at = f"2026-11-22T08:26:{turn:02d}.000Z"
            wrapped = f"<hook_context>{BLOCK}</hook_context>\n\n{asked}"
            return {"prompt": wrapped, "prompt_response": told, "timestamp": at}
        if self.host == "opencode":
            self.lately += [
                {"id": f"{turn}-{role}", "role": role, "text": text, "at": "2026-11-22T08:26:33Z"}
                for role, text in (("user", asked), ("assistant", told))
            ]
            return {"messages": self.lately[-6:]}
        return {"last_assistant_message": told}


@dataclass
class Outcome:
    """What became of the events."""

    answered: int = 0
    failed: list[object] = field(default_factory=list)
    one: threading.Lock = field(default_factory=threading.Lock)

    def note(self, raw: bytes, written: str, failure: object = None) -> None:
        with self.one:
            self.answered += 1
            if failure is not None or len(written) > 2000 or (written and not json.loads(written)):
                self.failed.append(failure or written)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_thousands_of_events_fail_nothing_and_leave_nothing(free_place: HookPlace, tmp_path: Path) -> None:
    place = free_place
    draw, outcome, sessions = random.Random(5), Outcome(), list[Session]()
    with no_owner_left(place.store) as folder:
        with hydramem.connect(folder, background=True) as memory:
            for topic in TOPICS:
                memory.remember(f"The {topic} is in the care of Ada.", project="shop")
            with ThreadPoolExecutor(4) as pool:
                while outcome.answered < IN_PROCESS:
                    pack = [a_session(draw, tmp_path, len(sessions) + n) for n in range(40)]
                    sessions += pack
                    list(pool.map(lambda one: replay(one, place, outcome), pack))
            begun = outcome.answered
            while outcome.answered - begun < AS_PROCESSES:
                one = a_session(draw, tmp_path, len(sessions))
                sessions.append(one)
                replay_as_processes(one, place, outcome)
            check_turns(memory, sessions, place)
        assert outcome.failed == [] and outcome.answered >= IN_PROCESS + AS_PROCESSES
        assert len(owner_processes(folder)) == 1, "one owner served them all"
        # A process whose time is over on a busy machine leaves its turns for the next event.
        allowed = ("InvalidInputError: what came is no JSON", "TimeoutError: the time is over")
        strange = [line for line in troubles(place).splitlines() if not any(each in line for each in allowed)]
        assert strange == []


def a_session(draw: random.Random, folder: Path, number: int) -> Session:
    id = f"s{number}"
    return Session(
        host=HOSTS[number % len(HOSTS)], id=id, path=folder / f"{id}.jsonl", draw=random.Random(draw.random())
    )


def replay(one: Session, place: HookPlace, outcome: Outcome) -> None:
    for host, raw in one.events():
        written: list[str] = []
        words = HookWords(host=host, options={"--store": str(place.store)})
        answer(raw, words, Deadline(30.0), written.append)
        outcome.note(raw, "".join(written), None if len(written) <= 1 else written)


def replay_as_processes(one: Session, place: HookPlace, outcome: Outcome) -> None:
    command = [sys.executable, "-m", "hydramem", "--store", str(place.store), "hook", one.host]
    for _, raw in one.events():
        done = subprocess.run(command, input=raw, capture_output=True, timeout=60, check=False)
        failure = (done.returncode, done.stderr) if done.returncode or done.stderr else None
        outcome.note(raw, done.stdout.decode(), failure)


def check_turns(memory: hydramem.Memory, sessions: list[Session], place: HookPlace) -> None:
    """Check that every turn is there once, in order, when what the processes left waiting is handed on."""
    finish = event("gemini", "SessionEnd", session_id="last", reason="exit")
    words = HookWords(host="gemini", options={"--store": str(place.store)})

    def nothing_waits() -> bool:
        answer(finish, words, Deadline(30.0), lambda text: None)
        return not any(waiting(place.store))

    wait_for(nothing_waits, "what processes left is handed on")
    for one in sessions:
        rows = memory.memories(kinds=["turn"], session=f"{one.host}:{one.id}", project="shop", limit=100)
        stored = [row.text for row in sorted(rows, key=lambda row: row.position)]
        assert stored == one.said, one
